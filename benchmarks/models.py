"""Time the five models, beside slower formulations of themselves and beside their peers.

    python benchmarks/models.py                        everything, on the bundled corpus
    python benchmarks/models.py throughput --spider FOLDER --opennmt PYTHON

    preprocessing   seconds and memory for 7,000 trees with relations
    treelstm        the forest of a batch against one node at a time
    relations       RGT's tables and gathers against a vector per pair, at 16, 60 and 120 leaves
    throughput      target pieces per CPU second of a whole training step: the five, BART and T5 from scratch
                    at the same width and depth, OpenNMT-py's LSTM where an interpreter with it is named
    epoch           CPU seconds per epoch of 7,000 rows at paper sizes, beside the first implementation's
    vocabulary      which target words a vocabulary of words with extended ids cannot reach, and pieces can

Times are CPU seconds of one thread, models take turns in rounds, and the best round counts: another program
on the machine then disturbs little. FOLDER holds Spider as on the Hub (`tables.json` and the two Parquet
files).
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import random
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

try:
    import torch
    from torch import nn
except ImportError:
    print("skipped: needs torch (pip install 'spider-compose[models]')")
    sys.exit(0)

from spider_compose.models import MODELS, preset
from spider_compose.models.transformer import Relation, RelationalAttention
from spider_compose.models.treelstm.modeling_treelstm import TreeLSTMEncoder
from spider_compose.source import read_source
from spider_compose.sql.canonical import canonical_words
from spider_compose.sql.schema import Schema
from spider_compose.sql.tree import build_tree
from spider_compose.tokenization.collator import SQLToTextCollator
from spider_compose.tokenization.tokenizer import SQLTokenizer

BATCH_SIZE = 64
PAPER_BATCH_SIZE = 16
EPOCH_ROWS = 7_000
WIDTH = 256

# CPU seconds per epoch of 6,985 rows on two cores, of the public research code for Ma et al. (2021).
FIRST_IMPLEMENTATION = {"bilstm": 590, "abs": 2_020, "rel": 2_250, "treelstm": 1_720, "rgt": 2_080}


@dataclass
class Corpus:
    """Rows with `query`, `question` and `db_id`, and their schemas."""

    train: list[dict[str, Any]]
    validation: list[dict[str, Any]]
    schemas: Mapping[str, Schema]
    tokenizer: SQLTokenizer

    def encoded(self, form: str, rows: Sequence[Mapping[str, Any]] | None = None) -> list[dict[str, Any]]:
        """Rows of the tokenizer, of the training part without any named."""
        return [
            self.tokenizer.encode_pair(
                row["query"], row["question"], self.schemas.get(row["db_id"]), form=form
            )
            for row in (self.train if rows is None else rows)
        ]

    def batches(self, form: str, size: int, every: int = 1) -> list[dict[str, torch.Tensor]]:
        """Batches of sources of like length, as trainers group them; `every`: only each n-th."""
        rows = sorted(self.encoded(form), key=lambda row: (len(row["input_ids"]), len(row["labels"])))
        collator = SQLToTextCollator(self.tokenizer, form)
        starts = list(range(0, len(rows) - size + 1, size))[every // 2 :: every]
        return [collator(rows[start : start + size]) for start in starts]


def read_corpus(folder: str | None) -> Corpus:
    if folder is None:
        source = read_source("bundled")
        rows = {
            part: [{"query": p.query, "question": p.question, "db_id": p.db_id} for p in pairs]
            for part, pairs in source.pairs.items()
        }
        schemas = source.schemas
    else:
        from pyarrow import parquet

        rows = {
            part: parquet.read_table(f"{folder}/{part}-00000-of-00001.parquet").to_pylist()
            for part in ("train", "validation")
        }
        entries = json.loads(Path(folder, "tables.json").read_text("utf-8"))
        schemas = {entry["db_id"]: Schema.from_tables_json(entry) for entry in entries}
    train = rows["train"]
    tokenizer = SQLTokenizer.train(train, schemas)
    return Corpus(train, rows["validation"], schemas, tokenizer)


def peak_megabytes() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def training_step(model: nn.Module) -> Callable[[Mapping[str, torch.Tensor]], None]:
    """Forward, backward, clipping and Adam."""
    model.train()
    optimizer = torch.optim.Adam(model.parameters(), 1e-4)

    def step(batch: Mapping[str, torch.Tensor]) -> None:
        model(**batch).loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        optimizer.zero_grad()

    return step


def best_round(work: Mapping[str, Callable[[], object]], rounds: int) -> dict[str, float]:
    """CPU seconds of each piece of work, the best of several rounds in which all take turns."""
    found: dict[str, float] = {}
    for number in range(rounds + 1):
        for name, run in work.items():
            start = time.process_time()
            run()
            seconds = time.process_time() - start
            if number:  # the first round warms up
                found[name] = min(found.get(name, seconds), seconds)
    return found


def preprocessing(corpus: Corpus, options: argparse.Namespace) -> None:
    rows = (corpus.train * (EPOCH_ROWS // len(corpus.train) + 1))[:EPOCH_ROWS]
    before, start = peak_megabytes(), time.process_time()
    encoded = corpus.encoded("tree", rows)
    seconds = time.process_time() - start
    size = sum(getattr(value, "nbytes", 8 * len(value)) for row in encoded for value in row.values()) / 1e6
    print(f"{len(rows):,} trees with relations: {seconds:.1f} CPU s (limit 10), ", end="")
    print(f"{peak_megabytes() - before:.0f} MB more memory (limit 300), {size:.0f} MB of arrays")


class NodeByNode(TreeLSTMEncoder):
    """The same encoder, one node after the other."""

    def _forest(self, leaf_gates, gates, leaf_mask, leaf_parents, parents, heights):
        cell, size = self.cell, self.cell.hidden_size
        outputs = [], [], []
        for row in range(len(gates)):
            below: dict[int, list[tuple[torch.Tensor, torch.Tensor]]] = {}
            leaves = []
            for leaf in range(int(leaf_mask[row].sum())):
                state = cell.leaves(leaf_gates[row, leaf][None])
                leaves.append(state[0])
                below.setdefault(int(leaf_parents[row, leaf]), []).append(state)
            states: list[Any] = [None] * int((heights[row] > 0).sum())
            for at in reversed(range(len(states))):
                own = gates[row, at][None]
                children = below.get(at, [])
                total = sum((hidden for hidden, _ in children), own.new_zeros(1, size))
                kept = sum((cell.keep(own, hidden, c) for hidden, c in children), own.new_zeros(1, size))
                states[at] = cell.nodes(own, total, kept)
                below.setdefault(int(parents[row, at]), []).append(states[at])
            padding = own.new_zeros(leaf_gates.shape[1] - len(leaves), size)
            outputs[0].append(torch.cat([*leaves, padding]))
            padding = own.new_zeros(gates.shape[1] - len(states), size)
            for number in (0, 1):
                outputs[number + 1].append(torch.cat([*(state[number] for state in states), padding]))
        return tuple(torch.stack(output) for output in outputs)


def treelstm(corpus: Corpus, options: argparse.Namespace) -> None:
    config = sized("treelstm", len(corpus.tokenizer))
    batches = corpus.batches("tree", BATCH_SIZE)
    batch = batches[len(batches) // 2]
    models = {}
    for name in ("forest", "node by node"):
        torch.manual_seed(0)
        models[name] = MODELS["treelstm"][1](config)
    models["node by node"].encoder.__class__ = NodeByNode
    source = {key: value for key, value in batch.items() if key != "labels"}
    with torch.no_grad():
        one, other = (model.eval().encoder(**source).last_hidden_state for model in models.values())
    nodes = torch.cat([batch["attention_mask"], batch["structure_mask"]], dim=1).bool()
    print(f"same states to {float((one - other)[nodes].abs().max()):.0e}")

    def encode(model: Any) -> None:
        encoded = model.encoder(**source)
        (encoded.last_hidden_state.sum() + encoded.initial_cell.sum()).backward()

    steps = {name: training_step(model) for name, model in models.items()}
    for what, work in (
        (
            "encoder, forward and backward",
            {name: lambda m=model: encode(m) for name, model in models.items()},
        ),
        ("whole step", {name: lambda s=step: s(batch) for name, step in steps.items()}),
    ):
        seconds = best_round(work, options.rounds)
        ratio = seconds["node by node"] / seconds["forest"]
        print(
            f"{what}: forest {seconds['forest']:.3f} s, node by node {seconds['node by node']:.3f} s, "
            f"{ratio:.1f}x"
        )


class DenseRelation(Relation):
    """The same relation with a vector for every pair of positions."""

    def _rows(self, table: torch.Tensor) -> torch.Tensor:
        if table.dim() == 2:
            return table[self.index]
        return table[torch.arange(len(table))[:, None, None], self.index]

    def scores(self, queries: torch.Tensor) -> torch.Tensor:
        """As the base class."""
        # (batch_size, length, heads, head_size) x (batch_size, length, head_size, length)
        return (queries.transpose(1, 2) @ self._rows(self.keys).transpose(-1, -2)).transpose(1, 2)

    def outputs(self, weights: torch.Tensor) -> torch.Tensor:
        """As the base class."""
        return (weights.transpose(1, 2) @ self._rows(self.values)).transpose(1, 2)


def attention_cost(kind: str, length: int, rounds: int) -> tuple[float, float, float]:
    """CPU seconds, peak megabytes and a checksum of RGT's leaf attention, forward and backward."""
    torch.set_num_threads(1)
    torch.manual_seed(0)
    heads, structures = 4, max(8, length // 2)
    relation_class = Relation if kind == "tables" else DenseRelation
    layer = RelationalAttention(WIDTH, heads, 0.0)
    states = torch.randn(BATCH_SIZE, length, WIDTH)
    mask = torch.ones(BATCH_SIZE, 1, 1, length, dtype=torch.bool)
    positions = torch.arange(length)
    distance = (positions - positions[:, None]).clamp(-4, 4)[None].expand(BATCH_SIZE, -1, -1) + 4
    ancestors = torch.randint(0, structures, (BATCH_SIZE, length, length))
    tables = [torch.randn(9, WIDTH // heads), torch.randn(BATCH_SIZE, structures, WIDTH // heads)]
    tables = [table.requires_grad_() for table in tables]

    def run() -> torch.Tensor:
        relations = [
            relation_class(index, table, table)
            for index, table in zip((distance, ancestors), tables, strict=True)
        ]
        output = layer(states, mask, relations)
        output.sum().backward()
        return output

    checksum = float(run().detach().abs().sum())
    # Linux forgets the peak of a process's memory on request, so that only what runs now counts.
    Path("/proc/self/clear_refs").write_text("5")
    before = memory_megabytes("VmRSS")
    seconds = best_round({kind: run}, rounds)[kind]
    return seconds, memory_megabytes("VmHWM") - before, checksum


def memory_megabytes(field: str) -> float:
    """Of this process: `VmRSS` now, `VmHWM` at most."""
    status = dict(line.split(":", 1) for line in Path("/proc/self/status").read_text().splitlines())
    return int(status[field].split()[0]) / 1024


def relations(corpus: Corpus, options: argparse.Namespace) -> None:
    context = multiprocessing.get_context("spawn")
    for length in (16, 60, 120):
        found = {}
        for kind in ("tables", "dense"):
            with ProcessPoolExecutor(1, mp_context=context) as pool:
                found[kind] = pool.submit(attention_cost, kind, length, options.rounds).result()
        tables, dense = found["tables"], found["dense"]
        assert abs(tables[2] - dense[2]) < 1e-3 * dense[2], "the two formulations differ"
        print(
            f"{length:3} leaves: tables {tables[0]:.3f} s, {tables[1]:.0f} MB; dense {dense[0]:.3f} s, "
            f"{dense[1]:.0f} MB; {dense[0] / tables[0]:.1f}x as fast, "
            f"{100 * tables[1] / max(dense[1], 1):.0f} % of the memory"
        )


def sized(name: str, vocab_size: int, **fields: Any) -> Any:
    """The configuration of one of the five at the width of its peers."""
    widths = dict.fromkeys(("embedding_size", "hidden_size", "decoder_hidden_size"), WIDTH)
    if name in ("abs", "rel", "rgt"):
        widths["intermediate_size"] = 4 * WIDTH
    return preset(name, "small", **{"vocab_size": vocab_size, **widths, **fields})


def peers(vocab_size: int) -> dict[str, nn.Module]:
    """BART and T5 from scratch: two layers a side, with the widths and heads of the `small` presets."""
    from transformers import BartConfig, BartForConditionalGeneration, T5Config, T5ForConditionalGeneration

    special = {"pad_token_id": 0, "bos_token_id": 1, "eos_token_id": 2, "decoder_start_token_id": 1}
    bart = BartConfig(
        vocab_size=vocab_size, d_model=WIDTH, encoder_layers=2, decoder_layers=2, encoder_attention_heads=4,
        decoder_attention_heads=4, encoder_ffn_dim=1024, decoder_ffn_dim=1024, max_position_embeddings=512,
        dropout=0.1, forced_eos_token_id=None, **special,
    )  # fmt: skip
    t5 = T5Config(
        vocab_size=vocab_size, d_model=WIDTH, d_kv=64, d_ff=1024, num_layers=2, num_decoder_layers=2,
        num_heads=4,        dropout_rate=0.1, pad_token_id=0, eos_token_id=2, decoder_start_token_id=1,
    )  # fmt: skip
    return {"BART": BartForConditionalGeneration(bart), "T5": T5ForConditionalGeneration(t5)}


def throughput(corpus: Corpus, options: argparse.Namespace) -> None:
    size = len(corpus.tokenizer)
    every = max(1, len(corpus.train) // BATCH_SIZE // 6)
    batches = {form: corpus.batches(form, BATCH_SIZE, every) for form in ("sequence", "tree")}
    pieces = sum(int((batch["labels"] != -100).sum()) for batch in batches["sequence"])
    models: dict[str, tuple[str, nn.Module]] = {}
    for name, (_, model_class) in MODELS.items():
        torch.manual_seed(0)
        config = sized(name, size)
        models[name] = (config.source_form, model_class(config))
    torch.manual_seed(0)
    # As the paper has it; then with the parts of OpenNMT-py: half the width per direction, no copying.
    like = {"hidden_size": WIDTH // 2, "copying": False, "coverage": False}
    for name, fields in {
        "bilstm, input feeding": {"input_feeding": True},
        "bilstm like OpenNMT-py": like,
        "  with input feeding": {**like, "input_feeding": True},
    }.items():
        config = sized("bilstm", size, **fields)
        models[name] = ("sequence", MODELS["bilstm"][1](config))
    models |= {name: ("sequence", model) for name, model in peers(size).items()}

    def work_of(name: str) -> Callable[[], object]:
        form, model = models[name]
        step = training_step(model)
        unread = {"copy_mask"} if name in ("BART", "T5") else set()
        own = [{key: value for key, value in batch.items() if key not in unread} for batch in batches[form]]
        return lambda: [step(batch) for batch in own]

    work = {name: work_of(name) for name in models}
    seconds = best_round(work, options.rounds)
    for name, taken in seconds.items():
        total = int((torch.cat([b["labels"].flatten() for b in batches[models[name][0]]]) != -100).sum())
        count = sum(parameter.numel() for parameter in models[name][1].parameters()) / 1e6
        print(f"{name:22} {total / taken:7.0f} target pieces per CPU second   {count:.1f} M parameters")
    if options.opennmt:
        with tempfile.NamedTemporaryFile(suffix=".pt") as file:
            torch.save({"batches": batches["sequence"], "width": WIDTH, "vocab_size": size}, file.name)
            script = Path(__file__).parent / "peers" / "opennmt_lstm.py"
            done = subprocess.run(
                [options.opennmt, script, file.name, str(options.rounds + 1)],
                capture_output=True, text=True, check=True, env={**os.environ, "OMP_NUM_THREADS": "1"},
            )  # fmt: skip
        for name, result in json.loads(done.stdout.splitlines()[-1]).items():
            best = min(taken for _, taken in result["rounds"][1:])
            count = result["parameters"] / 1e6
            print(
                f"OpenNMT-py, {name:17}{pieces / best:6.0f} target pieces per CPU second   "
                f"{count:.1f} M parameters"
            )


def epoch(corpus: Corpus, options: argparse.Namespace) -> None:
    """Batches of 16, as the paper trains; each 20th is timed and stands for the rest."""
    for name, (_, model_class) in MODELS.items():
        config = preset(name, "paper", vocab_size=len(corpus.tokenizer))
        batches = corpus.batches(config.source_form, PAPER_BATCH_SIZE, options.every)
        torch.manual_seed(0)
        step = training_step(model_class(config))
        step(batches[0])
        start = time.process_time()
        for batch in batches:
            step(batch)
        seconds = (time.process_time() - start) / (len(batches) * PAPER_BATCH_SIZE) * EPOCH_ROWS
        first = FIRST_IMPLEMENTATION[name]
        print(
            f"{name:9} {seconds:6.0f} CPU s per epoch of {EPOCH_ROWS:,} rows; "
            f"first implementation {first:,}: {seconds / first:.2f} of it"
        )


def words_of(text: str) -> Iterator[str]:
    from tokenizers.pre_tokenizers import Whitespace

    return (word for word, _ in Whitespace().pre_tokenize_str(text))


def vocabulary(corpus: Corpus, options: argparse.Namespace) -> None:
    """What each policy can say of the validation part, with a vocabulary of the training part alone."""

    def source(row: Mapping[str, Any]) -> str:
        tree = build_tree(row["query"], corpus.schemas.get(row["db_id"]))
        return " ".join(word.text for word in canonical_words(tree))

    known = {
        word for row in corpus.train for text in (row["question"], source(row)) for word in words_of(text)
    }
    unseen = beyond = 0
    for row in corpus.validation:
        missing = {word for word in words_of(row["question"]) if word not in known}
        unseen += bool(missing)
        beyond += bool(missing - set(words_of(source(row))))
    count = len(corpus.validation)
    print(
        f"words: {len(known):,} in training; {100 * unseen / count:.0f} % of {count:,} rows hold others; ",
        end="",
    )
    print(f"with extended ids {100 * beyond / count:.0f} % stay out of reach")
    reached = sum(
        corpus.tokenizer.decode(
            corpus.tokenizer.encode_question(row["question"]), skip_special_tokens=True
        ).split()
        == row["question"].split()
        for row in corpus.validation
    )
    print(f"pieces: {len(corpus.tokenizer):,}; {100 * (1 - reached / count):.0f} % out of reach")


PARTS = {part.__name__: part for part in (preprocessing, treelstm, relations, throughput, epoch, vocabulary)}


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("parts", nargs="*", help=f"of {', '.join(PARTS)}; all without any")
    parser.add_argument("--spider", metavar="FOLDER", help="Spider instead of the bundled corpus")
    parser.add_argument("--opennmt", metavar="PYTHON", help="an interpreter that has OpenNMT-py")
    parser.add_argument("--rounds", type=int, default=3, help="rounds, of which the best counts")
    parser.add_argument("--every", type=int, default=20, help="epoch: which batches are timed")
    options = parser.parse_args()
    if unknown := set(options.parts) - set(PARTS):
        parser.error(f"unknown parts {sorted(unknown)}; choose from {list(PARTS)}")
    torch.set_num_threads(1)
    random.seed(0)
    corpus = read_corpus(options.spider)
    print(f"torch {torch.__version__}, one thread; {len(corpus.train):,} training rows; ", end="")
    print(f"load of the machine {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores")
    for name in options.parts or PARTS:
        print(f"-- {name}", flush=True)
        PARTS[name](corpus, options)


if __name__ == "__main__":
    sys.exit(main())
