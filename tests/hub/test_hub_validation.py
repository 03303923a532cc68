"""A repository's folder before it is uploaded: cards, files, weights, secrets, and how it is written."""

from __future__ import annotations

import fcntl
import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("huggingface_hub", reason="the extra `hub` is not installed")

import yaml

from spider_compose.errors import HubError, OutputError
from spider_compose.hub.card_rules import card_problems
from spider_compose.hub.repository import ARTEFACTS, MARK, new_folder, repository_files
from spider_compose.hub.validation import check_folder

MODEL: dict[str, Any] = {"license": "apache-2.0", "library_name": "transformers"}
DATASET: dict[str, Any] = {
    "license": "cc-by-sa-4.0",
    "configs": [
        {"config_name": "compose", "data_files": [{"split": "test", "path": "compose/test.parquet"}]}
    ],
}
SPACE: dict[str, Any] = {
    "title": "STEF", "emoji": "🕷️", "colorFrom": "blue", "colorTo": "gray", "sdk": "gradio",
    "sdk_version": "6.0.0", "app_file": "app.py",
}  # fmt: skip
BASE = {"model": MODEL, "dataset": DATASET, "space": SPACE}
PATHS = ("app.py", "compose/test.parquet")


def problems(repo_type: str, **changes: Any) -> list[str]:
    header = {name: value for name, value in {**BASE[repo_type], **changes}.items() if value is not None}
    return card_problems(f"---\n{yaml.safe_dump(header)}---\n\n# Title\n", repo_type, PATHS)


def result(**changes: Any) -> list[dict[str, Any]]:
    """A model-index of one metric."""
    metric = {"type": "bleu", "value": 1.5, **changes}
    return [
        {
            "name": "m",
            "results": [{"task": {"type": "t"}, "dataset": {"type": "d", "name": "D"}, "metrics": [metric]}],
        }
    ]


@pytest.mark.parametrize("repo_type", list(BASE))
def test_right_cards(repo_type: str) -> None:
    assert problems(repo_type) == []


WRONG = [
    ("model", {"license": "CC BY-SA 4.0"}, "`license` must be an identifier"),
    ("model", {"license": "other"}, "needs a `license_name`"),
    ("model", {"language": ["English"]}, "`language` must be an ISO 639 code"),
    ("model", {"tags": ["a", 3]}, "each of `tags` must be a text"),
    ("model", {"datasets": ["a/b/c"]}, "`datasets` must name repositories"),
    ("model", {"pipeline_tag": "sql-to-text"}, "`pipeline_tag` must be a task"),
    ("model", {"library_name": None}, "`library_name` is missing"),
    ("model", {"model-index": result(value="12")}, "the value of 'bleu' is '12', not a number"),
    ("model", {"model-index": result(value=True)}, "is True, not a number"),
    ("model", {"model-index": [{"results": []}]}, "the YAML header cannot be read"),
    ("dataset", {"license": None}, "`license` is missing"),
    ("dataset", {"size_categories": ["large"]}, "`size_categories` must be one of"),
    ("dataset", {"task_categories": ["sql-to-text"]}, "`task_categories` must be tasks"),
    ("dataset", {"configs": None}, "`configs` is missing"),
    ("dataset", {"configs": DATASET["configs"] * 2}, "names a config twice"),
    (
        "dataset",
        {"configs": [{"config_name": name, "default": True, "data_files": "app.py"} for name in "ab"]},
        "more than one default",
    ),
    (
        "dataset",
        {"configs": [{"config_name": "a", "data_files": "a/*.parquet"}]},
        "names a/*.parquet, which is not",
    ),
    ("dataset", {"configs": [{"config_name": "a"}]}, "config 'a' names no `data_files`"),
    ("dataset", {"configs": [{"config_name": "a", "data_files": [{"split": "test"}]}]}, "names None, which"),
    ("space", {"title": None}, "`title` is missing"),
    ("space", {"emoji": None}, "`emoji` is missing"),
    ("space", {"emoji": "spider"}, "`emoji` must be emoji alone"),
    ("space", {"colorFrom": "grey"}, "`colorFrom` must be one of"),
    ("space", {"sdk": "flask"}, "`sdk` must be one of"),
    ("space", {"sdk_version": 6.0}, None),
    ("space", {"sdk_version": "latest"}, "`sdk_version` must be a release"),
    ("space", {"app_file": "main.py"}, "names main.py, which is not there"),
    ("space", {"short_description": "x" * 61}, "more than 60 characters"),
]


