"""A Hub for tests: its HTTP API as far as pushing and loading need it, on a port of this machine.

It follows what the client of the Hub sends and reads (huggingface_hub 2.4) and git-lfs's batch API. It keeps
a log of requests, and can be told to fail: `server.fail("PUT", "/lfs/", status=500, after=2)`.
"""

from __future__ import annotations

import json
import re
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

import yaml
from hub_store import Refused, Store  # registered by conftest.py

_PREFIX = {"models": "model", "datasets": "dataset", "spaces": "space"}
_PAGE = 3
"""Entries in a page of a tree: few, so that pages are turned."""

_LICENCES = {"apache-2.0", "mit", "cc-by-sa-4.0", "unknown", "other"}


@dataclass(frozen=True)
class Request:
    """What came: `size` is that of the body."""

    method: str
    path: str
    size: int


@dataclass
class Failure:
    """From the `after`-th matching request on, `times` requests fail."""

    method: str
    pattern: str
    status: int
    after: int
    times: int
    headers: dict[str, str]


@dataclass
class Answer:
    status: int = 200
    body: bytes = b""
    headers: dict[str, str] = field(default_factory=dict)


def as_json(content: Any, status: int = 200, **headers: str) -> Answer:
    return Answer(status, json.dumps(content).encode(), {"Content-Type": "application/json", **headers})


