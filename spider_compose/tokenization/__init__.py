"""SQL and questions as the numbers that models read."""
