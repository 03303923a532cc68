"""Judges from names, documents and options of the command line; what the command prints of them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("huggingface_hub")

from spider_compose.errors import SpiderComposeError
from spider_compose.stef.judges.budget import Budget
from spider_compose.stef.judges.configuration import Shared, make_judge, read_document
from spider_compose.stef.judges.rules import RulesJudge

HUB = {"judge": "hub", "base_url": "http://localhost:1/v1", "model": "m"}

GOOD = [
    ({"judge": "rules"}, "rules-"),
    (HUB, "hub-m-verdict-1-"),
    ({**HUB, "answer": "label", "backoff": {"first": 2.0}, "prompt": "label"}, "hub-m-label-1-"),
    ({"judge": "transformers", "model": "org/m", "batch_size": 2}, "transformers-org/m-label-1-"),
    ({"judge": "vote", "of": HUB, "samples": 3}, "vote(hub-m"),
    ({"judge": "vote", "judges": [HUB, {"judge": "rules"}]}, "vote(hub-m"),
    ({"judge": "cascade", "then": HUB, "threshold": 0.7, "most": 10}, "cascade(0.7,most=10,rules-"),
]

BAD = [
    ({"judge": "hubb"}, "Did you mean 'hub'"),
    ({**HUB, "modle": "m"}, "Did you mean 'model'"),
    ({**HUB, "api_key": "sk-1"}, "environment"),
    ({**HUB, "sample": 1}, "sample"),
    ({**HUB, "concurrency": "many"}, "wrong type"),
    ({**HUB, "calibration": "none.json"}, "none.json"),
    ({"judge": "hub"}, "model"),
    ({"judge": "transformers"}, "model"),
    ({"judge": "vote"}, "a list"),
    ({"judge": "vote", "of": {"judge": "rules"}}, "sample from"),
    ({"judge": "cascade"}, "then"),
    ({"judge": "rules", "model": "m"}, "model"),
]


def made(document: dict[str, Any]) -> Any:
    return make_judge(document, Shared(RulesJudge(), Budget()))


@pytest.mark.parametrize(("document", "signature"), GOOD, ids=[s for _, s in GOOD])
def test_documents(document: dict[str, Any], signature: str) -> None:
    assert made(document).signature.startswith(signature)


@pytest.mark.parametrize(("document", "says"), BAD, ids=[s for _, s in BAD])
def test_bad_documents(document: dict[str, Any], says: str) -> None:
    with pytest.raises(SpiderComposeError) as error:
        made(document)
    assert says in str(error.value) and "sk-1" not in str(error.value)


def test_documents_of_files(tmp_path: Path) -> None:
    path = tmp_path / "j.json"
    path.write_text(json.dumps(HUB))
    assert read_document(path) == HUB
    for text in ("[1]", "{"):
        path.write_text(text)
        with pytest.raises(SpiderComposeError, match=r"j\.json"):
            read_document(path)


ROWS = [
    {
        "question": f"How many singers from 'France' are older than {n}?",
        "sql": f"SELECT COUNT(*) FROM singer WHERE country = 'France'{f' AND age > {n}' if n % 2 else ''}",
        "correct": bool(n % 2),
        "db_id": str(n % 3),
    }
    for n in range(12)
]


@pytest.fixture
def queries(tmp_path: Path) -> Path:
    path = tmp_path / "q.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in ROWS))
    return path


def test_score_by_a_model(
    server: Any, queries: Path, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    pytest.importorskip("spacy")
    from spider_compose.stef.cli import main

    arguments = [
        "score", str(queries), "--judge", "hub", "--judge-url", server.url, "--judge-model", "m",
        "--dialect", "sqlite", "--judge-cache", str(tmp_path / "a.sqlite"), "--prices", "1", "2",
    ]  # fmt: skip
    assert main(arguments) == 0
    out, err = capsys.readouterr()
    found = [json.loads(line) for line in out.splitlines()]
    report = json.loads(err[err.index("{") :])
    assert [row["judge_conflict"] != "" for row in found] == [n % 2 == 0 for n in range(12)]
    assert all(row["score"] == 90 or row["score"] == 100 for row in found[1::2])
    assert all(row["score"] < 75 and row["score_without_judge"] is not None for row in found[::2])
    assert found[1]["judge_reason"] == "it fits"
    assert (
        report["judge"]["requests"] == 12 and report["judge"]["cost"] > 0 and report["judge_conflicts"] == 6
    )
    assert "judge:hub-m-verdict-1-" in report["signature"]
    assert main(arguments) == 0
    again, err = capsys.readouterr()
    assert again == out and json.loads(err[err.index("{") :])["judge"]["requests"] == 0


def test_calibrate_prints_the_table_and_writes_what_score_takes(
    server: Any, queries: Path, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    pytest.importorskip("spacy")
    from spider_compose.stef.cli import main

    # right of every third row, and always sure of it
    def script(body: dict[str, Any], number: int) -> Any:
        good = " AND age" in body["messages"][1]["content"] or number % 3 == 0
        return server.verdict("correct" if good else "incorrect", 0.99)

    server.script = script
    output = tmp_path / "c.json"
    judge = [
        "--judge",
        "hub",
        "--judge-url",
        server.url,
        "--judge-model",
        "m",
        "--dialect",
        "sqlite",
        "--no-progress",
    ]
    assert main(["calibrate", str(queries), *judge, "--method", "temperature", "--output", str(output)]) == 0
    out = capsys.readouterr().out
    assert (
        "| judge | auroc | kappa | balanced |" in out
        and "| rules |" in out
        and "| judge, temperature |" in out
        and "| model alone |" in out
    )
    assert json.loads(output.read_text())["judge"].startswith("hub-m-verdict-1-")
    assert main(["score", str(queries), *judge, "--calibration", str(output)]) == 0
    out, err = capsys.readouterr()
    assert "-calibrated-" in err and all(0 < json.loads(line)["p_correct"] < 1 for line in out.splitlines())
    other = [*judge[:5], "another", *judge[6:]]
    assert main(["score", str(queries), *other, "--calibration", str(output)]) == 2
    assert "was fitted for hub-m" in capsys.readouterr().err
    assert main(["calibrate", str(queries), "--output", str(output)]) == 2  # the rules are fitted


def test_a_key_in_a_document_is_refused(
    queries: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    from spider_compose.stef.cli import main

    path = tmp_path / "j.json"
    path.write_text(json.dumps({**HUB, "token": "sk-2"}))
    assert main(["score", str(queries), "--judge", str(path)]) == 2
    err = capsys.readouterr().err
    assert "environment" in err and "sk-2" not in err


def test_progress_tells_rows_and_cost_now_and_then(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    from spider_compose.stef.cli import judge_options
    from spider_compose.stef.judges.budget import Prices

    times = iter([0.0, 1.0, 2.0, judge_options.EVERY, judge_options.EVERY, judge_options.EVERY + 1])
    monkeypatch.setattr(judge_options.time, "monotonic", lambda: next(times))
    progress, budget = judge_options.Progress(), Budget(prices=Prices(10.0, 0.0))
    budget.take(100)
    budget.settle(100, 200_000, 5)
    budget.count("answered")
    for _ in range(4):
        progress(budget)
    (line,) = capsys.readouterr().err.splitlines()
    assert "1 answered" in line and "1 requests" in line and "cost 2.00" in line


# What moves a verdict or its probability, by judge: each is seen in the signature.
LOCAL = {"judge": "transformers", "model": "org/m"}
CASCADE = {"judge": "cascade", "then": HUB}
MOVES = [
    (HUB, [{"model": "n"}, {"temperature": 0.1}, {"temperature": None}, {"seed": 1}, {"max_tokens": 9},
           {"structured": False}, {"answer": "label"}, {"extra": {"a": {"b": 1}}}, {"extra": {"a": {"b": 2}}},
           {"provider": "x"}, {"prompt": "OWN"}, {"calibration": "MAP"}]),
    (LOCAL, [{"model": "org/n"}, {"revision": "1"}, {"gguf_file": "f"}, {"dtype": "float32"},
             {"prompt": "OWN"}]),
    (CASCADE, [{"threshold": 0.8}, {"most": 5}, {"then": {**HUB, "model": "n"}}]),
    ({"judge": "vote", "of": HUB}, [{"samples": 4}, {"temperature": 0.5}, {"of": {**HUB, "seed": 1}}]),
]  # fmt: skip
STAYS = [
    (HUB, [{"concurrency": 3}, {"timeout": 9.0}, {"retries": 1}, {"reasks": 1}, {"backoff": {"first": 2.0}},
           {"temperature": 0}, {"key_variable": "MY_KEY"}, {"base_url": "http://localhost:2/v1"}]),
    (LOCAL, [{"batch_size": 1}, {"max_length": 99}, {"device": "cuda:0"}]),
]  # fmt: skip


@pytest.mark.parametrize(
    ("document", "changes", "moves"),
    [(d, c, True) for d, c in MOVES] + [(d, c, False) for d, c in STAYS],
    ids=[f"{d['judge']} moves" for d, _ in MOVES] + [f"{d['judge']} stays" for d, _ in STAYS],
)
def test_signature(document: Any, changes: list[Any], moves: bool, tmp_path: Path) -> None:
    from spider_compose.stef.judges.calibration import Calibration

    (tmp_path / "p.txt").write_text("[system]\nJudge.\n[user]\n{{nonce}} {{question}} {{sql}}")
    Calibration("temperature", ((1.0, 0.0),), made(HUB).identity).write(tmp_path / "c.json")
    files = {"OWN": str(tmp_path / "p.txt"), "MAP": str(tmp_path / "c.json")}
    changed = [{k: files.get(v, v) if isinstance(v, str) else v for k, v in c.items()} for c in changes]
    signatures = [made({**document, **change}).signature for change in ({}, *changed)]
    assert len(set(signatures)) == (len(signatures) if moves else 1)


def test_the_rules_a_model_is_held_against_are_in_its_signature() -> None:
    judges = [
        make_judge(HUB, Shared(RulesJudge(disabled=off), Budget()))
        for off in (frozenset(), frozenset({"limit_missing"}))
    ]
    assert judges[0].signature != judges[1].signature
