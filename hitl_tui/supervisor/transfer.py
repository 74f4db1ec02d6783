"""Sessions as files: export and import (C8). Nothing is executed."""

from __future__ import annotations

import asyncio
import json
import shutil
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

from hitl_tui import __version__
from hitl_tui.core.errors import BadInput, HitlError
from hitl_tui.core.names import clip
from hitl_tui.core.policy import Mode
from hitl_tui.core.safe_text import safe_text
from hitl_tui.ledger.audit import export as export_stream
from hitl_tui.ledger.protocols import Ledger
from hitl_tui.ledger.records import GENESIS, Effect, Entry, entry_hash
from hitl_tui.supervisor import archive
from hitl_tui.supervisor.artifacts import is_digest
from hitl_tui.supervisor.checkpointer import open_read_only
from hitl_tui.supervisor.given import LONGEST_TITLE, check_query, check_workspace
from hitl_tui.supervisor.history import History
from hitl_tui.supervisor.portable import Origin, ancestors, checkpoints_of, has_checkpoint, settle
from hitl_tui.supervisor.rebinding import check_rows
from hitl_tui.supervisor.record import line_of
from hitl_tui.supervisor.staging import Staging, room_for
from hitl_tui.supervisor.storage import SessionFolder, SessionInfo, check_session_id
from hitl_tui.supervisor.workbench import Workbench

_LARGEST_JSON = 512 * 1024 * 1024
_LONGEST_ID = 200
_BROKEN = "This export was changed: the chain of its record is broken."
_EFFECT_STATUSES = ("started", "done", "failed")


async def export(bench: Workbench, session_id: str, path: Path) -> Path:
    """See `Workbench.export`."""
    source = bench.data.session(session_id)
    info = source.info()
    target = await asyncio.to_thread(_absolute, path)
    archive.check_target(target)
    with Staging(bench.data.sessions).scratch() as stage:
        # First the checkpoints: what they refer to is there by then, and stays.
        kept, head = await checkpoints_of(bench.ledger, source, info.id, stage, "")
        members: dict[str, Path] = {} if kept is None else {archive.CHECKPOINTS: kept}
        streams = await line_of(bench.ledger, info.id)
        end = await bench.ledger.head(info.id)
        with room_for(str(target)):
            members[archive.LEDGER] = await _write_stream(bench.ledger, info.id, stage / archive.LEDGER)
            for ancestor in streams[1:]:
                name = f"{archive.ANCESTORS}{ancestor}-{(await bench.ledger.head(ancestor)).hash[:12]}.jsonl"
                members[name] = await _write_stream(bench.ledger, ancestor, stage / f"ancestor-{ancestor}")
            effects = await _effects(bench, info, streams)
            members[archive.EFFECTS] = stage / archive.EFFECTS
            members[archive.EFFECTS].write_text(json.dumps([_effect_dict(e) for e in effects]), encoding="utf-8")
            if source.activity.exists():
                members[archive.ACTIVITY] = stage / archive.ACTIVITY
                shutil.copyfile(source.activity, members[archive.ACTIVITY])
        members |= {f"{archive.ANCESTORS}{path.name}": path for path in ancestors(source)}
        found = source.artifacts().files()
        members |= {f"{archive.ARTIFACTS}{digest[:2]}/{digest}": path for digest, path in found.items()}
        about = {
            "program": __version__,
            "created": bench.now(),
            "session": info.to_dict(),
            "checkpoint_id": head,
            "ledger": {"n": end.n, "hash": end.hash},
        }
        await asyncio.to_thread(archive.write_archive, target, members, about)
    return target


async def _write_stream(ledger: Ledger, stream: str, target: Path) -> Path:
    with target.open("w", encoding="utf-8") as file:
        async for line in export_stream(ledger, stream):
            file.write(f"{line}\n")
    return target


async def _effects(bench: Workbench, info: SessionInfo, streams: Sequence[str]) -> list[Effect]:
    """Return what the session, those it comes from and its other copies are known to have done."""
    related = dict.fromkeys(streams)
    for name in bench.data.ids():
        try:
            if bench.data.session(name).info().lineage == info.lineage:
                related[name] = None
        except HitlError:
            continue
    return [effect for name in related for effect in await bench.ledger.effects(name)]


def _effect_dict(effect: Effect) -> dict[str, Any]:
    return {field.name: getattr(effect, field.name) for field in fields(Effect)}


