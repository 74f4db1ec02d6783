"""Feedback in a folder: put once, taken once, and what can't be used is set aside with the reason."""

from __future__ import annotations

import asyncio
import errno
import json
import os
from pathlib import Path

import pytest
from feedback_support import APPROVED, REVISE, Decisions, run_until

from hitl_tui.channels.plan_feedback.document_folder import DocumentFolder
from hitl_tui.channels.plan_feedback.feedback import Problem
from hitl_tui.channels.plan_feedback.store import AlreadyAnswered, FeedbackStore, Found, PublishedRequest
from hitl_tui.core.errors import BadInput, StorageError
from hitl_tui.core.messages import Message


@pytest.fixture
def store(tmp_path: Path) -> FeedbackStore:
    return FeedbackStore(DocumentFolder(tmp_path / "feedback"))


def folder_of(store: FeedbackStore) -> Path:
    return Path(store.path("r1")).parent


def put(store: FeedbackStore, request_id: str, text: str | bytes) -> Path:
    """Write a file as any program does."""
    folder_of(store).mkdir(exist_ok=True)
    file = Path(store.path(request_id))
    file.write_bytes(text.encode() if isinstance(text, str) else text)
    return file


def aside(store: FeedbackStore) -> dict[str, dict[str, str]]:
    """What was set aside: the reasons, by the name of the object that lies beside each."""
    folder = folder_of(store) / "set-aside"
    reasons = sorted(folder.glob("*.reason.json")) if folder.exists() else []
    return {file.name.replace(".reason", ""): json.loads(file.read_text()) for file in reasons}


async def test_feedback_is_taken_once_and_removed(store: FeedbackStore) -> None:
    runtime = Decisions(store, "r1", "r2")
    await store.put_new("r1", REVISE)
    await run_until(runtime.poller(), lambda: bool(runtime.taken) and not Path(store.path("r1")).exists())
    assert runtime.taken == [("r1", REVISE)]
    assert runtime.waiting == {"r2"}
    assert runtime.reports == []


async def test_of_many_reviewers_one_is_first_and_the_others_are_told(store: FeedbackStore) -> None:
    results = await asyncio.gather(*(store.put_new("r1", APPROVED) for _ in range(20)), return_exceptions=True)
    assert [type(one) for one in results].count(str) == 1
    assert sum(isinstance(one, AlreadyAnswered) for one in results) == 19
    assert [file.name for file in folder_of(store).iterdir()] == ["r1.json"]


@pytest.mark.parametrize(
    ("data", "kind"), [(b"{}", "malformed"), (b"x" * 70_000, "oversized"), (APPROVED.to_bytes("r2"), "foreign")]
)
async def test_what_cannot_be_used_is_set_aside_with_the_reason(store: FeedbackStore, data: bytes, kind: str) -> None:
    runtime = Decisions(store, "r1")
    put(store, "r1", data)
    await run_until(runtime.poller(), lambda: bool(runtime.reports))
    [(name, reason)] = aside(store).items()
    assert reason["kind"] == kind
    assert (folder_of(store) / "set-aside" / name).read_bytes() == data
    assert [one.path for one in runtime.told("set_aside")] == [str(folder_of(store) / "set-aside" / name)]
    assert runtime.calls == 0
    await store.put_new("r1", APPROVED)
    await run_until(runtime.poller(), lambda: bool(runtime.taken))


async def test_feedback_that_comes_late_is_set_aside(store: FeedbackStore) -> None:
    runtime = Decisions(store, "r1")
    await store.put_new("r1", APPROVED)
    await run_until(runtime.poller(), lambda: runtime.taken and not (folder_of(store) / "r1.json").exists())
    await store.put_new("r1", REVISE)
    await run_until(runtime.poller(), lambda: bool(runtime.reports))
    assert [one["kind"] for one in aside(store).values()] == ["late"]
    assert len(runtime.taken) == 1


async def test_feedback_for_requests_of_other_runtimes_stays(store: FeedbackStore) -> None:
    runtime = Decisions(store, "r1")
    theirs = put(store, "r9", APPROVED.to_bytes())
    poller = runtime.poller()
    for _ in range(3):
        await poller.look()
    assert theirs.exists()
    assert runtime.calls == 0
    assert runtime.reports == []


async def test_a_file_that_is_still_being_written_is_waited_for(store: FeedbackStore) -> None:
    runtime, data = Decisions(store, "r1"), APPROVED.to_bytes()
    poller = runtime.poller()
    for end in (0, 10, len(data) - 3):
        put(store, "r1", data[:end])
        await poller.look()
    put(store, "r1", data)
    await poller.look()
    assert len(runtime.taken) == 1
    assert runtime.reports == []


@pytest.mark.parametrize("make", [os.mkfifo, os.mkdir, lambda file: file.symlink_to("/dev/zero")])
async def test_what_is_no_file_is_set_aside_unread(store: FeedbackStore, make: object) -> None:
    runtime = Decisions(store, "r1")
    folder_of(store).mkdir()
    assert callable(make)
    make(Path(store.path("r1")))
    await run_until(runtime.poller(), lambda: bool(runtime.reports))
    assert [one["reason"] for one in aside(store).values()] == ["It isn't a regular file."]


