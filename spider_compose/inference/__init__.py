"""Running SQL-to-text models on a config of the dataset, and what a report says of it.

Training stands on it: both read their rows, decode, score and report by the same code. Only `generators` and
`loading` need torch.
"""