@pytest.mark.parametrize(("repo_type", "changes", "says"), WRONG, ids=[f"{w[0]} {w[1]}"[:60] for w in WRONG])
def test_wrong_cards(repo_type: str, changes: dict[str, Any], says: str | None) -> None:
    found = problems(repo_type, **changes)
    assert len(found) == (says is not None), found
    assert says is None or says in found[0]


@pytest.mark.parametrize(
    ("card", "says"),
    [
        ("# Title\n", "does not begin with a YAML header"),
        ("---\nlicense: [\n---\n# Title\n", "cannot be read"),
        ("---\n- a\n---\n# Title\n", "cannot be read"),
        ("---\nlicense: mit\nlibrary_name: x\n---\n", "no text below the header"),
    ],
)
def test_broken_cards(card: str, says: str) -> None:
    assert any(says in problem for problem in card_problems(card, "model", ()))


NAMES = (
    "license language tags datasets base_model size_categories task_categories configs pipeline_tag "
    "library_name model-index title emoji colorFrom sdk sdk_version app_file short_description"
).split()
ODD: list[Any] = [
    7, True, float("nan"), "x", [], [7], [[]], [{"a": 1}], {"a": [1]}, {"name": "m", "results": 7},
    [{"config_name": ["a"], "data_files": 7}, {"config_name": {}, "data_files": [{"split": "test"}]}],
    [{"name": "m", "results": [{"metrics": [7, {"value": [1]}]}]}],
    [{"name": "m", "results": [{
        "task": {"type": "t"}, "dataset": {"type": "d", "name": "D", "config": {"a": 1}},
        "metrics": [{"type": "bleu", "value": 1}],
    }]}],
]  # fmt: skip


@pytest.mark.parametrize("repo_type", list(BASE))
def test_any_value_in_any_place_is_told(repo_type: str) -> None:
    """A header that a hand has written costs a sentence, not a traceback."""
    for name in NAMES:
        for value in ODD:
            found = problems(repo_type, **{name: value})
            assert all(one.startswith("README.md: ") for one in found), (name, value)


def test_a_score_must_be_finite() -> None:
    assert "is nan, not a number" in problems("model", **{"model-index": result(value=float("nan"))})[0]


HUB_KEY = "hf_" + "a" * 34

FILES: list[tuple[str, bytes | None, str]] = [
    ("config.json", None, "config.json is missing"),
    ("report.json", None, "report.json is missing"),
    ("optimizer.pt", b"x", "optimizer.pt may run code"),
    ("pytorch_model.bin", b"x", "pytorch_model.bin may run code"),
    (
        "modeling_abs.py",
        f"# one\nTOKEN = '{HUB_KEY}'\n".encode(),
        "modeling_abs.py, line 2, holds what looks like a token of the Hub",
    ),
    ("notes.md", b"key: sk-proj-" + b"b" * 40, "a key of OpenAI"),
    ("notes.txt", b"AKIAABCDEFGHIJKLMNOP", "a key of AWS"),
    ("id", b"-----BEGIN OPENSSH PRIVATE KEY-----", "a private key"),
    ("run.toml", b"token = 'the-token-in-use'", "holds the token you are logged in with"),
    ("report.json", b"{", "report.json is no JSON"),
    ("model-00001-of-00002.safetensors", b"12345678", "cut off or no safetensors"),
    ("model-00001-of-00002.safetensors", b"\x02\0\0\0\0\0\0\0{}", "not the 10 it names"),
    ("model-00001-of-00002.safetensors", b"\x02\0\0\0\0\0\0\0[]", "a header that cannot be read"),
    ("rows.parquet", b"PAR1 and then nothing", "cut off or no Parquet"),
    ("README.md", "---\nlicense: mit\n---\nü".encode("latin-1"), "README.md is not UTF-8"),
    ("report.json", b'{"score": NaN}', "report.json is no JSON (it holds NaN, which JSON does not know)"),
    ("weights", b"\x80\x04\x95\x10\0\0\0", "weights is a pickle by its content"),
    ("spiece.model", b"\x80\x02}q\0.", "spiece.model is a pickle by its content"),
    ("notes.txt", b"PK\x03\x04\x14\0", "notes.txt is a zip archive by its content"),
    ("prod.env", b"PASSWORD=x", "prod.env is of a kind that is not published"),
]


