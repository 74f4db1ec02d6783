"""Copies of sessions: fork, export and import. Nothing is executed."""

from __future__ import annotations

import asyncio
import json
import logging
import os
import shutil
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import ExitStack, asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from langgraph.checkpoint.base import BaseCheckpointSaver

from hitl_tui.config.atomic_files import make_private
from hitl_tui.core.board import Board
from hitl_tui.core.errors import BadInput, HitlError, StorageError
from hitl_tui.core.events import EventKind
from hitl_tui.core.messages import Message
from hitl_tui.core.names import clip
from hitl_tui.core.policy import Mode
from hitl_tui.core.questions import questions
from hitl_tui.core.safe_text import safe_again, safe_text
from hitl_tui.ledger.audit import export as export_stream
from hitl_tui.ledger.protocols import Branches, Conflict, Streams
from hitl_tui.ledger.records import GENESIS, Effect, Entry, SessionCopy, entry_hash
from hitl_tui.supervisor import session_archive
from hitl_tui.supervisor.checkpoint_copy import (
    CheckpointExtent,
    check_rows,
    copy_checkpoints,
    copy_under_new_id,
    restore_checkpoint,
)
from hitl_tui.supervisor.checkpoint_file import open_read_only
from hitl_tui.supervisor.checkpoint_saver import create_checkpointer
from hitl_tui.supervisor.graph import TeamSupervisor, config_of
from hitl_tui.supervisor.ledger_writer import event_of, with_opening_times
from hitl_tui.supervisor.record_check import ancestry_of
from hitl_tui.supervisor.session_archive import ANCESTORS, ARTIFACTS
from hitl_tui.supervisor.session_input import LONGEST_TITLE, check_query, check_title, check_workspace, fork_title
from hitl_tui.supervisor.session_setup import SessionSetup
from hitl_tui.supervisor.session_staging import SessionStaging, room_for
from hitl_tui.supervisor.session_store import SessionStore
from hitl_tui.supervisor.storage import SessionFolder, SessionInfo, check_session_id, is_digest
from hitl_tui.threads.session_history import SessionHistory
from hitl_tui.version import __version__

log = logging.getLogger(__name__)

_TRIES = 8


@dataclass(frozen=True, slots=True)
class CopySource:
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
    about: Mapping[str, object]
    effects: Sequence[Effect] = ()
    mode: Mode | None = None
    whole: bool = False


async def fork(
    store: SessionStore, session_id: str, checkpoint_id: str, title: str, by: str, channel: str
) -> SessionInfo:
    """Make a session that begins where another stands or stood; see `SessionAdmin.fork`."""
    setup = await store.setup(session_id)  # a workspace that can't be used is said before anything is made
    source, info = setup.folder, setup.info
    staging = SessionStaging(store.data.sessions)
    with staging.stage() as stage:
        kept, chosen = await checkpoints_of(store.ledger, source, info.id, stage, checkpoint_id)
        number = 0
        if kept is not None:
            async with open_read_only(kept) as file:
                number = await SessionHistory(file, info.id).place(chosen)
        branch = await store.ledger.branch(info.id)
        head = await store.ledger.head(info.id)
        about = {"kind": "fork", "session": info.id, "n": head.n, "hash": head.hash, "checkpoint_id": chosen}
        about |= {"number": number, "channel": channel}

        def fill(folder: Path) -> None:
            _copy_files(source, folder, stage / "results")

        named = check_title(title, setup.secrets) if title else fork_title(info.called, info.id)
        begun = replace(info, title=named, created=store.now())
        origin = CopySource(begun, kept, chosen, branch.number, fill, about)
        return await make_copy(store, staging, stage, origin, by, wanted="")


