"""Training of SQL-to-text models and the report of a run: `python -m spider_compose.training`.

dataset -> tokenizer -> encoder -> decoder -> trainer -> report. Modules are imported where used: settings can
be read and checked without torch.
"""
