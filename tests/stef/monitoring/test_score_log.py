"""Runs over a log: what is written, what is passed over, kills, full disks, several processes."""

from __future__ import annotations

import errno
import json
import multiprocessing
import os
import random
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("pyarrow")

import pyarrow.parquet

from spider_compose.errors import OptionError, OutputError, SpiderComposeError
from spider_compose.stef.cli import main
from spider_compose.stef.monitoring.log import Columns, Log
from spider_compose.stef.monitoring.run import score_log
from spider_compose.stef.monitoring.scored import describe, parts, read_scores
from spider_compose.stef.monitoring.store import ScoreStore, open_store
from spider_compose.stef.score import PassedOver, Result

DAYS = 5


class Scorer:
    """Scores a row by the length of its SQL, and keeps what it was asked; no spaCy."""

    judge = "rules"

    def __init__(self, signature: str = "test", unscored: str | None = None, seconds: float = 0.0) -> None:
        self.signature = signature
        self.unscored = unscored
        self.seconds = seconds
        self.asked: list[str] = []
        self.batches: list[int] = []

    def score_batches(self, batches: Iterable[Sequence[Mapping[str, Any]]]) -> Iterator[Result]:
        """As `score.Scorer`."""
        for batch in batches:
            self.batches.append(len(batch))
            for row in batch:
                if isinstance(row, PassedOver):
                    yield Result()
                    continue
                self.asked.append(str(row.get("sql")))
                time.sleep(self.seconds)
                if self.unscored or not row.get("sql"):
                    yield Result(unscored=self.unscored or "no_sql", message="none")
                else:
                    yield Result(score=float(len(row["sql"])), band="poor", dialect="sqlite")


def rows(count: int) -> list[dict[str, Any]]:
    """Rows over `DAYS` days, in no order, of two agents."""
    return [
        {
            "id": f"q{n}",
            "agent": "AB"[n % 2],
            "time": f"2026-07-0{1 + n * 7 % DAYS}T10:{n % 60:02}:00Z",
            "question": f"How many of {n}?",
            "sql": f"SELECT {n}",
        }
        for n in range(count)
    ]


def write(path: Path, found: list[Any]) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in found), encoding="utf-8")
    return path


def run(log: Path | str, out: Path, scorer: Any = None, **options: Any) -> ScoreStore:
    scorer, read = scorer or Scorer(), Log(str(log))
    with open_store(out, scorer.signature, "digest", Columns(), **options) as store:
        score_log(read, scorer, store)
    return store


def content(out: Path) -> bytes:
    """All that a folder says, sorted, as bytes; and every row stands there once."""
    table = read_scores(out)
    assert sum(pyarrow.parquet.ParquetFile(p).metadata.num_rows for p in parts(out)) == table.num_rows
    return json.dumps(table.to_pylist(), default=str).encode()


def test_rows_go_to_their_days(tmp_path: Path) -> None:
    log = write(tmp_path / "log.jsonl", [*rows(20), {"question": "q", "sql": "", "id": "late"}])
    store = run(log, tmp_path / "out")
    days = sorted(path.parent.name for path in parts(tmp_path / "out"))
    assert days == [*(f"day=2026-07-0{n}" for n in range(1, DAYS + 1)), "day=unknown"]
    table = read_scores(tmp_path / "out")
    assert table.num_rows == store.written == 21 and table["origin"][-1].as_py() == "log.jsonl:21"
    told = describe(tmp_path / "out")["signatures"]["test"]
    assert (told["rows"], told["scored"], told["unscored"]) == (21, 20, {"no_sql": 1})
    assert {path.name for path in (tmp_path / "out").iterdir()} == {"scores", "stef.json", "stef.lock"}


def test_a_second_run_does_only_what_is_new(tmp_path: Path) -> None:
    out = tmp_path / "out"
    run(write(tmp_path / "log.jsonl", rows(300)), out)
    before = {path: path.read_bytes() for path in parts(out)}
    scorer = Scorer()
    store = run(write(tmp_path / "log.jsonl", rows(310)), out, scorer)
    assert (store.written, store.passed_over) == (10, 300)
    assert scorer.asked == [f"SELECT {n}" for n in range(300, 310)]
    assert scorer.batches == [54], (
        "the batch that is there whole is passed over, the other is read as it stands"
    )
    assert {path: path.read_bytes() for path in before} == before, "parts are never written again"
    run(write(tmp_path / "log.jsonl", rows(310)), tmp_path / "once")
    assert content(out) == content(tmp_path / "once")


