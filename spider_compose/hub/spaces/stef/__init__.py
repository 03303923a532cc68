"""The demonstration of the STEF score."""
