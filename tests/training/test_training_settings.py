"""Settings: all are checked before anything is loaded; those that move a number are in the digest."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from spider_compose.errors import OptionError
from spider_compose.training.settings import TrainingSettings, read_settings


@pytest.mark.parametrize(
    ("given", "message"),
    [
        pytest.param({"epoch": 3}, "Did you mean 'epochs'", id="unknown name"),
        pytest.param({"experiment": "compse"}, "Did you mean 'compose'", id="unknown experiment"),
        pytest.param({"size": "large"}, "`size` must be one of", id="unknown size"),
        pytest.param({"epochs": 0}, "`epochs` must be a whole number of at least 1, but got 0", id="zero"),
        pytest.param({"epochs": 2.5}, "`epochs` must be a whole number", id="fraction"),
        pytest.param({"batch_size": "64"}, "`batch_size` must be a whole number", id="text"),
        pytest.param({"seed": True}, "`seed` must be a whole number", id="boolean"),
        pytest.param({"learning_rate": float("nan")}, "`learning_rate` must be a number", id="nan"),
        pytest.param({"weight_decay": float("inf")}, "`weight_decay` must be a number", id="infinite"),
        pytest.param({"label_smoothing": 1.0}, r"`label_smoothing` must be in \[0, 1\)", id="smoothing"),
        pytest.param({"vocab_size": 100}, "`vocab_size`", id="vocabulary"),
        pytest.param({"mixed_precision": "int8"}, "`mixed_precision` must be one of", id="precision"),
        pytest.param({"report_to": "wandb"}, "`report_to` must be one of", id="tracker"),
        pytest.param({"report_to": 5}, "`report_to` must be a list of trackers, but got 5", id="number"),
        pytest.param({"report_to": True}, "`report_to` must be a list of trackers", id="yes to trackers"),
        pytest.param({"report_to": {"trackio": 1}}, "`report_to` must be a list", id="mapping of trackers"),
        pytest.param({"report_to": [["trackio"]]}, "`report_to` must be one of", id="list in a list"),
        pytest.param({"seed": 2**32}, "`seed` must be at most 4,294,967,295", id="large seed"),
        pytest.param({"epochs": 10**400}, "`epochs` must be at most", id="huge"),
        pytest.param({"source": None}, "`source` must be a name, but got None", id="no source"),
        pytest.param({"source": 5}, "`source` must be a name", id="source as a number"),
        pytest.param({"source": "a\0b"}, "`source` must be a name", id="zero byte"),
        pytest.param({"experiment": ["compose"]}, "`experiment` must be one of", id="experiments"),
        pytest.param({"mixed_precision": True}, "`mixed_precision` must be one of", id="yes to precision"),
        pytest.param({"model": "a/b", "source_prefix": 5}, "`source_prefix` must be a text", id="prefix 5"),
        pytest.param({"model_options": [1]}, "`model_options` must be a mapping", id="options"),
        pytest.param({"model_options": {1: 2}}, "name must be a text, but got 1", id="name of an option"),
        pytest.param({"model_options": {"dropout": {1}}}, "'dropout' must be a number, text", id="set"),
        pytest.param({"source_options": {"x": float("nan")}}, "'x' must be a number, text", id="nan option"),
        pytest.param(
            {"source_options": {"config_name": "spider"}}, "the setting `experiment` says it", id="config"
        ),
        pytest.param({"source_options": {"source": "x"}}, "the setting `source` says it", id="two sources"),
        pytest.param({"model": ""}, "`model` must be a name", id="no model"),
        pytest.param(
            {"model": "t5-small", "model_options": {"hidden_size": 3}},
            "its own configuration",
            id="hub options",
        ),
        pytest.param({"source_prefix": "say: "}, "`source_prefix` is for models of the Hub", id="prefix"),
    ],
)
def test_refused(given: dict[str, Any], message: str) -> None:
    with pytest.raises(OptionError, match=message) as caught:
        TrainingSettings.from_mapping(given, "own.yaml")
    assert str(caught.value).startswith("own.yaml: ")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        pytest.param("- a\n- b\n", "must hold settings as names and values", id="list"),
        pytest.param("model: rgt\n  epochs: [\n", "no YAML that can be read: line 2", id="no yaml"),
        pytest.param("epochs: many\n", "`epochs` must be a whole number", id="value"),
    ],
)
def test_refused_files(text: str, message: str, tmp_path: Path) -> None:
    path = tmp_path / "settings.yaml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(OptionError, match=message):
        read_settings(path)
    with pytest.raises(OptionError, match="cannot read"):
        read_settings(tmp_path / "absent.yaml")


def test_what_is_given_by_hand_goes_before_the_file(tmp_path: Path) -> None:
    path = tmp_path / "settings.yaml"
    path.write_text("model: rgt\nepochs: 7\nreport_to: [tensorboard]\n", encoding="utf-8")
    settings = read_settings(path, epochs=3, seed=None)
    assert (settings.model, settings.epochs, settings.seed) == ("rgt", 3, TrainingSettings.seed)
    assert settings.report_to == ("tensorboard",)
    assert read_settings(None).model == TrainingSettings.model


def test_digest_moves_with_what_moves_a_number() -> None:
    base = TrainingSettings()
    given = json.loads(json.dumps(base.to_dict()))
    assert TrainingSettings.from_mapping(given).digest() == base.digest()
    changes: dict[str, Any] = {
        "model": "rgt", "size": "paper", "model_options": {"dropout": 0.3}, "experiment": "spider",
        "source": "elsewhere", "source_options": {"aligner": "keyword"}, "seed": 2, "epochs": 3,
        "patience": 9,
        "batch_size": 3, "gradient_accumulation": 2, "learning_rate": 0.5, "schedule": "linear",
        "warmup_steps": 1, "weight_decay": 0.1, "max_grad_norm": 2.0, "label_smoothing": 0.2,
        "vocab_size": 999, "validation_items": 3, "num_beams": 1, "max_new_tokens": 9,
        "mixed_precision": "bf16",
    }  # fmt: skip
    assert set(changes) | {"source_prefix"} == set(base.to_dict()), "a setting without a change to try"
    del changes["source"]  # the signature has the rows' own hash
    digests = {TrainingSettings(**{name: value}).digest() for name, value in changes.items()}
    digests |= {
        base.digest(),
        TrainingSettings(model="t5").digest(),
        TrainingSettings(model="t5", source_prefix="x").digest(),
    }
    assert len(digests) == len(changes) + 3
    assert TrainingSettings(processes=2, report_to=("trackio",)).digest() == base.digest()
    assert TrainingSettings(source="elsewhere").digest() == base.digest()


def test_the_configs_of_the_repository_are_read() -> None:
    folder = Path(__file__).resolve().parents[2] / "trainers" / "configs"
    names = {path.stem for path in folder.glob("*.yaml")}
    assert {"bilstm_small", "abs_small", "rel_small", "treelstm_small", "rgt_small"} <= names
    for path in folder.glob("*.yaml"):
        settings = read_settings(path)
        assert path.stem == "demo" or path.stem.startswith(settings.model.replace("-", "_").split("/")[-1])


def test_bad_settings_need_no_torch(tmp_path: Path) -> None:
    """One message and exit code 2, from where torch is not installed too."""
    program = (
        "import sys; sys.modules['torch'] = None\n"
        "from spider_compose.training.__main__ import main\n"
        f"sys.exit(main(['--output', {str(tmp_path / 'x')!r}, '--experiment', 'compos']))"
    )
    found = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert found.returncode == 2 and "Did you mean 'compose'" in found.stderr
    assert "Traceback" not in found.stderr and not (tmp_path / "x").exists()
