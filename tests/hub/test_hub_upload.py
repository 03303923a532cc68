"""Upload with the real client to a Hub of this machine: what is sent, what is not sent twice, refusals."""

from __future__ import annotations

import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("huggingface_hub", reason="the extra `hub` is not installed")

from spider_compose.errors import HubError, OptionError
from spider_compose.hub.repository import ARTEFACTS
from spider_compose.hub.upload import Publication, Published, publish

REPO = "owner/rgt"
Publish = Callable[..., Published]


@pytest.fixture
def push(hub: Any, model_folder: Path) -> Publish:
    """Publish the folder of a model."""

    def run(
        repo_id: str = REPO, *, tag: str | None = None, move_on: bool = False, **options: Any
    ) -> Published:
        publication = Publication(model_folder, repo_id, ARTEFACTS["model"], tag, move_on)
        return publish(publication, endpoint=hub.endpoint, **options)

    return run


def stored(
    hub: Any, repo_id: str = REPO, repo_type: str = "model", revision: str = "main"
) -> dict[str, bytes]:
    """What the Hub has, by path, but for what it writes itself."""
    files = hub.store.repositories[repo_type, repo_id].at(revision).files
    return {path: blob.data for path, blob in files.items() if path != ".gitattributes"}


def local(folder: Path) -> dict[str, bytes]:
    return {p.relative_to(folder).as_posix(): p.read_bytes() for p in folder.rglob("*") if p.is_file()}


def test_everything_arrives_in_one_commit(hub: Any, push: Publish, model_folder: Path) -> None:
    published = push(tag="v1.0")
    assert stored(hub) == local(model_folder)
    repository = hub.store.repositories["model", REPO]
    assert len(repository.commits) == 2  # the first is the Hub's own
    assert published == Published(
        f"{hub.endpoint}/{REPO}", repository.main.oid, tuple(sorted(local(model_folder))), (), None, "v1.0"
    )
    assert repository.refs["refs/tags/v1.0"] == published.commit
    assert len(hub.requests("PUT", "^/lfs/")) == 2
    assert not repository.private


def test_again_does_nothing(hub: Any, push: Publish) -> None:
    first = push(tag="v1.0")
    sent = len(hub.log)
    again = push(tag="v1.0")
    assert (again.changed, again.removed, again.commit, again.tag) == ((), (), first.commit, "v1.0")
    assert len(hub.store.repositories["model", REPO].commits) == 2
    assert {one.method for one in hub.log[sent:]} == {"GET"}


def test_only_what_changed_is_sent(hub: Any, push: Publish, model_folder: Path) -> None:
    push()
    (model_folder / "report.json").write_text('{"name": "other"}\n')
    (model_folder / "model-00002-of-00002.safetensors").unlink()
    sent = len(hub.log)
    published = push()
    assert published.changed == ("report.json",)
    assert published.removed == ("model-00002-of-00002.safetensors",)
    assert stored(hub) == local(model_folder)
    assert [one for one in hub.log[sent:] if one.method == "PUT"] == []


def test_files_of_others_stay(hub: Any, push: Publish) -> None:
    push()
    repository = hub.store.repositories["model", REPO]
    blob = repository.main.files["config.json"]
    others = {"training-curve.png": blob, ".eval_results/of-others.yaml": blob, "old.safetensors": blob}
    repository.commit("refs/heads/main", "by hand", {**repository.main.files, **others})
    assert push().removed == ("old.safetensors",)
    assert {"training-curve.png", ".eval_results/of-others.yaml"} <= set(stored(hub))


# Where an upload breaks off: the request that gets no answer, or an error, and how many succeed before.
BREAKS = [
    ("PUT", "^/lfs/", 0, "the connection drops at the first large file"),
    ("PUT", "^/lfs/", 1, "the connection drops at the second large file"),
    ("POST", "/commit/", 0, "the connection drops at the commit"),
]


@pytest.mark.parametrize(("method", "pattern", "after", "_"), BREAKS, ids=[row[3] for row in BREAKS])
def test_interrupted_upload_goes_on(
    hub: Any, push: Publish, model_folder: Path, method: str, pattern: str, after: int, _: str
) -> None:
    hub.fail(method, pattern, status=0, after=after)
    with pytest.raises(HubError, match="cannot be reached"):
        push()
    assert stored(hub) == {}, "others see nothing of it"
    kept = set(hub.store.large)
    hub.failures.clear()
    before = len(hub.log)
    push()
    assert stored(hub) == local(model_folder)
    sent_now = {one.path.removeprefix("/lfs/") for one in hub.log[before:] if one.method == "PUT"}
    assert sent_now.isdisjoint(kept), "nothing is sent twice"
    assert kept | sent_now == set(hub.store.large)