async def checkpoints_of(
    ledger: Branches, source: SessionFolder, session_id: str, stage: Path, wanted: str
) -> tuple[Path | None, str]:
    """Return the session's checkpoints in a file of their own, and the one to begin at."""
    if not await asyncio.to_thread(source.has_checkpoints):
        if wanted:
            raise BadInput(Message("Session {} has no checkpoints yet.", session_id))
        return None, ""
    kept = stage / "source.db"
    with room_for(Message("The copy")):
        await copy_of(source, kept)
    async with open_read_only(kept) as file:
        history = SessionHistory(file, session_id)
        if wanted:
            return kept, await history.find(wanted)
        # A restore that was begun and not carried out yet is where the session is going to stand.
        intended = (await ledger.branch(session_id)).checkpoint_id
        return kept, (intended if intended and await has_checkpoint(history, intended) else await history.head())


async def copy_of(source: SessionFolder, target: Path) -> None:
    """Write a session's checkpoints as they are now into a file of their own."""
    if not source.address:
        await asyncio.to_thread(copy_checkpoints, source.checkpoints, target)
        return
    from hitl_tui.supervisor.postgres_copy import unload_checkpoints
    from hitl_tui.supervisor.postgres_sessions import DatabaseSession

    assert isinstance(source, DatabaseSession)
    async with create_checkpointer(target):
        pass
    await asyncio.to_thread(unload_checkpoints, source, target)


async def settle(store: SessionStore, staging: SessionStaging, folder: Path, info: SessionInfo) -> None:
    """Let a staged folder become a session: whole, durable, or not at all."""
    if isinstance(store.data.place, Path):
        staging.settle(folder, info.id)
        return
    from hitl_tui.supervisor.postgres_copy import load_session
    from hitl_tui.supervisor.postgres_sessions import DatabaseFolder

    assert isinstance(store.data, DatabaseFolder)
    from hitl_tui.supervisor.postgres_checkpoints import saver_of

    async with saver_of(store.data.address) as saver:
        await saver.prepare()
    await asyncio.to_thread(load_session, store.data, folder, info)


async def has_checkpoint(history: SessionHistory, checkpoint_id: str) -> bool:
    try:
        return await history.find(checkpoint_id) == checkpoint_id
    except HitlError:
        return False


def _copy_files(source: SessionFolder, folder: Path, scratch: Path) -> None:
    """Copy results and ancestors' streams; what a session's teams said stays its own."""
    for digest, path in source.artifacts().files(scratch).items():
        _copy_file(path, folder / ARTIFACTS / digest[:2] / digest)
    for path in ancestors(source):
        _copy_file(path, folder / ANCESTORS / path.name)
    if source.graphs() or source.graph_settings():
        SessionFolder(folder).write_graphs(source.graphs(), source.graph_settings())


def _copy_file(source: Path, target: Path) -> None:
    make_private(target.parent)
    with source.open("rb") as read, target.open("xb") as write:
        shutil.copyfileobj(read, write)
        write.flush()
        os.fsync(write.fileno())


def ancestors(folder: SessionFolder) -> list[Path]:
    return sorted((folder.path / ANCESTORS).glob("*.jsonl"))


async def make_copy(
    store: SessionStore, staging: SessionStaging, stage: Path, origin: CopySource, by: str, wanted: str
) -> SessionInfo:
    """Make the copy, begin its stream, give it its name, and bring it to rest at its question."""
    for _ in range(_TRIES):
        heads = {head.stream: head.n for head in await store.ledger.streams()}
        free = wanted and wanted not in heads and wanted not in store.data.ids()
        name = wanted if free else store.data.fresh_id(heads)
        made = await _make_files(stage / f"copy-{name}", origin, name)
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
                await store.ledger.begin_copy(copy, store.now())
            except Conflict:  # another process took the id meanwhile
                await asyncio.to_thread(shutil.rmtree, folder.path)
                continue
            await settle(store, staging, folder.path, info)
            try:
                if origin.checkpoint_id:
                    await _finish_copy(await store.setup(name), by)
            except (HitlError, ValueError, TypeError, LookupError, AttributeError) as error:
                # It is there, whole: opening it does the same.
                log.warning("%s isn't at rest yet: %s", name, error)
            return info
    raise StorageError(Message("No id is free for the new session; try again."))


