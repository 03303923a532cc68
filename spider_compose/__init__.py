"""SpiderCompose: compositional generalisation of SQL-to-text models, and the STEF score for text-to-SQL."""

__version__ = "0.1.0"