@pytest.mark.parametrize(("name", "content", "says"), FILES, ids=[row[2][:50] for row in FILES])
def test_wrong_files(model_folder: Path, name: str, content: bytes | None, says: str) -> None:
    path = model_folder / name
    path.unlink() if content is None else path.write_bytes(content)
    with pytest.raises(HubError) as caught:
        check_folder(model_folder, ARTEFACTS["model"], token="the-token-in-use")
    message = str(caught.value)
    assert says in message or says == "not the 10 it names"
    assert HUB_KEY not in message and "the-token-in-use" not in message


def test_truncated_weights(model_folder: Path) -> None:
    path = model_folder / "model-00002-of-00002.safetensors"
    size = path.stat().st_size
    path.write_bytes(path.read_bytes()[:-1])
    with pytest.raises(HubError, match=f"has {size - 1:,} bytes, not the {size:,} it names"):
        check_folder(model_folder, ARTEFACTS["model"])


def test_all_problems_are_told_together(model_folder: Path) -> None:
    (model_folder / "optimizer.pt").write_bytes(b"x")
    (model_folder / "config.json").unlink()
    with pytest.raises(HubError, match=r"config\.json is missing; optimizer\.pt may run code"):
        check_folder(model_folder, ARTEFACTS["model"])


def test_no_weights(model_folder: Path) -> None:
    for path in model_folder.glob("*.safetensors"):
        path.unlink()
    with pytest.raises(HubError, match="there are no weights"):
        check_folder(model_folder, ARTEFACTS["model"])


def test_links_are_refused(model_folder: Path, tmp_path: Path) -> None:
    (tmp_path / "private.txt").write_text("mine")
    os.symlink(tmp_path / "private.txt", model_folder / "notes.txt")
    with pytest.raises(HubError, match=r"notes\.txt is a link"):
        repository_files(model_folder)


def test_what_is_never_published(model_folder: Path) -> None:
    before = repository_files(model_folder)
    for name in (".git/config", ".cache/x", "__pycache__/y.pyc", ".DS_Store", MARK):
        path = model_folder / name
        path.parent.mkdir(exist_ok=True)
        path.write_text("x")
    assert repository_files(model_folder) == before
    assert ".eval_results/compose.yaml" in {file.path for file in before}


# Writing the folder

Write = Callable[..., None]


@pytest.fixture
def write(tmp_path: Path) -> Write:
    def run(name: str = "out", text: str = "one", artefact: str = "model", **options: Any) -> None:
        def fill(folder: Path) -> None:
            (folder / "file").write_text(text)

        with new_folder(tmp_path / name, ARTEFACTS[artefact], fill, **options) as folder:
            assert (folder / "file").read_text() == text

    return run


def test_folder_is_replaced_as_a_whole(write: Write, tmp_path: Path) -> None:
    write()
    write(text="two")
    assert (tmp_path / "out" / "file").read_text() == "two"
    assert {path.name for path in tmp_path.iterdir()} == {"out"}, "nothing hidden is left"


