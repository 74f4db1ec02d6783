"""Sessions as copies: fork, and what an import has in common with it (C8). Nothing is executed.

A copy has an id and a stream of its own, the lineage of the session it comes from, and opens with a restore to the
checkpoint it begins at, on a branch number that no checkpoint of it has. So what was approved is asked anew, what ran
before is marked, and an effect that an ancestor did is known by its key and asked about.

The order that survives a crash: everything is made in a staged folder, then the copy's stream is begun in the ledger,
then the folder gets its name. Whatever dies earlier leaves no session; afterwards, opening it finishes the restore.
"""

from __future__ import annotations

import asyncio
import logging
import os
import shutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from hitl_tui.config.atomic_files import make_private
from hitl_tui.core.board import Board
from hitl_tui.core.errors import BadInput, HitlError, StorageError
from hitl_tui.core.events import Event, EventKind
from hitl_tui.core.policy import Mode
from hitl_tui.core.questions import questions
from hitl_tui.ledger.protocols import Conflict, Ledger
from hitl_tui.ledger.records import Effect, SessionCopy
from hitl_tui.supervisor.archive import ANCESTORS, ARTIFACTS
from hitl_tui.supervisor.checkpointer import create_checkpointer, open_read_only
from hitl_tui.supervisor.face import opened
from hitl_tui.supervisor.given import check_title, fork_title
from hitl_tui.supervisor.graph import TeamSupervisor, config_of
from hitl_tui.supervisor.history import History
from hitl_tui.supervisor.rebinding import Place, rebind, snapshot
from hitl_tui.supervisor.restoring import go_back
from hitl_tui.supervisor.saver import SessionSaver
from hitl_tui.supervisor.setup import SessionSetup
from hitl_tui.supervisor.staging import Staging, room_for
from hitl_tui.supervisor.storage import SessionFolder, SessionInfo
from hitl_tui.supervisor.workbench import Workbench

log = logging.getLogger(__name__)

_TRIES = 8


@dataclass(frozen=True, slots=True)
class Origin:
    """What a copy is made of.

    Args:
        info: the session it comes from.
        checkpoints: a file of its own with them; None when it hasn't begun.
        checkpoint_id: where the copy begins; empty when it hasn't begun.
        branch: a branch number that the copy's is to be above.
        fill: writes everything else into the copy's folder.
        about: JSON for the record.
        effects: what is known to have been done.
        mode: the mode the copy is to have; None keeps it.
        whole: it comes from elsewhere, and every result that its checkpoints refer to has to be there.
    """

    info: SessionInfo
    checkpoints: Path | None
    checkpoint_id: str
    branch: int
    fill: Callable[[Path], None]
    about: Mapping[str, Any]
    effects: Sequence[Effect] = ()
    mode: Mode | None = None
    whole: bool = False


async def fork(bench: Workbench, session_id: str, checkpoint_id: str, title: str, by: str) -> SessionInfo:
    """See `Workbench.fork`."""
    setup = await bench.setup(session_id)  # a workspace that can't be used is said before anything is made
    source, info = setup.folder, setup.info
    staging = Staging(bench.data.sessions)
    with staging.stage() as stage:
        kept, chosen = await checkpoints_of(bench.ledger, source, info.id, stage, checkpoint_id)
        branch = await bench.ledger.branch(info.id)
        head = await bench.ledger.head(info.id)
        about = {"kind": "fork", "session": info.id, "n": head.n, "hash": head.hash, "checkpoint_id": chosen}

        def fill(folder: Path) -> None:
            _copy_files(source, folder)

        named = check_title(title, setup.secrets) if title else fork_title(info.title, info.id)
        begun = replace(info, title=named, created=bench.now())
        origin = Origin(begun, kept, chosen, branch.number, fill, about)
        return await settle(bench, staging, stage, origin, by, wanted="")


async def checkpoints_of(
    ledger: Ledger, source: SessionFolder, session_id: str, stage: Path, wanted: str
) -> tuple[Path | None, str]:
    """Return the session's checkpoints in a file of their own, and the one to begin at."""
    if not source.checkpoints.exists():
        if wanted:
            raise BadInput(f"Session {session_id} has no checkpoints yet.")
        return None, ""
    kept = stage / "source.db"
    with room_for("The copy"):
        await asyncio.to_thread(snapshot, source.checkpoints, kept)
    async with open_read_only(kept) as saver:
        history = History(saver, session_id)
        if wanted:
            return kept, await history.find(wanted)
        # A restore that was begun and not carried out yet is where the session is going to stand.
        intended = (await ledger.branch(session_id)).checkpoint_id
        return kept, (intended if intended and await has_checkpoint(history, intended) else await history.head())


