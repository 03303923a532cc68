"""`generate` against a slow decoder written from the formulas: one row, every prefix from scratch."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

pytest.importorskip("torch", reason="the extra `models` is not installed")
pytest.importorskip("transformers", reason="the extra `models` is not installed")

import torch

NAMES = ["bilstm", "abs", "rel", "treelstm", "rgt"]
ROWS = slice(0, 6)
STEPS = 12
Make = Callable[..., Any]


@pytest.fixture
def make_lively_model(make_model: Make, make_batch: Make) -> Make:
    """A model that has learned a little, so that it ends sentences at different steps and copies.

    Untrained models end all rows alike. Coverage is made to matter, which little training does not.
    """

    def make(name: str, **overrides: Any) -> Any:
        model = make_model(name, dropout=0.0, **overrides)
        batch = make_batch(model, slice(0, 12))
        optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
        with torch.enable_grad():
            for _ in range(25):
                optimizer.zero_grad()
                model(**batch).loss.backward()
                optimizer.step()
        with torch.no_grad():
            model.pointer_generator.coverage.weight.fill_(-3.0)
        return model

    return make


class SlowDecoder:
    """Distributions of one encoded source, every prefix from scratch, one step and one stream at a time."""

    def __init__(self, model: Any, batch: dict[str, Any]) -> None:
        self.model = model
        encoded = model.encoder(**batch)
        keep = encoded.attention_mask[0].bool()
        self.streams = [encoded.last_hidden_state[0][keep]]
        if encoded.structure_hidden_state is not None:
            self.streams.append(encoded.structure_hidden_state[0][encoded.structure_mask[0].bool()])
        self.source_ids = encoded.source_ids[0][keep]
        self.copy_mask = encoded.copy_mask[0][keep].bool()
        self.initial = encoded.initial_hidden[0], encoded.initial_cell[0]

    def log_probs(self, prefix: list[int]) -> torch.Tensor:
        """Of the piece after the prefix."""
        model, decoder, output = self.model, self.model.decoder, self.model.pointer_generator
        hidden = torch.tanh(decoder.bridge_hidden(self.initial[0]))
        cell = decoder.bridge_cell(self.initial[1])
        contexts = torch.zeros(decoder.context_size)
        coverage = torch.zeros(len(self.source_ids))
        lstm = decoder.lstm
        for piece in prefix:
            embedding = model.encoder.embed_tokens.weight[piece]
            step = decoder.input(torch.cat([embedding, contexts]) if decoder.input_feeding else embedding)
            gates = lstm.weight_ih_l0 @ step + lstm.bias_ih_l0 + lstm.weight_hh_l0 @ hidden + lstm.bias_hh_l0
            into, forget, new, out = gates.chunk(4)
            cell = torch.sigmoid(forget) * cell + torch.sigmoid(into) * torch.tanh(new)
            hidden = torch.sigmoid(out) * torch.tanh(cell)
            before = coverage
            found = []
            for number, (stream, key) in enumerate(zip(self.streams, decoder.keys, strict=True)):
                weights = torch.softmax(torch.stack([key(state) @ hidden for state in stream]), 0)
                found.append(weights @ stream)
                if not number:
                    coverage = coverage + weights
            contexts = torch.cat(found)
        attentional = torch.tanh(decoder.output(torch.cat([hidden, contexts])))
        vocabulary = torch.softmax(output.vocabulary(attentional), 0)
        if not self.copy_mask.any():
            return vocabulary.log()
        inputs = torch.cat([attentional, embedding])
        scores = output.key(self.streams[0]) @ output.query(inputs) + output.coverage.weight * before
        copied = torch.softmax(scores.masked_fill(~self.copy_mask, -1e30), 0)
        gate = torch.sigmoid(output.gate(inputs))
        mixed = gate * vocabulary
        for position, piece in enumerate(self.source_ids):
            mixed[piece] = mixed[piece] + (1 - gate[0]) * copied[position]
        return mixed.log()

    def greedy(self) -> list[int]:
        pieces = [self.model.config.decoder_start_token_id]
        while len(pieces) <= STEPS and pieces[-1] != self.model.config.eos_token_id:
            pieces.append(int(self.log_probs(pieces).argmax()))
        return pieces[1:]

    def beam(self, width: int) -> list[int]:
        """Beam search with scores per piece, stopping as soon as no open beam can win."""
        end = self.model.config.eos_token_id
        open_beams: list[tuple[float, list[int]]] = [(0.0, [self.model.config.decoder_start_token_id])]
        finished: list[tuple[float, list[int]]] = []
        for length in range(1, STEPS + 1):
            candidates = []
            for score, pieces in open_beams:
                best = self.log_probs(pieces).topk(2 * width)
                candidates += [
                    (score + float(more), [*pieces, int(piece)])
                    for more, piece in zip(best.values, best.indices, strict=True)
                ]
            candidates = sorted(candidates, key=lambda candidate: -candidate[0])[: 2 * width]
            finished += [
                (score / length, pieces) for score, pieces in candidates[:width] if pieces[-1] == end
            ]
            finished = sorted(finished, key=lambda done: -done[0])[:width]
            open_beams = [candidate for candidate in candidates if candidate[1][-1] != end][:width]
            if len(finished) == width and open_beams[0][0] / length <= finished[-1][0]:
                break
        else:
            finished += [(score / STEPS, pieces) for score, pieces in open_beams]
        return max(finished, key=lambda done: done[0])[1][1:]


def trimmed(model: Any, ids: torch.Tensor) -> list[int]:
    """Generated pieces up to the first end mark; what follows is filling."""
    pieces = ids.tolist()[1:]
    end = model.config.eos_token_id
    return pieces[: pieces.index(end) + 1] if end in pieces else pieces


@pytest.mark.parametrize("input_feeding", [True, False])
@pytest.mark.parametrize("name", NAMES)
@torch.no_grad()
def test_equal_to_the_slow_decoder(
    name: str, input_feeding: bool, make_lively_model: Make, make_batch: Make
) -> None:
    model = make_lively_model(name, input_feeding=input_feeding)
    batch = make_batch(model, ROWS, labels=False)
    greedy = model.generate(**batch, max_new_tokens=STEPS)
    beam = model.generate(**batch, max_new_tokens=STEPS, num_beams=3)
    lengths = set()
    for row in range(6):
        slow = SlowDecoder(model, make_batch(model, [row], labels=False))
        expected = slow.greedy()
        assert trimmed(model, greedy[row]) == expected
        assert trimmed(model, beam[row]) == slow.beam(3)
        lengths.add(len(expected))
    assert len(lengths) > 1, "the rows end at the same step: the test sees too little"


@pytest.mark.parametrize("name", NAMES)
@torch.no_grad()
def test_state_changes_nothing(name: str, make_lively_model: Make, make_batch: Make) -> None:
    """With the state or with whole prefixes; in a batch or alone; one beam or greedy."""
    model = make_lively_model(name)
    batch = make_batch(model, ROWS, labels=False)
    for beams in (1, 4):
        expected = model.generate(**batch, max_new_tokens=STEPS, num_beams=beams)
        assert torch.equal(
            model.generate(**batch, max_new_tokens=STEPS, num_beams=beams, use_cache=False), expected
        )
        for row in range(6):
            alone = model.generate(
                **make_batch(model, [row], labels=False), max_new_tokens=STEPS, num_beams=beams
            )
            assert trimmed(model, alone[0]) == trimmed(model, expected[row])


@torch.no_grad()
def test_beams_need_reordering(
    make_lively_model: Make, make_batch: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The test above would see a state that is not reordered."""
    from spider_compose.models.decoder import DecoderState

    model = make_lively_model("bilstm")
    batch = make_batch(model, labels=False)
    expected = model.generate(**batch, max_new_tokens=STEPS, num_beams=4)
    monkeypatch.setattr(DecoderState, "reorder_cache", lambda self, beam_idx: None)
    assert not torch.equal(model.generate(**batch, max_new_tokens=STEPS, num_beams=4), expected)