def test_duplicates_are_counted_and_the_first_stays(tmp_path: Path) -> None:
    first, second = rows(2)
    bare = {name: first[name] for name in ("question", "sql", "time")}
    log = [first, second, first, {**first, "sql": "other"}, {**first, "agent": "C"}, bare, bare]
    store = run(write(tmp_path / "log.jsonl", log), tmp_path / "out")
    assert (store.written, store.passed_over, store.conflicting) == (4, 2, ["log.jsonl:4"])
    assert "other" not in read_scores(tmp_path / "out")["sql"].to_pylist()
    again = run(tmp_path / "log.jsonl", tmp_path / "out")
    assert (again.written, again.passed_over, again.conflicting) == (0, 6, ["log.jsonl:4"])


def test_a_row_that_cannot_be_read_is_there_once(tmp_path: Path) -> None:
    (tmp_path / "log.jsonl").write_text('{"question": "q", "sql": "s"}\n{cut\n{cut\n"\\ud800"\n')
    assert run(tmp_path / "log.jsonl", tmp_path / "out").written == 4
    assert run(tmp_path / "log.jsonl", tmp_path / "out").passed_over == 4
    assert read_scores(tmp_path / "out")["unscored"].to_pylist().count("unreadable") == 3


@pytest.mark.parametrize(
    "row",
    [
        {"question": "\ud800", "sql": "\ud800", "agent": "\ud800", "id": "\ud800"},
        {"question": 5, "sql": {"a": [1]}, "agent": 7, "database": None, "time": True},
        {"question": None, "sql": None, "enriched_question": "", "dialect": 0.5},
    ],
    ids=["surrogates", "other types", "nothing"],
)
def test_odd_values_are_kept_as_text(row: dict[str, Any], tmp_path: Path) -> None:
    log = write(tmp_path / "log.jsonl", [row])
    assert run(log, tmp_path / "out", Scorer(unscored="bad_row")).written == 1
    assert run(log, tmp_path / "out", Scorer(unscored="bad_row")).passed_over == 1


def test_other_signatures_are_other_scores(tmp_path: Path) -> None:
    log, out = write(tmp_path / "log.jsonl", rows(3)), tmp_path / "out"
    assert run(log, out, Scorer("one")).written == run(log, out, Scorer("two")).written == 3
    assert sorted(describe(out)["signatures"]) == ["one", "two"] and read_scores(out).num_rows == 6