async def test_without_hard_links_one_is_first_all_the_same(
    store: FeedbackStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "link", refuse_links)
    await store.put_new("r1", APPROVED)
    with pytest.raises(AlreadyAnswered):
        await store.put_new("r1", REVISE)
    assert [file.name for file in folder_of(store).iterdir()] == ["r1.json"]


def files_in(folder: Path) -> dict[str, bytes]:
    return {str(file.relative_to(folder)): file.read_bytes() for file in folder.rglob("*") if file.is_file()}


def refuse_links(*_: object, **__: object) -> None:
    raise OSError(errno.EPERM, "Operation not permitted")


@pytest.mark.parametrize("problem", [None, Problem("late", Message("Too late."))])
@pytest.mark.parametrize("newest", [b"", b"newest"])
async def test_what_is_put_between_the_look_and_the_removal_stays(
    store: FeedbackStore, monkeypatch: pytest.MonkeyPatch, problem: Problem | None, newest: bytes
) -> None:
    await store.put_new("r1", APPROVED)
    [found] = (await store.poll(["r1"])).found
    rename = Path.rename

    def late(self: Path, target: Path) -> Path:
        put(store, "new", b"newer").replace(store.path("r1"))
        moved = rename(self, target)
        if newest:
            put(store, "r1", newest)
        return moved

    monkeypatch.setattr(Path, "rename", late)
    await (store.set_aside(found, problem) if problem else store.remove(found))
    there = files_in(folder_of(store))
    assert {name for name in there if not name.endswith(".reason.json")} == {"r1.json"}
    assert there["r1.json"] == (newest or b"newer")


class Stiff(FeedbackStore):
    """A folder from which nothing can be removed until it is loosened."""

    stiff = True

    async def remove(self, found: Found) -> None:
        if self.stiff:
            raise StorageError(Message("{} can't be removed.", found.path))
        await super().remove(found)

    async def set_aside(self, found: Found, problem: Problem) -> str:
        if self.stiff:
            raise StorageError(Message("{} can't be moved.", found.path))
        return await super().set_aside(found, problem)


async def test_what_cannot_be_removed_is_acted_on_once_also_after_a_restart(tmp_path: Path) -> None:
    store = Stiff(DocumentFolder(tmp_path))
    runtime = Decisions(store, "r1", "r2")
    await store.put_new("r1", APPROVED)
    put(store, "r2", "{}")
    poller = runtime.poller(0.001)
    for _ in range(5):
        await poller.look()
    assert (runtime.calls, runtime.taken) == (1, [("r1", APPROVED)])
    assert sorted((one.what, one.request_id) for one in runtime.reports) == [("stuck", "r1"), ("stuck", "r2")]
    await runtime.poller().look()  # another process: it knows nothing, the ledger does
    assert (runtime.calls, len(runtime.taken)) == (2, 1)
    store.stiff = False
    await run_until(runtime.poller(), lambda: not list(tmp_path.glob("*.json")))
    assert len(runtime.taken) == 1
    assert [one["request_id"] for one in aside(store).values()] == ["r2"]


async def test_a_folder_that_cannot_be_read_is_reported_once_and_when_it_can_again(tmp_path: Path) -> None:
    folder = tmp_path / "feedback"
    folder.write_text("no folder")
    runtime = Decisions(FeedbackStore(DocumentFolder(folder)), "r1")
    poller = runtime.poller()
    for _ in range(3):
        await poller.look()
    assert [one.what for one in runtime.reports] == ["unreachable"]
    folder.unlink()
    await poller.look()
    assert [one.what for one in runtime.reports] == ["unreachable", "reachable"]


async def test_requests_are_published_for_reviewers_and_withdrawn(store: FeedbackStore) -> None:
    assert await store.requests() == ()
    for number in (2, 1):
        await store.publish(PublishedRequest(f"r{number}", {"request_id": f"r{number}", "plan": "계획"}))
    (folder_of(store) / "requests" / "r3.json").write_text("{")
    (folder_of(store) / "requests" / "r4.json").write_text('{"request_id": "r1"}')
    assert [one.request_id for one in await store.requests()] == ["r2", "r1"]
    assert (await store.request("r1")) == PublishedRequest("r1", {"request_id": "r1", "plan": "계획"})
    await store.withdraw("r1")
    await store.withdraw("r1")
    assert await store.request("r1") is None
    ended = {"type": "decided", "request_id": "r2", "outcome": "approved", "by": ["ann"]}
    await store.withdraw("r2", ended)
    assert await store.requests() == ()
    assert await store.request("r2") == PublishedRequest("r2", ended)
    assert not (await store.poll({"r2"})).others


@pytest.mark.parametrize("name", ["../r1", "", "a/b", ".r1", "r" * 200])
async def test_what_cannot_be_a_name_is_refused(store: FeedbackStore, name: str) -> None:
    with pytest.raises(BadInput):
        await store.put_new(name, APPROVED)