def test_answer_to_the_commit_lost(hub: Any, push: Publish, monkeypatch: pytest.MonkeyPatch) -> None:
    """The Hub has made the commit, but the client was not told: the next try finds nothing to do."""
    commit = type(hub.store).commit

    def commit_and_fail(*arguments: Any) -> Any:
        commit(*arguments)
        raise sys.modules["hub_store"].Refused(500, "lost")

    monkeypatch.setattr(type(hub.store), "commit", commit_and_fail)
    with pytest.raises(HubError, match="error of its own"):
        push()
    assert push().changed == ()
    assert len(hub.store.repositories["model", REPO].commits) == 2


def test_changed_by_another_meanwhile(hub: Any, push: Publish, monkeypatch: pytest.MonkeyPatch) -> None:
    """A commit between listing and committing is not overwritten unseen."""
    from spider_compose.hub.upload import _Upload

    commit = _Upload._commit

    def late(self: Any, *arguments: Any) -> Any:
        repository = hub.store.repositories["model", REPO]
        blob = repository.main.files[".gitattributes"]
        others = {**repository.main.files, "config.json": blob, "report.json": blob}
        repository.commit("refs/heads/main", "by another", others)
        return commit(self, *arguments)

    monkeypatch.setattr(_Upload, "_commit", late)
    with pytest.raises(HubError, match=r"changed by someone else at the same time \(412\): push again"):
        push()
    monkeypatch.setattr(_Upload, "_commit", commit)
    assert "config.json" in push().changed


KILLED = """
import sys
from pathlib import Path
from spider_compose.hub.repository import ARTEFACTS
from spider_compose.hub.upload import Publication, publish
publish(Publication(Path(sys.argv[1]), "owner/rgt", ARTEFACTS["model"]), endpoint=sys.argv[2])
"""