def test_a_second_signature_is_said_once(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    log, out = write(tmp_path / "log.jsonl", rows(3)), tmp_path / "out"
    for signature, said in (("one", 0), ("one", 0), ("two", 1), ("two", 0), ("one", 0), ("three", 1)):
        caplog.clear()
        run(log, out, Scorer(signature))
        assert len(caplog.messages) == said, signature
        assert all(signature in message and "--signature" in message for message in caplog.messages)


def test_retry_scores_again_what_had_no_verdict(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    log, out = write(tmp_path / "log.jsonl", rows(3)), tmp_path / "out"
    run(log, out, Scorer(unscored="no_verdict"))
    assert run(log, out).written == 0
    assert run(log, out, retry=["no_verdict"]).written == 3
    assert read_scores(out)["score"].null_count == 0 and read_scores(out).num_rows == 3
    assert run(log, out, retry=["no_verdict"]).written == 0


def test_what_has_its_score_keeps_it_when_a_run_stops(tmp_path: Path) -> None:
    class Stops(Scorer):
        def score_batches(self, batches: Iterable[Sequence[Mapping[str, Any]]]) -> Iterator[Result]:
            for number, result in enumerate(super().score_batches(batches)):
                if number == 300:
                    raise KeyboardInterrupt
                yield result

    log = write(tmp_path / "log.jsonl", rows(600))
    with pytest.raises(KeyboardInterrupt):
        run(log, tmp_path / "out", Stops())
    assert read_scores(tmp_path / "out").num_rows == 256
    assert run(log, tmp_path / "out").written == 344


def test_slow_rows_are_written_in_time(tmp_path: Path) -> None:
    log, seen = write(tmp_path / "log.jsonl", rows(4)), []
    scorer = Scorer()
    with open_store(tmp_path / "out", "test", "digest", Columns(), part_seconds=0.0) as store:
        score_log(Log(str(log)), scorer, store, progress=lambda store: seen.append(store.written))  # type: ignore[arg-type]
    assert seen == [1, 2, 3, 4]


def test_one_run_at_a_time(tmp_path: Path) -> None:
    with (
        open_store(tmp_path / "out", "test", "digest", Columns()),
        pytest.raises(OutputError, match="another run"),
        open_store(tmp_path / "out", "test", "digest", Columns()),
    ):
        pass


@pytest.mark.parametrize(
    ("made", "says"), [("notes.txt", "a new or empty folder"), ("stef.json", "expected the format")]
)
def test_folders_of_others_are_left_alone(made: str, says: str, tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / made).write_text('{"format": "something else"}')
    with pytest.raises(SpiderComposeError, match=says):
        run(write(tmp_path / "log.jsonl", rows(1)), tmp_path / "out")
    assert [path.name for path in (tmp_path / "out").iterdir()] == [made]


@pytest.mark.parametrize(
    ("fault", "says"), [(errno.EWOULDBLOCK, "another run"), (errno.ENOLCK, "cannot be locked")]
)
def test_a_lock_that_fails(fault: int, says: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A network drive without locks is no other run to wait for."""

    def flock(*_: Any) -> None:
        raise OSError(fault, os.strerror(fault))

    monkeypatch.setattr("fcntl.flock", flock)
    with (
        pytest.raises(OutputError, match=says) as caught,
        open_store(tmp_path / "out", "test", "digest", Columns()),
    ):
        pass
    assert "Errno" not in str(caught.value)


def test_a_part_of_others_is_one_error(tmp_path: Path) -> None:
    log, out = write(tmp_path / "log.jsonl", rows(3)), tmp_path / "out"
    run(log, out)
    table = pyarrow.table({"key": ["1"], "score": ["high"]})
    pyarrow.parquet.write_table(table, next(parts(out)).with_name("part-x.parquet"))
    for use in (lambda: run(log, out), lambda: read_scores(out, ["score"])):
        with pytest.raises(SpiderComposeError, match="delete"):
            use()


@pytest.mark.parametrize(
    "text", ["", "[]", "null", "[" * 100_000, '{"format": "stef scores 1", "signatures": []}',
             '{"format": "stef scores 1", "signatures": {"test": 5}}', '{"format": "stef scores 2"}'],
    ids=["empty", "list", "null", "deep", "signatures", "signature", "newer"],
)  # fmt: skip
def test_a_description_that_is_none_is_one_error(text: str, tmp_path: Path) -> None:
    log, out = write(tmp_path / "log.jsonl", rows(1)), tmp_path / "out"
    run(log, out)
    (out / "stef.json").write_text(text)
    for use in (lambda: run(log, out), lambda: read_scores(out)):
        with pytest.raises(SpiderComposeError, match=r"stef\.json"):
            use()
    assert (out / "stef.json").read_text() == text


def test_a_part_that_is_cut_can_be_done_again(tmp_path: Path) -> None:
    log, out = write(tmp_path / "log.jsonl", rows(20)), tmp_path / "out"
    run(log, out)
    whole = content(out)
    part = next(parts(out))
    part.write_bytes(part.read_bytes()[:700])
    for use in (lambda: run(log, out), lambda: read_scores(out)):
        with pytest.raises(SpiderComposeError, match=rf"{part.name}.* delete"):
            use()
    part.unlink()
    run(log, out)
    assert content(out) == whole


def test_scores_within_the_log_are_no_log(tmp_path: Path) -> None:
    folder = tmp_path / "log"
    folder.mkdir()
    write(folder / "a.jsonl", rows(20))
    out = folder / "scored"
    assert [run(folder, out).written, run(folder, out).written] == [20, 0]
    assert set(read_scores(out)["origin"].to_pylist()) == {f"a.jsonl:{n}" for n in range(1, 21)}


# A run with the scorer above, in a process of its own that can be killed or limited.
CHILD = """
import resource, sys
from pathlib import Path
sys.path.insert(0, {tests!r})
from test_score_log import Log, Scorer, open_store, score_log, Columns
limit = int(sys.argv[3])
scorer = Scorer(seconds=float(sys.argv[4]))
if limit:
    resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
with open_store(Path(sys.argv[2]), "test", "digest", Columns(), part_rows=64) as store:
    print("go", flush=True)
    score_log(Log(sys.argv[1]), scorer, store)
"""


def child(log: Path, out: Path, limit: int = 0, seconds: float = 0.0) -> subprocess.Popen[str]:
    command = CHILD.format(tests=str(Path(__file__).parent))
    return subprocess.Popen(
        [sys.executable, "-c", command, str(log), str(out), str(limit), str(seconds)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


@pytest.mark.slow
def test_killed_at_ten_random_moments(tmp_path: Path) -> None:
    """Kill -9, ten times over; then the run goes on and leaves what an undisturbed one leaves.

    Each run is killed after a random number of new parts, of none to all of a batch's, and a random while.
    """
    log, out = write(tmp_path / "log.jsonl", rows(6000)), tmp_path / "out"
    run(log, tmp_path / "undisturbed")
    draw = random.Random(7)
    for _ in range(10):
        process = child(log, out)
        assert process.stdout is not None and process.stdout.readline() == "go\n"
        enough = len(list(parts(out))) + draw.randrange(DAYS + 1)
        while len(list(parts(out))) < enough:
            assert process.poll() is None, "the kills must fall into the work"
            time.sleep(0.002)
        time.sleep(draw.uniform(0.0, 0.02))
        process.send_signal(signal.SIGKILL)
        process.communicate()
    assert 0 < read_scores(out).num_rows < 6000
    (out / "scores" / "day=2026-07-01" / ".part-0.parquet.new").write_bytes(b"half")  # as a kill leaves it
    run(log, out)
    assert content(out) == content(tmp_path / "undisturbed")
    assert describe(out) == describe(tmp_path / "undisturbed")
    assert not list(out.rglob("*.new"))


def test_a_full_disk_is_one_error_and_the_run_goes_on_later(tmp_path: Path) -> None:
    log, out = tmp_path / "log.jsonl", tmp_path / "out"
    run(write(log, rows(10)), out)
    big = [
        {**row, "question": os.urandom(8000).hex()} if n == 300 else row for n, row in enumerate(rows(400))
    ]
    write(log, big)
    process = child(log, out, limit=12_000)
    _, said = process.communicate()
    assert process.returncode == 1 and "OutputError" in said and "no room left" in said
    assert 10 < read_scores(out).num_rows < 400 and not list(out.rglob("*.new"))
    store = run(log, out)
    assert store.written + store.passed_over == 400
    run(log, tmp_path / "once")
    assert content(out) == content(tmp_path / "once")


@pytest.fixture(scope="module")
def real_log(tmp_path_factory: pytest.TempPathFactory) -> Path:
    pytest.importorskip("spacy")
    return write(tmp_path_factory.mktemp("log") / "log.jsonl", rows(280))


@pytest.mark.slow
def test_the_command(real_log: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """One process and two give the same, and so does a second run."""
    command = ["score", str(real_log), "--dialect", "sqlite", "--no-progress"]
    assert main([*command, "--out", str(tmp_path / "one")]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["this_run"]["scored_or_counted"] == told["all"]["rows"] == 280
    assert told["all"]["coverage"] == 1.0 and "dialect:sqlite" in told["signature"]
    assert main([*command, "--out", str(tmp_path / "two"), "--workers", "2"]) == 0
    assert content(tmp_path / "one") == content(tmp_path / "two")
    first = read_scores(tmp_path / "one").slice(0, 1).to_pylist()[0]
    assert first["score"] is not None and first["signature"] == told["signature"]
    capsys.readouterr()
    assert main([*command, "--out", str(tmp_path / "one")]) == 0
    assert json.loads(capsys.readouterr().out)["this_run"]["already_there"] == 280


@pytest.mark.parametrize(
    ("extra", "says"),
    [
        (["--workers", "2"], "`--workers` goes with `--out"),
        (["--agent", "A"], "`--agent` goes with `--out"),
        (["--out", "{out}", "--brief"], "`--brief`"),
        (["--out", "{out}", "--output", "x"], "`--output`"),
        (["--out", "{out}", "--workers", "0"], "`workers` must be at least 1"),
        (["--out", "{out}", "--timezone", "Mars"], "`timezone`"),
        (["--out", "{out}", "--retry", "no_verdit"], "Did you mean 'no_verdict'"),
        (["--out", "{out}", "--part-rows", "0"], "--part-rows"),
        (["--out", "{out}", "--summary", "{log}"], "write over the queries"),
        (["--out", "{out}", "--actors", "2"], "goes with `--ray`"),
        (["--out", "{out}", "--ray", "--workers", "2"], "does not go with `--ray`"),
        (["--out", "{out}", "--judge", "hub", "--judge-model", "m", "--judge-url", "http://localhost:1/v1",
          "--workers", "2"], "a judge that asks a model"),
    ],
)  # fmt: skip
def test_options_that_do_not_fit(
    extra: list[str], says: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    log = write(tmp_path / "log.jsonl", rows(1))
    words = [word.format(out=tmp_path / "out", log=log) for word in extra]
    before = log.read_bytes()
    assert main(["score", str(log), *words]) == 2
    assert says in capsys.readouterr().err and log.read_bytes() == before


def test_a_summary_is_no_part_of_the_log(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "log").mkdir()
    write(tmp_path / "log" / "a.jsonl", rows(1))
    summary = tmp_path / "log" / "summary.json"
    command = ["score", str(tmp_path / "log"), "--out", str(tmp_path / "out"), "--summary", str(summary)]
    assert main(command) == 2
    assert "would lie in the log" in capsys.readouterr().err and not summary.exists()


def test_a_broken_file_of_a_folder_is_told_at_the_end(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        "spider_compose.stef.cli.score.scorer_and_budget", lambda options: (_fake(), _Budget())
    )
    (tmp_path / "log").mkdir()
    write(tmp_path / "log" / "a.jsonl", rows(3))
    (tmp_path / "log" / "b.parquet").write_bytes(b"PAR1")
    assert main(["score", str(tmp_path / "log"), "--out", str(tmp_path / "out")]) == 2
    told = json.loads(capsys.readouterr().out)
    assert told["all"]["rows"] == 3 and list(told["this_run"]["failed_files"]) == ["b.parquet"]


class _Budget:
    answered = failed = 0


def _fake() -> Any:
    from spider_compose.stef.rules import ApplicationRules

    scorer: Any = Scorer()
    scorer.rules = ApplicationRules()
    return scorer


@pytest.mark.slow
def test_workers_end_with_their_parent(real_log: Path, tmp_path: Path) -> None:
    """A killed run leaves no process behind, and the next one does the rest."""
    log = write(tmp_path / "log.jsonl", rows(5000))
    command = [sys.executable, "-m", "spider_compose.stef", "score", str(log), "--out", str(tmp_path / "out")]
    process = subprocess.Popen([*command, "--workers", "2", "--part-rows", "256"], stderr=subprocess.DEVNULL)
    children: set[int] = set()
    for _ in range(3000):
        children |= _children(process.pid)
        if list((tmp_path / "out").glob("scores/*/part-*")):
            break
        time.sleep(0.1)
    process.kill()
    process.wait()
    assert len(children) >= 2
    for _ in range(300):
        if not any(_alive(child) for child in children):
            break
        time.sleep(0.1)
    assert not [child for child in children if _alive(child)]
    assert read_scores(tmp_path / "out").num_rows > 0


def _children(parent: int) -> set[int]:
    found = set()
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = stat.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        if int(fields[1]) == parent:
            found.add(int(stat.parent.name))
    return found


def _alive(process: int) -> bool:
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def test_a_worker_that_dies_is_one_error(real_log: Path, tmp_path: Path) -> None:
    from spider_compose.stef.judges.rules import RulesJudge, default_weights
    from spider_compose.stef.score import Scorer as Real

    def kill() -> None:
        while not (workers := multiprocessing.active_children()):
            time.sleep(0.01)
        for worker in workers:
            worker.kill()

    scorer, killer = Real(judge=RulesJudge(default_weights())), threading.Thread(target=kill)
    killer.start()
    with (
        pytest.raises(SpiderComposeError, match="a worker died"),
        open_store(tmp_path / "out", scorer.signature, "digest", Columns()) as store,
    ):
        score_log(Log(str(real_log)), scorer, store, workers=2)
    killer.join()


def _wait_as_worker(scorer: Any, open_while_wanted: Any, started: Any) -> None:
    from spider_compose.stef.monitoring.run import _start_worker

    _start_worker(scorer, open_while_wanted)
    started.set()
    time.sleep(600)


def test_a_worker_ends_when_it_is_not_wanted() -> None:
    # The pool does not end one that it was just starting when another died: it waits for it, for ever.
    context = multiprocessing.get_context("spawn")
    open_while_wanted, wanted = context.Pipe(duplex=False)
    started = context.Event()
    worker = context.Process(target=_wait_as_worker, args=(None, open_while_wanted, started))
    worker.start()
    assert started.wait(120)
    assert worker.pid is not None
    os.kill(worker.pid, signal.SIGINT)  # Ctrl-C, of which each process gets one, is the parent's to take
    worker.join(0.2)
    assert worker.is_alive()
    wanted.close()
    worker.join(120)
    assert worker.exitcode == 1


def test_judges_that_ask_stay_in_one_process(real_log: Path, tmp_path: Path) -> None:
    with (
        pytest.raises(OptionError, match="a judge that asks a model"),
        open_store(tmp_path / "out", "test", "digest", Columns()) as store,
    ):
        score_log(Log(str(real_log)), Scorer(), store, workers=2)  # type: ignore[arg-type]
