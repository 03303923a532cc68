"""The bundled corpus: small databases with questions and queries, written for SpiderCompose.

`databases/<db_id>.sql` are the databases as scripts, `train.json` and `validation.json` the pairs in
Spider's row format and `tables.json` the schemas in Spider's format. See README.md beside this file.
"""

from __future__ import annotations

from pathlib import Path

FOLDER = Path(__file__).parent
"""Where the corpus lies; `FOLDER` itself can be read like a release folder."""

DATABASES = FOLDER / "databases"


def database_scripts() -> dict[str, Path]:
    """The `.sql` script of every database, by db_id, in alphabetical order."""
    return {path.stem: path for path in sorted(DATABASES.glob("*.sql"))}
