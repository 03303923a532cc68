"""Recombination of aligned clauses, and the build of the dataset from them (sections 3.3 and 4)."""
