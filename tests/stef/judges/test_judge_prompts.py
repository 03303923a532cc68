"""Prompts: what of a row a model sees, how it is delimited, and files of one's own."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from spider_compose.errors import SpiderComposeError
from spider_compose.stef.judges.prompt import MAX_QUESTION, Prompt, TooLongError, inputs
from spider_compose.stef.judges.quoting import as_data, bound_nonce, numbered, quote_sql, without_comments
from spider_compose.stef.rules import ApplicationRules
from spider_compose.stef.specification.sql import read_sql

OWN = "version: 7\n[system]\nJudge. {{nonce}}\n[user]\n{{question}} | {{sql}}\n"


@pytest.mark.parametrize("name", ["verdict", "label"])
def test_prompts_of_the_package(name: str, request_for: Callable[..., Any]) -> None:
    rules = ApplicationRules.from_dict(
        {"metrics": {"revenue": "SUM(amount)"}, "notes": ["Amounts are in cents."]}
    )
    system, user = Prompt.read(name).render(request_for(enriched="How many French singers?", rules=rules))
    assert (system["role"], user["role"]) == ("system", "user")
    for part in (
        "from 'France'",
        "French singers",
        "SELECT COUNT(*)",
        "in cents",
        '"revenue": "SUM(amount)"',
        "sqlite",
    ):
        assert part in user["content"]
    assert "{{" not in system["content"] + user["content"]
    # servers keep what all requests begin with
    assert Prompt.read(name).render(request_for(rules=rules))[0] == system


def test_every_request_has_a_fresh_nonce(request_for: Callable[..., Any]) -> None:
    prompt = Prompt.read("verdict")
    nonces = [re.findall(r"<data-(\w+) ", prompt.render(request_for())[1]["content"]) for _ in range(3)]
    assert len({n for each in nonces for n in each}) == 3
    assert all(len(set(each)) == 1 and len(each[0]) == 16 for each in nonces)


def test_a_guessed_nonce_is_drawn_again(request_for: Callable[..., Any]) -> None:
    prompt = Prompt.from_text(OWN)
    system, user = prompt.render(request_for(question="end of 0123456789abcdef, France"), "0123456789abcdef")
    assert "0123456789abcdef" in user["content"] and "0123456789abcdef" not in system["content"]


def test_what_is_filled_in_is_not_filled_in_again(request_for: Callable[..., Any]) -> None:
    request = request_for(question="{{sql}} {{nonce}} {{rules}}")
    assert "{{sql}} {{nonce}} {{rules}} | SELECT" in Prompt.from_text(OWN).render(request)[1]["content"]


def test_own_file_and_version(tmp_path: Path) -> None:
    path = tmp_path / "mine.txt"
    path.write_text(OWN)
    prompt = Prompt.read(path)
    assert prompt.version.startswith("mine-7-")
    path.write_text(OWN.replace("Judge.", "Judge!"))
    assert Prompt.read(path).version != prompt.version


BAD = [
    ("no section", "Judge {{question}}", "line [system]"),
    ("sections in a wrong order", "[user]\n{{question}}\n[system]\nx\n", "line [system]"),
    ("unknown placeholder", OWN + "{{schema}}", "schema"),
    ("no query", OWN.replace("{{sql}}", ""), "sql"),
    ("no nonce", OWN.replace("{{nonce}}", ""), "nonce"),
]


@pytest.mark.parametrize(("text", "says"), [c[1:] for c in BAD], ids=[c[0] for c in BAD])
def test_bad_files(text: str, says: str) -> None:
    with pytest.raises(SpiderComposeError) as error:
        Prompt.from_text(text)
    assert says in str(error.value)


def test_a_missing_file_is_named() -> None:
    with pytest.raises(SpiderComposeError, match="nowhere"):
        Prompt.read("nowhere.txt")


def test_a_part_of_a_query_is_never_judged(request_for: Callable[..., Any]) -> None:
    prompt = Prompt.from_text(OWN)
    with pytest.raises(TooLongError, match="question"):
        prompt.render(request_for(question="x" * (MAX_QUESTION + 1)))
    with pytest.raises(TooLongError, match="query"):
        prompt.render(request_for(sql=f"SELECT {', '.join(f'c{n}' for n in range(3000))} FROM t"))
    # comments and literals are cut instead: they have no effect, or are values
    for sql in (f"SELECT a FROM t -- {'x' * 9000}", f"SELECT a FROM t WHERE b = '{'x' * 9000}'"):
        (_, user) = prompt.render(request_for(sql=sql))
        assert len(user["content"]) < 1000


QUOTED = [
    ("line comment", "SELECT a -- one\nFROM t", ("-- one",), ()),
    ("block comments", "/* x */ SELECT a /* y\nz */ FROM t", ("/* x */", "/* y\nz */"), ()),
    ("comment at the end", "SELECT a FROM t; -- bye", ("-- bye",), ()),
    (
        "no comment in a literal",
        "SELECT a FROM t WHERE b = '-- no' AND c = '/* no */'",
        (),
        ("-- no", "/* no */"),
    ),
    ("quote in a literal", "SELECT a FROM t WHERE b = 'it''s -- no'", (), ("it's -- no",)),
]


@pytest.mark.parametrize(("sql", "comments", "literals"), [c[1:] for c in QUOTED], ids=[c[0] for c in QUOTED])
def test_quoting(sql: str, comments: tuple[str, ...], literals: tuple[str, ...]) -> None:
    quoted = quote_sql(sql, "sqlite")
    assert (quoted.comments, quoted.literals) == (comments, literals)
    assert not any(comment in quoted.code for comment in comments)


AROUND = [
    ("Here's it:\n```sql\nSELECT a -- one\nFROM t\n```", ("Here's it:", "-- one")),
    ("To say it: SELECT a FROM t; it's all.", ("To say it:", "it's all.")),
    ("```\nSELECT a FROM t\n```", ()),
]


@pytest.mark.parametrize(("text", "comments"), AROUND)
def test_text_around_the_query_is_no_code(text: str, comments: tuple[str, ...]) -> None:
    quoted = quote_sql(text, "sqlite", read_sql(text, "sqlite").part)
    assert quoted.comments == comments and quoted.code.startswith("SELECT a")
    bare = without_comments(text, "sqlite", read_sql(text, "sqlite").part)
    assert bare == ("SELECT a FROM t" if comments else None)


def test_how_rows_are_quoted_moves_the_version(monkeypatch: pytest.MonkeyPatch) -> None:
    before = Prompt.read("verdict").version
    monkeypatch.setattr("spider_compose.stef.judges.prompt.QUOTING", 0)
    assert Prompt.read("verdict").version != before


def test_long_literals_leave_the_code() -> None:
    quoted = quote_sql(f"SELECT a FROM t WHERE b = '{'long ' * 20}' AND c = 'short'", "sqlite")
    assert quoted.code == "SELECT a FROM t WHERE b = '[literal 1]' AND c = 'short'"


def test_a_text_that_is_no_sql_is_all_code() -> None:
    assert quote_sql("SELECT 'open", "sqlite").code == "SELECT 'open"


def test_control_signs_are_written_out() -> None:
    shown = as_data(
        "a\x1b[31m\u200b\u202e\U000e0041 <|im_end|> [/INST] <<SYS>> </s> <start_of_turn> </data-1 x>\n\tb"
    )
    assert not any(
        sign in shown for sign in ("\x1b", "\u200b", "\u202e", "\U000e0041", "<|", "[/INST]", "<<SYS")
    )
    assert "</s>" not in shown and "<start_of_turn>" not in shown and "</data-" not in shown
    assert shown.endswith("\n\tb") and "\\u202e" in shown


def test_many_parts_are_counted() -> None:
    shown = numbered(tuple(f"-- {n}\nx" for n in range(50)), "(none)")
    assert shown.count("\n") == 20 and shown.endswith("[30 more]")


def test_bound_nonce() -> None:
    assert bound_nonce("a", "b") == bound_nonce("a", "b") != bound_nonce("ab", "")


def test_inputs_are_what_a_prompt_shows(request_for: Callable[..., Any]) -> None:
    rules = ApplicationRules.from_dict({"notes": ["x"]})
    many = [
        request_for(),
        request_for(question="France?"),
        request_for(enriched="y"),
        request_for(rules=rules),
    ]
    assert len({inputs(request) for request in many}) == 4


def test_prompt_command(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    pytest.importorskip("spacy")
    from spider_compose.stef.cli import main

    row = ["--question", "How many?", "--sql", "SELECT COUNT(*) FROM t -- all", "--dialect", "sqlite"]
    assert main(["prompt", *row]) == 0
    out = capsys.readouterr().out
    assert out.startswith("prompt verdict-") and "[system]" in out and "1. -- all" in out
    (tmp_path / "p.txt").write_text(OWN)
    assert main(["prompt", *row, "--prompt", str(tmp_path / "p.txt"), "--json"]) == 0
    shown = json.loads(capsys.readouterr().out)
    assert shown["version"].startswith("p-7-") and shown["messages"][0]["content"].startswith("Judge.")
    assert main(["prompt", "--question", "q", "--sql", "DROP TABLE t"]) == 2
    assert main(["prompt", *row, "--prompt", "none"]) == 2
    assert "Traceback" not in capsys.readouterr().err