async def import_(bench: Workbench, path: Path, workspace: Path | None, by: str) -> SessionInfo:
    """See `Workbench.import_`."""
    source = await asyncio.to_thread(_absolute, path)
    staging = Staging(bench.data.sessions)
    with ExitStack() as stack:
        packed = await asyncio.to_thread(stack.enter_context, archive.open_archive(source))
        stage = stack.enter_context(staging.stage())
        info = _info_of(packed, workspace)
        await bench.trust.of(Path(info.workspace))
        effects = _effects_of(packed)
        _check_outcomes(packed, effects, info.id)
        stream_end = _check_stream(packed, archive.LEDGER, info.id)
        if stream_end["n"] < int(packed.manifest.head["n"]):
            raise BadInput(_BROKEN)
        for name in packed.manifest.members:
            if name.startswith(archive.ANCESTORS):
                _check_stream(packed, name)
        kept: Path | None = None
        if archive.CHECKPOINTS in packed.manifest.members:
            kept = stage / "source.db"
            await asyncio.to_thread(packed.extract, archive.CHECKPOINTS, kept)
            await asyncio.to_thread(check_rows, kept)
            async with open_read_only(kept) as saver:
                if not await has_checkpoint(History(saver, info.id), packed.manifest.checkpoint_id):
                    raise BadInput(f"{source} is damaged or was changed: its checkpoints aren't those of {info.id}.")
        elif packed.manifest.checkpoint_id:
            raise BadInput(f"{source} is damaged or was changed: its checkpoints are missing.")
        about = {"kind": "import", "session": info.id, **stream_end, "checkpoint_id": packed.manifest.checkpoint_id}

        def fill(folder: Path) -> None:
            _unpack(packed, folder, info.id)

        # The mode would let things run that nobody here was asked about.
        origin = Origin(
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
        return await settle(bench, staging, stage, origin, by, wanted=info.id)


def _info_of(packed: archive.Archive, workspace: Path | None) -> SessionInfo:
    """Return the session with its workspace bound here."""
    given = packed.manifest.session
    try:
        info = SessionInfo(**{field.name: given[field.name] for field in fields(SessionInfo)})
        check_session_id(info.id)
        query = check_query(info.query or info.title)
    except (KeyError, BadInput) as error:
        raise BadInput("This export can't be used: what it says of its session is damaged.") from error
    if not 0 < len(info.lineage) <= _LONGEST_ID or safe_text(info.lineage, multiline=False) != info.lineage:
        raise BadInput("This export can't be used: what it says of its session is damaged.")
    if workspace is None and not Path(info.workspace).is_absolute():
        raise BadInput("This export can't be used: its workspace isn't a whole path; name one with --workspace.")
    try:
        real = check_workspace(Path(info.workspace) if workspace is None else workspace)
    except BadInput as error:
        if workspace is not None:
            raise
        said = safe_text(clip(info.workspace), multiline=False)
        raise BadInput(
            f"The workspace {said} of this session can't be used here; name one with --workspace."
        ) from error
    title = clip(safe_text(info.title, multiline=False), LONGEST_TITLE)
    created = clip(safe_text(info.created, multiline=False), 40)
    return replace(info, workspace=str(real), title=title, query=query, created=created)


def _effects_of(packed: archive.Archive) -> list[Effect]:
    damaged = BadInput("This export can't be used: what it says of effects is damaged.")
    try:
        data = json.loads(packed.read(archive.EFFECTS, _LARGEST_JSON))
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


def _check_outcomes(packed: archive.Archive, effects: Sequence[Effect], session_id: str) -> None:
    """Refuse an export without what the session itself is known to have done."""
    for effect in effects:
        digest = str(effect.outcome.get("artifact", ""))
        mine = effect.session == session_id and effect.status == "done" and is_digest(digest)
        if mine and f"{archive.ARTIFACTS}{digest[:2]}/{digest}" not in packed.manifest.members:
            raise BadInput(f"This export was changed: the result {digest[:12]} is missing.")


def _check_stream(packed: archive.Archive, member: str, session_id: str = "") -> dict[str, Any]:
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


def _unpack(packed: archive.Archive, folder: Path, session_id: str) -> None:
    members = packed.manifest.members
    for name in members:
        if name.startswith((archive.ARTIFACTS, archive.ANCESTORS)):
            packed.extract(name, folder / name)
    # The record of what was decided there stays readable; its last hash is in the copy's own stream.
    sealed = members[archive.LEDGER].sha256[:12]
    packed.extract(archive.LEDGER, folder / archive.ANCESTORS / f"{session_id}-{sealed}.jsonl")
    if archive.ACTIVITY in members:
        packed.extract(archive.ACTIVITY, SessionFolder(folder).activity)


def _absolute(path: Path) -> Path:
    return path.expanduser().absolute()