def test_nothing_changes_when_writing_fails(write: Write, tmp_path: Path) -> None:
    write()

    def fail(folder: Path) -> None:
        (folder / "file").write_text("half")
        raise KeyError

    with pytest.raises(KeyError), new_folder(tmp_path / "out", ARTEFACTS["model"], fail):
        pass
    assert (tmp_path / "out" / "file").read_text() == "one"
    assert {path.name for path in tmp_path.iterdir()} == {"out"}


def test_folders_of_others_stay(write: Write, tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "thesis.tex").write_text("years of work")
    with pytest.raises(OutputError, match="holds something else than the repository of a model"):
        write()
    write("other", artefact="dataset")
    with pytest.raises(OutputError, match="holds something else than the repository of a model"):
        write("other")
    (tmp_path / "other" / "file").write_text("by hand")
    with pytest.raises(OutputError, match=r"was changed by hand \(file\)"):
        write("other", artefact="dataset")
    write("other", force=True)
    assert (tmp_path / "out" / "thesis.tex").read_text() == "years of work"


def test_places_that_cannot_be_written(write: Write, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_text("x")
    with pytest.raises(OutputError, match=r"is a file\. Name a folder"):
        write("file", force=True)
    with pytest.raises(OutputError, match="cannot write"):
        write("file/inside")
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    with pytest.raises(OutputError, match="is in use and cannot be replaced"):
        write("here", force=True)


def test_a_folder_in_use_is_not_replaced(write: Write, tmp_path: Path) -> None:
    """Two pushes at once: the second would take the files from under the upload of the first."""

    def fill(folder: Path) -> None:
        (folder / "file").write_text("one")

    with new_folder(tmp_path / "out", ARTEFACTS["model"], fill):
        for force in (False, True):
            with pytest.raises(OutputError, match="another push is using"):
                write(text="two", force=force)
        write("other")
    assert (tmp_path / "out" / "file").read_text() == "one"
    write(text="two")
    assert {path.name for path in tmp_path.iterdir()} == {"out", "other"}


def test_what_a_killed_push_has_left_is_removed(write: Write, tmp_path: Path) -> None:
    left = {name: tmp_path / f".out.incomplete-{name}" for name in ("old", "young", "used")}
    for path in (*left.values(), tmp_path / ".other.incomplete-old"):
        path.mkdir()
        (path / "half").write_text("x")
        if path != left["young"]:
            os.utime(path, (time.time() - 3600,) * 2)
    opened = os.open(left["used"], os.O_RDONLY)
    try:
        fcntl.flock(opened, fcntl.LOCK_EX)
        write()
    finally:
        os.close(opened)
    names = {path.name for path in tmp_path.iterdir()}
    assert names == {"out", ".out.incomplete-young", ".out.incomplete-used", ".other.incomplete-old"}


@pytest.mark.parametrize("target", [".", "run", "run/model"])
def test_what_is_published_is_not_replaced(write: Write, tmp_path: Path, target: str) -> None:
    source = tmp_path / "runs" / "run" / "model"
    source.mkdir(parents=True)
    (source / "model.safetensors").write_text("weeks of training")
    with pytest.raises(OutputError, match="which is to be published"):
        write(f"runs/{target}", force=True, source=source)
    assert (source / "model.safetensors").read_text() == "weeks of training"
    write("runs/run/out", force=True, source=source)


def test_home_is_not_replaced(write: Write, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "me" / "work").mkdir(parents=True)
    monkeypatch.setenv("HOME", str(tmp_path / "me"))
    monkeypatch.chdir(tmp_path / "me" / "work")
    with pytest.raises(OutputError, match="is in use and cannot be replaced"):
        write("me", force=True)


def test_a_link_put_into_the_folder(write: Write, tmp_path: Path) -> None:
    write()
    (tmp_path / "out" / "link").symlink_to(tmp_path)
    with pytest.raises(OutputError, match=r"was changed by hand: .*link is a link"):
        write()
    write(force=True)