async def has_checkpoint(history: History, checkpoint_id: str) -> bool:
    try:
        return await history.find(checkpoint_id) == checkpoint_id
    except HitlError:
        return False


def _copy_files(source: SessionFolder, folder: Path) -> None:
    """Copy results and ancestors' streams; what a session's teams said stays its own."""
    for digest, path in source.artifacts().files().items():
        _copy_file(path, folder / ARTIFACTS / digest[:2] / digest)
    for path in ancestors(source):
        _copy_file(path, folder / ANCESTORS / path.name)
    if source.graphs():
        SessionFolder(folder).write_graphs(source.graphs())


def _copy_file(source: Path, target: Path) -> None:
    make_private(target.parent)
    with source.open("rb") as read, target.open("xb") as write:
        shutil.copyfileobj(read, write)
        write.flush()
        os.fsync(write.fileno())


def ancestors(folder: SessionFolder) -> list[Path]:
    return sorted((folder.path / ANCESTORS).glob("*.jsonl"))


async def settle(bench: Workbench, staging: Staging, stage: Path, origin: Origin, by: str, wanted: str) -> SessionInfo:
    """Make the copy, begin its stream, give it its name, and bring it to rest at its question."""
    for _ in range(_TRIES):
        heads = {head.stream: head.n for head in await bench.ledger.streams()}
        free = wanted and wanted not in heads and wanted not in bench.data.ids()
        name = wanted if free else bench.data.fresh_id(heads)
        made = await _make(stage / f"copy-{name}", origin, name)
        info = replace(origin.info, id=name)
        folder = SessionFolder(stage / f"copy-{name}")
        with folder.own():  # the lock goes with the folder: nobody opens it before it is at rest
            with room_for(f"Session {name}"):
                folder.write_info(info)
            copy = SessionCopy(
                name,
                {**origin.about, "lineage": info.lineage},
                max(made.branch, origin.branch) + 1,
                made.cursor + 1,
                origin.checkpoint_id,
                origin.effects,
                by,
            )
            try:
                await bench.ledger.begin_copy(copy, bench.now())
            except Conflict:  # another process took the id meanwhile
                await asyncio.to_thread(shutil.rmtree, folder.path)
                continue
            staging.settle(folder.path, name)
            try:
                if origin.checkpoint_id:
                    await _rest(await bench.setup(name), by)
            except (HitlError, ValueError, TypeError, LookupError, AttributeError) as error:
                # It is there, whole: opening it does the same.
                log.warning("%s isn't at rest yet: %s", name, error)
            return info
    raise StorageError("No id is free for the new session; try again.")


async def _make(folder: Path, origin: Origin, name: str) -> Place:
    def fill() -> None:
        folder.mkdir(mode=0o700)
        origin.fill(folder)

    with room_for("The copy"):
        await asyncio.to_thread(fill)
        if origin.checkpoints is None:
            return Place()
        target = SessionFolder(folder).checkpoints
        place = await rebind(origin.checkpoints, target, origin.info.id, name, mode=origin.mode)
    gone = sorted(place.results - SessionFolder(folder).artifacts().files().keys())
    if origin.whole and gone:
        raise BadInput(f"This export was changed: the result {gone[0][:12]} is missing.")
    return place


async def _rest(setup: SessionSetup, by: str) -> None:
    """Carry the copy's first restore out and write its questions into the ledger; no team is touched."""
    name, ledger, now = setup.info.id, setup.ledger, setup.now
    branch = await ledger.branch(name)
    async with create_checkpointer(setup.folder.checkpoints) as saver:
        assert isinstance(saver, SessionSaver)
        supervisor = TeamSupervisor(
            setup.planner, lambda: setup.rules, setup.folder.artifacts(setup.secrets), saver, now
        )
        left = Board.from_state((await supervisor.graph.aget_state(config_of(name))).values)
        await go_back(setup, supervisor, branch, left)
        state = await supervisor.execute("", name)
        cursor = Board.from_state(state).control.cursor
        posted = await ledger.after(name, cursor, branch.number)
        events = [
            Event(str(p.event["kind"]), {k: v for k, v in p.event.items() if k != "kind"}, p.event_id, p.seq, now(), by)
            for p in posted
            if p.event["kind"] == EventKind.RESTORED  # what somebody posted meanwhile is for whoever opens the session
        ]
        state = await supervisor.resume(name, state["__interrupt__"][0].id, events)
    asked = questions(Board.from_state(state), setup.rules)
    await ledger.open_requests([opened(request, now()) for request in asked])
