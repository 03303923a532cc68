"""The apps of the Spaces, each as it lies in its repository; what they show is in the modules beside."""
