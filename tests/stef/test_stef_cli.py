"""The command line of the score: files in three formats, explanations, rules, fitting, errors."""

from __future__ import annotations

import argparse
import csv
import datetime
import io
import json
import os
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest

from spider_compose.errors import SpiderComposeError
from spider_compose.stef.cli import main
from spider_compose.stef.cli.rows import read_rows

pytest.importorskip("spacy")

REPOSITORY = Path(__file__).resolve().parents[2]
ROWS = [
    {
        "question": "How many singers are from 'France'?",
        "sql": "SELECT COUNT(*) FROM singer WHERE country = 'France'",
    },
    {"question": "List the names of all songs.", "sql": "SELECT * FROM song", "enriched_question": None},
    {"question": "List the names of all songs.", "sql": ""},
]


@pytest.fixture
def queries(tmp_path: Path) -> Path:
    path = tmp_path / "queries.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in ROWS))
    return path


def lines(text: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in text.splitlines()]


def test_score_jsonl(queries: Path, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    assert main(["score", str(queries), "--dialect", "sqlite", "--summary", str(tmp_path / "s.json")]) == 0
    out, err = capsys.readouterr()
    found = lines(out)
    assert [row["row"] for row in found] == [0, 1, 2]
    assert found[0]["score"] == 100.0 and found[1]["score"] < 100 and found[2]["unscored"] == "no_sql"
    report = json.loads((tmp_path / "s.json").read_text())
    assert report == json.loads(err)
    assert (report["rows"], report["scored"], report["unscored"]) == (3, 2, {"no_sql": 1})
    assert "dialect:sqlite" in report["signature"]


def test_formats_and_column_names_agree(
    queries: Path, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    with (tmp_path / "q.csv").open("w", newline="") as file:
        table = csv.writer(file)
        table.writerow(["utterance", "query"])
        table.writerows([row["question"], row["sql"]] for row in ROWS)
    pyarrow = pytest.importorskip("pyarrow")
    pq = pytest.importorskip("pyarrow.parquet")
    pq.write_table(
        pyarrow.Table.from_pylist([{"utterance": r["question"], "query": r["sql"]} for r in ROWS]),
        tmp_path / "q.parquet",
    )
    assert main(["score", str(queries), "--brief"]) == 0
    expected = lines(capsys.readouterr().out)
    for name in ("q.csv", "q.parquet"):
        assert (
            main(
                [
                    "score",
                    str(tmp_path / name),
                    "--brief",
                    "--question-column",
                    "utterance",
                    "--sql-column",
                    "query",
                ]
            )
            == 0
        )
        assert lines(capsys.readouterr().out) == expected


def test_bad_lines_are_counted_and_the_rest_goes_on(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "q.jsonl"
    path.write_text(json.dumps(ROWS[0]) + "\n{broken\n[1]\n\n" + json.dumps(ROWS[0]) + "\n")
    assert main(["score", str(path)]) == 0
    out, err = capsys.readouterr()
    assert [row["unscored"] for row in lines(out)] == [None, "no_question", "no_question", None]
    assert "line 2" in err


def test_odd_files_are_read(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "q.jsonl"
    odd = [ROWS[0], {**ROWS[0], "dialect": "\ud800"}, {**ROWS[0], "row": "\ud800"}]
    path.write_text("\ufeff" + "".join(json.dumps(row) + "\n" for row in odd), encoding="utf-8")
    output = tmp_path / "scores.jsonl"
    assert main(["score", str(path), "--output", str(output)]) == 0
    found = lines(output.read_text(encoding="utf-8"))
    assert [row["unscored"] for row in found] == [None, "unknown_dialect", None]
    assert found[2]["row"] == "\ud800"


def test_row_numbers_of_parquet_may_be_of_any_type(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pyarrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    path = tmp_path / "q.parquet"
    columns = {name: [ROWS[0][name], None] for name in ("question", "sql")}
    parquet.write_table(pyarrow.table({**columns, "row": [datetime.date(2020, 1, 1)] * 2}), path)
    assert main(["score", str(path)]) == 0
    assert [row["row"] for row in lines(capsys.readouterr().out)] == ["2020-01-01"] * 2


@pytest.mark.parametrize("command", ["score", "explain"])
def test_a_terminal_without_the_letters_gets_escapes(
    command: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    row = {"question": "Which songs are 'Été'?", "sql": "SELECT 'é' FROM song \udcff"}
    path = tmp_path / "q.jsonl"
    path.write_text(json.dumps(row) + "\n")
    page = ["--html", str(tmp_path / "page.html")]
    explain = ["explain", "--question", row["question"], "--sql", row["sql"], *page]
    stdout = io.TextIOWrapper(io.BytesIO(), encoding="ascii")
    monkeypatch.setattr(sys, "stdout", stdout)
    assert main(["score", str(path)] if command == "score" else explain) == 0
    assert b"Phi" in stdout.buffer.getvalue() or lines(stdout.buffer.getvalue().decode())  # type: ignore[attr-defined]


ERRORS = [
    (["score", "none.jsonl"], "none.jsonl"),
    (["score", "{queries}", "--sql-column", "sq"], "Did you mean 'sql'"),
    (["score", "{queries}", "--judge", "rulez"], "Did you mean 'rules'"),
    (["score", "{queries}", "--dialect", "postgre"], "postgre"),
    (["score", "{queries}", "--rules", "none.json"], "none.json"),
    (["score", "{queries}", "--weights", "{queries}"], "weights"),
    (["fit", "{queries}", "--output", "w.json"], "correct"),
    (["score", "{queries}", "--output", "{queries}"], "write over the queries"),
    (["score", "{queries}", "--summary", "{queries}"], "write over the queries"),
    (["score", "{queries}", "--output", "none/x.jsonl"], "none/x.jsonl"),
    (["explain", "--question", "q", "--sql", "SELECT 1", "--html", "none/x.html"], "none/x.html"),
]


@pytest.mark.parametrize(("arguments", "says"), ERRORS, ids=[" ".join(a) for a, _ in ERRORS])
def test_errors_end_with_two_and_no_traceback(
    arguments: list[str], says: str, queries: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = queries.read_bytes()
    assert main([a.format(queries=queries) for a in arguments]) == 2
    assert queries.read_bytes() == before
    out, err = capsys.readouterr()
    assert says in err and "Traceback" not in err and out == ""


def test_explain_in_text_json_and_html(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    arguments = [
        "explain", "--question", "How many <b> are from 'France'?", "--html", str(page),
        "--enriched-question", "How many are there?",
        "--sql", "SELECT name FROM singer WHERE country = 'Spain' GROUP BY country LIMIT 2000",
    ]  # fmt: skip
    assert main(arguments) == 0
    text = capsys.readouterr().out
    for part in (
        "Phi",
        "Question",
        "SQL",
        "Alignment",
        "Lost points",
        "benign_group_by",
        "safety_limit",
        "lost: literal",
    ):
        assert part in text
    html = page.read_text()
    assert html.startswith("<!doctype html>") and "<mark" in html and "<script" not in html
    assert main([*arguments, "--json"]) == 0
    values = json.loads(capsys.readouterr().out)
    assert set(values) == {"result", "question", "sql", "alignment", "signature"}
    assert main(["explain", "--question", "q & <i>", "--sql", "no <i>sql</i>", "--html", str(page)]) == 0
    assert "unscored" in capsys.readouterr().out
    assert "&lt;i&gt;" in page.read_text() and "<i>" not in page.read_text()


def test_validate_rules(queries: Path, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    rules = tmp_path / "rules.json"
    rules.write_text(json.dumps({"column_mappings": {"singers": ["country"], "planets": ["x"]}}))
    assert main(["validate-rules", str(rules), "--queries", str(queries)]) == 0
    out, err = capsys.readouterr()
    report = json.loads(out)
    assert report["never_fired"] == ["$.column_mappings['planets']"] and "planets" in err
    rules.write_text(json.dumps({"disabled_rules": ["safety_limits"]}))
    assert main(["validate-rules", str(rules)]) == 2
    assert "Did you mean 'safety_limit'" in capsys.readouterr().err


def test_fit_writes_weights_that_score_takes(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, queries: Path
) -> None:
    labelled = tmp_path / "labelled.jsonl"
    rows = [{**ROWS[n % 2], "correct": n % 2 == 0} for n in range(40)]
    labelled.write_text("".join(json.dumps(row) + "\n" for row in rows))
    output = tmp_path / "w.json"
    assert main(["fit", str(labelled), "--output", str(output)]) == 0
    first = output.read_text()
    assert main(["fit", str(labelled), "--output", str(output)]) == 0
    assert output.read_text() == first
    assert json.loads(first)["fitted_on"]["rows"] == 40
    capsys.readouterr()
    assert main(["score", str(queries), "--weights", str(output)]) == 0
    assert "rules-" in capsys.readouterr().err


def test_help_needs_no_heavy_module() -> None:
    code = (
        "import sys\nfrom spider_compose.stef.cli import parser\nparser().format_help()\n"
        "heavy = {'spacy', 'sqlglot', 'numpy', 'pyarrow', 'evaluate'} & set(sys.modules)\n"
        "assert not heavy, heavy"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_importing_the_score_loads_no_torch_and_no_spacy() -> None:
    code = (
        "import sys\nimport spider_compose.stef.score\n"
        "heavy = {'torch', 'spacy', 'datasets', 'evaluate', 'numpy'} & set(sys.modules)\n"
        "assert not heavy, heavy"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_install_metric(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["install-metric", "--cache", str(tmp_path)]) == 0
    out, err = capsys.readouterr()
    written = Path(out.removesuffix("\n"))
    assert f'with HF_MODULES_CACHE={tmp_path} evaluate.load("stef")' in err
    assert written.is_file() and len(written.parent.name) == 64
    # the place where `evaluate` looks for the metric named "stef"
    place = written.parents[1].relative_to(tmp_path).as_posix()
    assert place == "evaluate_modules/metrics/evaluate-metric--stef"
    folders = [written.parent, *written.parent.parents][:4]
    assert all((folder / "__init__.py").is_file() for folder in folders)


@pytest.mark.parametrize("there", [True, False])
def test_install_metric_says_what_is_missing(
    there: bool, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HF_MODULES_CACHE", str(tmp_path))
    monkeypatch.setattr(
        "spider_compose.stef.cli.install_metric.find_spec", lambda name: object() if there else None
    )
    assert main(["install-metric"]) == 0
    out, err = capsys.readouterr()
    assert Path(out.removesuffix("\n")).is_file() and 'in Python, evaluate.load("stef")' in err
    assert ("pip install 'spider-compose[metric]'" in err) is not there


@pytest.mark.parametrize(
    ("row", "options", "says"),
    [
        (
            {"nl": "q", "query": "s"},
            [],
            r"column 'question', .* ['nl', 'query'].* add `--question-column NAME`",
        ),
        ({"question": "q", "query": "s"}, [], "column 'sql', .* add `--sql-column NAME`"),
        ({"nl_question": "q", "sql": "s"}, [], "Did you mean 'nl_question'?"),
        (
            {"question": "q", "sql": "s"},
            ["--dialect-column", "d"],
            "column 'd', .* add `--dialect-column NAME`",
        ),
    ],
    ids=["none", "sql", "near", "named"],
)
def test_a_file_with_other_columns(
    row: dict[str, str], options: list[str], says: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "q.jsonl").write_text(json.dumps(row) + "\n")
    assert main(["score", str(tmp_path / "q.jsonl"), *options]) == 2
    said = capsys.readouterr().err
    assert all(part in said for part in (str(tmp_path / "q.jsonl"), *says.split(".*"))), said


def test_a_pipe_is_a_file_of_queries(queries: Path, tmp_path: Path) -> None:
    """As `<(zcat ...)` of a shell."""
    os.mkfifo(tmp_path / "pipe")
    content = queries.read_bytes()
    threading.Thread(target=(tmp_path / "pipe").write_bytes, args=(content,), daemon=True).start()
    names = ("question", "enriched_question", "sql", "dialect")
    options = argparse.Namespace(format="jsonl", **{f"{name}_column": name for name in names})
    assert [row["sql"] for row in read_rows(options, tmp_path / "pipe")] == [row["sql"] for row in ROWS]
    with pytest.raises(SpiderComposeError, match="there is none"):
        next(read_rows(options, tmp_path))


def test_an_error_does_not_steer_the_terminal(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["score", str(tmp_path / "\x1b[2Jno.jsonl")]) == 2
    assert "\x1b" not in capsys.readouterr().err


@pytest.mark.parametrize(
    ("streams", "code", "says"),
    [(">&- 2>&- <&-", 0, ""), ("> /dev/full", 2, "stef: cannot read or write: No space left on device\n")],
    ids=["closed", "full disk"],
)
def test_streams_that_take_nothing(streams: str, code: int, says: str, tmp_path: Path) -> None:
    if "full" in streams and not Path("/dev/full").exists():
        pytest.skip("there is no /dev/full")
    line = f"exec {sys.executable} -m spider_compose.stef install-metric --cache . {streams}"
    environment = {**os.environ, "PYTHONPATH": str(REPOSITORY)}
    done = subprocess.run(["sh", "-c", line], env=environment, cwd=tmp_path, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (code, says)


def test_version(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["--version"])
    assert ended.value.code == 0 and capsys.readouterr().out.startswith("stef ")


def test_an_output_survives_bad_input(tmp_path: Path) -> None:
    output = tmp_path / "scores.jsonl"
    output.write_text("precious")
    for name, text in (("no.jsonl", None), ("bad.jsonl", '{"a": 1}\n')):
        if text is not None:
            (tmp_path / name).write_text(text)
        assert main(["score", str(tmp_path / name), "--output", str(output)]) == 2
        assert output.read_text() == "precious"
    assert not list(tmp_path.glob("*.part"))


def test_explain_names_a_missing_filter(capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["--question", "How many singers are from France?", "--sql", "SELECT count(*) FROM singer"]
    assert main(["explain", *arguments]) == 0
    out = capsys.readouterr().out
    assert "Phi 100" not in out and "name_unapplied" in out and "'France'" in out