class HubServer:
    """The server; use it in a `with` block."""

    def __init__(self) -> None:
        self.store = Store()
        self.log: list[Request] = []
        self.failures: list[Failure] = []
        self.delays: dict[str, float] = {}
        self.lock = threading.RLock()
        self._http = ThreadingHTTPServer(("127.0.0.1", 0), _handler(self))
        self._http.daemon_threads = True
        port = self._http.server_address[1]
        self.endpoint = f"http://127.0.0.1:{port}"
        self.large_files = f"http://localhost:{port}"  # another host, as on the Hub

    def __enter__(self) -> HubServer:
        self._thread = threading.Thread(target=self._http.serve_forever, args=(0.05,), daemon=True)
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._http.shutdown()
        self._http.server_close()

    def fail(
        self, method: str, pattern: str, *, status: int, after: int = 0, times: int = 10**6, **headers: str
    ) -> None:
        """Let requests fail; status 0 drops the connection without an answer."""
        self.failures.append(Failure(method, pattern, status, after, times, headers))

    def requests(self, method: str, pattern: str) -> list[Request]:
        """The requests so far that match."""
        return [one for one in self.log if one.method == method and re.search(pattern, one.path)]

    def failure(self, method: str, path: str) -> Failure | None:
        with self.lock:
            for failure in self.failures:
                if failure.method == method and re.search(failure.pattern, path):
                    if failure.after > 0:
                        failure.after -= 1
                    elif failure.times > 0:
                        failure.times -= 1
                        return failure
        return None

    # What follows are the addresses; each takes the match, the query, the body and the token.

    def whoami(self, match: re.Match[str], query: dict[str, str], body: bytes, token: str | None) -> Answer:
        if not (user := self.store.user(token)):
            raise Refused(401, "Invalid username or password.")
        return as_json({"type": "user", "name": user, "auth": {"type": "access_token"}})

    def create(self, match: re.Match[str], query: dict[str, str], body: bytes, token: str | None) -> Answer:
        made = self.store.create(token, json.loads(body))
        prefix = "" if made.repo_type == "model" else f"{made.repo_type}s/"
        return as_json({"url": f"{self.endpoint}/{prefix}{made.repo_id}"})

    def validate_yaml(self, match: Any, query: dict[str, str], body: bytes, token: str | None) -> Answer:
        asked = json.loads(body)
        problems = yaml_problems(asked["content"], asked["repoType"])
        return as_json({"errors": [{"message": one} for one in problems]}, 400 if problems else 200)

    def repository(
        self, match: re.Match[str], query: dict[str, str], body: bytes, token: str | None
    ) -> Answer:
        found = self._find(match, token)
        commit = found.at(unquote(match["revision"] or "main"))
        return as_json(
            {
                "_id": "0", "id": found.repo_id, "sha": commit.oid, "private": found.private, "tags": [],
                "author": found.repo_id.partition("/")[0], "downloads": 0, "likes": 0, "gated": False,
                "disabled": False, "sdk": found.sdk, "lastModified": "2026-01-01T00:00:00.000Z",
                "siblings": [{"rfilename": path} for path in commit.files],
                "evalResults": [
                    {"data": {"dataset": {"id": benchmark, "task_id": task}, "value": value}}
                    for benchmark, models in self.store.results.items()
                    for task, value in models.get(found.repo_id, {}).items()
                ],
            }
        )  # fmt: skip

    def leaderboard(
        self, match: re.Match[str], query: dict[str, str], body: bytes, token: str | None
    ) -> Answer:
        lines = [
            {
                "rank": 1, "modelId": model, "value": value, "filename": ".eval_results/a.yaml",
                "verified": False, "author": {"type": "user", "name": model.partition("/")[0]},
            }
            for model, scores in self.store.results[unquote(match["repo"])].items()
            for value in scores.values()
        ]  # fmt: skip
        return as_json(lines)

    def tree(self, match: re.Match[str], query: dict[str, str], body: bytes, token: str | None) -> Answer:
        commit = self._find(match, token).at(unquote(match["revision"]))
        inside = unquote(match["path"] or "").strip("/")
        entries: dict[str, dict[str, Any]] = {}
        for path in sorted(commit.files):
            if inside and not path.startswith(f"{inside}/"):
                continue
            parts = path.split("/")
            depth = inside.count("/") + 1 if inside else 0
            for level in range(depth + 1, len(parts)):
                folder = "/".join(parts[:level])
                if query.get("recursive") == "true" or level == depth + 1:
                    entries[folder] = {"type": "directory", "path": folder, "oid": "0" * 40, "size": 0}
            if query.get("recursive") == "true" or len(parts) == depth + 1:
                entries[path] = _entry(path, commit.files[path])
        if inside and not entries:
            raise Refused(404, f"{inside} does not exist", "EntryNotFound")
        start = int(query.get("cursor", 0))
        page = list(entries.values())[start : start + _PAGE]
        more = start + _PAGE < len(entries)
        address = (
            f"{self.endpoint}{match[0]}?recursive={query.get('recursive', 'false')}&cursor={start + _PAGE}"
        )
        return as_json(page, **({"Link": f'<{address}>; rel="next"'} if more else {}))

    def paths_info(
        self, match: re.Match[str], query: dict[str, str], body: bytes, token: str | None
    ) -> Answer:
        commit = self._find(match, token).at(unquote(match["revision"]))
        asked = json.loads(body) if body.startswith(b"{") else parse_qs(body.decode())
        paths = asked["paths"] if isinstance(asked["paths"], list) else [asked["paths"]]
        found = [_entry(path, commit.files[path]) for path in paths if path in commit.files]
        folders = [path for path in paths if any(name.startswith(f"{path}/") for name in commit.files)]
        found += [{"type": "directory", "path": path, "oid": "0" * 40, "size": 0} for path in folders]
        return as_json(found)

    def preupload(
        self, match: re.Match[str], query: dict[str, str], body: bytes, token: str | None
    ) -> Answer:
        repository = self._find(match, token)
        revision = unquote(match["revision"])
        self._check_commit(repository, revision, token, "create_pr" in query)
        there = repository.at(revision).files
        return as_json(
            {
                "files": [
                    {
                        "path": file["path"],
                        "uploadMode": self.store.upload_mode(file["path"], file["size"]),
                        "shouldIgnore": False,
                        **({"oid": there[file["path"]].etag} if file["path"] in there else {}),
                    }
                    for file in json.loads(body)["files"]
                ]
            }
        )

    def lfs_batch(
        self, match: re.Match[str], query: dict[str, str], body: bytes, token: str | None
    ) -> Answer:
        if not self.store.user(token):
            raise Refused(401, "Invalid username or password.")
        objects = []
        for one in json.loads(body)["objects"]:
            actions = {
                "upload": {"href": f"{self.endpoint}/lfs/{one['oid']}"},
                "verify": {"href": f"{self.endpoint}/lfs-verify/{one['oid']}"},
            }
            objects.append(one if one["oid"] in self.store.large else {**one, "actions": actions})
        return as_json({"transfer": "basic", "objects": objects})

    def lfs_put(self, match: re.Match[str], query: dict[str, str], body: bytes, token: str | None) -> Answer:
        import hashlib

        if hashlib.sha256(body).hexdigest() != match["oid"]:
            raise Refused(400, "the content is not that of its name")
        self.store.large[match["oid"]] = body
        return Answer()

    def lfs_verify(
        self, match: re.Match[str], query: dict[str, str], body: bytes, token: str | None
    ) -> Answer:
        if len(self.store.large.get(match["oid"], b"")) != json.loads(body)["size"]:
            raise Refused(404, "not there")
        return Answer()

    def commit(self, match: re.Match[str], query: dict[str, str], body: bytes, token: str | None) -> Answer:
        repository = self._find(match, token)
        revision = unquote(match["revision"])
        new = "create_pr" in query
        self._check_commit(repository, revision, token, new)
        made, number = self.store.commit(
            repository, revision, [json.loads(line) for line in body.splitlines()], token, new
        )
        prefix = "" if repository.repo_type == "model" else f"{repository.repo_type}s/"
        url = f"{self.endpoint}/{prefix}{repository.repo_id}"
        return as_json(
            {
                "success": True,
                "commitOid": made.oid,
                "commitUrl": f"{url}/commit/{made.oid}",
                "pullRequestUrl": f"{url}/discussions/{number}" if number else None,
            }
        )

    def refs(self, match: re.Match[str], query: dict[str, str], body: bytes, token: str | None) -> Answer:
        refs = self._find(match, token).refs

        def under(prefix: str) -> list[dict[str, str]]:
            return [
                {"name": ref.removeprefix(prefix), "ref": ref, "targetCommit": oid}
                for ref, oid in refs.items()
                if ref.startswith(prefix)
            ]

        return as_json({"branches": under("refs/heads/"), "tags": under("refs/tags/"), "converts": []})

    def tag(self, match: re.Match[str], query: dict[str, str], body: bytes, token: str | None) -> Answer:
        repository = self._find(match, token)
        self.store.check_write(token, repository.repo_id)
        name = f"refs/tags/{json.loads(body)['tag']}"
        if name in repository.refs:
            raise Refused(409, "Tag already exists")
        repository.refs[name] = repository.at(unquote(match["revision"])).oid
        return Answer()

    def discussions(
        self, match: re.Match[str], query: dict[str, str], body: bytes, token: str | None
    ) -> Answer:
        repository = self._find(match, token)
        found = [
            {
                "title": one.title, "num": one.num, "author": {"name": one.author}, "status": one.status,
                "createdAt": "2026-01-01T00:00:00.000Z", "isPullRequest": True,
                "repo": {"name": repository.repo_id, "type": repository.repo_type},
            }
            for one in repository.discussions
            if query.get("author") in (None, one.author) and query.get("status") in (None, one.status)
        ]  # fmt: skip
        return as_json({"count": len(found), "start": 0, "discussions": found})

    def resolve(self, match: re.Match[str], query: dict[str, str], body: bytes, token: str | None) -> Answer:
        commit = self._find(match, token).at(unquote(match["revision"]))
        path = unquote(match["path"])
        if path not in commit.files:
            raise Refused(404, "Entry not found", "EntryNotFound", **{"X-Repo-Commit": commit.oid})
        blob = commit.files[path]
        headers = {"X-Repo-Commit": commit.oid, "ETag": f'"{blob.etag}"'}
        if blob.lfs is None:
            return Answer(200, blob.data, headers)
        linked = {"X-Linked-Etag": f'"{blob.lfs}"', "X-Linked-Size": str(len(blob.data))}
        return Answer(302, b"", {**headers, **linked, "Location": f"{self.large_files}/lfs/{blob.lfs}"})

    def lfs_get(self, match: re.Match[str], query: dict[str, str], body: bytes, token: str | None) -> Answer:
        return Answer(200, self.store.large[match["oid"]], {"ETag": f'"{match["oid"]}"'})

    def _find(self, match: re.Match[str], token: str | None) -> Any:
        return self.store.find(_PREFIX[match["type"] or "models"], match["repo"], token)

    def _check_commit(self, repository: Any, revision: str, token: str | None, new: bool) -> None:
        """Who may not write may still propose, and go on with a proposal of theirs."""
        user = self.store.user(token)
        own = any(revision == f"refs/pr/{d.num}" and d.author == user for d in repository.discussions)
        if not (user and (new or own)):
            self.store.check_write(token, repository.repo_id)


