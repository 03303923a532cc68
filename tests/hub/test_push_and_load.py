"""`spider-compose push` of every artefact, and a user who loads it by name with the libraries of the Hub."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("huggingface_hub", reason="the extra `hub` is not installed")

from spider_compose.cli import main

REPOSITORY = Path(__file__).resolve().parents[2]
TINY = REPOSITORY / "tests" / "fixtures" / "tiny_spider"

Push = Callable[..., Any]


@pytest.fixture
def push(
    hub: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Push:
    """Run `push` in an empty folder, and read the JSON that it prints."""
    monkeypatch.chdir(tmp_path)

    def run(artefact: str, *arguments: str, code: int = 0) -> Any:
        capsys.readouterr()
        given = ["push", artefact, *arguments, "--endpoint", hub.endpoint, "--json"]
        found = main(given)
        printed = capsys.readouterr()
        assert found == code, printed.err
        return json.loads(printed.out) if code == 0 else printed.err

    return run


@pytest.fixture(scope="session")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A built dataset of the tiny corpus."""
    pytest.importorskip("spacy", reason="the extra `data` is not installed")
    folder = tmp_path_factory.mktemp("built") / "spider_compose"
    assert main(["build", "--source", str(TINY), "--configs", "none", "--out", str(folder)]) == 0
    return folder


LOAD_DATASET = """
import json, sys
from datasets import get_dataset_config_names, load_dataset
name = sys.argv[1]
found = load_dataset(name)
row = found["train"][0]
alignment = load_dataset(name, "alignment", split="train", revision=sys.argv[2])
print(json.dumps({
    "configs": get_dataset_config_names(name),
    "splits": {split: len(rows) for split, rows in found.items()},
    "row": row,
    "alignment": len(alignment),
}))
"""


@pytest.mark.slow
def test_dataset(hub: Any, push: Push, as_user: Callable[..., str], built: Path) -> None:
    import pyarrow.parquet as pq

    published = push("dataset", str(built), "--repo", "owner/spider-compose", "--tag", "v1.0")
    found = json.loads(as_user(LOAD_DATASET, "owner/spider-compose", "v1.0"))
    rows = pq.read_table(built / "compose" / "train.parquet").to_pylist()
    assert found["configs"] == ["compose", "alignment", "spider"]
    assert found["row"] == rows[0]
    for split, size in found["splits"].items():
        assert size == pq.read_metadata(built / "compose" / f"{split}.parquet").num_rows
    assert found["alignment"] == pq.read_metadata(built / "alignment" / "train.parquet").num_rows
    assert published["tag"] == "v1.0"
    assert "eval.yaml" in published["changed"]
    files = hub.store.repositories["dataset", "owner/spider-compose"].main.files
    card = files["README.md"].data.decode()
    assert 'load_dataset("owner/spider-compose")' in card and "path/to/this/folder" not in card
    for section in ("Counts", "Known limits", "Licence and attribution", "Examples", "Columns"):
        assert f"\n## {section}\n" in card
    again = push("dataset", str(built), "--repo", "owner/spider-compose", "--tag", "v1.0")
    assert (again["changed"], again["commit"]) == ([], published["commit"])


LOAD_MODEL = """
import json, sys
sys.modules["spider_compose"] = None  # a user without this package
from transformers import AutoModelForSeq2SeqLM
model = AutoModelForSeq2SeqLM.from_pretrained(sys.argv[1], trust_remote_code=True)
said = model.translate("SELECT count(*) FROM singer WHERE age > 20", max_new_tokens=8, num_beams=2)
weights = {name: float(value.sum()) for name, value in model.state_dict().items()}
print(json.dumps({"module": type(model).__module__, "said": said, "weights": weights,
                  "max_new_tokens": model.generation_config.max_new_tokens}))
"""


