"""SpiderCompose: compositional generalisation of SQL-to-text models, and the STEF score for text-to-SQL.

Importing the package makes its dataset known by name:

    import spider_compose
    from datasets import load_dataset

    pairs = load_dataset("spider_compose", "compose_paper")
"""

from spider_compose.dataset.registration import install as _install

__version__ = "0.1.0"

_install()