_API = r"/api/(?P<type>models|datasets|spaces)/(?P<repo>[^/]+/[^/]+)"
_PLAIN = r"/(?:(?P<type>datasets|spaces)/)?(?P<repo>[^/]+/[^/]+)"
_ROUTES: list[tuple[str, str, Callable[..., Answer]]] = [
    ("GET", r"/api/whoami-v2", HubServer.whoami),
    ("POST", r"/api/repos/create", HubServer.create),
    ("POST", r"/api/validate-yaml", HubServer.validate_yaml),
    ("GET", rf"{_API}/tree/(?P<revision>[^/]+)(?P<path>/.*)?", HubServer.tree),
    ("POST", rf"{_API}/paths-info/(?P<revision>[^/]+)", HubServer.paths_info),
    ("POST", rf"{_API}/preupload/(?P<revision>[^/]+)", HubServer.preupload),
    ("POST", rf"{_API}/commit/(?P<revision>[^/]+)", HubServer.commit),
    ("POST", rf"{_API}/tag/(?P<revision>[^/]+)", HubServer.tag),
    ("GET", rf"{_API}/refs", HubServer.refs),
    ("GET", rf"{_API}/leaderboard", HubServer.leaderboard),
    ("GET", rf"{_API}/discussions", HubServer.discussions),
    ("GET", rf"{_API}(?:/revision/(?P<revision>[^/]+))?", HubServer.repository),
    ("POST", rf"{_PLAIN}\.git/info/lfs/objects/batch", HubServer.lfs_batch),
    ("PUT", r"/lfs/(?P<oid>[0-9a-f]{64})", HubServer.lfs_put),
    ("GET", r"/lfs/(?P<oid>[0-9a-f]{64})", HubServer.lfs_get),
    ("POST", r"/lfs-verify/(?P<oid>[0-9a-f]{64})", HubServer.lfs_verify),
    ("GET", rf"{_PLAIN}/resolve/(?P<revision>[^/]+)/(?P<path>.+)", HubServer.resolve),
]