async def _make_files(folder: Path, origin: CopySource, name: str) -> CheckpointExtent:
    def fill() -> None:
        folder.mkdir(mode=0o700)
        origin.fill(folder)

    with room_for(Message("The copy")):
        await asyncio.to_thread(fill)
        if origin.checkpoints is None:
            return CheckpointExtent()
        target = SessionFolder(folder).checkpoints
        place = await copy_under_new_id(
            origin.checkpoints, target, origin.info.id, name, mode=origin.mode, imported=origin.whole
        )
    gone = sorted(place.results - SessionFolder(folder).artifacts().files().keys())
    if origin.whole and gone:
        raise BadInput(Message("This export was changed: the result {} is missing.", gone[0][:12]))
    return place


@asynccontextmanager
async def _saver_for(folder: SessionFolder) -> AsyncIterator[BaseCheckpointSaver[str]]:
    """Open the saver of a copy that nobody else opens: its folder's lock is held, or its database's is taken."""
    if folder.address:
        from hitl_tui.supervisor.postgres_checkpoints import owning_saver

        async with owning_saver(folder.address, folder.path.name, folder.holder) as there:
            yield there
        return
    async with create_checkpointer(folder.checkpoints) as saver:
        yield saver


async def _finish_copy(setup: SessionSetup, by: str) -> None:
    """Carry the copy's first restore out and write its questions into the ledger; no team is touched."""
    name, ledger, now = setup.info.id, setup.ledger, setup.now
    branch = await ledger.branch(name)
    async with _saver_for(setup.folder) as saver:
        supervisor = TeamSupervisor(
            setup.planner, lambda: setup.rules, setup.folder.artifacts(setup.secrets), saver, now
        )
        left = Board.from_state((await supervisor.graph.aget_state(config_of(name))).values)
        await restore_checkpoint(setup, supervisor, setup.folder.make_durable, branch, left)
        state = await supervisor.execute("", name)
        cursor = Board.from_state(state).control.cursor
        posted = await ledger.after(name, cursor, branch.number)
        events = [
            replace(event_of(p), at=now(), by=by)
            for p in posted
            if p.event["kind"] == EventKind.RESTORED  # what somebody posted meanwhile is for whoever opens the session
        ]
        state = await supervisor.resume(name, state["__interrupt__"][0].id, events)
    asked = questions(Board.from_state(state), setup.rules)
    await ledger.open_requests([with_opening_times(request, now()) for request in asked])


_LARGEST_JSON = 512 * 1024 * 1024
_LONGEST_ID = 200
_BROKEN = Message("This export was changed: the chain of its record is broken.")
_EFFECT_STATUSES = ("started", "done", "failed")


async def export(store: SessionStore, session_id: str, target: Path) -> None:
    """Write a whole session into one file, an absolute path; see `SessionAdmin.export`."""
    source = store.data.session(session_id)
    info = source.info()
    with session_archive.archive_draft(target) as draft:
        stage = draft.parts
        # First the checkpoints: what they refer to is there by then, and stays.
        kept, head = await checkpoints_of(store.ledger, source, info.id, stage, "")
        members: dict[str, Path] = {} if kept is None else {session_archive.CHECKPOINTS: kept}
        streams = await ancestry_of(store.ledger, info.id)
        end = await store.ledger.head(info.id)
        with room_for(str(target)):
            members[session_archive.LEDGER] = await _write_stream(store.ledger, info.id, stage / session_archive.LEDGER)
            for ancestor in streams[1:]:
                name = f"{session_archive.ANCESTORS}{ancestor}-{(await store.ledger.head(ancestor)).hash[:12]}.jsonl"
                members[name] = await _write_stream(store.ledger, ancestor, stage / f"ancestor-{ancestor}")
            effects = await _effects(store, info, streams)
            members[session_archive.EFFECTS] = stage / session_archive.EFFECTS
            text = json.dumps([effect.to_dict() for effect in effects])
            members[session_archive.EFFECTS].write_text(text, encoding="utf-8")
            if source.activity.exists():
                members[session_archive.ACTIVITY] = stage / session_archive.ACTIVITY
                shutil.copyfile(source.activity, members[session_archive.ACTIVITY])
        members |= {f"{session_archive.ANCESTORS}{path.name}": path for path in ancestors(source)}
        found = await asyncio.to_thread(source.artifacts().files, stage / "results")
        members |= {f"{session_archive.ARTIFACTS}{digest[:2]}/{digest}": path for digest, path in found.items()}
        about = {
            "program": __version__,
            "created": store.now(),
            "session": info.to_dict(),
            "checkpoint_id": head,
            "ledger": {"n": end.n, "hash": end.hash},
        }
        await asyncio.to_thread(draft.write, members, about)


