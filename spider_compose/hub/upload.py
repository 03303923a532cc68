"""Upload a repository's folder: only what the Hub does not have, in one commit.

Large files go first and stay on the Hub when an upload breaks off, so that the next try sends the others
alone. The commit comes last: others see the old state or the new one, nothing between. Where nothing has
changed there is no commit.
"""

from __future__ import annotations

import fnmatch
import hashlib
import re
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from spider_compose import __version__
from spider_compose.errors import HubError, MissingExtraError, OptionError
from spider_compose.hub.refusals import Told, check_address, check_token, repository_missing
from spider_compose.hub.repository import Artefact, RepositoryFile, sha256
from spider_compose.hub.validation import check_folder

_PREFIXES = {"model": "", "dataset": "datasets/", "space": "spaces/"}
_ARTICLES = {"model": "a model", "dataset": "a dataset", "space": "a Space"}
_SDK = "gradio"
_OF_A_NEW_REPOSITORY = frozenset({".gitattributes", "README.md"})
"""What the Hub's page for new repositories puts into one."""

_REPOSITORY = re.compile(r"(?=.{1,96}$)\w(?:[\w.-]*\w)?/\w(?:[\w.-]*\w)?", re.ASCII)
_TAG = re.compile(r"\w(?:[\w.-]*\w)?", re.ASCII)


@dataclass(frozen=True)
class Publication:
    """What is published where.

    Attributes:
        folder: of the repository, as it shall be.
        repo_id: owner/name.
        artefact: what it is.
        tag: for the commit; None for no tag.
        move_on: leave a tag where it is, instead of stopping, if it already marks another commit.
    """

    folder: Path
    repo_id: str
    artefact: Artefact
    tag: str | None = None
    move_on: bool = False

    def __post_init__(self) -> None:
        if not _REPOSITORY.fullmatch(self.repo_id) or "--" in self.repo_id or ".." in self.repo_id:
            raise OptionError(
                "`repo` must be owner/name, of letters, digits, _, single - and ., 96 characters at most, "
                f"but got {self.repo_id!r}."
            )
        if self.tag is not None and not _TAG.fullmatch(self.tag):
            raise OptionError(f"`tag` must be a name such as v1.0, but got {self.tag!r}.")


@dataclass(frozen=True)
class Published:
    """What came of it.

    Attributes:
        url: of the repository.
        commit: its state now, or that of the pull request.
        changed: paths of files that were new or different; empty where nothing was to be done.
        removed: paths of files that were removed.
        pull_request: its address, or None.
        tag: that marks the commit, or None.
        notes: what else is to be known, a sentence each.
    """

    url: str
    commit: str
    changed: tuple[str, ...]
    removed: tuple[str, ...]
    pull_request: str | None = None
    tag: str | None = None
    notes: tuple[str, ...] = ()


def publish(
    publication: Publication,
    *,
    token: str | None = None,
    endpoint: str | None = None,
    pull_request: bool = False,
    private: bool = False,
    say: Callable[[str], None] = lambda line: None,
) -> Published:
    """Bring a repository to the state of a folder.

    Args:
        publication: folder and repository. The folder is checked first.
        token: of the Hub; by default the one you are logged in with, or HF_TOKEN.
        endpoint: address of the Hub; by default HF_ENDPOINT, or https://huggingface.co.
        pull_request: propose the change; an open pull request of yours for the same artefact is continued.
        private: where the repository is created, only its owner sees it.
        say: told what is done, a line each.

    Raises:
        HubError: the folder is not right, or the Hub cannot be reached or refuses, with the reason.
        OptionError: the endpoint is no address, or a pull request shall be tagged.
    """
    try:
        from huggingface_hub import HfApi, constants, get_token
    except ImportError as error:
        raise MissingExtraError(
            "publishing needs huggingface_hub: pip install 'spider-compose[hub]'"
        ) from error
    token = token or get_token()
    files = check_folder(publication.folder, publication.artefact, token=token)
    if token is None:
        raise HubError("you are not logged in to the Hub: run `hf auth login`, or set HF_TOKEN.")
    check_token(token)
    if pull_request and publication.tag and not publication.move_on:
        raise OptionError("a pull request has no tag: tag the commit once it is merged.")
    endpoint = check_address(endpoint or constants.ENDPOINT)
    api = HfApi(endpoint=endpoint, token=token, library_name="spider_compose", library_version=__version__)
    return _Upload(api, publication, files, private, say).run(pull_request)