@pytest.mark.slow
def test_model(hub: Any, push: Push, as_user: Callable[..., str], run_folder: Path) -> None:
    published = push("model", str(run_folder), "--repo", "owner/bilstm", "--dataset", "owner/spider-compose")
    assert not any(path.endswith(".bin") for path in published["changed"])
    assert any(path.startswith(".eval_results/") for path in published["changed"])
    found = json.loads(as_user(LOAD_MODEL, "owner/bilstm", packages=False).splitlines()[-1])
    assert found["module"].startswith("transformers_modules")

    from spider_compose.models import Translator

    local = Translator.from_pretrained(str(run_folder / "model"))
    asked = "SELECT count(*) FROM singer WHERE age > 20"
    assert found["said"] == local(asked, max_new_tokens=8, num_beams=2)
    weights = {name: float(value.sum()) for name, value in local.model.state_dict().items()}
    assert found["weights"] == pytest.approx(weights)
    assert found["max_new_tokens"] == local.model.generation_config.max_new_tokens
    assert push("model", str(run_folder), "--repo", "owner/bilstm", "--dataset", "owner/spider-compose")[
        "changed"
    ] == []  # fmt: skip


def test_checkpoint_is_published_with_its_code(hub: Any, push: Push, run_folder: Path) -> None:
    """A model saved without its code, such as a checkpoint, gets it."""
    saved = run_folder / "model"
    for path in saved.glob("*.py"):
        path.unlink()
    config = json.loads((saved / "config.json").read_text())
    del config["auto_map"]
    (saved / "config.json").write_text(json.dumps(config))
    report = str(run_folder / "report.json")
    published = push("model", str(saved), "--repo", "owner/bilstm", "--report", report)
    assert "modeling_bilstm.py" in published["changed"]
    files = hub.store.repositories["model", "owner/bilstm"].main.files
    assert "AutoModelForSeq2SeqLM" in json.loads(files["config.json"].data)["auto_map"]


def figures(text: str) -> set[str]:
    """Numbers of a card with two digits behind the point."""
    return set(re.findall(r"\d+\.\d\d", text))


def test_changed_report_changes_the_published_card(hub: Any, push: Push, run_folder: Path) -> None:
    def card() -> str:
        text: bytes = hub.store.repositories["model", "owner/bilstm"].main.files["README.md"].data
        return text.decode()

    push("model", str(run_folder), "--repo", "owner/bilstm")
    before = card()
    path = run_folder / "report.json"
    content = json.loads(path.read_text())
    content["metrics"]["bleu"] |= {"score": 47.11, "low": 44.01, "high": 50.03}
    path.write_text(json.dumps(content))
    published = push("model", str(run_folder), "--repo", "owner/bilstm")
    assert {"README.md", "report.json"} <= set(published["changed"])
    assert not any(name.endswith(".safetensors") for name in published["changed"])
    after = card()
    assert {"47.11", "44.01", "50.03"} <= figures(after) - figures(before)
    assert "31.25" in figures(before) and "28.25" in figures(before)
    assert not {"28.25", "34.25"} & figures(after)
    import yaml

    header = yaml.safe_load(after.split("---\n")[1])
    measured = {m["name"]: m["value"] for m in header["model-index"][0]["results"][0]["metrics"]}
    assert measured["BLEU"] == 47.11


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"training": {"num_beams": 4, "max_new_tokens": 60}}, {"num_beams": 4, "max_new_tokens": 60}),
        ({"training": {}, "generation": {"num_beams": 2}}, {"num_beams": 2, "max_new_tokens": 100}),
        ({"training": {"num_beams": "four", "max_new_tokens": True}}, {"max_new_tokens": 100}),
    ],
    ids=["training", "evaluation", "odd"],
)
def test_a_model_searches_as_it_was_scored(
    model_folder: Path,
    tmp_path: Path,
    make_report: Callable[..., dict[str, Any]],
    changes: dict[str, Any],
    expected: dict[str, int],
) -> None:
    from spider_compose.hub.model import find_model, write_model

    (model_folder / "generation_config.json").write_text('{"max_new_tokens": 100, "eos_token_id": 2}')
    (model_folder / "report.json").write_text(json.dumps(make_report(**changes)))
    (tmp_path / "out").mkdir()
    write_model(find_model(model_folder), tmp_path / "out", "owner/x", "owner/d", "http://hub/")
    found = json.loads((tmp_path / "out" / "generation_config.json").read_text())
    assert found == {"eos_token_id": 2} | expected
    results = (tmp_path / "out" / ".eval_results" / "d_compose.yaml").read_text()
    assert "http://hub/owner/x/blob/main/report.json" in results, "the Hub that it is pushed to"


