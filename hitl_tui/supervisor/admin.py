"""Administration of sessions: list, rename, fork, export, import, delete, prune. None of it executes anything.

LangGraph is imported only where a session is opened or copied: a list of sessions is there sooner without it.
"""

from __future__ import annotations

import asyncio
import logging
import re
from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING

from hitl_tui.config.starters import remove_copy, reset_copy
from hitl_tui.core.errors import BadInput, HitlError, StorageError
from hitl_tui.core.messages import Message
from hitl_tui.supervisor.ledger_sealing import known_signatures
from hitl_tui.supervisor.session_input import check_title
from hitl_tui.supervisor.session_removal import copies_with, delete
from hitl_tui.supervisor.session_setup import secrets_of
from hitl_tui.supervisor.session_staging import room_for
from hitl_tui.supervisor.session_store import SessionStore
from hitl_tui.supervisor.session_summary import SessionSummary, load_summaries, load_summary, with_words
from hitl_tui.supervisor.session_texts import SessionTexts
from hitl_tui.supervisor.storage import SessionInfo

if TYPE_CHECKING:
    from hitl_tui.supervisor.session_view import SessionView

log = logging.getLogger(__name__)

ENDED = frozenset({"finished", "failed"})

_AGE = re.compile(r"([0-9]{1,6})\s*([mhdw])")
_UNITS = {"m": "minutes", "h": "hours", "d": "days", "w": "weeks"}


@dataclass(frozen=True, slots=True)
class Renamed:
    """A session has another title.

    Args:
        session: the session as it is now.
    """

    session: SessionInfo


@dataclass(frozen=True, slots=True)
class Forked:
    """A session begins where another stands or stood.

    Args:
        session: the new one.
        source: id of the other.
    """

    session: SessionInfo
    source: str


@dataclass(frozen=True, slots=True)
class Exported:
    """A session was written into a file.

    Args:
        session_id: the session.
        file: absolute path of the file.
        size: of the file, in bytes.
    """

    session_id: str
    file: Path
    size: int


@dataclass(frozen=True, slots=True)
class Imported:
    """A session was made of an exported file.

    Args:
        session: the new session.
        file: the file.
    """

    session: SessionInfo
    file: Path


@dataclass(frozen=True, slots=True)
class Removal:
    """What goes when a session is deleted.

    Args:
        summary: the session.
        copies: the copies of threads in which no other session goes on.
    """

    summary: SessionSummary
    copies: tuple[Path, ...]


@dataclass(frozen=True, slots=True)
class Deleted:
    """A session was deleted; the record of its decisions stays.

    Args:
        session_id: the session.
    """

    session_id: str


@dataclass(frozen=True, slots=True)
class Pruned:
    """What became of the sessions that were to be deleted.

    Args:
        deleted: ids of those that are gone.
        stayed: why others stayed, by id.
    """

    deleted: tuple[str, ...]
    stayed: Mapping[str, str]


Done = Renamed | Forked | Exported | Imported | Deleted


