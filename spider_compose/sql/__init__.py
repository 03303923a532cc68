"""SQL as the rest of the package sees it: schemas and clauses."""