def _entry(path: str, blob: Any) -> dict[str, Any]:
    entry = {"type": "file", "path": path, "oid": blob.oid, "size": len(blob.data)}
    if blob.lfs:
        entry["lfs"] = {"oid": blob.lfs, "size": len(blob.data), "pointerSize": 130}
    return entry


def yaml_problems(content: str, repo_type: str) -> list[str]:
    """What the Hub would say about a card, by its documentation; written apart from the code under test."""
    if not content.startswith("---\n") or content.count("\n---\n") < 1:
        return ["YAML metadata is missing"]
    try:
        header = yaml.safe_load(content[4 : content.index("\n---\n", 4)])
    except yaml.YAMLError as error:
        return [f"YAML: {error}"]
    found = []
    if "license" in header and header["license"] not in _LICENCES:
        found.append('"license" must be one of the licenses of the Hub')
    if repo_type == "space":
        found += [
            f'"{name}" is required' for name in ("emoji", "colorFrom", "colorTo", "sdk") if name not in header
        ]
    for entry in header.get("model-index", []) if repo_type == "model" else []:
        if not entry.get("name"):
            found.append('"model-index[0].name" is required')
        for result in entry.get("results", []):
            for part, names in {"task": ["type"], "dataset": ["type", "name"]}.items():
                found += [
                    f'"{part}.{name}" is required' for name in names if not result.get(part, {}).get(name)
                ]
            for metric in result.get("metrics", []):
                if not metric.get("type") or not isinstance(metric.get("value"), int | float):
                    found.append('"metrics" need "type" and "value"')
    for config in header.get("configs", []) if repo_type == "dataset" else []:
        if not config.get("config_name") or not config.get("data_files"):
            found.append('"configs" need "config_name" and "data_files"')
    return found


def _handler(server: HubServer) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        wbufsize = -1  # headers and body in one packet; two would wait for each other

        def _handle(self) -> None:
            size = int(self.headers.get("Content-Length") or 0)
            body = self.rfile.read(size) if size else self._chunks()
            address = urlsplit(self.path)
            server.log.append(Request(self.command, address.path, len(body)))
            for pattern, seconds in list(server.delays.items()):  # a test clears them meanwhile
                if re.search(pattern, f"{self.command} {address.path}"):
                    time.sleep(seconds)
            if failure := server.failure(self.command, address.path):
                if failure.status == 0:
                    self.close_connection = True
                    return
                self._send(as_json({"error": "failing on purpose"}, failure.status, **failure.headers))
                return
            self._send(self._answer(address.path, address.query, body))

        do_GET = do_HEAD = do_POST = do_PUT = do_DELETE = _handle

        def _chunks(self) -> bytes:
            if self.headers.get("Transfer-Encoding") != "chunked":
                return b""
            body = b""
            while length := int(self.rfile.readline(), 16):
                body += self.rfile.read(length)
                self.rfile.readline()
            self.rfile.readline()
            return body

        def _answer(self, path: str, query: str, body: bytes) -> Answer:
            method = "GET" if self.command == "HEAD" else self.command
            scheme, _, token = self.headers.get("Authorization", "").partition(" ")
            arguments = {name: values[-1] for name, values in parse_qs(query).items()}
            for wanted, pattern, act in _ROUTES:
                if wanted == method and (match := re.fullmatch(pattern, path)):
                    try:
                        with server.lock:
                            return act(server, match, arguments, body, token if scheme == "Bearer" else None)
                    except Refused as refused:
                        return as_json({"error": str(refused)}, refused.status, **refused.headers)
            return as_json({"error": f"this Hub does not know {method} {path}"}, 404)

        def _send(self, answer: Answer) -> None:
            self.send_response(answer.status)
            for name, value in {**answer.headers, "Content-Length": str(len(answer.body))}.items():
                self.send_header(name, value)
            self.end_headers()
            if self.command != "HEAD":
                self.wfile.write(answer.body)

        def log_message(self, *_: object) -> None:
            """Nothing on stderr."""

    return Handler
