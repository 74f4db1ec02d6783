"""Removing a session: its folder goes at once, what it wrote to the ledger stays."""

from __future__ import annotations

import asyncio
import logging
import shutil
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

from hitl_tui.core.errors import HitlError, SessionBusy, StorageError
from hitl_tui.core.messages import Message
from hitl_tui.core.supersession import Cause
from hitl_tui.supervisor.session_staging import SessionStaging
from hitl_tui.supervisor.session_store import SessionStore
from hitl_tui.supervisor.storage import DataFolder, SessionFolder

log = logging.getLogger(__name__)

FOLDER = "copies"
"""Folder in the data folder with the copies that graphs go on in."""

_BESIDE = ("", "-wal", "-shm", "-journal")


def copies_of_session_alone(folder: SessionFolder, others: Iterable[SessionFolder], root: Path) -> list[Path]:
    """Return the files in `root`/copies that a session's graphs live in and no other session's do, in order.

    Args:
        folder: the session's.
        others: those of all other sessions; a fork goes on in the same copy.
        root: the data folder.
    """
    mine = _used(folder, root)
    if mine:
        for other in others:
            mine -= _used(other, root)
    return sorted(mine)


def remove_copies(files: Iterable[Path]) -> None:
    """Remove copies with what SQLite keeps beside them; what can't be removed stays."""
    for file in files:
        for end in _BESIDE:
            try:
                file.with_name(file.name + end).unlink(missing_ok=True)
            except OSError:
                continue


def _used(folder: SessionFolder, root: Path) -> set[Path]:
    try:
        graphs = folder.graphs()
    except HitlError:
        return set()
    place = (root / FOLDER).resolve()
    found = {Path(g.saver).resolve() for g in graphs if g.saver and "://" not in g.saver}
    return {path for path in found if path.parent == place and path.is_file()}


async def delete(store: SessionStore, session_id: str, by: str) -> None:
    """Remove a session's folder and its copies; see `SessionAdmin.delete`."""
    folder = store.data.session(session_id)
    if folder.address:
        await _delete_there(store, folder, by)
        return
    staging = SessionStaging(store.data.sessions)
    try:
        with folder.own():
            await _hand_results_on(store, folder)
            staging.put_aside(session_id)
            await _drop_copies(store.data, staging.deleted_folder(session_id))
            try:
                await _record_deletion(store, session_id, by)
            except StorageError as error:
                # It is gone already. A full disk has room now; if not, the next who opens this folder goes on.
                log.warning("the deletion of %s isn't on record yet: %s", session_id, error)
                await asyncio.to_thread(staging.empty_deleted, session_id)
                with suppress(StorageError):
                    await _record_deletion(store, session_id, by)
    except SessionBusy as error:
        raise SessionBusy(
            Message("Another process has session {} open, so it can't be deleted now.", session_id)
        ) from error


async def _delete_there(store: SessionStore, folder: SessionFolder, by: str) -> None:
    """Remove a session that is kept in a database."""
    from hitl_tui.supervisor.postgres_sessions import DatabaseFolder

    assert isinstance(store.data, DatabaseFolder)
    name = folder.path.name
    with folder.own():
        await store.ledger.supersede(name, (), Cause.DELETED, store.now(), by)
        await store.ledger.record(name, "session_deleted", {"by": by}, store.now())
        await asyncio.to_thread(store.data.remove, name)
    await asyncio.to_thread(shutil.rmtree, folder.path, ignore_errors=True)


async def finish_deletions(store: SessionStore) -> None:
    """Finish deletions that a process died in, and remove what it left half made."""
    staging = SessionStaging(store.data.sessions)
    for name in staging.deleted():
        try:
            with staging.deleted_folder(name).own():
                await _drop_copies(store.data, staging.deleted_folder(name))
                await _record_deletion(store, name, "")
        except HitlError as error:  # somebody is at it right now, or it can't be removed: the next time, then
            log.info("the rest of %s stays: %s", name, error)
    await asyncio.to_thread(staging.clear_staged)


def copies_with(data: DataFolder, folder: SessionFolder) -> list[Path]:
    """Return the copies of threads that go with a session: those in which no other one goes on."""
    others = (data.session(name) for name in data.ids() if name != folder.path.name)
    return copies_of_session_alone(folder, others, data.root)


async def _drop_copies(data: DataFolder, folder: SessionFolder) -> None:
    await asyncio.to_thread(lambda: remove_copies(copies_with(data, folder)))


async def _hand_results_on(store: SessionStore, folder: SessionFolder) -> None:
    """Give a session's copies what came of its effects: they may be asked to use it as done."""
    try:
        lineage = folder.info().lineage
    except HitlError:
        return
    done = await store.ledger.effects(folder.path.name, status="done")
    digests = {str(e.outcome["artifact"]) for e in done if e.outcome.get("artifact")}
    for name in store.data.ids() if digests else ():
        with suppress(HitlError):
            other = store.data.session(name)
            if name != folder.path.name and other.info().lineage == lineage:
                for digest in digests:
                    await other.artifacts().keep(digest)


async def _record_deletion(store: SessionStore, session_id: str, by: str) -> None:
    await store.ledger.supersede(session_id, (), Cause.DELETED, store.now(), by)
    await store.ledger.record(session_id, "session_deleted", {"by": by}, store.now())
    await asyncio.to_thread(SessionStaging(store.data.sessions).clear_deleted, session_id)
