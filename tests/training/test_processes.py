"""Two processes on CPUs share the batches: together they see every pair of an epoch, as one does."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("torch", reason="the extra `models` is not installed")
pytest.importorskip("accelerate", reason="the extra `models` is not installed")
pytest.importorskip("sacrebleu", reason="the extra `models` is not installed")

REPOSITORY = Path(__file__).resolve().parents[2]

# The trainer's program, with every training batch written down before the model sees it.
WATCHED = """
import json, os, sys
from spider_compose.tokenization import collator
from spider_compose.training import encoding, trainer
from spider_compose.training.__main__ import main

log = open(sys.argv[1] + "." + os.environ.get("RANK", "0"), "a")
original = trainer.SQLToTextTrainer.training_step

def training_step(self, model, inputs, *rest, **named):
    import torch
    world = torch.distributed.get_world_size() if torch.distributed.is_initialized() else 1
    rows = [[piece for piece in row if piece != -100] for row in inputs["labels"].tolist()]
    sources = [
        row[: sum(mask)] for row, mask in zip(inputs["input_ids"].tolist(), inputs["attention_mask"].tolist())
    ]
    log.write(json.dumps({"epoch": int(self.state.epoch or 0), "world": world,
                          "pairs": [[s, t] for s, t in zip(sources, rows)]}) + "\\n")
    log.flush()
    return original(self, model, inputs, *rest, **named)

trainer.SQLToTextTrainer.training_step = training_step
raise SystemExit(main(sys.argv[2:]))
"""


def seen(log: Path, processes: int) -> dict[int, list[str]]:
    """Pairs by epoch, over all processes."""
    pairs: dict[int, list[str]] = {}
    for rank in range(processes):
        for line in log.with_name(f"{log.name}.{rank}").read_text(encoding="utf-8").splitlines():
            entry = json.loads(line)
            assert entry["world"] == processes
            pairs.setdefault(entry["epoch"], []).extend(json.dumps(pair) for pair in entry["pairs"])
    return {epoch: sorted(found) for epoch, found in pairs.items()}


@pytest.mark.slow
@pytest.mark.parametrize("launcher", ["torchrun", "accelerate"])
def test_two_processes_see_what_one_sees(launcher: str, own_corpus: Path, tmp_path: Path) -> None:
    program = tmp_path / "watched.py"
    program.write_text(WATCHED, encoding="utf-8")
    settings = {
        "source": str(own_corpus), "vocab_size": 400, "epochs": 2, "warmup_steps": 2, "num_beams": 1,
        "max_new_tokens": 16, "patience": 0,
        "model_options": {"embedding_size": 16, "hidden_size": 16, "decoder_hidden_size": 16},
    }  # fmt: skip
    environment = os.environ | {"PYTHONPATH": str(REPOSITORY), "OMP_NUM_THREADS": "1"}
    launch = {
        1: [],
        2: {
            "torchrun": ["-m", "torch.distributed.run", "--nproc_per_node", "2", "--master_port", "29613"],
            "accelerate": [
                "-m", "accelerate.commands.launch", "--multi_gpu", "--num_processes", "2",
                "--main_process_port", "29617",
            ],
        }[launcher],
    }  # fmt: skip
    epochs = {}
    for processes, batch_size in ((1, 16), (2, 8)):
        file = tmp_path / f"{processes}.yaml"
        file.write_text(json.dumps(settings | {"batch_size": batch_size, "processes": processes}))
        log, folder = tmp_path / f"log{processes}", tmp_path / f"run{processes}"
        arguments = [str(program), str(log), "--config", str(file), "--output", str(folder)]
        done = subprocess.run(
            [sys.executable, *launch[processes], *arguments], env=environment, capture_output=True, text=True
        )
        assert done.returncode == 0, done.stderr[-3000:]
        epochs[processes] = seen(log, processes)
        report = json.loads((folder / "report.json").read_text(encoding="utf-8"))
        assert report["processes"] == processes
        assert report["num_items"] == len(report["items"]["ids"]) == report["dataset"]["test_pairs"]
    assert set(epochs[1]) == set(epochs[2]) == {0, 1}
    for epoch, pairs in epochs[1].items():
        # A last batch too short for all is filled up from the first ones: pairs twice, none missing.
        missing = set(pairs) - set(epochs[2][epoch])
        assert not missing
        assert len(epochs[2][epoch]) - len(pairs) < 16


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="finds the processes as Linux lists them")
def test_a_signal_to_one_process_stops_both_after_the_same_step(own_corpus: Path, tmp_path: Path) -> None:
    """Else one waits for the other, and the checkpoint that was asked for is never whole."""
    file, folder = tmp_path / "s.yaml", tmp_path / "run"
    settings = {
        "source": str(own_corpus), "vocab_size": 400, "epochs": 10_000, "patience": 0, "batch_size": 4,
        "max_new_tokens": 16, "processes": 2,
        "model_options": {"embedding_size": 16, "hidden_size": 16, "decoder_hidden_size": 16},
    }  # fmt: skip
    file.write_text(json.dumps(settings))
    launch = [
        sys.executable,
        "-m",
        "torch.distributed.run",
        "--nproc_per_node",
        "2",
        "--master_port",
        "29619",
    ]
    command = [*launch, "-m", "spider_compose.training", "--config", str(file), "--output", str(folder)]
    environment = os.environ | {"PYTHONPATH": str(REPOSITORY), "OMP_NUM_THREADS": "1"}
    with subprocess.Popen(
        command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    ) as process:
        assert process.stdout is not None
        for line in process.stdout:
            if line.startswith("epoch 2 "):
                break
        children = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()
        os.kill(int(children[-1]), signal.SIGTERM)
        rest = process.stdout.read()
    assert "stopped as asked" in rest, rest[-3000:]
    assert "143" in rest
    last = max((folder / "checkpoints").iterdir(), key=lambda path: int(path.name[11:]))
    assert {"rng_state_0.pth", "rng_state_1.pth", "trainer_state.json"} <= {
        path.name for path in last.iterdir()
    }
