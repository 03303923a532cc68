"""The judge "transformers": a causal model run here, whose probabilities of four labels are read.

As in `transformers.decision`, nothing is generated: one forward pass gives the logits of the letters A to D
where the answer would begin. That module takes one prompt at a time; here they are batched.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import islice
from pathlib import Path
from typing import Any

from spider_compose.errors import MissingExtraError, OptionError, SpiderComposeError
from spider_compose.stef.judges.answer import LABELS, Answer, AnswerError
from spider_compose.stef.judges.bare import bare_request
from spider_compose.stef.judges.budget import Budget, BudgetError
from spider_compose.stef.judges.cache import AnswerCache, cache_key
from spider_compose.stef.judges.calibration import Calibration
from spider_compose.stef.judges.cross_check import cross_checked
from spider_compose.stef.judges.prompt import Message, Prompt, TooLongError, inputs
from spider_compose.stef.judges.protocol import Judgement, Request
from spider_compose.stef.judges.quoting import bound_nonce
from spider_compose.stef.judges.rules import RulesJudge


@dataclass(frozen=True)
class TransformersJudge:
    """A local causal model as a judge.

    Attributes:
        model: name on the Hub, or a folder.
        revision: of the model on the Hub.
        gguf_file: name of a GGUF file in it, which transformers unpacks.
        prompt: what is asked; its answer is one letter.
        device: where it runs, as "cpu" or "cuda:0".
        dtype: of the weights, as "float32" or "auto".
        batch_size: rows per forward pass.
        max_length: most tokens of a prompt; a longer row gets no verdict.
        budget, cache, calibration, rules, progress: as in `hub.HubJudge`; a request is one row.
    """

    model: str
    revision: str | None = None
    gguf_file: str | None = None
    prompt: Prompt = field(default_factory=lambda: Prompt.read("label"))
    device: str = "cpu"
    dtype: str = "auto"
    batch_size: int = 8
    max_length: int = 4096
    budget: Budget = field(default_factory=Budget)
    cache: AnswerCache | None = None
    calibration: Calibration | None = None
    rules: RulesJudge = field(default_factory=RulesJudge)
    progress: Callable[[Budget], None] | None = None

    def __post_init__(self) -> None:
        if self.batch_size < 1:
            raise OptionError(f"`batch_size` must be at least 1, but got {self.batch_size}")
        if self.max_length < 1:
            raise OptionError(f"`max_length` must be at least 1, but got {self.max_length}")
        if self.calibration is not None and self.calibration.judge not in ("", self.identity):
            raise OptionError(
                f"the calibration was fitted for {self.calibration.judge}, but the judge is {self.identity}"
            )

    @property
    def _name(self) -> str:
        """The model without the folders of this machine."""
        name = Path(self.model).name if Path(self.model).exists() else self.model
        return "@".join(filter(None, [name, self.gguf_file, self.revision]))

    @property
    def identity(self) -> str:
        """Model, prompt and settings: what a calibration belongs to."""
        settings = hashlib.sha256(json.dumps([self._name, self.dtype]).encode()).hexdigest()[:8]
        return (
            f"transformers-{re.sub(r'[^A-Za-z0-9_./@-]', '_', self._name)}-{self.prompt.version}-{settings}"
        )

    @property
    def signature(self) -> str:
        """The identity, the calibration, and the rules it is held against."""
        calibration = f"-calibrated-{self.calibration.digest}" if self.calibration else ""
        return f"{self.identity}{calibration}-{self.rules.signature}"

    @cached_property
    def _loaded(self) -> tuple[Any, Any, list[int]]:
        """(model, tokenizer, tokens of the labels)."""
        try:
            import torch
            from transformers import AutoModelForCausalLM, AutoTokenizer
        except ImportError as error:
            raise MissingExtraError(
                "the judge 'transformers' needs torch and transformers: pip install 'spider-compose[models]'"
            ) from error
        where = {"revision": self.revision, "gguf_file": self.gguf_file}
        given = {name: value for name, value in where.items() if value is not None}
        try:
            tokenizer = AutoTokenizer.from_pretrained(self.model, **given)
            model = AutoModelForCausalLM.from_pretrained(self.model, dtype=self.dtype, **given)
        except (OSError, ValueError, ImportError) as error:
            raise SpiderComposeError(f"cannot load the model {self._name}: {error}") from error
        if not tokenizer.chat_template:
            raise OptionError(f"the model {self._name} has no chat template; take an instruct model")
        tokenizer.padding_side = "left"  # the last token of every row is the one before its answer
        tokenizer.pad_token = tokenizer.pad_token or tokenizer.eos_token
        ids = [tokenizer(letter, add_special_tokens=False)["input_ids"] for letter in LABELS]
        if any(len(tokens) != 1 for tokens in ids):
            raise OptionError(f"the labels {list(LABELS)} are not single tokens of the model {self._name}")
        return model.to(torch.device(self.device)).eval(), tokenizer, [tokens[0] for tokens in ids]

    def judge(self, requests: Sequence[Request]) -> list[Judgement]:
        """One judgement per request."""
        return [judgement for judgement in self.stream(requests) if judgement is not None]

    def stream(self, requests: Iterable[Request | None]) -> Iterator[Judgement | None]:
        """One judgement per request, in order; see `protocol.judge_stream`."""
        rest = iter(requests)
        while batch := list(islice(rest, self.batch_size)):
            rows = [request for request in batch if request is not None]
            bare = [bare_request(request) for request in rows]
            answers = iter(self._answers(rows))
            again = iter(self._answers([request for request in bare if request is not None]))
            without = iter([None if request is None else next(again) for request in bare])
            for request in batch:
                yield None if request is None else self._judgement(request, next(answers), next(without))

    def _judgement(self, request: Request, answer: Answer | str, bare: Answer | str | None) -> Judgement:
        answer = bare if isinstance(bare, str) and not isinstance(answer, str) else answer
        self.budget.count("failed" if isinstance(answer, str) else "answered")
        if isinstance(answer, str):
            without = self.rules.judge([request])[0]
            found = Judgement(None, 0.0, reason=answer, without=without)
        else:
            again = None if isinstance(bare, str) else bare
            found = cross_checked(request, answer, self.rules, self.calibration, again)
        if self.progress is not None:
            self.progress(self.budget)
        return found

    def _answers(self, requests: Sequence[Request]) -> list[Answer | str]:
        """An answer to each row of a batch, or why there is none."""
        found: list[Answer | str | None] = []
        keys = [cache_key(self.identity, self.prompt.version, "", inputs(request)) for request in requests]
        asked: list[tuple[int, list[Message]]] = []
        for place, (key, request) in enumerate(zip(keys, requests, strict=True)):
            known = self.cache.get(key) if self.cache else None
            found.append(known)
            if known is not None:
                self.budget.count("cached")
                continue
            try:
                asked.append((place, self.prompt.render(request, bound_nonce(*inputs(request)))))
            except TooLongError as error:
                found[place] = str(error)
        for (place, _), answer in zip(asked, self._forward([m for _, m in asked]), strict=True):
            found[place] = answer
            if self.cache is not None and isinstance(answer, Answer):
                self.cache.put(keys[place], answer)
        return [answer if answer is not None else "no answer" for answer in found]

    def _forward(self, prompts: Sequence[list[Message]]) -> list[Answer | str]:
        """The answers of one forward pass."""
        if not prompts:
            return []
        import torch

        model, tokenizer, labels = self._loaded
        rows = [
            tokenizer.apply_chat_template(
                messages, add_generation_prompt=True, return_dict=False, sanitize_control_tokens=True
            )
            for messages in prompts
        ]
        found: list[Answer | str] = []
        read: list[list[int]] = []
        for row in rows:
            problem = ""
            if len(row) > self.max_length:
                problem = f"the prompt has {len(row):,} tokens; `max_length` is {self.max_length:,}"
            else:
                try:
                    self.budget.take(len(row))
                    self.budget.settle(len(row), len(row), 0)
                except BudgetError as error:
                    problem = str(error)
            found.append(problem)
            if not problem:
                read.append(row)
        if not read:
            return found
        padded = tokenizer.pad({"input_ids": read}, return_tensors="pt").to(model.device)
        with torch.no_grad():
            logits = model(**padded, logits_to_keep=1).logits[:, -1].float()  # (rows, vocabulary)
        probabilities = torch.softmax(logits[:, labels], dim=-1).tolist()  # (rows, 4)
        answers = iter(probabilities)
        return [text or _answer(next(answers)) for text in found]


def _answer(probabilities: Sequence[float]) -> Answer | str:
    try:
        return Answer.from_probabilities(dict(zip(LABELS.values(), probabilities, strict=True)))
    except AnswerError as error:
        return str(error)
