"""`python -m spider_compose`: the command line."""

from __future__ import annotations

import sys

from spider_compose.cli import main

if __name__ == "__main__":
    sys.exit(main())