class SessionAdmin:
    """Administers the sessions of a data folder.

    Args:
        store: the sessions.
    """

    def __init__(self, store: SessionStore) -> None:
        self.store = store
        self.texts = SessionTexts(store.data)

    async def sessions(self, search: str = "", newest: int | None = None) -> list[SessionSummary]:
        """Return sessions, newest last; one that can't be read says why and hides no other.

        Args:
            search: only those that have all of its words, in any case, in what they are called, in a question, in a
                step's title or in the answer.
            newest: looks at so many of those that were made last; None for all.
        """
        store = self.store
        found = await load_summaries(store.data, store.ledger, await store.ledger.waiting_counts(store.now()), newest)
        if not (found and search.strip()):
            return found
        async for _unread in self.texts.refresh(found):
            pass
        texts = await self.texts.having(search)
        return [one for summary in found if (one := with_words(summary, search, texts)) is not None]

    async def titles(self, sessions: Collection[str]) -> dict[str, str]:
        """Return what some sessions are called; those that can't be read are left out."""
        return await asyncio.to_thread(self.store.data.titles, sessions)

    async def summary(self, session_id: str) -> SessionSummary:
        """Return one session as `sessions` lists it. Raises UnknownName: there is no such session."""
        self.store.data.session(session_id)
        asked = await self.store.ledger.requests(self.store.now(), session=session_id, limit=1_000)
        return await load_summary(self.store.data, self.store.ledger, session_id, len(asked))

    async def reset_starter(self, session_id: str) -> Path:
        """Give the starter that a session works in its files back; return its folder.

        Raises:
            BadInput: the session works in no copy of a starter.
            StorageError: it can't be written.
        """
        data = self.store.data
        data.check_writable()
        folder = Path(data.session(session_id).info().workspace)
        await asyncio.to_thread(reset_copy, folder, data.root)
        return folder

    async def rename(self, session_id: str, title: str, *, by: str = "") -> Renamed:
        """Give a session another title, also while a process has it open.

        Raises:
            UnknownName: there is no such session; BadInput: the title can't be one.
            StorageError: its folder can't be read or written, or its record isn't as it was written.
        """
        from hitl_tui.supervisor.record_check import broken_record

        store = self.store
        store.data.check_writable()
        folder = store.data.session(session_id)
        info = folder.info()
        broken = await broken_record(store.ledger, known_signatures(store.environ), session_id, folder)
        if broken:
            raise StorageError(broken)
        try:
            secrets = secrets_of((await store.trust.of(Path(info.workspace))).declared, store.environ)
        except HitlError:  # a workspace that is gone is no reason to keep a title
            secrets = {}
        renamed = replace(info, title=check_title(title, secrets))
        with room_for(Message("The title of {}", session_id)):
            await asyncio.to_thread(folder.write_info, renamed)
        try:
            data = {"title": renamed.title, "by": by}
            await store.ledger.record(session_id, "session_renamed", data, store.now())
        except HitlError:
            await asyncio.to_thread(folder.write_info, info)
            raise
        return Renamed(renamed)

    async def fork(
        self, session_id: str, checkpoint_id: str = "", *, title: str = "", by: str = "", channel: str = ""
    ) -> Forked:
        """Make a session that begins where another stands or stood.

        The same is asked there, and its history comes with it. Its lineage is the other's: what was done to the world
        is known and asked about, never silently repeated. The other may be open elsewhere.

        Args:
            session_id: the session to begin from.
            checkpoint_id: id, unique prefix or ending of one of its checkpoints; empty for the newest.
            title: of the new session; empty for the same with a word that it is a fork.
            by: who does it, for the record.
            channel: by what, such as `cli`.

        Raises:
            UnknownName: there is no such session or checkpoint.
            BadInput: its workspace or hitl.toml can't be used now.
            StorageError: it can't be read or written; nothing was made.
        """
        from hitl_tui.supervisor.session_copy import fork

        self.store.data.check_writable()
        return Forked(await fork(self.store, session_id, checkpoint_id, title, by, channel), session_id)

    async def export(self, session_id: str, path: Path, view: SessionView | None = None) -> Exported:
        """Write a session into one file, also while it is open elsewhere.

        A name that ends with .hitl, or has no ending, takes the whole session: checkpoints, results, the record with
        all decisions, and what is known to have been done. One that ends with .md or .json takes the answer and the
        plan. Secrets are masked as they are in the session itself.

        Args:
            session_id: the session.
            path: the file to make; an existing one is never written over.
            view: the session where it is open here; None to follow it.

        Raises:
            UnknownName: there is no such session; BadInput: the file exists, its folder is missing, or its name has
                another ending.
            StorageError: something can't be read or written; there is no file then.
        """
        from hitl_tui.supervisor.session_archive import check_target
        from hitl_tui.supervisor.session_copy import export
        from hitl_tui.supervisor.session_document import export_for_reading, is_for_reading
        from hitl_tui.supervisor.session_follower import SessionFollower

        to_read, file = is_for_reading(path), await asyncio.to_thread(check_target, path)
        if not to_read:
            await export(self.store, session_id, file)
        elif view is not None:
            await export_for_reading(view, file)
        else:
            async with SessionFollower.open(await self.store.setup(session_id)) as follower:
                await export_for_reading(follower, file)
        return Exported(session_id, file, (await asyncio.to_thread(file.stat)).st_size)

    async def import_(self, path: Path, *, workspace: Path | None = None, by: str = "") -> Imported:
        """Make a session of an exported file; it asks about every step.

        Everything in the file is checked before anything is written. The session keeps its id unless there is or was
        one of that id here.

        Args:
            path: what `export` wrote, here or on another machine.
            workspace: the folder it is to work in; None for the one it had, if that exists here.
            by: who does it, for the record.

        Raises:
            BadInput: the file is no export, damaged, changed, of a newer version or dangerous, or its workspace or
                hitl.toml can't be used here.
            StorageError: it can't be read or written; nothing was made.
        """
        from hitl_tui.supervisor.session_copy import import_

        self.store.data.check_writable()
        return Imported(await import_(self.store, path, workspace, by), path)

    async def removal(self, session_id: str) -> Removal:
        """Return what would go if a session were deleted.

        Raises:
            UnknownName: there is no such session.
        """
        summary, data = await self.summary(session_id), self.store.data
        return Removal(summary, tuple(await asyncio.to_thread(copies_with, data, data.session(session_id))))

    async def delete(self, session_id: str, *, by: str = "") -> Deleted:
        """Remove a session's folder; what it wrote to the ledger stays, so that decisions can be proved.

        With it go the copies of threads that only it went on in, and the copy of a starter that only it worked in.
        Its id isn't given again.

        Raises:
            UnknownName: there is no such session.
            SessionBusy: a process has it open; nothing was changed.
            StorageError: it can't be moved; nothing was changed.
        """
        self.store.data.check_writable()
        workspace = ""
        with suppress(StorageError):  # what can't be read can still be deleted
            workspace = self.store.data.session(session_id).info().workspace
        await delete(self.store, session_id, by)
        await self._forget_copy(Path(workspace))
        return Deleted(session_id)

    async def _forget_copy(self, workspace: Path) -> None:
        """Remove a starter's copy that no session works in any more; it isn't worth an error when that fails."""
        if workspace.parent.name != "starters" or any(s.workspace == str(workspace) for s in await self.sessions()):
            return
        try:
            await asyncio.to_thread(remove_copy, workspace, self.store.data.root)
        except StorageError as error:
            log.warning("%s", error.message)

    async def prunable(self, *, older_than: timedelta | None = None, keep: int = 0) -> list[SessionSummary]:
        """Return the sessions that may go; see `choose`."""
        return choose_prunable(await self.sessions(), self.store.now(), older_than=older_than, keep=keep)

    async def prune(self, chosen: Sequence[SessionSummary], *, by: str = "") -> Pruned:
        """Delete what was chosen; one that is no longer what it was when it was chosen stays."""
        deleted: list[str] = []
        stayed: dict[str, str] = {}
        for summary in chosen:
            try:
                if why := await self._changed(summary):
                    stayed[summary.id] = why
                    continue
                await self.delete(summary.id, by=by)
                deleted.append(summary.id)
            except HitlError as error:
                stayed[summary.id] = error.message
        await asyncio.to_thread(self.store.data.remove_unused)
        return Pruned(tuple(deleted), stayed)

    async def _changed(self, chosen: SessionSummary) -> str:
        from hitl_tui.supervisor.stored_state import board_of

        now = await self.summary(chosen.id)
        if now.status not in ENDED or now.owned or now.updated != chosen.updated:
            return Message("Session {} has continued in the meantime.", chosen.id)
        async with self.store.data.session(chosen.id).reading() as file:
            cursor = (await board_of(file, chosen.id)).control.cursor
        if await self.store.ledger.wait(chosen.id, cursor, 0):
            return Message("Session {} has a command that wasn't carried out yet.", chosen.id)
        return ""