def test_other_experiments_on_the_card(
    hub: Any, push: Push, run_folder: Path, tmp_path: Path, make_report: Callable[..., dict[str, Any]]
) -> None:
    reports = tmp_path / "reports"
    reports.mkdir()
    own = make_report("compose_no_overlap", 22.75, model="bilstm")
    for name, content in {
        "own": own,
        "another-seed": {**own, "seed": 2, "metrics": {**own["metrics"], "bleu": {"score": 91.91}}},
        "another-model": make_report("compose_no_overlap", 82.82, model="rgt"),
    }.items():
        (reports / f"{name}.json").write_text(json.dumps(content))
    push("model", str(run_folder), "--repo", "owner/bilstm", "--reports", str(reports))
    card = hub.store.repositories["model", "owner/bilstm"].main.files["README.md"].data.decode()
    assert "22.75" in card
    assert "91.91" not in card and "82.82" not in card


LOAD_METRIC = """
import evaluate, json
stef = evaluate.load("owner/stef")
print(json.dumps(stef.compute(
    predictions=["SELECT COUNT(*) FROM singer WHERE country = 'France'"],
    questions=["How many singers are from 'France'?"],
)["scores"]))
"""


@pytest.mark.slow
def test_metric(hub: Any, push: Push, as_user: Callable[..., str], spaces: None) -> None:
    pytest.importorskip("evaluate", reason="the extra `metric` is not installed")
    published = push("metric", "--repo", "owner/stef")
    assert {"stef.py", "README.md", "app.py", "requirements.txt"} <= set(published["changed"])
    assert json.loads(as_user(LOAD_METRIC).splitlines()[-1]) == [100.0]
    assert push("metric", "--repo", "owner/stef")["changed"] == []


@pytest.mark.parametrize("name", ["stef", "sql-judge"])
def test_card_and_module_of_the_metric(hub: Any, push: Push, spaces: None, name: str) -> None:
    push("metric", "--repo", f"owner/{name}")
    files = hub.store.repositories["space", f"owner/{name}"].main.files
    card = files["README.md"].data.decode()
    assert f'evaluate.load("owner/{name}")' in card and 'evaluate.load("stef")' not in card
    assert "stef install-metric" not in card
    import yaml

    header = yaml.safe_load(card.split("---\n")[1])
    assert header["sdk"] == "gradio" and {"evaluate", "metric"} <= set(header["tags"])
    assert card.count("\n---\n") == 1, "one header"
    module = (REPOSITORY / "metrics" / "stef" / "stef.py").read_bytes()
    assert files[f"{name}.py"].data == files["stef.py"].data == module, "evaluate reads NAME.py"


@pytest.mark.parametrize("name", ["app", "gradio", "json", "yaml", "spider_compose", "__main__"])
def test_a_metric_does_not_hide_a_module_of_its_app(push: Push, spaces: None, name: str) -> None:
    told = push("metric", "--repo", f"owner/{name}", "--dry-run", code=2)
    assert f"{name}.py would hide the module {name}" in told
    dotted = push("metric", "--repo", "owner/stef.py", "--dry-run", code=2)
    assert "evaluate.load could not import stef.py.py" in dotted