async def _write_stream(ledger: Streams, stream: str, target: Path) -> Path:
    with target.open("w", encoding="utf-8") as file:
        async for line in export_stream(ledger, stream):
            file.write(f"{line}\n")
    return target


async def _effects(store: SessionStore, info: SessionInfo, streams: Sequence[str]) -> list[Effect]:
    """Return what the session, those it comes from and its other copies are known to have done."""
    related = dict.fromkeys(streams)
    for name in store.data.ids():
        try:
            if store.data.session(name).info().lineage == info.lineage:
                related[name] = None
        except HitlError:
            continue
    return [effect for name in related for effect in await store.ledger.effects(name)]


async def import_(store: SessionStore, path: Path, workspace: Path | None, by: str) -> SessionInfo:
    """Make a session of an exported file; see `SessionAdmin.import_`."""
    source = await asyncio.to_thread(_absolute, path)
    staging = SessionStaging(store.data.sessions)
    with ExitStack() as stack:
        packed = await asyncio.to_thread(stack.enter_context, session_archive.open_archive(source))
        stage = stack.enter_context(staging.stage())
        info = _info_of(packed, workspace)
        await store.trust.of(Path(info.workspace))
        effects = _effects_of(packed)
        _check_outcomes(packed, effects, info.id)
        stream_end = _check_stream(packed, session_archive.LEDGER, info.id)
        if stream_end["n"] < packed.manifest.head["n"]:
            raise BadInput(_BROKEN)
        for name in packed.manifest.members:
            if name.startswith(session_archive.ANCESTORS):
                _check_stream(packed, name)
        kept: Path | None = None
        if session_archive.CHECKPOINTS in packed.manifest.members:
            kept = stage / "source.db"
            await asyncio.to_thread(packed.extract, session_archive.CHECKPOINTS, kept)
            await asyncio.to_thread(check_rows, kept)
            async with open_read_only(kept) as file:
                if not await has_checkpoint(SessionHistory(file, info.id), packed.manifest.checkpoint_id):
                    raise BadInput(
                        Message("{} is damaged or was changed: its checkpoints aren't those of {}.", source, info.id)
                    )
        elif packed.manifest.checkpoint_id:
            raise BadInput(Message("{} is damaged or was changed: its checkpoints are missing.", source))
        about = {"kind": "import", "session": info.id, **stream_end, "checkpoint_id": packed.manifest.checkpoint_id}

        def fill(folder: Path) -> None:
            _unpack(packed, folder, info.id)

        # The mode would let things run that nobody here was asked about.
        origin = CopySource(
            replace(info, mode=Mode.STEP.value),
            kept,
            packed.manifest.checkpoint_id,
            0,
            fill,
            about,
            effects,
            Mode.STEP,
            whole=True,
        )
        return await make_copy(store, staging, stage, origin, by, wanted=info.id)


