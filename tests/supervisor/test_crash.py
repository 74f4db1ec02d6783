"""Crashes at every step (D12, T6): what is on disk at each moment of a session is opened, and goes on from there.

A run is watched before and after everything that it writes (ledger, checkpoints, artifacts, the world). At each of
these moments the disk is copied, as a process killed then would leave it.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any

import pytest
from session_support import Driver, Place, step, truthful

from hitl_tui.core.requests import Kind, Verdict
from hitl_tui.ledger.sqlite_ledger import SqliteLedger
from hitl_tui.supervisor import own_session as own_session_module
from hitl_tui.supervisor.checkpoint_saver import create_checkpointer
from hitl_tui.supervisor.own_session import own_session
from hitl_tui.supervisor.storage import ArtifactStore

pytestmark = pytest.mark.long

_WRITES = (
    *("record", "open_requests", "decide", "expire", "supersede", "post", "begin_restore", "finish_restore"),
    *("begin_effect", "end_effect", "stop_run"),
)


class Images:
    """Copies of the disk, one for each moment at which it changed.

    Args:
        root: what is copied.
        into: where to.
    """

    def __init__(self, root: Path, into: Path) -> None:
        self.root = root
        self.into = into
        self.approved: set[str] = set()
        self.taken: list[tuple[str, Path, frozenset[str]]] = []
        self._known: set[bytes] = set()

    def take(self, moment: str) -> None:
        copy = self.into / f"{len(self.taken):03d}"
        # The log first: pages that are written back meanwhile are in it or in the file.
        shutil.copytree(self.root, copy, ignore=shutil.ignore_patterns("*.db", "*-shm", ".new-*"))
        for file in self.root.rglob("*.db"):
            shutil.copy(file, copy / file.relative_to(self.root))
        state = hashlib.sha256()
        for file in sorted(copy.rglob("*")):
            if file.is_file() and file.name != "activity.log":
                state.update(file.name.encode() + file.read_bytes())
        if state.digest() in self._known:
            shutil.rmtree(copy)
            return
        self._known.add(state.digest())
        self.taken.append((moment, copy, frozenset(self.approved)))

    @contextmanager
    def watching(self, owner: Any, name: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
        original: Callable[..., Awaitable[Any]] = getattr(owner, name)

        async def watched(*args: Any, **kwargs: Any) -> Any:
            self.take(f"before {name}")
            found = await original(*args, **kwargs)
            self.take(f"after {name}")
            return found

        with monkeypatch.context() as patch:
            patch.setattr(owner, name, watched)
            yield


@asynccontextmanager
async def watched(place: Place, images: Images, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Driver]:
    """Open the session and take an image around each of its writes."""

    @asynccontextmanager
    async def saver_of(path: Path) -> AsyncIterator[Any]:
        async with create_checkpointer(path) as saver:
            with images.watching(saver, "aput", monkeypatch), images.watching(saver, "aput_writes", monkeypatch):
                yield saver

    with monkeypatch.context() as patch:
        patch.setattr(own_session_module, "create_checkpointer", saver_of)
        async with place.ledger() as ledger:
            for name in _WRITES:
                patch.setattr(ledger, name, _watch(images, name, getattr(ledger, name)))
            put = ArtifactStore.put

            async def keep(store: ArtifactStore, value: Any) -> str:
                images.take("before put")
                return await put(store, value)

            patch.setattr(ArtifactStore, "put", keep)
            place.world.during = lambda todo_id, moment: images.take(f"{moment} the effect of {todo_id}")
            async with own_session(place.setup(ledger), "the query") as session:
                yield Driver(place, session)
            place.world.during = lambda todo_id, moment: None


def _watch(images: Images, name: str, original: Callable[..., Awaitable[Any]]) -> Callable[..., Awaitable[Any]]:
    async def watched_write(*args: Any, **kwargs: Any) -> Any:
        images.take(f"before {name}")
        found = await original(*args, **kwargs)
        if name == "decide" and args[0].verdict is Verdict.APPROVE:
            images.approved.add(found.request.todo_id)
        images.take(f"after {name}")
        return found

    return watched_write


def again(place: Place, root: Path) -> Place:
    """Return the same place in a copy."""
    other = Place(root, planner=place.planner)
    other.clock.time = place.clock.time
    other.mode, other.policy, other.concurrency = place.mode, place.policy, place.concurrency
    return other


@pytest.mark.parametrize("every", [3, pytest.param(1, marks=pytest.mark.slow)])
async def test_a_crash_at_any_write_loses_no_approval_and_repeats_no_effect(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, every: int
) -> None:
    place = Place(tmp_path / "run", step("low", "a"), step("low", "b", "a", retry_count=1), step("low", "c"))
    (tmp_path / "images").mkdir()
    place.world.fail["todo_002"] = [OSError("once")]
    images = Images(place.root, tmp_path / "images")
    async with watched(place, images, monkeypatch) as op:
        await op.say("/todo approve 1 3")
        await op.rest()
        await op.say("/todo approve 2")
        assert (await op.rest()).status == "finished"
    moments = {moment for moment, _, _ in images.taken}
    assert {"after decide", "after aput", "after the effect of todo_002", "after end_effect"} <= moments
    assert len(images.taken) > 40
    for number, (moment, root, approved) in list(enumerate(images.taken))[::every]:
        other = again(place, root)
        async with other.open() as op:
            met = await op.finish(truthful(other.world))
            asked_again = {q.todo_id for q in met if q.kind is Kind.TODO} & approved
            assert not asked_again, (number, moment)
            assert set(op.statuses.values()) == {"completed"}, (number, moment)
        assert other.world.done() == {"todo_001": 1, "todo_002": 1, "todo_003": 1}, (number, moment)
        shutil.rmtree(root)


async def test_a_crash_at_any_write_of_a_restore_ends_in_the_restored_state(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """D11: an intended restore is finished at the next opening; what ran before is marked, its effects asked about."""
    place = Place(tmp_path / "run", step("low", "a"), step("low", "b", "a"))
    (tmp_path / "images").mkdir()
    async with place.open() as op:
        await op.rest()
        target = op.now.checkpoint_id
        await op.finish()
    images = Images(place.root, tmp_path / "images")
    async with watched(place, images, monkeypatch) as op:
        await op.say(f"/checkpoint restore {target}")
        await op.rest()
    moments = [moment for moment, _, _ in images.taken]
    begun = moments.index("after begin_restore")
    assert "after finish_restore" in moments
    for number, (moment, root, _) in enumerate(images.taken[begun:]):
        other = again(place, root)
        async with other.open() as op:
            seen = await op.until(lambda s: s.at_rest and s.branch == 1)
            assert op.statuses == {"todo_001": "waiting_approval", "todo_002": "pending"}, (number, moment)
            marked = {t.id for t in seen.todos if t.metadata.get("ran_before")}
            assert marked == {"todo_001", "todo_002"}, (number, moment)
            assert other.world.done() == {"todo_001": 1, "todo_002": 1}
            met = await op.finish(truthful(other.world))
            kinds = [(q.kind, q.todo_id) for q in met]
            both = [(kind, todo_id) for todo_id in ("todo_001", "todo_002") for kind in (Kind.TODO, Kind.EFFECT)]
            assert kinds == both, (number, moment)
        assert other.world.done() == {"todo_001": 1, "todo_002": 1}
        shutil.rmtree(root)


async def test_tasks_that_are_cut_off_are_as_good_as_killed(tmp_path: Path) -> None:
    """The owning task is cancelled without closing anything in order."""
    place = Place(tmp_path, step("low", "a"), step("low", "b", "a"))
    place.world.hold("todo_001")

    async def own() -> None:
        async with place.open() as op:
            await op.say("/todo approve 1")
            await asyncio.Event().wait()

    task = asyncio.create_task(own())
    await asyncio.wait({task, asyncio.create_task(_entered(place, "todo_001"))}, return_when=asyncio.FIRST_COMPLETED)
    task.cancel()
    await asyncio.wait({task})
    place.world.gates.clear()
    async with place.open() as op:
        met = await op.finish(truthful(place.world))
        assert [q.todo_id for q in met] == ["todo_002"]
    assert place.world.done() == {"todo_001": 1, "todo_002": 1}


async def _entered(place: Place, todo_id: str) -> None:
    await place.world.began(todo_id)


# Effects in doubt ----------------------------------------------------------------------------------------------


async def in_doubt(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, moment: str) -> Place:
    """Return a place whose process died before or after the effect itself, while it was recorded as started."""
    place = Place(tmp_path / "run", step("low", "a"), step("low", "b", "a"))
    (tmp_path / "images").mkdir()
    images = Images(place.root, tmp_path / "images")
    async with watched(place, images, monkeypatch) as op:
        await op.say("/todo approve 1")
        await op.rest()
    wanted = "after begin_effect" if moment == "before" else "after the effect of todo_001"
    return again(place, next(root for found, root, _ in images.taken if found == wanted))


@pytest.mark.sampled(3)
@pytest.mark.parametrize("moment", ["before", "after"])
@pytest.mark.parametrize(
    ("command", "more"), [("/todo done 1", 0), ("/todo again 1", 1), ("/todo reject 1 unclear", 0)]
)
async def test_an_effect_that_may_have_happened_is_asked_about(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, moment: str, command: str, more: int
) -> None:
    place = await in_doubt(tmp_path, monkeypatch, moment)
    happened = int(moment == "after")
    async with place.open() as op:
        seen = await op.rest()
        (question,) = seen.questions
        assert question.kind is Kind.EFFECT
        assert question.view.request.subject["effect"]["subject"] == {"what": "a"}
        assert "nothing says whether it ended" in question.view.request.about["why"]
        assert place.world.done().total() == happened
    async with place.open() as op:  # asked once, also over openings
        assert [q.id for q in (await op.rest()).questions] == [question.id]
        await op.say(command)
        seen = await op.rest()
        assert place.world.done()["todo_001"] == happened + more
        ends = {"todo_001": "failed", "todo_002": "blocked"}
        if "reject" not in command:
            ends = {"todo_001": "completed", "todo_002": "waiting_approval"}
        assert op.statuses == ends


async def test_doing_an_effect_again_is_good_for_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A crash while it is done again asks again: the same answer mustn't repeat what may have happened by then."""
    place = await in_doubt(tmp_path, monkeypatch, "after")
    (tmp_path / "more").mkdir()
    images = Images(place.root, tmp_path / "more")
    async with watched(place, images, monkeypatch) as op:
        await op.rest()
        await op.say("/todo again 1")
        await op.rest()
    root = next(root for found, root, _ in images.taken if found == "after the effect of todo_001")
    other = again(place, root)
    async with other.open() as op:
        seen = await op.rest()
        assert [q.kind for q in seen.questions] == [Kind.EFFECT]
        await op.say("/todo done 1")
        await op.rest()
    assert other.world.done() == {"todo_001": 2}


