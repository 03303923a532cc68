"""OpenNMT-py's LSTM on batches that `benchmarks/models.py` has saved; runs in an environment of its own.

    python benchmarks/peers/opennmt_lstm.py BATCHES.pt ROUNDS

OpenNMT-py pins an old torch, so it is installed apart (`pip install --no-deps OpenNMT-py` beside torch 2.13
works) and `benchmarks/models.py throughput --opennmt PYTHON` calls this file with that interpreter. Prints
one JSON object: target pieces and CPU seconds of every round, for the decoder with input feeding (its
default) and without.
"""

from __future__ import annotations

import json
import sys
import time

import torch
from onmt.decoders.decoder import InputFeedRNNDecoder, StdRNNDecoder
from onmt.encoders.rnn_encoder import RNNEncoder
from onmt.models.model import NMTModel
from onmt.modules import Embeddings


def main() -> None:
    torch.set_num_threads(1)
    saved = torch.load(sys.argv[1], weights_only=True)
    found = {}
    for name, decoder_class in (("input feeding", InputFeedRNNDecoder), ("no input feeding", StdRNNDecoder)):
        width, size = saved["width"], saved["vocab_size"]
        torch.manual_seed(0)
        source, target = (Embeddings(width, size, 0) for _ in range(2))
        model = NMTModel(
            RNNEncoder("LSTM", True, 1, width, 0.1, source),
            decoder_class("LSTM", True, 1, width, dropout=0.1, embeddings=target),
        )
        output = torch.nn.Linear(width, size)
        parameters = [*model.parameters(), *output.parameters()]
        optimizer = torch.optim.Adam(parameters, 1e-3)
        rounds = []
        for _ in range(int(sys.argv[2])):
            start, pieces = time.process_time(), 0
            for batch in saved["batches"]:
                lengths = batch["attention_mask"].sum(1)
                labels = batch["labels"]
                # Its forward drops the target's last piece, which is the end mark here: nothing follows it.
                targets = torch.cat([torch.ones_like(labels[:, :1]), labels.clamp_min(0)], 1)[..., None]
                states, _ = model(batch["input_ids"][..., None], targets, lengths)
                loss = torch.nn.functional.cross_entropy(output(states).flatten(0, 1), labels.flatten())
                optimizer.zero_grad()
                loss.backward()
                torch.nn.utils.clip_grad_norm_(parameters, 1.0)
                optimizer.step()
                pieces += int((labels != -100).sum())
            rounds.append((pieces, time.process_time() - start))
        found[name] = {"parameters": sum(p.numel() for p in parameters), "rounds": rounds}
    print(json.dumps(found))


if __name__ == "__main__":
    main()
