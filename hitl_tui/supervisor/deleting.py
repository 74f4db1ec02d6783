"""How a session goes: its folder at once, what it wrote to the ledger never (C8)."""

from __future__ import annotations

import asyncio
import logging
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from hitl_tui.core.errors import HitlError, SessionBusy, StorageError
from hitl_tui.core.supersession import Cause
from hitl_tui.supervisor.copies import copies_of, remove_copies
from hitl_tui.supervisor.staging import Staging
from hitl_tui.supervisor.storage import DataFolder, SessionFolder

if TYPE_CHECKING:
    from hitl_tui.supervisor.workbench import Workbench

log = logging.getLogger(__name__)


async def delete(bench: Workbench, session_id: str, by: str) -> None:
    """See `Workbench.delete`."""
    folder = bench.data.session(session_id)
    staging = Staging(bench.data.sessions)
    try:
        with folder.own():
            await _leave_results(bench, folder)
            staging.put_aside(session_id)
            await _drop_copies(bench.data, staging.deleted_folder(session_id))
            try:
                await _forget(bench, session_id, by)
            except StorageError as error:
                # It is gone already. A full disk has room now; if not, the next who opens this folder goes on.
                log.warning("the deletion of %s isn't on record yet: %s", session_id, error)
                await asyncio.to_thread(staging.empty_deleted, session_id)
                with suppress(StorageError):
                    await _forget(bench, session_id, by)
    except SessionBusy as error:
        raise SessionBusy(f"Another process has session {session_id} open, so it can't be deleted now.") from error


async def tidy(bench: Workbench) -> None:
    """Finish deletions that a process died in, and remove what it left half made."""
    staging = Staging(bench.data.sessions)
    for name in staging.deleted():
        try:
            with staging.deleted_folder(name).own():
                await _drop_copies(bench.data, staging.deleted_folder(name))
                await _forget(bench, name, "")
        except HitlError as error:  # somebody is at it right now, or it can't be removed: the next time, then
            log.info("the rest of %s stays: %s", name, error)
    await asyncio.to_thread(staging.clear_staged)


def copies_with(data: DataFolder, folder: SessionFolder) -> list[Path]:
    """Return the copies of threads that go with a session: those in which no other one goes on."""
    others = [data.session(name) for name in data.ids() if name != folder.path.name]
    return copies_of(folder, others, data.root)


async def _drop_copies(data: DataFolder, folder: SessionFolder) -> None:
    await asyncio.to_thread(lambda: remove_copies(copies_with(data, folder)))


async def _leave_results(bench: Workbench, folder: SessionFolder) -> None:
    """Give a session's copies what came of its effects: they may be asked to use it as done."""
    try:
        lineage = folder.info().lineage
    except HitlError:
        return
    done = await bench.ledger.effects(folder.path.name, status="done")
    digests = {str(e.outcome["artifact"]) for e in done if e.outcome.get("artifact")}
    for name in bench.data.ids() if digests else ():
        with suppress(HitlError):
            other = bench.data.session(name)
            if name != folder.path.name and other.info().lineage == lineage:
                for digest in digests:
                    await other.artifacts().keep(digest)


async def _forget(bench: Workbench, session_id: str, by: str) -> None:
    await bench.ledger.supersede(session_id, (), Cause.DELETED, bench.now(), by)
    await bench.ledger.record(session_id, "session_deleted", {"by": by}, bench.now())
    await asyncio.to_thread(Staging(bench.data.sessions).clear_deleted, session_id)
