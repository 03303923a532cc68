"""The score on Ray: the rows and results of one process, and errors instead of waiting for ever."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("ray", reason="needs the extra `ray`")
pytest.importorskip("spacy")

import pyarrow as pa
import pyarrow.parquet
import ray
import ray.data

from spider_compose.errors import OptionError, SpiderComposeError
from spider_compose.stef.monitoring.log import Columns, Log
from spider_compose.stef.monitoring.run import score_log
from spider_compose.stef.monitoring.scored import SCHEMA, read_scores
from spider_compose.stef.monitoring.store import ScoreStore, open_store
from spider_compose.stef.ray import Cluster, connect, score_dataset
from spider_compose.stef.ray import score_log as score_log_on_ray
from spider_compose.stef.score import Scorer

pytestmark = [pytest.mark.slow, pytest.mark.ray]

# Half of a machine with one CPU: two actors and a reader fit everywhere.
TWO = Cluster(actors=2, actor_cpus=0.4, reader_cpus=0.1)


@pytest.fixture(scope="module", autouse=True)
def started() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("RAY_worker_niceness", "0")  # 15 by default: beside other work they would hardly run
        patch.setenv("RAY_USAGE_STATS_ENABLED", "0")
        connect()
        yield
        ray.shutdown()


@pytest.fixture(scope="module")
def log(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two files with rows that are the same, one row that is not JSON, and a file that is broken."""
    folder = tmp_path_factory.mktemp("log")
    rows = [
        {"question": f"How many ships weigh {n} tons?", "sql": f"SELECT COUNT(*) FROM ship WHERE tons = {n}"}
        for n in range(300)
    ]
    lines = [json.dumps(row) + "\n" for row in rows]
    (folder / "a.jsonl").write_text("".join(lines[:280]) + "{cut\n")
    (folder / "b.jsonl").write_text("".join(lines[260:]))
    (folder / "c.parquet").write_bytes(b"PAR1")
    return folder


def run(log: Path, out: Path, on_ray: bool) -> tuple[Log, ScoreStore]:
    read, scorer = Log(str(log)), Scorer()
    with open_store(out, scorer.signature, scorer.rules.digest, Columns()) as store:
        if on_ray:
            score_log_on_ray(read, scorer, store, TWO)
        else:
            score_log(read, scorer, store)
    return read, store


def test_a_log_is_scored_as_in_one_process(log: Path, tmp_path: Path) -> None:
    alone, alone_store = run(log, tmp_path / "alone", on_ray=False)
    many, store = run(log, tmp_path / "ray", on_ray=True)
    assert (store.written, store.passed_over) == (alone_store.written, alone_store.passed_over) == (301, 20)
    assert many.problems == alone.problems == {"unreadable": 1}
    assert sorted(many.failed) == sorted(alone.failed) == ["c.parquet"]
    assert read_scores(tmp_path / "ray").to_pylist() == read_scores(tmp_path / "alone").to_pylist()
    _, again = run(log, tmp_path / "ray", on_ray=True)
    assert (again.written, again.passed_over) == (0, 321)


def test_a_dataset_is_scored_with_parquet_in_and_out(tmp_path: Path) -> None:
    rows = [{"question": "How many ships?", "sql": "SELECT COUNT(*) FROM ship", "id": n} for n in range(3)]
    pyarrow.parquet.write_table(pa.Table.from_pylist(rows), tmp_path / "log.parquet")
    scored = score_dataset(ray.data.read_parquet(str(tmp_path / "log.parquet")), cluster=TWO)
    scored.write_parquet(str(tmp_path / "out"))
    table = pyarrow.parquet.read_table(tmp_path / "out").cast(SCHEMA)
    assert sorted(table["key"].to_pylist()) == ["0", "1", "2"]
    (expected,) = Scorer().score_rows(rows[:1])
    assert set(table["score"].to_pylist()) == {expected.score}


def test_more_than_the_cluster_has_is_an_error_at_once(log: Path, tmp_path: Path) -> None:
    with pytest.raises(OptionError, match=r"10000 actors of 0.9 CPUs .* but the cluster has"):
        Cluster(actors=10_000).sized()
    with pytest.raises(OptionError, match="GPUs"):
        Cluster(actors=1, actor_cpus=0.1, actor_gpus=10_000).sized()
    assert Cluster(actors=10_000, autoscaling=True).sized() == 10_000


def test_a_stall_is_an_error(log: Path, tmp_path: Path) -> None:
    """Actors that never start, as where a cluster was said to grow and does not."""
    scorer = Scorer()
    cluster = Cluster(actors=1, actor_cpus=10_000, autoscaling=True, stall_seconds=5)
    with (
        pytest.raises(SpiderComposeError, match=r"nothing was scored in 5 seconds.*asks for 10000 CPUs"),
        open_store(tmp_path / "out", scorer.signature, "digest", Columns()) as store,
    ):
        score_log_on_ray(Log(str(log)), scorer, store, cluster)


@pytest.mark.parametrize("source", ["-", "datasets:name"])
def test_what_other_machines_cannot_read(source: str, tmp_path: Path) -> None:
    scorer: Any = Scorer()
    with (
        pytest.raises(OptionError, match="a file or a folder"),
        open_store(tmp_path / "out", scorer.signature, "digest", Columns()) as store,
    ):
        score_log_on_ray(Log(source), scorer, store)


def test_a_log_of_broken_files_alone_ends(tmp_path: Path) -> None:
    for name in ("a.parquet", "b.parquet"):
        (tmp_path / name).write_bytes(b"PAR1")
    scorer, log = Scorer(), Log(str(tmp_path))
    with open_store(tmp_path / "out", scorer.signature, "digest", Columns()) as store:
        score_log_on_ray(log, scorer, store, TWO)
    assert store.written == 0 and sorted(log.failed) == ["a.parquet", "b.parquet"]


@pytest.mark.parametrize(
    ("field", "values"),
    [
        ("actors", [0, -1]),
        ("actor_gpus", [-1, math.inf, math.nan]),
        *((field, [0, -1, math.inf, math.nan]) for field in ("actor_cpus", "reader_cpus", "stall_seconds")),
    ],
)
def test_settings_out_of_range(field: str, values: list[float]) -> None:
    for value in values:
        with pytest.raises(OptionError, match=field):
            Cluster(**{field: value})