@pytest.mark.parametrize("app", ["stef", "leaderboard"])
def test_apps_of_the_package(app: str, tmp_path: Path, make_report: Callable[..., dict[str, Any]]) -> None:
    """The Spaces as they would be published pass the checks."""
    from spider_compose.hub import space
    from spider_compose.hub.leaderboard import write_leaderboard
    from spider_compose.hub.metric import write_metric
    from spider_compose.hub.repository import ARTEFACTS
    from spider_compose.hub.validation import check_folder

    if not (space.SPACES / app / "app.py").is_file():
        pytest.skip(f"the app of the Space {app} is not in this checkout")
    (tmp_path / "folder").mkdir()
    if app == "stef":
        write_metric(tmp_path / "folder", "owner/stef")
        check_folder(tmp_path / "folder", ARTEFACTS["metric"])
        return
    for name in ("one.json", "mine/report.json"):
        path = tmp_path / "reports" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(make_report(seed=len(name))))
    write_leaderboard(tmp_path / "reports", tmp_path / "folder")
    names = sorted(path.name for path in (tmp_path / "folder" / "reports").iterdir())
    assert names == ["mine.json", "one.json"]
    check_folder(tmp_path / "folder", ARTEFACTS["leaderboard"])


def test_missing_app(push: Push, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    from spider_compose.hub import space

    monkeypatch.setattr(space, "SPACES", tmp_path / "nowhere")
    assert "the app of the Space is missing: expected" in push("metric", "--repo", "owner/stef", code=2)


def test_leaderboard(
    hub: Any, push: Push, spaces: None, tmp_path: Path, make_report: Callable[..., dict[str, Any]]
) -> None:
    reports = tmp_path / "reports"
    reports.mkdir()
    for experiment in ("compose", "compose_no_overlap"):
        (reports / f"rgt-{experiment}-seed1.json").write_text(json.dumps(make_report(experiment)))
    push("leaderboard", str(reports), "--repo", "owner/board")
    space = hub.store.repositories["space", "owner/board"]
    assert {path for path in space.main.files if path.startswith("reports/")} == {
        "reports/rgt-compose-seed1.json",
        "reports/rgt-compose_no_overlap-seed1.json",
    }
    of_others = {**space.main.files, "reports/someone.json": space.main.files["app.py"]}
    space.commit("refs/heads/main", "a merged pull request", of_others)
    (reports / "rgt-compose-seed1.json").write_text(json.dumps(make_report("compose", 40.0)))
    again = push("leaderboard", str(reports), "--repo", "owner/board")
    assert again["changed"] == ["reports/rgt-compose-seed1.json"]
    assert "reports/someone.json" in space.main.files


# The folder itself


def test_dry_run_sends_nothing(
    hub: Any,
    run_folder: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("HF_TOKEN")
    arguments = ["push", "model", str(run_folder), "--repo", "owner/bilstm", "--folder", "out", "--dry-run"]
    assert main(arguments) == 0
    printed = capsys.readouterr()
    assert hub.log == []
    size = (tmp_path / "out" / "model.safetensors").stat().st_size
    assert f"{size:,}  model.safetensors" in printed.out
    assert printed.out.splitlines()[-1].endswith("nothing was uploaded")
    assert "not published: training_args.bin" in printed.err
    assert main(arguments) == 0, "an unchanged folder is written anew"
    assert main([*arguments, "--json"]) == 0
    (tmp_path / "out" / "README.md").write_text("mine\n")
    capsys.readouterr()
    assert main(arguments) == 2
    assert "was changed by hand (README.md)" in capsys.readouterr().err
    assert main([*arguments, "--force"]) == 0


def test_same_source_gives_the_same_bytes(push: Push, run_folder: Path, tmp_path: Path) -> None:
    for name in ("one", "two"):
        push("model", str(run_folder), "--repo", "owner/bilstm", "--folder", name, "--dry-run")
    one, two = (
        {p.name: p.read_bytes() for p in (tmp_path / n).rglob("*") if p.is_file()} for n in ("one", "two")
    )
    assert one == two


WRONG = [
    (["dataset", "nowhere", "--repo", "owner/x"], "nowhere is no dataset that this version has built"),
    (["model", "nowhere", "--repo", "owner/x"], "no model in nowhere: expected a run's folder"),
    (["model", "{run}/model", "--repo", "owner/x"], "no report of the model in"),
    (
        ["model", "{run}", "--repo", "owner/x", "--report", "absent.json"],
        "cannot read the report absent.json",
    ),
    (["model", "{run}", "--repo", "x"], "`repo` must be owner/name"),
    (["model", "{run}", "--repo", "owner/x", "--tag", "a b"], "`tag` must be a name such as v1.0"),
    (["leaderboard", "nowhere", "--repo", "owner/x"], "no folder with reports at nowhere"),
]


@pytest.mark.parametrize(("arguments", "says"), WRONG, ids=[row[1] for row in WRONG])
def test_wrong_sources(push: Push, run_folder: Path, arguments: list[str], says: str) -> None:
    printed = push(*(part.format(run=run_folder) for part in arguments), code=2)
    assert says in printed
    assert printed.count("\n") == 1 and "Traceback" not in printed


def test_changed_dataset_is_not_published(push: Push, built: Path, tmp_path: Path) -> None:
    import shutil

    shutil.copytree(built, tmp_path / "changed")
    with (tmp_path / "changed" / "compose" / "train.parquet").open("ab") as file:
        file.write(b"x")
    assert "has changed since it was built" in push("dataset", "changed", "--repo", "owner/x", code=2)


FORGED: dict[str, Any] = {
    "no mapping": ["README.md"],
    "a text": "README.md",
    "a number for a checksum": {"README.md": 7},
    "outside": {"README.md": "", "../secret": ""},
    "elsewhere": {"README.md": "", "/etc/hostname": ""},
    "no name": {"README.md": "", "a\0b": ""},
    "half a character": {"README.md": "", "\ud800": ""},
    "gone": {"README.md": "", "gone.parquet": ""},
}


@pytest.mark.parametrize("files", FORGED.values(), ids=FORGED)
def test_forged_signatures(push: Push, tmp_path: Path, files: Any) -> None:
    """The file that says what a built folder consists of may say anything."""
    import hashlib

    from spider_compose.hub.dataset import BUILT_FORMAT

    (tmp_path / "built").mkdir()
    (tmp_path / "secret").write_text("mine")
    (tmp_path / "built" / "README.md").write_bytes(b"caf\xe9")
    if isinstance(files, dict) and files["README.md"] == "":
        files = {**files, "README.md": hashlib.sha256(b"caf\xe9").hexdigest()}
    content = json.dumps({"format": BUILT_FORMAT, "files": files})
    (tmp_path / "built" / "signature.json").write_text(content)
    printed = push("dataset", "built", "--repo", "owner/x", "--dry-run", code=2)
    assert printed.startswith("spider-compose: ") and printed.count("\n") == 1
    assert not list((tmp_path / "hub" / "dataset").iterdir()), "nothing is left"


def test_card_in_another_encoding(push: Push, tmp_path: Path) -> None:
    import hashlib

    from spider_compose.hub.dataset import BUILT_FORMAT

    (tmp_path / "built").mkdir()
    (tmp_path / "built" / "README.md").write_bytes(b"caf\xe9")
    files = {"README.md": hashlib.sha256(b"caf\xe9").hexdigest()}
    content = json.dumps({"format": BUILT_FORMAT, "files": files})
    (tmp_path / "built" / "signature.json").write_text(content)
    assert "README.md is not UTF-8" in push("dataset", "built", "--repo", "owner/x", "--dry-run", code=2)


def test_published_dataset_is_a_built_folder(push: Push, built: Path, tmp_path: Path) -> None:
    """What was published can be read, and published, like what it came from."""
    from spider_compose.cli.built_folder import built_folder

    push("dataset", str(built), "--repo", "owner/one", "--folder", "one", "--dry-run")
    found = built_folder("one")
    assert found is not None and found.default_config == "compose"
    assert found.pairs(["id"])["train"]
    push("dataset", "one", "--repo", "owner/one", "--folder", "two", "--dry-run")
    for name in ("README.md", "signature.json", "eval.yaml"):
        assert (tmp_path / "one" / name).read_bytes() == (tmp_path / "two" / name).read_bytes()


def test_format_of_built_folders() -> None:
    from spider_compose.dataset.hub_folder import FORMAT, SIGNATURE_FILE
    from spider_compose.hub import dataset

    assert (dataset.BUILT_FORMAT, dataset.SIGNATURE_FILE) == (FORMAT, SIGNATURE_FILE)
