"""The human score, the third figure of the paper's tables: blind sheets out, ratings in, one number a system.

`scale` says what a rating means, `study` what is rated and in which order, `sheet_csv` how a sheet looks as a
file, `results` what the ratings add up to, `agreement` how far the raters agree.
"""
