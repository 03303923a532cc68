"""`python -m spider_compose.stef`: the command line of the score."""

from spider_compose.stef.cli import main

if __name__ == "__main__":
    raise SystemExit(main())