@torch.no_grad()
def test_strategies(make_lively_model: Make, make_batch: Make) -> None:
    """Sampling, several sequences per row, scores."""
    model = make_lively_model("rgt")
    batch = make_batch(model, ROWS, labels=False)
    torch.manual_seed(3)
    sampled = model.generate(
        **batch, max_new_tokens=STEPS, do_sample=True, num_return_sequences=3, top_k=0, temperature=1.5
    )
    assert len(sampled) == 18 and len({tuple(ids) for ids in sampled.tolist()}) > 6
    torch.manual_seed(3)
    again = model.generate(
        **batch, max_new_tokens=STEPS, do_sample=True, num_return_sequences=3, top_k=0, temperature=1.5
    )
    assert torch.equal(sampled, again)
    found = model.generate(
        **batch, max_new_tokens=STEPS, num_beams=4, num_return_sequences=2, output_scores=True,
        return_dict_in_generate=True,
    )  # fmt: skip
    assert found.sequences.shape[0] == 12 and len(found.scores) <= STEPS
    assert (found.sequences_scores.view(6, 2).diff() <= 1e-6).all()
    greedy = model.generate(
        **batch,
        max_new_tokens=STEPS,
        output_scores=True,
        output_attentions=True,
        return_dict_in_generate=True,
    )
    # The scores of `generate` are the model's own log-probabilities of what it chose.
    logits = model(**batch, decoder_input_ids=greedy.sequences[:, :-1]).logits
    scores = torch.stack(greedy.scores, 1)
    live = greedy.sequences[:, 1:] != model.config.pad_token_id
    assert torch.allclose(scores.log_softmax(-1)[live], logits[live], atol=1e-4)


