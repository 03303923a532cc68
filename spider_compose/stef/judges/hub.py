"""The judge "hub": any chat model behind an address that speaks OpenAI's way, through huggingface_hub.

That is a provider of the Hub by the model's name, or a server by its address: vLLM, TGI, llama.cpp, Ollama,
`transformers serve`. It answers in words (JSON), or with one letter whose probability is read.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import math
import os
import re
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import SplitResult, quote, urlsplit

from spider_compose.errors import MissingExtraError, OptionError, choose
from spider_compose.stef.judges.answer import (
    ANSWER_SCHEMA,
    Answer,
    AnswerError,
    one_line,
    read_answer,
    read_labels,
)
from spider_compose.stef.judges.asking import AHEAD, Backoff, SingleFlight, retry_after, stream_concurrently
from spider_compose.stef.judges.bare import bare_request
from spider_compose.stef.judges.budget import Budget, BudgetError
from spider_compose.stef.judges.cache import AnswerCache, cache_key
from spider_compose.stef.judges.calibration import Calibration
from spider_compose.stef.judges.cross_check import cross_checked
from spider_compose.stef.judges.prompt import Message, Prompt, TooLongError, inputs
from spider_compose.stef.judges.protocol import Judgement, Request
from spider_compose.stef.judges.rules import RulesJudge

ANSWERS = ("json", "label")

# Requests one HTTP client sends at a time; its pool has 100 connections.
PER_CLIENT = 64

# What the servers mean that a later try may get right: time-outs, conflicts, too many requests, overload.
_TRANSIENT = frozenset((408, 409, 425, 429))

# No row fares better with these: wrong key, no money, no such model. 403 may be about one row's text.
_HOPELESS = frozenset((401, 402, 404))

# Fields of a request that a judge fills in, and names of what must not stand in files.
_OWN_FIELDS = frozenset(
    ("messages", "model", "stream", "n", "max_tokens", "temperature", "seed", "logprobs", "top_logprobs")
)
_KEY_NAMES = re.compile(
    r"^(?:.*api[_-]?key|key|(?:access|auth|bearer)?[_-]?token|secret|password|authorization)$", re.IGNORECASE
)

# Sent where a server wants no key; without any, huggingface_hub would send the one it finds on this machine.
_NO_KEY = "no-key"


class _RetryError(Exception):
    """A try failed in a way that a later one may not; `after`: seconds the server asked to wait."""

    def __init__(self, problem: str, after: float | None = None) -> None:
        super().__init__(problem)
        self.after = after


class _RefusedError(Exception):
    """The server refused a request for good."""

    def __init__(self, problem: str, status: int = 0) -> None:
        super().__init__(problem)
        self.status = status


class _Verbatim(dict[str, Any]):
    """A response format that goes to the server as it is.

    huggingface_hub rewrites one of type "json_schema" for a server by address into what TGI alone reads, and
    llama.cpp and vLLM then hold the model to no schema. It looks at the type by `get`; JSON is not.
    """

    def get(self, key: str, default: Any = None) -> Any:
        return default


@dataclass(frozen=True)
class HubJudge:
    """A chat model as a judge.

    The key of the service is read from the environment when it is needed, and kept nowhere.

    Attributes:
        model: name of the model, on the Hub or as the server knows it.
        base_url: address of a server, up to and without `/chat/completions`; None for the Hub's providers.
        provider: of the Hub's providers; None for the Hub's choice.
        key_variable: environment variable with the key; None for HF_TOKEN on the Hub, else STEF_JUDGE_KEY. It
            may be unset for a server that wants none.
        answer: "json" for words, "label" for the probability of one letter (needs `logprobs` on the server).
        prompt: what is asked.
        structured: ask for JSON by a schema where the server has that.
        temperature: None leaves it to the server.
        seed: None sends none.
        sample: number of this sample, where one row is asked about several times.
        max_tokens: longest answer.
        extra: more fields of the request's body.
        timeout: seconds for one request in all.
        retries: further tries after a failure of the service.
        reasks: further tries after an unusable answer.
        backoff: waits between tries.
        concurrency: requests at a time.
        budget: what it may spend; counts what it has spent.
        cache: answers that were paid for.
        calibration: from belief to probability.
        rules: the judge that the verdicts are held against.
        progress: called after each row.
    """

    model: str = ""
    base_url: str | None = None
    provider: str | None = None
    key_variable: str | None = None
    answer: str = "json"
    prompt: Prompt | None = None
    structured: bool = True
    temperature: float | None = 0.0
    seed: int | None = None
    sample: int = 0
    max_tokens: int = 256
    extra: Mapping[str, Any] = field(default_factory=dict)
    timeout: float = 60.0
    retries: int = 5
    reasks: int = 2
    backoff: Backoff = field(default_factory=Backoff)
    concurrency: int = 16
    budget: Budget = field(default_factory=Budget)
    cache: AnswerCache | None = None
    calibration: Calibration | None = None
    rules: RulesJudge = field(default_factory=RulesJudge)
    progress: Callable[[Budget], None] | None = None

    def __post_init__(self) -> None:
        choose("answer", self.answer, ANSWERS)
        if self.prompt is None:
            name = "verdict" if self.answer == "json" else "label"
            object.__setattr__(self, "prompt", Prompt.read(name))
        if not self.model and self.base_url is None:
            raise OptionError("`model` must name a model, or `base_url` a server, but got neither")
        if self.base_url is not None:
            parts = _parts(self.base_url)
            if parts is None or parts.scheme not in ("http", "https") or not parts.hostname:
                raise OptionError("`base_url` must be an address like http://localhost:8000/v1")
            if parts.username or parts.password or parts.query or parts.fragment:
                raise OptionError(
                    "`base_url` must hold no key, user or parameters; put the key into the environment "
                    f"variable {self._key_variable}"
                )
        for name, least in (("concurrency", 1), ("max_tokens", 1), ("retries", 0), ("reasks", 0)):
            if getattr(self, name) < least:
                raise OptionError(f"`{name}` must be at least {least}, but got {getattr(self, name)}")
        if self.temperature is not None and not 0 <= self.temperature < math.inf:
            raise OptionError(f"`temperature` must be at least 0, but got {self.temperature}")
        for name in self.extra:
            if name in _OWN_FIELDS or _KEY_NAMES.search(name):
                raise OptionError(
                    f"`extra` must not hold {name!r}: what a judge asks has options of its own, and keys "
                    "come from the environment alone"
                )
        if not self.timeout > 0:
            raise OptionError(f"`timeout` must be above 0 seconds, but got {self.timeout}")
        if self.calibration is not None and self.calibration.judge not in ("", self.identity):
            raise OptionError(
                f"the calibration was fitted for {self.calibration.judge}, but the judge is {self.identity}"
            )

    @property
    def _key_variable(self) -> str:
        return self.key_variable or ("HF_TOKEN" if self.base_url is None else "STEF_JUDGE_KEY")

    @property
    def _settings(self) -> str:
        """What moves an answer beside model, prompt and row."""
        temperature = None if self.temperature is None else float(self.temperature)
        values = (self.answer, self.structured, temperature, self.seed, self.sample, self.max_tokens)
        return json.dumps([*values, self.provider, sorted(self.extra.items())])

    @property
    def _model_name(self) -> str:
        return self.model or str(self.base_url)

    @property
    def identity(self) -> str:
        """Model, prompt and settings: what a calibration belongs to."""
        assert self.prompt is not None
        name = re.sub(r"[^\w./@-]", "_", self.model or "server")
        digest = hashlib.sha256(f"{self._model_name}{self._settings}".encode()).hexdigest()[:8]
        return f"hub-{name}-{self.prompt.version}-{digest}"

    @property
    def signature(self) -> str:
        """The identity, the calibration, and the rules it is held against."""
        calibration = f"-calibrated-{self.calibration.digest}" if self.calibration else ""
        return f"{self.identity}{calibration}-{self.rules.signature}"

    def judge(self, requests: Sequence[Request]) -> list[Judgement]:
        """One judgement per request."""
        return [judgement for judgement in self.stream(requests) if judgement is not None]

    def stream(self, requests: Iterable[Request | None]) -> Iterator[Judgement | None]:
        """One judgement per request, in order; see `protocol.judge_stream`."""
        return stream_concurrently(requests, self._session, max(AHEAD, 2 * self.concurrency))

    @asynccontextmanager
    async def _session(self) -> AsyncIterator[Callable[[Request], Any]]:
        session = _Session(self)
        try:
            yield session.judge
        finally:
            await session.close()


class _Session:
    """The clients of one stream, and what was learnt about the server on the way."""

    def __init__(self, judge: HubJudge) -> None:
        self._judge_options = judge
        assert judge.prompt is not None
        self._prompt: Prompt = judge.prompt
        self._key = os.environ.get(judge._key_variable, "").strip()
        # What no header can hold would be named, and shown, by the HTTP library.
        if not all("!" <= sign <= "~" for sign in self._key):
            raise OptionError(
                f"the key in the environment variable {judge._key_variable} must be printable ASCII "
                "without spaces"
            )
        self._structured = judge.structured and judge.answer == "json"
        self._hopeless = ""
        self._turn = 0
        self._free = asyncio.Semaphore(judge.concurrency)
        self._once = SingleFlight()
        self._clients = [self._client() for _ in range(-(-judge.concurrency // PER_CLIENT))]

    def _client(self) -> Any:
        try:
            from huggingface_hub import AsyncInferenceClient
        except ImportError as error:
            raise MissingExtraError(
                "the judge 'hub' needs huggingface_hub: pip install 'spider-compose[judges]'"
            ) from error
        options = self._judge_options
        if options.base_url is not None:
            return AsyncInferenceClient(base_url=options.base_url, api_key=self._key or _NO_KEY)
        if not self._key:
            raise OptionError(
                f"the Hub's providers want a key: set the environment variable {options._key_variable}"
            )
        return AsyncInferenceClient(options.model, provider=options.provider, api_key=self._key)

    async def close(self) -> None:
        for client in self._clients:
            await client.close()

    async def judge(self, request: Request) -> Judgement:
        """The judgement on one row; without a verdict, and with the reason, where there is none to be had."""
        options = self._judge_options
        bare = bare_request(request)
        answer = await self._known_or_asked(request)
        again = None if bare is None or isinstance(answer, str) else await self._known_or_asked(bare)
        if isinstance(again, str):
            answer, again = again, None
        if isinstance(answer, str):
            options.budget.count("failed")
            found = Judgement(None, 0.0, reason=answer, without=options.rules.judge([request])[0])
        else:
            options.budget.count("answered")
            found = cross_checked(request, answer, options.rules, options.calibration, again)
        if options.progress is not None:
            options.progress(options.budget)
        return found

    async def _known_or_asked(self, request: Request) -> Answer | str:
        """The answer from the cache or the model, or why there is none."""
        options = self._judge_options
        key = cache_key(options._model_name, self._prompt.version, options._settings, inputs(request))
        answer = options.cache.get(key) if options.cache else None
        if answer is not None:
            options.budget.count("cached")
            return answer
        found: Answer | str = await self._once(key, lambda: self._answer(key, request))
        return found

    async def _answer(self, key: str, request: Request) -> Answer | str:
        """The model's answer, or why there is none."""
        try:
            async with self._free:
                answer = await self._tries(request)
        except (TooLongError, BudgetError, _RefusedError) as error:
            return self._clean(error)
        except Exception as error:
            return self._clean(f"{type(error).__name__}: {error}")
        if self._judge_options.cache is not None:
            self._judge_options.cache.put(key, answer)
        return answer

    async def _tries(self, request: Request) -> Answer:
        """Ask until there is a usable answer.

        Raises:
            _RefusedError: there is none to be had.
            BudgetError, TooLongError: it must not be asked about.
        """
        options = self._judge_options
        failures, unusable, problem = 0, 0, ""
        while True:
            if self._hopeless:
                raise _RefusedError(self._hopeless)
            messages = self._prompt.render(request)
            if problem:
                messages[-1]["content"] += (
                    f"\nYour last answer could not be read: {problem}. Answer as told above."
                )
            try:
                return await self._ask(messages)
            except AnswerError as error:
                unusable += 1
                problem = self._clean(error)
                if unusable > options.reasks:
                    raise _RefusedError(
                        f"no usable answer in {unusable} tries, the last: {problem}"
                    ) from None
            except _RetryError as error:
                failures += 1
                wait = options.backoff.seconds(failures, error.after)
                if failures > options.retries:
                    raise _RefusedError(f"{self._clean(error)}, after {failures} tries") from None
                if wait is None:
                    raise _RefusedError(
                        f"{self._clean(error)}, and the server asks to wait {error.after:.0f} seconds"
                    ) from None
                await asyncio.sleep(wait)
            options.budget.count("retried")

    async def _ask(self, messages: list[Message]) -> Answer:
        """One answer; a server that knows no schema is asked without one."""
        if self._structured:
            try:
                return await self._send(messages, structured=True)
            except _RefusedError as error:
                if error.status not in (400, 415, 422, 501):
                    raise
            answer = await self._send(messages, structured=False)
            self._structured = False  # it was the schema that the server refused
            return answer
        return await self._send(messages, structured=False)

    async def _send(self, messages: list[Message], structured: bool) -> Answer:
        """One request."""
        options = self._judge_options
        guess = sum(len(m["content"]) for m in messages) // 3 + options.max_tokens
        options.budget.take(guess)
        read = written = 0
        client = self._clients[self._turn % len(self._clients)]
        self._turn += 1
        try:
            reply = await asyncio.wait_for(
                client.chat_completion(messages, **self._parameters(structured)), options.timeout
            )
            read, written = _usage(reply, guess)
        except asyncio.TimeoutError:
            read = guess - options.max_tokens  # the server has read it, and may count what nobody received
            raise _RetryError(f"no answer within {options.timeout:g} seconds") from None
        except Exception as error:
            raise self._failure(error) from None
        finally:
            options.budget.settle(guess, read, written)
        return self._read(reply)

    def _parameters(self, structured: bool) -> dict[str, Any]:
        options = self._judge_options
        body: dict[str, Any] = dict(options.extra)
        if structured:
            schema = {"name": "verdict", "strict": True, "schema": ANSWER_SCHEMA}
            wanted = {"type": "json_schema", "json_schema": schema}
            body["response_format"] = wanted if options.base_url is None else _Verbatim(wanted)
        more: dict[str, Any] = {"max_tokens": options.max_tokens}
        if options.answer == "label":
            more = {"max_tokens": 1, "logprobs": True, "top_logprobs": 20}
        return {
            "model": options.model or None,
            "temperature": options.temperature,
            "seed": options.seed,
            "extra_body": body or None,
            **more,
        }

    def _failure(self, error: Exception) -> Exception:
        """What a failed request means: to be tried again, or refused."""
        from huggingface_hub import errors

        if isinstance(error, errors.HfHubHTTPError) and error.response is not None:
            status = int(error.response.status_code)
            said = one_line(self._clean(error.server_message or ""))
            problem = f"the server answers {status}" + (f": {said}" if said else "")
            if status in _TRANSIENT or (status >= 500 and status != 501):
                return _RetryError(problem, retry_after(error.response.headers.get("retry-after")))
            if status in _HOPELESS:
                self._hopeless = problem
            return _RefusedError(problem, status)
        if isinstance(error, errors.OfflineModeIsEnabled):
            self._hopeless = (
                "HF_HUB_OFFLINE is set: huggingface_hub then connects to no server, not even your own"
            )
            return _RefusedError(self._hopeless)
        if isinstance(error, (errors.InferenceTimeoutError, errors.HTTPError, OSError)):
            return _RetryError(f"the connection failed: {type(error).__name__}")
        if isinstance(error, (ValueError, RecursionError)):
            return _RetryError("the server's answer is no JSON")
        return _RefusedError(f"{type(error).__name__}: {self._clean(error)}")

    def _read(self, reply: Any) -> Answer:
        """The answer in a server's reply."""
        try:
            choice = reply.choices[0]
            if self._judge_options.answer == "json":
                content = choice.message.content
                return read_answer(self._clean(content) if isinstance(content, str) else content)
            first = choice.logprobs.content[0]
            likely = {str(token.token): float(token.logprob) for token in first.top_logprobs or [first]}
        except (AttributeError, IndexError, KeyError, TypeError, ValueError):
            what = "a message" if self._judge_options.answer == "json" else "log probabilities"
            raise AnswerError(f"the server's answer has no {what}") from None
        return read_labels(likely)

    def _clean(self, text: object) -> str:
        """A text without the key, should the service repeat it."""
        shown = str(text)
        if len(self._key) >= 4:
            for written in {self._key, quote(self._key, safe="")}:
                shown = shown.replace(written, "***")
        return shown


def _parts(address: str) -> SplitResult | None:
    """An address in its parts, or None where it is none."""
    try:
        parts = urlsplit(address)
        return parts if parts.port != 0 and address.isprintable() and " " not in address else None
    except ValueError:
        return None


def _usage(reply: Any, guess: int) -> tuple[int, int]:
    """Tokens read and written as the server counts them, or what was guessed."""
    try:
        read, written = int(reply.usage.prompt_tokens), int(reply.usage.completion_tokens)
    except (AttributeError, TypeError, ValueError, OverflowError):
        return guess, 0
    return (read, written) if read >= 0 and written >= 0 else (guess, 0)