class _Upload:
    """One upload."""

    def __init__(
        self,
        api: Any,
        publication: Publication,
        files: Sequence[RepositoryFile],
        private: bool,
        say: Callable[[str], None],
    ) -> None:
        self._api = api
        self._to = publication
        self._repo = {"repo_id": publication.repo_id, "repo_type": publication.artefact.repo_type}
        self._files = files
        self._private = private
        self._say = say
        self._told = Told(api.endpoint, publication.repo_id)
        self._notes: list[str] = []

    def run(self, pull_request: bool) -> Published:
        with self._told("asking who you are"):
            self._told.user = str(self._api.whoami()["name"])
        info = self._repository(may_create=not pull_request)
        revision = self._open_pull_request() if pull_request else "main"
        head = info.sha
        if revision not in ("main", None):
            with self._told("reading the pull request"):
                head = self._api.repo_info(**self._repo, revision=revision).sha
        changed, removed = self._differences(head, proposed=pull_request)
        self._check_tag(head, bool(changed or removed), pull_request)
        url = f"{self._api.endpoint}/{_PREFIXES[self._to.artefact.repo_type]}{self._to.repo_id}"
        number = (revision or "").removeprefix("refs/pr/")
        pull_request_url = f"{url}/discussions/{number}" if number.isdigit() else None
        if changed or removed:
            commit = self._commit(changed, removed, head, revision)
            head, pull_request_url = commit.oid, commit.pr_url or pull_request_url
        tag = None if pull_request else self._tag(head)
        return Published(
            url,
            head,
            tuple(file.path for file in changed),
            tuple(removed),
            pull_request_url,
            tag,
            tuple(self._notes),
        )

    def _repository(self, *, may_create: bool) -> Any:
        """The repository on the Hub, created where it is not there."""
        name, repo_type = self._to.repo_id, self._to.artefact.repo_type
        if info := self._info(repo_type):
            if info.id != name:
                raise HubError(f"{name} is now called {info.id}: name it so.")
            if repo_type == "space" and info.sdk not in (None, _SDK):
                raise HubError(
                    f"the Space {name} is one of {info.sdk}, not of {_SDK}: name another repository."
                )
            if self._private and not info.private:
                self._notes.append(f"{name} was there before and is public; change that in its settings.")
            return info
        for other in _PREFIXES.keys() - {repo_type}:
            if self._info(other):
                raise HubError(
                    f"{name} is {_ARTICLES[other]}, not {_ARTICLES[repo_type]}: name another repository, or "
                    f"create {_ARTICLES[repo_type]} of that name on the Hub first."
                )
        if not may_create:
            raise HubError(f"there is no {repo_type} {name} to propose a change to: push without --pr first.")
        self._say(f"creating the {repo_type} {name}")
        with self._told("creating the repository"):
            self._api.create_repo(
                **self._repo,
                private=self._private or None,
                space_sdk=_SDK if repo_type == "space" else None,
                exist_ok=True,
            )
            return self._api.repo_info(**self._repo)

    def _info(self, repo_type: str) -> Any | None:
        with self._told("looking up the repository"):
            try:
                return self._api.repo_info(self._to.repo_id, repo_type=repo_type)
            except repository_missing():
                return None

    def _open_pull_request(self) -> str | None:
        """The revision of your open pull request for the same artefact; None where there is none."""
        with self._told("looking for an open pull request"):
            for found in self._api.get_repo_discussions(
                **self._repo, author=self._told.user, discussion_type="pull_request", discussion_status="open"
            ):
                if found.title == self._title:
                    return f"refs/pr/{found.num}"
        return None

    @property
    def _title(self) -> str:
        return f"SpiderCompose {__version__}: {self._to.artefact.name}"

    def _differences(self, revision: str, *, proposed: bool) -> tuple[list[RepositoryFile], list[str]]:
        """Files that are new or different, and paths on the Hub that are no longer in the folder.

        Raises:
            HubError: the repository holds something else, which nobody has asked to replace.
        """
        with self._told("listing the repository's files"):
            there = {
                entry.path: entry
                for entry in self._api.list_repo_tree(**self._repo, revision=revision, recursive=True)
                if hasattr(entry, "blob_id")  # a file, not a folder
            }
        if not proposed:
            self._check_ours(there)
        changed = [file for file in self._files if not _same(file, there.get(file.path))]
        here = {file.path for file in self._files}
        removed = sorted(
            path
            for path in there.keys() - here
            if any(fnmatch.fnmatchcase(path, pattern) for pattern in self._to.artefact.owned)
        )
        return changed, removed

    def _check_ours(self, there: Collection[str]) -> None:
        artefact = self._to.artefact
        others = sorted(set(there) - _OF_A_NEW_REPOSITORY)
        if others and artefact.mark not in there:
            named = f"{', '.join(others[:3])}{' ...' if len(others) > 3 else ''}; no {artefact.mark}"
            raise HubError(
                f"{self._to.repo_id} holds something else than the {artefact.name} of this command "
                f"({named}): name another repository, remove its files first, or propose the change (--pr)."
            )

    def _commit(
        self, changed: Sequence[RepositoryFile], removed: Sequence[str], head: str, revision: str | None
    ) -> Any:
        from huggingface_hub import CommitOperationAdd, CommitOperationDelete

        self._say(f"uploading {len(changed)} files ({sum(file.size for file in changed):,} bytes)")
        with self._told("uploading"):
            return self._api.create_commit(
                **self._repo,
                operations=[
                    *(CommitOperationAdd(file.path, str(file.local)) for file in changed),
                    *(CommitOperationDelete(path, is_folder=False) for path in removed),
                ],
                commit_message=self._title,
                revision=revision,
                create_pr=revision is None,
                parent_commit=head,
            )

    def _tagged(self, tag: str) -> str | None:
        """The commit that a tag marks; None where there is no such tag."""
        with self._told("listing the tags"):
            if all(found.name != tag for found in self._api.list_repo_refs(**self._repo).tags):
                return None
            commit: str = self._api.repo_info(**self._repo, revision=f"refs/tags/{tag}").sha
            return commit

    def _check_tag(self, head: str, changes: bool, pull_request: bool) -> None:
        """Stop before anything is sent, if the tag could not be set afterwards."""
        tag = self._to.tag
        if tag is None or pull_request or self._to.move_on:
            return
        marked = self._tagged(tag)
        if marked is not None and (changes or marked != head):
            raise HubError(
                f"the tag {tag} of {self._to.repo_id} already marks another state ({marked[:8]}), and tags "
                "are not moved: name another one (--tag)."
            )

    def _tag(self, head: str) -> str | None:
        tag = self._to.tag
        if tag is None:
            return None
        marked = self._tagged(tag)
        if marked not in (None, head):
            self._notes.append(f"the tag {tag} stays where it was, at {marked[:8]}; --tag names another one.")
            return None
        if marked is None:
            with self._told("setting the tag"):
                self._api.create_tag(**self._repo, tag=tag, revision=head, exist_ok=True)
        return tag


def _same(file: RepositoryFile, there: Any | None) -> bool:
    """Whether the Hub has the file: by SHA-256 where it stores it apart, else by git's hash."""
    if there is None or there.size != file.size:
        return False
    if there.lfs is not None:
        return bool(there.lfs.sha256 == sha256(file.local))
    content = file.local.read_bytes()
    return bool(
        there.blob_id
        == hashlib.sha1(b"blob %d\0" % len(content) + content, usedforsecurity=False).hexdigest()
    )
