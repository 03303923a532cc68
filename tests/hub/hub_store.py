"""What the test's Hub keeps: repositories with commits, and the store of large files. No HTTP here."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from typing import Any

REGULAR_LIMIT = 10_000_000
"""Files of this many bytes and more, and those of the usual large formats, are stored apart (LFS)."""

LARGE = (".safetensors", ".parquet", ".bin")


class Refused(Exception):
    """An answer that is no 200."""

    def __init__(self, status: int, message: str, code: str = "", **headers: str) -> None:
        super().__init__(message)
        self.status = status
        self.headers = {"X-Error-Message": message, **({"X-Error-Code": code} if code else {}), **headers}


@dataclass(frozen=True)
class Blob:
    """A file of a commit; `lfs` is the SHA-256 of one that is stored apart."""

    data: bytes
    lfs: str | None = None

    @property
    def oid(self) -> str:
        pointer = (
            f"version https://git-lfs.github.com/spec/v1\noid sha256:{self.lfs}\nsize {len(self.data)}\n"
        )
        content = pointer.encode() if self.lfs else self.data
        return hashlib.sha1(b"blob %d\0" % len(content) + content).hexdigest()

    @property
    def etag(self) -> str:
        return self.lfs or self.oid


@dataclass(frozen=True)
class Commit:
    oid: str
    parent: str
    title: str
    files: dict[str, Blob]


@dataclass
class Discussion:
    num: int
    title: str
    author: str
    status: str = "open"


@dataclass
class Repository:
    repo_type: str
    repo_id: str
    private: bool = False
    sdk: str | None = None
    commits: dict[str, Commit] = field(default_factory=dict)
    refs: dict[str, str] = field(default_factory=dict)
    discussions: list[Discussion] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.commit("refs/heads/main", "initial commit", {".gitattributes": Blob(b"*.parquet filter=lfs\n")})

    def commit(self, ref: str, title: str, files: dict[str, Blob]) -> Commit:
        parent = self.refs.get(ref, "")
        text = repr((parent, title, sorted((path, blob.oid) for path, blob in files.items())))
        made = Commit(hashlib.sha1(text.encode()).hexdigest(), parent, title, files)
        self.commits[made.oid] = made
        self.refs[ref] = made.oid
        return made

    def ref(self, revision: str) -> str:
        return revision if revision.startswith("refs/") else f"refs/heads/{revision}"

    def at(self, revision: str) -> Commit:
        for name in (revision, f"refs/heads/{revision}", f"refs/tags/{revision}"):
            if name in self.refs:
                return self.commits[self.refs[name]]
        if revision in self.commits:
            return self.commits[revision]
        raise Refused(404, "Invalid rev id", "RevisionNotFound")

    @property
    def main(self) -> Commit:
        return self.at("main")


@dataclass
class Store:
    """All of it.

    `users` has, by token, the name and the owners that the token may write for; `results` what models say
    in `.eval_results`: benchmark, model, task, value.
    """

    users: dict[str, tuple[str, frozenset[str]]] = field(default_factory=dict)
    repositories: dict[tuple[str, str], Repository] = field(default_factory=dict)
    large: dict[str, bytes] = field(default_factory=dict)
    results: dict[str, dict[str, dict[str, Any]]] = field(default_factory=dict)

    def add(self, repo_type: str, repo_id: str, files: dict[str, str]) -> None:
        """A repository that is there, with files of text."""
        made = self.repositories[repo_type, repo_id] = Repository(repo_type, repo_id)
        made.commit("refs/heads/main", "files", {path: Blob(text.encode()) for path, text in files.items()})

    def user(self, token: str | None) -> str:
        if token is None:
            return ""
        if token not in self.users:
            raise Refused(401, "Invalid credentials in Authorization header")
        return self.users[token][0]

    def may_write(self, token: str | None, repo_id: str) -> bool:
        self.user(token)
        return token is not None and repo_id.partition("/")[0] in self.users[token][1]

    def check_write(self, token: str | None, repo_id: str) -> None:
        if not self.may_write(token, repo_id):
            raise Refused(403, "you don't have the rights to write to this repository")

    def find(self, repo_type: str, repo_id: str, token: str | None) -> Repository:
        self.user(token)
        found = self.repositories.get((repo_type, repo_id))
        if found is None or (found.private and not self.may_write(token, repo_id)):
            raise Refused(404 if token else 401, "Repository not found", "RepoNotFound")
        return found

    def create(self, token: str | None, wanted: dict[str, Any]) -> Repository:
        repo_type = wanted.get("type") or "model"
        repo_id = f"{wanted.get('organization') or self.user(token)}/{wanted['name']}"
        self.check_write(token, repo_id)
        if (repo_type, repo_id) in self.repositories:
            raise Refused(409, "You already created this repo")
        made = Repository(repo_type, repo_id, wanted.get("visibility") == "private", wanted.get("sdk"))
        self.repositories[repo_type, repo_id] = made
        return made

    def upload_mode(self, path: str, size: int) -> str:
        return "lfs" if size >= REGULAR_LIMIT or path.endswith(LARGE) else "regular"

    def commit(
        self, repository: Repository, revision: str, lines: list[dict[str, Any]], token: str | None, new: bool
    ) -> tuple[Commit, int | None]:
        """Apply a commit's lines; `new` opens a pull request, whose number is given back."""
        import base64

        header = next(line["value"] for line in lines if line["key"] == "header")
        ref = repository.ref(revision)
        base = repository.at(revision)
        if not new and header.get("parentCommit") not in (None, base.oid):
            raise Refused(412, "A commit has happened since. Please refresh and try again.")
        files = dict(base.files)
        for line in lines:
            value = line["value"]
            if line["key"] == "file":
                content = base64.b64decode(value["content"])
                if self.upload_mode(value["path"], len(content)) == "lfs":
                    raise Refused(400, f"{value['path']} must be uploaded as a large file")
                files[value["path"]] = Blob(content)
            elif line["key"] == "lfsFile":
                if value["oid"] not in self.large:
                    raise Refused(400, f"the large file {value['path']} was not uploaded")
                files[value["path"]] = Blob(self.large[value["oid"]], value["oid"])
            elif line["key"] == "deletedFile" and files.pop(value["path"], None) is None:
                raise Refused(404, "A file with this name doesn't exist", "EntryNotFound")
        if not new:
            return repository.commit(ref, header["summary"], files), None
        number = len(repository.discussions) + 1
        repository.discussions.append(Discussion(number, header["summary"], self.user(token)))
        repository.refs[f"refs/pr/{number}"] = base.oid
        return repository.commit(f"refs/pr/{number}", header["summary"], files), number