def parse_age(text: str) -> timedelta:
    """Return a length of time such as `30d`, `12h`, `2w` or `90m`.

    Raises:
        BadInput: it isn't one.
    """
    found = _AGE.fullmatch(text.strip().lower())
    if found is None:
        raise BadInput(Message('"{}" is not an age; write a number and m, h, d or w, such as 30d.', text[:40]))
    return timedelta(**{_UNITS[found[2]]: int(found[1])})


def choose_prunable(
    found: Sequence[SessionSummary], now: str, *, older_than: timedelta | None = None, keep: int = 0
) -> list[SessionSummary]:
    """Return the sessions that may go, oldest first: finished or failed ones that nobody has open or is asked about.

    Args:
        found: all sessions.
        now: the time, ISO 8601.
        older_than: only those whose last checkpoint is older; None for any age.
        keep: so many of those that ended last stay.
    """
    ended = [s for s in found if s.status in ENDED and not s.owned and not s.questions]
    ended.sort(key=lambda s: _moment(s.updated), reverse=True)
    left = ended[max(0, keep) :]
    if older_than is not None:
        left = [s for s in left if _moment(now) - _moment(s.updated) >= older_than]
    return left[::-1]


def _moment(text: str) -> datetime:
    found = datetime.fromisoformat(text)
    return found if found.tzinfo else found.astimezone()