# A real kill -9 ------------------------------------------------------------------------------------------------

_WORKER = Path(__file__).with_name("crash_worker.py")


def worker(root: Path, *words: str) -> subprocess.CompletedProcess[str]:
    environ = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    command = [sys.executable, str(_WORKER), str(root), *words]
    return subprocess.run(command, env=environ, capture_output=True, text=True, timeout=60)


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    ("point", "questions"),
    [
        ("planned", []),
        ("approved", []),
        ("running", []),
        ("before", [Kind.EFFECT]),
        ("after", [Kind.EFFECT]),
        ("finished", []),
    ],
)
async def test_kill_9_in_a_process_of_its_own(tmp_path: Path, point: str, questions: list[Kind]) -> None:
    died = worker(tmp_path, point)
    assert died.returncode == -signal.SIGKILL, died.stderr
    place = Place(tmp_path, step("low", "a"), step("low", "b", "a"))
    place.clock.forward(3600)
    async with place.open() as op:
        met = await op.finish(truthful(place.world))
        expected = [Kind.TODO] * (point == "planned") + questions + [Kind.TODO]
        assert [q.kind for q in met] == expected
    assert place.world.done() == {"todo_001": 1, "todo_002": 1}


def test_a_full_disk_is_said_and_nothing_is_lost(tmp_path: Path) -> None:
    full = worker(tmp_path, "full")
    assert full.returncode == 0, full.stderr
    said = json.loads(full.stdout.splitlines()[-1])
    assert said["error"], said
    assert said["acknowledged"], "the limit came before anything was approved"
    after = worker(tmp_path, "look")
    assert after.returncode == 0, after.stderr
    seen = json.loads(after.stdout.splitlines()[-1])
    for todo_id in said["acknowledged"]:
        assert seen["statuses"][todo_id] == "completed", (todo_id, seen)
    assert all(count == 1 for count in seen["world"].values())


async def test_a_ledger_that_is_closed_under_a_session_ends_it_with_a_sentence(tmp_path: Path) -> None:
    place = Place(tmp_path, step("low", "a"))
    ledger: SqliteLedger
    async with place.ledger() as ledger, own_session(place.setup(ledger), "q") as session:
        op = Driver(place, session)
        await op.rest()
        await ledger.close()
        answer = await op.try_to("/todo approve 1")
        assert answer["error"]
    async with place.open() as op:
        await op.finish()
