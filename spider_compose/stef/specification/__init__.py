"""Semantic specifications: what a question asks and what a query does, in the same terms (pipeline step 2)."""
