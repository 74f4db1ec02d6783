"""The ledger in one SQLite file, for all sessions and any number of processes."""

from __future__ import annotations

import asyncio
import sqlite3
import threading
import time
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, contextmanager, suppress
from functools import partial
from pathlib import Path

from hitl_tui.core.json_types import JsonObject
from hitl_tui.core.requests import Decision, Request
from hitl_tui.core.supersession import Cause, Supersession
from hitl_tui.ledger import (
    sqlite_effects,
    sqlite_rebuild,
    sqlite_requests,
    sqlite_streams,
    sqlite_views,
)
from hitl_tui.ledger.records import (
    Branch,
    Closing,
    Effect,
    EffectClaim,
    Entry,
    Head,
    Posted,
    Problem,
    RequestView,
    SessionCopy,
)
from hitl_tui.ledger.signatures import KnownSignatures
from hitl_tui.ledger.sqlite_database import Database
from hitl_tui.ledger.sqlite_sealing import Sealing
from hitl_tui.ledger.sqlite_signatures import SignedStream, signed_streams

Changed = Callable[[str], None]


class PostSignals:
    """Wakes those in this process that wait for posts to a session; safe from any thread."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._waiting: dict[str, set[tuple[asyncio.AbstractEventLoop, asyncio.Event]]] = {}

    @contextmanager
    def listen(self, session: str) -> Iterator[asyncio.Event]:
        """Give an event on the running loop that is set whenever something is posted to the session.

        Clear it first, then read the inbox: so nothing is missed.
        """
        waiter = asyncio.get_running_loop(), asyncio.Event()
        with self._lock:
            self._waiting.setdefault(session, set()).add(waiter)
        try:
            yield waiter[1]
        finally:
            with self._lock:
                left = self._waiting[session]
                left.discard(waiter)
                if not left:
                    del self._waiting[session]

    def announce(self, session: str) -> None:
        """Wake all who wait for a session; a loop that has ended is left alone."""
        with self._lock:
            waiting = list(self._waiting.get(session, ()))
        for loop, event in waiting:
            with suppress(RuntimeError):  # the loop was closed meanwhile
                loop.call_soon_threadsafe(event.set)


_COMMITTING = 2.0
"""Seconds after a write to the log in which what was written may still become visible."""

_LONGEST = 5.0
"""Seconds after which the inbox is read though nothing was written."""


class SqliteLedger:
    """`Ledger` on an SQLite file; open it with `SqliteLedger.open`.

    Each method is one transaction that runs whole on the ledger's own thread. Cancelling a caller doesn't undo or halve
    what it asked for. Failures of the file raise StorageError, and then nothing was written.
    """

    def __init__(self, database: Database, changed: Changed | None = None) -> None:
        self._database = database
        self._changed = changed
        self._signals = PostSignals()
        self._waiting = sqlite_requests.WaitingList()
        self._quiet: dict[str, int] = {}
        self._quiet_since: tuple[int, int] = (0, 0)
        self._quiet_at = 0.0

    @classmethod
    @asynccontextmanager
    async def open(
        cls,
        path: Path | str,
        *,
        read_only: bool = False,
        sealing: Sealing | None = None,
        changed: Changed | None = None,
    ) -> AsyncIterator[SqliteLedger]:
        """Open a ledger and close it at the end of the block.

        Args:
            path: the file; it and its folders are made when missing, for this account alone.
            read_only: for followers and audit: nothing is made, and every write is refused.
            sealing: signs what is written and anchors it; None for neither.
            changed: called, on the ledger's thread, with the session of requests that were opened, decided or
                superseded.

        Raises:
            StorageError: the file is no ledger, is damaged, of a newer format, or missing when read-only; it is
                left as it was.
        """
        database = Database(Path(path), read_only, sealing)
        await database.open()
        ledger = cls(database, changed)
        try:
            yield ledger
        finally:
            await ledger.close()

    @property
    def path(self) -> Path:
        """The file."""
        return self._database.path

    async def append(self, stream: str, expected_n: int, kind: str, data: Mapping[str, object], at: str) -> Entry:
        return await self._database.write(lambda db: sqlite_streams.append(db, stream, expected_n, kind, data, at))

    async def record(self, stream: str, kind: str, data: Mapping[str, object], at: str) -> Entry:
        return await self._database.write(lambda db: sqlite_streams.append(db, stream, None, kind, data, at))

    async def entries(self, stream: str, after: int = 0, limit: int = 1000) -> list[Entry]:
        return await self._database.peek(lambda db: sqlite_streams.entries(db, stream, after, limit))

    async def streams(self) -> list[Head]:
        return await self._database.peek(sqlite_streams.heads)

    async def head(self, stream: str) -> Head:
        return await self._database.peek(lambda db: sqlite_streams.head(db, stream))

    async def open_requests(self, requests: Sequence[Request]) -> list[str]:
        if not requests:
            return []
        asked = tuple(requests)
        return await self._database.write(
            lambda db: sqlite_requests.open_requests(db, asked),
            then=lambda new: self._tell(asked[0].session) if new else None,
        )

    async def request(self, request_id: str, now: str) -> RequestView | None:
        stored = await self._database.read(lambda db: sqlite_requests.find_request(db, request_id))
        return stored.view(now) if stored else None

    async def requests(
        self,
        now: str,
        *,
        session: str | None = None,
        todo_id: str | None = None,
        pending: bool = True,
        limit: int = 500,
    ) -> list[RequestView]:
        if pending and session is None and todo_id is None:
            return (await self._database.read(lambda db: self._waiting.look(db, now)))[: max(0, limit)]
        return await self._database.read(
            lambda db: sqlite_requests.list_requests(db, now, session, todo_id, pending, limit)
        )

    async def decided_since(self, since: str, now: str) -> list[RequestView]:
        return await self._database.read(lambda db: sqlite_requests.decided_since(db, since, now))

    async def mark_shown(self, request_ids: Sequence[str], by: str, channel: str, now: str) -> list[str]:
        ids = tuple(dict.fromkeys(request_ids))
        if not await self._database.read(lambda db: sqlite_requests.unshown(db, ids)):
            return []
        return await self._database.write(lambda db: sqlite_requests.mark_shown(db, ids, by, channel, now))

    async def decide(self, decision: Decision, now: str) -> RequestView:
        def announce(view: RequestView) -> None:
            if view.resolution.decided:
                self._signals.announce(view.request.session)
                self._tell(view.request.session)

        return await self._database.write(lambda db: sqlite_requests.decide(db, decision, now), then=announce)

    async def expire(self, now: str, session: str | None = None) -> list[str]:
        if session is None:
            overdue = await self._database.read(lambda db: sqlite_requests.overdue_sessions(db, now))
            return [gone for name in overdue for gone in await self.expire(now, name)]
        return await self._database.write(
            lambda db: sqlite_requests.expire(db, session, now),
            then=lambda ids: self._ended(session) if ids else None,
        )

    def _ended(self, session: str) -> None:
        self._signals.announce(session)
        self._tell(session)

    def _tell(self, session: str) -> None:
        if self._changed is not None:
            self._changed(session)

    async def supersede(self, session: str, keep: Sequence[str], cause: Cause, now: str, by: str = "") -> list[str]:
        kept = frozenset(keep)
        return await self._database.write(
            lambda db: sqlite_requests.supersede(db, session, kept, Supersession(cause, by, now))
        )

    async def attach_evidence(self, request_id: str, evidence: Mapping[str, object], now: str) -> None:
        await self._database.write(lambda db: sqlite_requests.attach_evidence(db, request_id, evidence, now))

    async def post(
        self,
        session: str,
        branch: int,
        event_id: str,
        event: Mapping[str, object],
        at: str,
        *,
        closing: Closing | None = None,
    ) -> int:
        return await self._database.write(
            lambda db: sqlite_requests.post_event(db, session, branch, event_id, event, at, closing),
            then=lambda _: self._signals.announce(session) if closing is None else self._ended(session),
        )

    async def after(self, session: str, cursor: int, branch: int) -> list[Posted]:
        return await self._database.peek(lambda db: sqlite_streams.after(db, session, cursor, branch))

    async def last_seq(self, session: str) -> int:
        return await self._database.peek(lambda db: sqlite_streams.last_seq(db, session))

    async def highest_seq(self, session: str) -> int:
        return await self._database.peek(lambda db: sqlite_streams.highest_seq(db, session))

    async def wait(
        self,
        session: str,
        cursor: int,
        timeout: float | None,  # noqa: ASYNC109 - running out of time is an answer here, not an error
        poll: float = 0.1,
    ) -> bool:
        loop = asyncio.get_running_loop()
        end = None if timeout is None else loop.time() + timeout
        version = -1
        with self._signals.listen(session) as posted:
            while True:
                if posted.is_set():
                    posted.clear()
                    version = -1  # what we write ourselves doesn't change our data_version
                before, since = self._written(), loop.time()
                # A commit is written to the log, brought to the disk, and only then there to be read.
                patience = poll if abs(time.time() - before[0] / 1e9) < _COMMITTING else _LONGEST
                glance = partial(_glance, session=session, cursor=cursor, seen=version)
                version, something = await self._database.peek(glance)
                if something:
                    return True
                # Who else writes, writes into the log first: while that is as it was, there is nothing to read.
                while not posted.is_set() and self._written() == before:
                    left = poll if end is None else min(poll, end - loop.time())
                    if left <= 0:
                        return False
                    with suppress(TimeoutError):
                        async with asyncio.timeout(left):
                            await posted.wait()
                    if loop.time() - since >= patience:
                        break

    async def news(self, cursors: Mapping[str, int]) -> frozenset[str]:
        written, clock = self._written(), time.monotonic()
        fresh = abs(time.time() - written[0] / 1e9) < _COMMITTING or clock - self._quiet_at > _LONGEST
        if written != self._quiet_since or fresh:
            self._quiet = {}  # what is being committed is there to be read a little later
            self._quiet_at = clock
        unknown = [(session, cursor) for session, cursor in cursors.items() if self._quiet.get(session) != cursor]
        if not unknown:
            return frozenset()
        found = await self._database.read(lambda db: sqlite_streams.with_waiting_events(db, unknown))
        self._quiet_since = written
        self._quiet.update((session, cursor) for session, cursor in unknown if session not in found)
        return found

    def _written(self) -> tuple[int, int]:
        """Return when the database's log was last written, and how long it is; the file isn't opened for that."""
        try:
            found = Path(f"{self.path}-wal").stat()
        except OSError:
            return 0, 0
        return found.st_mtime_ns, found.st_size

    async def branch(self, session: str) -> Branch:
        return await self._database.peek(lambda db: sqlite_streams.branch(db, session))

    async def begin_restore(self, session: str, checkpoint_id: str, by: str, now: str) -> Branch:
        return await self._database.write(
            lambda db: sqlite_requests.begin_restore(db, session, checkpoint_id, by, now),
            then=lambda _: self._signals.announce(session),
        )

    async def finish_restore(
        self, session: str, branch: int, now: str, extra: Mapping[str, object] | None = None
    ) -> None:
        await self._database.write(
            lambda db: sqlite_streams.finish_restore(db, session, branch, now, extra or {}),
            then=lambda ended: self._signals.announce(session) if ended else None,
        )

    async def begin_copy(self, copy: SessionCopy, now: str) -> None:
        await self._database.write(lambda db: sqlite_streams.begin_copy(db, copy, now))

    async def begin_effect(self, effect: Effect, now: str, *, resolution: str = "", answer_to: str = "") -> EffectClaim:
        return await self._database.write(lambda db: sqlite_effects.begin(db, effect, now, resolution, answer_to))

    async def end_effect(self, key: str, run_id: str, status: str, outcome: JsonObject, now: str) -> None:
        await self._database.write(lambda db: sqlite_effects.end(db, key, run_id, status, outcome, now))

    async def effects(self, *sessions: str, status: str = "") -> list[Effect]:
        return await self._database.peek(lambda db: sqlite_effects.list_effects(db, sessions, status))

    async def stop_run(self, session: str, run_id: str, now: str) -> None:
        await self._database.write(lambda db: sqlite_streams.stop_run(db, session, run_id, now))

    async def rebuild(self) -> None:
        """Drop the views and build them anew from the entries.

        Raises:
            StorageError: an entry isn't what its kind promises; the views stay as they were.
        """
        await self._database.write(sqlite_views.rebuild)

    async def view_problems(self, stream: str | None = None) -> list[Problem]:
        return await asyncio.to_thread(sqlite_rebuild.view_problems, self.path, stream)

    async def chain_problem(self, stream: str) -> str:
        """Return what of a stream's chain of hashes isn't as it was written, one sentence; empty when all is.

        The bytes are hashed as they are stored, which is quick enough for each opening of a session.
        """
        return await self._database.read(lambda db: sqlite_streams.chain_problem(db, stream))

    async def signed(
        self, known: KnownSignatures, stream: str | None = None
    ) -> tuple[list[SignedStream], list[Problem]]:
        """Return how far streams are signed, and what of that isn't as it should be.

        Args:
            known: keys that are known here, and ledgers that are known to be signed.
            stream: which stream; None for all.
        """
        return await self._database.read(lambda db: signed_streams(db, known, self.path, stream))

    async def close(self) -> None:
        await self._database.close()


def _glance(db: sqlite3.Connection, session: str, cursor: int, seen: int) -> tuple[int, bool]:
    """Return the file's data version, and whether there is something to do unless it is the version `seen`."""
    version = int(db.execute("PRAGMA data_version").fetchone()[0])
    return version, version != seen and sqlite_streams.has_waiting_event(db, session, cursor)
