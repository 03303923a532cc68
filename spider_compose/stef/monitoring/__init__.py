"""STEF in production: logs scored into a folder, and what is read from it: report, compare, monitor."""
