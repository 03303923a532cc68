"""Scripts and dumps of several database systems: what counts is read, the rest may be anything."""

from __future__ import annotations

from pathlib import Path

import pytest

from spider_compose.errors import SourceError
from spider_compose.source.schemas import read_schema_file
from spider_compose.sql.schema import Schema

MYSQL = """
-- MySQL dump; don't
# it's a comment too
/*!40101 SET NAMES utf8 */;
DROP TABLE IF EXISTS `boat`;
CREATE TABLE `boat` (
  `id` int(11) NOT NULL AUTO_INCREMENT, `name` varchar(20) CHARACTER SET utf8 DEFAULT 'a;b)',
  `port_id` int(11), PRIMARY KEY (`id`), KEY `k` (`name`),
  CONSTRAINT `f` FOREIGN KEY (`port_id`) REFERENCES `port` (`id`) ON DELETE CASCADE
) ENGINE=InnoDB DEFAULT CHARSET=latin1 COMMENT='boats; all';
LOCK TABLES `boat` WRITE;
INSERT INTO `boat` VALUES (1,'it\\'s; CREATE TABLE x (y INT)',2);
UNLOCK TABLES;
CREATE TABLE `port` (`id` int(11) NOT NULL) ENGINE=InnoDB;
ALTER TABLE `port` ADD PRIMARY KEY (`id`), ADD KEY `x` (`id`);
DELIMITER ;;
CREATE TRIGGER t BEFORE INSERT ON boat FOR EACH ROW BEGIN SET NEW.id = 1; END ;;
"""
POSTGRES = """
SET search_path = public;
CREATE TYPE kind AS ENUM ('a', 'b');
CREATE FUNCTION f() RETURNS int AS $$ BEGIN; CREATE TABLE hidden (x int); RETURN 1; END $$ LANGUAGE plpgsql;
CREATE TABLE IF NOT EXISTS public.boat (
    id integer NOT NULL, name text[] DEFAULT '{}', port_id integer, paid numeric(10,2) CHECK (paid > 0)
) WITH (fillfactor=70) TABLESPACE fast;
ALTER TABLE public.boat OWNER TO someone;
CREATE TABLE public.port (id integer GENERATED ALWAYS AS IDENTITY);
CREATE TABLE public.port_2024 PARTITION OF public.port FOR VALUES FROM (1) TO (9);
COPY public.boat (id, name) FROM stdin;
1\tit's; "open
2\t(((
\\.
ALTER TABLE ONLY public.boat ADD CONSTRAINT boat_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.port ADD CONSTRAINT port_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.boat
    ADD CONSTRAINT f FOREIGN KEY (port_id) REFERENCES public.port(id) ON DELETE CASCADE;
"""
TSQL = """
CREATE TABLE [dbo].[boat] ([id] [int] IDENTITY(1,1) NOT NULL, [name] nvarchar(max) NULL, [port_id] int,
  CONSTRAINT [PK (a)] PRIMARY KEY CLUSTERED ([id] ASC)) ON [PRIMARY]
GO
CREATE TABLE [dbo].[port] ([id] int PRIMARY KEY)
go
ALTER TABLE [dbo].[boat] WITH CHECK ADD CONSTRAINT [FK] FOREIGN KEY([port_id]) REFERENCES [dbo].[port] ([id])
GO
"""
BIGQUERY = """
CREATE TABLE `proj.fleet.boat` (id INT64 NOT NULL, name ARRAY<STRING>, port_id STRUCT<a INT64, b STRING>)
PARTITION BY DATE(built) OPTIONS(description='all; boats');
CREATE OR REPLACE TABLE fleet.port (id INT64);
"""
KEY = (("boat", "port_id"), ("port", "id"))


def read(tmp_path: Path, script: str, dialect: str) -> Schema:
    path = tmp_path / "harbour.sql"
    path.write_text(script, encoding="utf-8")
    (schema,) = read_schema_file(path, dialect).by_name.values()
    return schema


@pytest.mark.parametrize(
    ("dialect", "script", "primary", "keys"),
    [
        pytest.param("mysql", MYSQL, True, (KEY,), id="mysql"),
        pytest.param("postgres", POSTGRES, True, (KEY,), id="postgres"),
        pytest.param("tsql", TSQL, True, (KEY,), id="tsql"),
        pytest.param("bigquery", BIGQUERY, False, (), id="bigquery"),
    ],
)
def test_dumps(tmp_path: Path, dialect: str, script: str, primary: bool, keys: tuple[object, ...]) -> None:
    schema = read(tmp_path, script, dialect)
    assert [(table.name, [column.name for column in table.columns][:3]) for table in schema.tables] == [
        ("boat", ["id", "name", "port_id"]),
        ("port", ["id"]),
    ]
    assert [table.columns[0].is_primary_key for table in schema.tables] == [primary, primary]
    assert schema.foreign_keys == keys


def test_a_table_that_is_made_twice_has_all_columns(tmp_path: Path) -> None:
    script = "CREATE TABLE x.boat (id INT, name TEXT); CREATE TABLE y.boat (id INT, age INT);"
    schema = read(tmp_path, script, "sqlite")
    assert [[column.name for column in table.columns] for table in schema.tables] == [["id", "name", "age"]]


@pytest.mark.parametrize(
    ("script", "line"),
    [
        pytest.param("SELECT 1;\n\n-- boats\nCREATE TABLE a (b INT FOO BAR BAZ);", 4, id="no-sql"),
        pytest.param("CREATE TABLE a (b INT);\nCREATE TABLE c (d INT", 2, id="cut-short"),
        pytest.param(f"CREATE TABLE a (b INT CHECK {'(' * 3000}1{')' * 3000});", 1, id="deep"),
    ],
)
def test_a_table_that_does_not_parse(tmp_path: Path, script: str, line: int) -> None:
    with pytest.raises(SourceError, match=f"harbour.sql, line {line}: does not parse as SQL of the dialect"):
        read(tmp_path, script, "sqlite")


def test_rows_of_a_dump_are_not_parsed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import sqlglot

    parsed: list[str] = []
    real = sqlglot.parse
    monkeypatch.setattr(
        sqlglot, "parse", lambda text, **options: parsed.append(text) or real(text, **options)
    )
    rows = "INSERT INTO boat VALUES (1, 'a''b;'), (2, 'c');\n" * 1000
    read(tmp_path, f"CREATE TABLE boat (id INT);\n{rows}CREATE TABLE port (id INT);", "sqlite")
    assert [text.strip() for text in parsed] == ["CREATE TABLE boat (id INT)", "CREATE TABLE port (id INT)"]