def test_killed_upload_goes_on(
    hub: Any, push: Publish, model_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.undo()  # real sleeping: the server holds the commit back
    environment = {"HF_TOKEN": "a-token-that-may-write", "HF_HUB_DISABLE_XET": "1", "PATH": ""}
    hub.delays["POST .*/commit/"] = 600.0
    command = [sys.executable, "-c", KILLED, str(model_folder), hub.endpoint]
    process = subprocess.Popen(command, env=environment, cwd=Path(__file__).parents[2])
    for _ in range(600):
        if hub.requests("POST", "/commit/") or process.poll() is not None:
            break
        time.sleep(0.1)
    process.send_signal(signal.SIGKILL)
    process.wait()
    assert stored(hub) == {}
    assert len(hub.requests("PUT", "^/lfs/")) == 2
    hub.delays.clear()
    subprocess.run(command, env=environment, cwd=Path(__file__).parents[2], check=True)
    assert stored(hub) == local(model_folder)
    assert len(hub.requests("PUT", "^/lfs/")) == 2, "the large files were there"


REFUSALS = [
    ("GET", "/whoami", 401, {}, "does not know your token (401): run `hf auth login` again"),
    (
        "POST",
        "/repos/create",
        403,
        {},
        "owner may not do that in owner/rgt (403): use a token that may write",
    ),
    ("POST", "/preupload/", 500, {}, "the Hub has an error of its own (500): push again later"),
    ("POST", "/commit/", 502, {}, "the Hub has an error of its own (502): push again later"),
    (
        "POST",
        "/commit/",
        429,
        {"Retry-After": "60"},
        "too many requests from you (429): push again in 60 seconds",
    ),
    ("POST", "/commit/", 412, {}, "changed by someone else at the same time (412): push again"),
    ("POST", "/commit/", 400, {}, "the Hub refuses (400): "),
    ("GET", "/tree/", 0, {}, "cannot be reached"),
    ("GET", "/whoami", 503, {}, "the Hub has an error of its own (503)"),
    ("POST", "batch$", 403, {}, "(403): use a token that may write"),
    ("PUT", "^/lfs/", 500, {}, "uploading failed: the Hub has an error of its own (500)"),
]


@pytest.mark.parametrize(
    ("method", "pattern", "status", "headers", "says"),
    REFUSALS,
    ids=[f"{r[0]} {r[1]} {r[2]}" for r in REFUSALS],
)
def test_refusals_are_one_sentence(
    hub: Any, push: Publish, method: str, pattern: str, status: int, headers: dict[str, str], says: str
) -> None:
    hub.fail(method, pattern, status=status, **headers)
    with pytest.raises(HubError) as caught:
        push()
    message = str(caught.value)
    assert says in message
    assert "\n" not in message
    assert "a-token-that-may-write" not in message
    assert "Traceback" not in message


def test_wrong_token(hub: Any, push: Publish) -> None:
    with pytest.raises(HubError, match=r"does not know your token \(401\)"):
        push(token="made-up")
    assert hub.store.repositories == {}


@pytest.mark.parametrize("token", ["hf_secret\x16", "hf_secret\x00x", "hf_sécret", "hf_secret hf_secret"])
def test_a_token_that_cannot_be_sent(hub: Any, push: Publish, token: str) -> None:
    """The client would quote the header, and so the token, in its error."""
    with pytest.raises(HubError, match="holds a character that no token has") as caught:
        push(token=token)
    assert "cret" not in str(caught.value) and hub.log == []


def test_no_token_in_what_the_client_says() -> None:
    from spider_compose.hub.refusals import Told

    with pytest.raises(HubError) as caught, Told("https://hub", REPO)("asking"):
        raise ValueError("Illegal header value b'Bearer hf_secret\x16'")
    assert str(caught.value) == "asking failed: Illegal header value b'Bearer ..."


@pytest.mark.parametrize(
    "endpoint",
    [
        "hub",
        "ftp://hub",
        "http://",
        "http://hub:99999",
        "http://[::1",
        "http://a b",
        "file:///etc",
        "http://h\n/",
    ],
)
def test_an_endpoint_that_is_no_address(model_folder: Path, hub: Any, endpoint: str) -> None:
    publication = Publication(model_folder, REPO, ARTEFACTS["model"])
    with pytest.raises(OptionError, match="`endpoint` must be the address of a Hub"):
        publish(publication, endpoint=endpoint)
    with pytest.raises(OptionError, match="must not hold a user's name") as caught:
        publish(publication, endpoint="https://me:secret@hub")
    assert "secret" not in str(caught.value)


def test_a_slash_at_the_end_of_the_address(hub: Any, model_folder: Path) -> None:
    publication = Publication(model_folder, REPO, ARTEFACTS["model"])
    assert publish(publication, endpoint=f"{hub.endpoint}/").url == f"{hub.endpoint}/{REPO}"
    with pytest.raises(HubError, match=r"owner/rgt is not at http://127\.0\.0\.1:\d+/deep, or"):
        publish(publication, endpoint=f"{hub.endpoint}/deep")


def test_no_token(hub: Any, push: Publish, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("HF_TOKEN")
    with pytest.raises(HubError, match="not logged in"):
        push()
    assert hub.log == []


@pytest.mark.parametrize("there", [False, True], ids=["new repository", "existing repository"])
def test_missing_rights(hub: Any, push: Publish, model_folder: Path, there: bool) -> None:
    if there:
        push()
        (model_folder / "report.json").write_text("{}")
    hub.log.clear()
    with pytest.raises(HubError, match=r"reader may not do that in owner/rgt \(403\)"):
        push(token="a-token-that-may-read")
    assert hub.requests("PUT", "") == []


def test_network_gone(push: Publish, hub: Any) -> None:
    hub._http.shutdown()
    hub._http.server_close()
    with pytest.raises(HubError, match=r"http://127\.0\.0\.1:\d+ cannot be reached .* sent again"):
        push()


def test_offline_mode(push: Publish, monkeypatch: pytest.MonkeyPatch) -> None:
    from huggingface_hub import constants
    from huggingface_hub.utils import close_session

    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", True)
    close_session()
    with pytest.raises(HubError, match="HF_HUB_OFFLINE is set"):
        push()


def test_not_a_hub(push: Publish, monkeypatch: pytest.MonkeyPatch) -> None:
    server = sys.modules["hub_server"]
    page = server.Answer(200, b"<html>Welcome</html>", {"Content-Type": "text/html"})
    monkeypatch.setattr(server, "_ROUTES", [("GET", r"/api/whoami-v2", lambda *_: page)])
    with pytest.raises(HubError, match="asking who you are failed: "):
        push()


@pytest.mark.parametrize(("other", "said"), [("dataset", "a dataset"), ("space", "a Space")])
def test_name_of_another_kind(hub: Any, push: Publish, other: str, said: str) -> None:
    hub.store.create(
        "a-token-that-may-write", {"type": other, "organization": "owner", "name": "rgt", "sdk": "gradio"}
    )
    with pytest.raises(HubError, match=f"owner/rgt is {said}, not a model: name another"):
        push()
    assert ("model", REPO) not in hub.store.repositories


def test_space_of_another_sdk(hub: Any, space_folder: Path) -> None:
    hub.store.create(
        "a-token-that-may-write", {"type": "space", "organization": "owner", "name": "stef", "sdk": "docker"}
    )
    with pytest.raises(HubError, match="is one of docker, not of gradio"):
        publish(Publication(space_folder, "owner/stef", ARTEFACTS["leaderboard"]), endpoint=hub.endpoint)


def test_space_is_created_with_its_sdk(hub: Any, space_folder: Path) -> None:
    published = publish(
        Publication(space_folder, "owner/board", ARTEFACTS["leaderboard"]), endpoint=hub.endpoint
    )
    assert hub.store.repositories["space", "owner/board"].sdk == "gradio"
    assert published.url == f"{hub.endpoint}/spaces/owner/board"


def test_existing_repository_is_continued(hub: Any, push: Publish, model_folder: Path) -> None:
    hub.store.create("a-token-that-may-write", {"type": "model", "organization": "owner", "name": "rgt"})
    published = push(private=True)
    assert stored(hub) == local(model_folder)
    assert "is public" in published.notes[0]


OTHERS = {
    "model": {"README.md": "# mine", "train.py": "print(1)", "model.safetensors": "weights"},
    "dataset": {"data/train.parquet": "rows", "README.md": "# mine"},
    "metric": {"app.py": "mine", "README.md": "# mine", "spider_compose/hub/board.py": "the leaderboard"},
    "leaderboard": {"app.py": "mine", "stef.py": "the metric"},
}


@pytest.mark.parametrize("name", list(OTHERS))
def test_a_repository_of_something_else_is_left_alone(
    hub: Any, name: str, model_folder: Path, space_folder: Path, tmp_path: Path
) -> None:
    artefact = ARTEFACTS[name]
    folder = space_folder if artefact.repo_type == "space" else model_folder
    (folder / artefact.mark).parent.mkdir(parents=True, exist_ok=True)
    for path in {*artefact.required} - {"README.md"}:
        (folder / path).write_text("{}")
    if name == "dataset":
        (folder / "README.md").write_text(
            "---\nlicense: mit\nconfigs:\n- config_name: a\n  data_files: rows.parquet\n---\n# d\n"
        )
        (folder / "rows.parquet").write_bytes(b"PAR1" * 3)
    hub.store.add(artefact.repo_type, "owner/mine", OTHERS[name])
    before = stored(hub, "owner/mine", artefact.repo_type)
    publication = Publication(folder, "owner/mine", artefact)
    with pytest.raises(
        HubError, match=rf"owner/mine holds something else than the {name} of this command \("
    ):
        publish(publication, endpoint=hub.endpoint)
    assert stored(hub, "owner/mine", artefact.repo_type) == before
    assert {one.method for one in hub.log} == {"GET"}, "found out before anything is sent"
    assert publish(publication, endpoint=hub.endpoint, pull_request=True).pull_request


def test_private(hub: Any, push: Publish) -> None:
    push(private=True)
    assert hub.store.repositories["model", REPO].private


def test_tags_are_not_moved(hub: Any, push: Publish, model_folder: Path) -> None:
    first = push(tag="v1")
    (model_folder / "report.json").write_text('{"name": "other"}\n')
    sent = len(hub.requests("POST", ""))
    with pytest.raises(HubError, match="the tag v1 of owner/rgt already marks another state"):
        push(tag="v1")
    assert len(hub.requests("POST", "")) == sent, "found out before anything is sent"
    published = push(tag="v1", move_on=True)
    assert published.tag is None
    assert "v1 stays where it was" in published.notes[0]
    assert hub.store.repositories["model", REPO].refs["refs/tags/v1"] == first.commit
    assert push(tag="v2").tag == "v2"


def test_tag_after_a_push_without_one(hub: Any, push: Publish) -> None:
    commit = push().commit
    assert push(tag="v1").tag == "v1"
    assert hub.store.repositories["model", REPO].refs["refs/tags/v1"] == commit


def test_pull_request(hub: Any, push: Publish, model_folder: Path) -> None:
    main = push().commit
    (model_folder / "report.json").write_text('{"name": "other"}\n')
    proposed = push(pull_request=True, token="a-token-that-may-read")
    assert proposed.pull_request == f"{hub.endpoint}/{REPO}/discussions/1"
    assert hub.store.repositories["model", REPO].main.oid == main
    assert stored(hub, revision="refs/pr/1") == local(model_folder)

    again = push(pull_request=True, token="a-token-that-may-read")
    assert (again.changed, again.commit, again.pull_request) == ((), proposed.commit, proposed.pull_request)

    (model_folder / "config.json").write_text('{"name": "third"}\n')
    more = push(pull_request=True, token="a-token-that-may-read")
    assert (more.changed, more.pull_request) == (("config.json",), proposed.pull_request)
    assert len(hub.store.repositories["model", REPO].discussions) == 1
    assert stored(hub, revision="refs/pr/1") == local(model_folder)

    (model_folder / "config.json").write_text('{"name": "fourth"}\n')
    of_another = push(pull_request=True)
    assert of_another.pull_request == f"{hub.endpoint}/{REPO}/discussions/2"


def test_pull_request_without_changes(hub: Any, push: Publish) -> None:
    push()
    published = push(pull_request=True)
    assert (published.changed, published.pull_request) == ((), None)
    assert hub.store.repositories["model", REPO].discussions == []


def test_pull_request_to_nothing(hub: Any, push: Publish) -> None:
    with pytest.raises(HubError, match="push without --pr first"):
        push(pull_request=True)


def test_pull_request_with_a_tag(push: Publish) -> None:
    with pytest.raises(OptionError, match="a pull request has no tag"):
        push(pull_request=True, tag="v1")


@pytest.mark.parametrize(
    "name", ["rgt", "a/b/c", "owner/", "owner/a--b", "owner/a..b", "../rgt", "owner/-x", "a b/c"]
)
def test_repository_names(model_folder: Path, name: str) -> None:
    with pytest.raises(OptionError, match="`repo` must be owner/name"):
        Publication(model_folder, name, ARTEFACTS["model"])


@pytest.mark.parametrize("tag", ["", "v1 beta", "a/../b", "-v"])
def test_tag_names(model_folder: Path, tag: str) -> None:
    with pytest.raises(OptionError, match="`tag` must be a name"):
        Publication(model_folder, REPO, ARTEFACTS["model"], tag)


def test_card_that_the_hub_refuses(hub: Any, push: Publish, model_folder: Path) -> None:
    """The Hub's own check of the card comes before the files, and its words reach the user."""
    (model_folder / "README.md").write_text(
        "---\nlibrary_name: x\nmodel-index:\n- name: ''\n  results: []\n---\n# m\n"
    )
    with pytest.raises(HubError, match=r"model-index\[0\].name"):
        push()
    assert hub.requests("PUT", "") == []


def test_wrong_folder_is_not_sent(hub: Any, push: Publish, model_folder: Path) -> None:
    (model_folder / "training_args.bin").write_bytes(b"x")
    with pytest.raises(HubError, match=r"training_args\.bin may run code"):
        push()
    assert hub.log == []


def test_renamed_repository(hub: Any, push: Publish) -> None:
    push()
    hub.store.repositories["model", "owner/old"] = hub.store.repositories["model", REPO]
    with pytest.raises(HubError, match="owner/old is now called owner/rgt"):
        push("owner/old")


def test_local_files_are_not_touched(hub: Any, push: Publish, model_folder: Path, tmp_path: Path) -> None:
    shutil.copytree(model_folder, tmp_path / "before")
    push()
    assert local(model_folder) == local(tmp_path / "before")


def test_publication_is_a_value(model_folder: Path) -> None:
    publication = Publication(model_folder, REPO, ARTEFACTS["model"], "v1")
    assert replace(publication, tag=None) == Publication(model_folder, REPO, ARTEFACTS["model"])