@torch.no_grad()
def test_stops_when_all_rows_have_ended(make_model: Make, make_batch: Make) -> None:
    model = make_model("abs")
    model.pointer_generator.vocabulary.bias[model.config.eos_token_id] += 1e3
    model.pointer_generator.gate.bias += 1e3
    assert model.generate(**make_batch(model, ROWS, labels=False)).shape == (6, 2)


@torch.no_grad()
def test_continues_a_prefix(make_lively_model: Make, make_batch: Make) -> None:
    """Given the first pieces of a sentence, `generate` goes on as it would have."""
    model = make_lively_model("rel")
    batch = make_batch(model, ROWS, labels=False)
    whole = model.generate(**batch, max_new_tokens=STEPS)
    rest = model.generate(**batch, decoder_input_ids=whole[:, :4], max_new_tokens=STEPS - 3)
    assert [trimmed(model, ids) for ids in rest] == [trimmed(model, ids) for ids in whole]


@torch.no_grad()
def test_lengths_that_a_caller_asks_for(make_model: Make, make_batch: Make) -> None:
    """`max_length` counts the start mark; it holds against the model's own `max_new_tokens`."""
    from transformers import GenerationConfig

    model = make_model("bilstm")
    model.pointer_generator.vocabulary.bias[model.config.eos_token_id] -= 1e3  # never ends by itself
    batch = make_batch(model, ROWS, labels=False)
    for asked, length in [
        ({"max_length": 5}, 5),
        ({"max_length": 5, "num_beams": 2}, 5),
        ({"generation_config": GenerationConfig(max_length=5)}, 5),
        ({"max_new_tokens": 5}, 6),
        ({"generation_config": GenerationConfig(max_new_tokens=5)}, 6),
        ({"max_new_tokens": 5, "max_length": 8}, 6),
        ({}, 101),
    ]:
        assert model.generate(**batch, **asked).shape[1] == length, asked


@pytest.mark.parametrize("name", NAMES)
@torch.no_grad()
def test_encoding_once_for_several_searches(name: str, make_lively_model: Make, make_batch: Make) -> None:
    """An encoder's output that the caller gives is read, and stays as it was."""
    model = make_lively_model(name)
    batch = make_batch(model, ROWS, labels=False)
    encoded = model.encoder(**batch)
    expected = model.generate(**batch, num_beams=3, max_new_tokens=STEPS)
    for _ in range(2):
        found = model.generate(encoder_outputs=encoded, num_beams=3, max_new_tokens=STEPS)
        assert torch.equal(found, expected)


@torch.no_grad()
def test_stop_strings(make_lively_model: Make, make_batch: Make, tokenizer: Any) -> None:
    model = make_lively_model("treelstm")
    batch = make_batch(model, [0], labels=False)
    whole = model.generate(**batch, max_new_tokens=STEPS)[0]
    word = tokenizer.decode(whole[2:3]).strip()
    stopped = model.generate(**batch, max_new_tokens=STEPS, stop_strings=[word], tokenizer=tokenizer)[0]
    assert len(stopped) < len(whole) and torch.equal(stopped, whole[: len(stopped)])
