"""What the Hub refuses, and a network that is not there, in one sentence each."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from urllib.parse import urlsplit

from spider_compose.errors import HubError, OptionError

# A header that cannot be sent is quoted by the client, with the token in it.
_TOKEN = re.compile(r"Bearer .*")

_AGAIN = "what was sent stays there and is not sent again"


class Told:
    """Turns what goes wrong while something is done into a `HubError`.

    with told("uploading"):
        ...

    Attributes:
        user: who is logged in; empty as long as that is not known.
    """

    def __init__(self, endpoint: str, repo_id: str, *, reading: bool = False) -> None:
        """Tell of a repository; `reading` where nothing is sent."""
        self._endpoint = endpoint
        self._repo_id = repo_id
        self._later = "try again later" if reading else f"push again later; {_AGAIN}"
        self.user = ""

    @contextmanager
    def __call__(self, doing: str) -> Iterator[None]:
        """Do something with the Hub.

        Raises:
            HubError: it failed.
        """
        from huggingface_hub.errors import HfHubHTTPError, OfflineModeIsEnabled

        # httpx or httpx2, as the client's release has it: its errors without an answer are siblings.
        network = next(base for base in HfHubHTTPError.__mro__ if base.__name__ == "HTTPError")
        try:
            yield
        except HubError:
            raise
        except OfflineModeIsEnabled as error:
            raise HubError(f"{doing} failed: HF_HUB_OFFLINE is set; unset it.") from error
        except (OSError, ValueError, RuntimeError, network) as error:
            cause = _cause(error, (HfHubHTTPError, network))
            if isinstance(cause, HfHubHTTPError):
                raise HubError(f"{doing} failed: {self._answered(cause)}") from error
            if isinstance(cause, network):
                reason = _first_line(cause) or type(cause).__name__
                raise HubError(
                    f"{doing} failed: {self._endpoint} cannot be reached ({reason}); {self._later}."
                ) from error
            raise HubError(f"{doing} failed: {_first_line(error)}") from error

    def _answered(self, error: Exception) -> str:
        response = error.response  # type: ignore[attr-defined]
        status = int(response.status_code)
        if status == 401:
            return (
                "the Hub does not know your token (401): run `hf auth login` again, or set HF_TOKEN to a "
                "token that is valid."
            )
        if status == 403:
            owner = self._repo_id.partition("/")[0]
            return (
                f"{self.user or 'your token'} may not do that in {self._repo_id} (403): use a token that may "
                f"write to repositories of {owner}, or propose the change with --pr."
            )
        if status == 404:
            return f"{self._repo_id} is not at {self._endpoint}, or you may not see it (404)."
        if status in (409, 412):
            return f"{self._repo_id} was changed by someone else at the same time ({status}): push again."
        if status == 429:
            wait = response.headers.get("retry-after")
            return (
                "the Hub has had too many requests from you (429): "
                + (
                    self._later.replace("later", f"in {wait} seconds")
                    if wait and wait.isdigit()
                    else self._later
                )
                + "."
            )
        if status >= 500:
            return f"the Hub has an error of its own ({status}): {self._later}."
        said = getattr(error, "server_message", None) or _first_line(error)
        return f"the Hub refuses ({status}): {' '.join(str(said).split())}"


def check_address(endpoint: str) -> str:
    """The address of a Hub, without a slash at its end.

    Raises:
        OptionError: it is not.
    """
    try:
        parts = urlsplit(endpoint)
        right = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:  # a port above 65535, brackets that do not close
        right = False
    if not right or not endpoint.isprintable() or " " in endpoint:
        raise OptionError(
            "`endpoint` must be the address of a Hub, such as https://huggingface.co, but got "
            f"{endpoint!r:.200}."
        )
    if parts.username is not None:
        raise OptionError("`endpoint` must not hold a user's name: a token alone says who you are.")
    return endpoint.rstrip("/")


def check_token(token: str) -> None:
    """Whether a token can be sent; a terminal's control character in it is not seen.

    Raises:
        HubError: it cannot.
    """
    if not (token.isascii() and token.isprintable()) or " " in token:
        raise HubError(
            "your token holds a character that no token has: run `hf auth login` again, or set HF_TOKEN anew."
        )


def repository_missing() -> type[Exception]:
    """The error of a repository that is not there."""
    from huggingface_hub.errors import RepositoryNotFoundError

    missing: type[Exception] = RepositoryNotFoundError
    return missing


def _cause(error: BaseException, kinds: tuple[type[BaseException], ...]) -> BaseException:
    """The first of these kinds behind an error; the error itself where there is none."""
    found: BaseException | None = error
    while found is not None:
        if isinstance(found, kinds):
            return found
        found = found.__cause__
    return error


def _first_line(error: BaseException) -> str:
    """An error in one line, without a token."""
    return _TOKEN.sub("Bearer ...", " ".join(str(error).split()))