def _info_of(packed: session_archive.SessionArchive, workspace: Path | None) -> SessionInfo:
    """Return the session with its workspace bound here."""
    given = packed.manifest.session
    try:
        info = SessionInfo.from_dict(given)
        check_session_id(info.id)
        query = check_query(info.query or info.title)
    except (KeyError, TypeError, ValueError, AttributeError, BadInput) as error:
        raise BadInput(Message("This export can't be used: its session data is damaged.")) from error
    if not 0 < len(info.lineage) <= _LONGEST_ID or safe_text(info.lineage, multiline=False) != info.lineage:
        raise BadInput(Message("This export can't be used: its session data is damaged."))
    if workspace is None and not Path(info.workspace).is_absolute():
        raise BadInput(
            Message("This export can't be used: its workspace isn't an absolute path; name one with --workspace.")
        )
    try:
        real = check_workspace(Path(info.workspace) if workspace is None else workspace)
    except BadInput as error:
        if workspace is not None:
            raise
        said = safe_text(clip(info.workspace), multiline=False)
        raise BadInput(
            Message("The workspace {} of this session can't be used here; name one with --workspace.", said)
        ) from error
    title = clip(safe_again(info.title, multiline=False), LONGEST_TITLE)
    created = clip(safe_again(info.created, multiline=False), 40)
    return replace(info, workspace=str(real), title=title, query=query, created=created)


def _effects_of(packed: session_archive.SessionArchive) -> list[Effect]:
    damaged = BadInput(Message("This export can't be used: its effects are damaged."))
    try:
        data = json.loads(packed.read(session_archive.EFFECTS, _LARGEST_JSON))
        found = [Effect(**item) for item in data]
    except (ValueError, TypeError, RecursionError) as error:
        raise damaged from error
    for effect in found:
        texts = (effect.key, effect.session, effect.todo_id, effect.run_id, effect.name)
        fits = all(isinstance(text, str) and 0 < len(text) <= _LONGEST_ID for text in texts)
        outcome = isinstance(effect.outcome, dict) and isinstance(effect.branch, int)
        if not fits or not outcome or effect.status not in _EFFECT_STATUSES:
            raise damaged
    return found


def _check_outcomes(packed: session_archive.SessionArchive, effects: Sequence[Effect], session_id: str) -> None:
    """Refuse an export without what the session itself is known to have done."""
    for effect in effects:
        digest = str(effect.outcome.get("artifact", ""))
        mine = effect.session == session_id and effect.status == "done" and is_digest(digest)
        if mine and f"{session_archive.ARTIFACTS}{digest[:2]}/{digest}" not in packed.manifest.members:
            raise BadInput(Message("This export was changed: the result {} is missing.", digest[:12]))


def _check_stream(
    packed: session_archive.SessionArchive, member: str, session_id: str = ""
) -> session_archive.StreamEnd:
    """Return the end of a stream, having walked its chain of hashes.

    Args:
        packed: the export.
        member: the file that holds the stream.
        session_id: the stream's name; empty for any.
    """
    damaged = BadInput(_BROKEN)
    n, prev = 0, GENESIS
    try:
        for line in packed.read(member, _LARGEST_JSON).decode().removesuffix("\n").split("\n"):
            entry = Entry(**json.loads(line))
            session_id = session_id or entry.stream
            if (entry.stream, entry.n, entry.prev) != (session_id, n + 1, prev) or entry_hash(entry) != entry.hash:
                raise damaged
            n, prev = entry.n, entry.hash
    except (ValueError, TypeError, RecursionError, AttributeError, HitlError) as error:
        raise damaged from error
    return {"n": n, "hash": prev}


def _unpack(packed: session_archive.SessionArchive, folder: Path, session_id: str) -> None:
    members = packed.manifest.members
    for name in members:
        if name.startswith((session_archive.ARTIFACTS, session_archive.ANCESTORS)):
            packed.extract(name, folder / name)
    # The record of what was decided there stays readable; its last hash is in the copy's own stream.
    sealed = members[session_archive.LEDGER].sha256[:12]
    packed.extract(session_archive.LEDGER, folder / session_archive.ANCESTORS / f"{session_id}-{sealed}.jsonl")
    if session_archive.ACTIVITY in members:
        packed.extract(session_archive.ACTIVITY, SessionFolder(folder).activity)


def _absolute(path: Path) -> Path:
    return path.expanduser().absolute()
