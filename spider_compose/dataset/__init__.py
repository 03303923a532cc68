"""The dataset: the builder behind `load_dataset`, and the Hub folder. Modules are imported where used."""
