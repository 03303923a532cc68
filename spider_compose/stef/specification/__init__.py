"""Semantic specifications: what a question asks and what a query does, in one language (step 2)."""
