"""The ledger in one SQLite file, for all sessions and any number of processes."""

from __future__ import annotations

import asyncio
import sqlite3
import threading
import time
from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import Any

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


class Subscription:
    """An event that is set whenever this process posts to one session; use it as a context manager.

    Made by `Wakeups.subscribe` on the loop that will wait.
    """

    def __init__(self, wakeups: Wakeups, session: str) -> None:
        self.session = session
        self._wakeups = wakeups
        self._loop = asyncio.get_running_loop()
        self._event = asyncio.Event()

    def is_set(self) -> bool:
        """Tell whether something was posted since `clear`."""
        return self._event.is_set()

    def clear(self) -> None:
        """Forget what was posted so far. Clear first, then read the inbox: so nothing is missed."""
        self._event.clear()

    async def wait(self) -> None:
        """Wait until something is posted; return at once when it was since `clear`."""
        await self._event.wait()

    def close(self) -> None:
        """End the subscription; repeating it is harmless."""
        self._wakeups.drop(self)

    def __enter__(self) -> Subscription:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def wake(self) -> None:
        """Set the event, from any thread; a loop that has ended is left alone."""
        with suppress(RuntimeError):  # the loop was closed meanwhile
            self._loop.call_soon_threadsafe(self._event.set)


class Wakeups:
    """The subscriptions of one ledger."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._by_session: dict[str, set[Subscription]] = {}

    def subscribe(self, session: str) -> Subscription:
        """Return a new subscription to a session's posts, on the running loop."""
        subscription = Subscription(self, session)
        with self._lock:
            self._by_session.setdefault(session, set()).add(subscription)
        return subscription

    def drop(self, subscription: Subscription) -> None:
        """End a subscription."""
        with self._lock:
            left = self._by_session.get(subscription.session, set())
            left.discard(subscription)
            if not left:
                self._by_session.pop(subscription.session, None)

    def announce(self, sessions: Iterable[str]) -> None:
        """Wake all subscribers of these sessions."""
        with self._lock:
            waiting = [s for session in sessions for s in self._by_session.get(session, ())]
        for subscription in waiting:
            subscription.wake()


_COMMITTING = 2.0
"""Seconds after a write to the log in which what was written may still become visible."""

_LONGEST = 5.0
"""Seconds after which the inbox is read though nothing was written."""


class SqliteLedger:
    """`Ledger` on an SQLite file; open it with `SqliteLedger.open`.

    Each method is one transaction that runs whole on the ledger's own thread. Cancelling a caller doesn't undo or halve
    what it asked for. Failures of the file raise StorageError, and then nothing was written.
    """

    def __init__(self, database: Database) -> None:
        self._database = database
        self._wakeups = Wakeups()

    @classmethod
    @asynccontextmanager
    async def open(
        cls, path: Path | str, *, read_only: bool = False, sealing: Sealing | None = None
    ) -> AsyncIterator[SqliteLedger]:
        """Open a ledger and close it at the end of the block.

        Args:
            path: the file; it and its folders are made when missing, for this account alone.
            read_only: for followers and audit: nothing is made, and every write is refused.
            sealing: signs what is written and anchors it; None for neither.

        Raises:
            StorageError: the file is no ledger, is damaged, of a newer format, or missing when read-only; it is
                left as it was.
        """
        database = Database(Path(path), read_only, sealing)
        await database.open()
        ledger = cls(database)
        try:
            yield ledger
        finally:
            await ledger.close()

    @property
    def path(self) -> Path:
        """The file."""
        return self._database.path

    async def append(self, stream: str, expected_n: int, kind: str, data: Mapping[str, Any], at: str) -> Entry:
        return await self._database.write(lambda db: sqlite_streams.write_free(db, stream, expected_n, kind, data, at))

    async def record(self, stream: str, kind: str, data: Mapping[str, Any], at: str) -> Entry:
        return await self._database.write(lambda db: sqlite_streams.write_free(db, stream, None, kind, data, at))

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
        return await self._database.write(lambda db: sqlite_requests.open_requests(db, asked))

    async def request(self, request_id: str, now: str) -> RequestView | None:
        stored = await self._database.read(lambda db: sqlite_requests.find(db, request_id))
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
        return await self._database.read(lambda db: sqlite_requests.listed(db, now, session, todo_id, pending, limit))

    async def show(self, request_ids: Sequence[str], by: str, channel: str, now: str) -> list[str]:
        ids = tuple(dict.fromkeys(request_ids))
        if not await self._database.read(lambda db: sqlite_requests.unshown(db, ids)):
            return []
        return await self._database.write(lambda db: sqlite_requests.show(db, ids, by, channel, now))

    async def decide(self, decision: Decision, now: str) -> RequestView:
        def announce(view: RequestView) -> None:
            if view.resolution.decided:
                self._wakeups.announce([view.request.session])

        return await self._database.write(lambda db: sqlite_requests.decide(db, decision, now), then=announce)

    async def expire(self, now: str, session: str) -> list[str]:
        return await self._database.write(
            lambda db: sqlite_requests.expire(db, session, now),
            then=lambda ids: self._wakeups.announce([session] if ids else []),
        )

    async def supersede(self, session: str, keep: Sequence[str], cause: Cause, now: str, by: str = "") -> list[str]:
        kept = frozenset(keep)
        return await self._database.write(
            lambda db: sqlite_requests.supersede(db, session, kept, Supersession(cause, by, now))
        )

    async def attach(self, request_id: str, evidence: Mapping[str, Any], now: str) -> None:
        await self._database.write(lambda db: sqlite_requests.attach(db, request_id, evidence, now))

    async def post(
        self,
        session: str,
        branch: int,
        event_id: str,
        event: Mapping[str, Any],
        at: str,
        *,
        closing: Closing | None = None,
    ) -> int:
        return await self._database.write(
            lambda db: sqlite_requests.post(db, session, branch, event_id, event, at, closing),
            then=lambda _: self._wakeups.announce([session]),
        )

    async def after(self, session: str, cursor: int, branch: int) -> list[Posted]:
        return await self._database.peek(lambda db: sqlite_streams.after(db, session, cursor, branch))

    async def last_seq(self, session: str) -> int:
        return await self._database.peek(lambda db: sqlite_streams.last_seq(db, session))

    async def taken(self, session: str) -> int:
        return await self._database.peek(lambda db: sqlite_streams.taken(db, session))

    def subscribe(self, session: str) -> Subscription:
        """Return an event that this ledger's posts to a session and restores set, on the running loop; use `with`.

        Those of other processes (and other open ledgers) don't set it: `wait` looks for those too.
        """
        return self._wakeups.subscribe(session)

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
        with self.subscribe(session) as posted:
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

    def _written(self) -> tuple[int, int]:
        """Return when the database's log was last written, and how long it is; the file isn't opened for that."""
        try:
            found = Path(f"{self.path}-wal").stat()
        except OSError:
            return 0, 0
        return found.st_mtime_ns, found.st_size

    async def branch(self, session: str) -> Branch:
        return await self._database.peek(lambda db: sqlite_streams.branch(db, session))

    async def intend_restore(self, session: str, checkpoint_id: str, by: str, now: str) -> Branch:
        return await self._database.write(
            lambda db: sqlite_requests.intend_restore(db, session, checkpoint_id, by, now),
            then=lambda _: self._wakeups.announce([session]),
        )

    async def finish_restore(self, session: str, branch: int, now: str, extra: Mapping[str, Any] | None = None) -> None:
        await self._database.write(
            lambda db: sqlite_streams.finish_restore(db, session, branch, now, extra or {}),
            then=lambda ended: self._wakeups.announce([session] if ended else []),
        )

    async def begin_copy(self, copy: SessionCopy, now: str) -> None:
        await self._database.write(lambda db: sqlite_streams.begin_copy(db, copy, now))

    async def begin_effect(self, effect: Effect, now: str, *, resolution: str = "", answer_to: str = "") -> EffectClaim:
        return await self._database.write(lambda db: sqlite_effects.begin(db, effect, now, resolution, answer_to))

    async def end_effect(self, key: str, run_id: str, status: str, outcome: Mapping[str, Any], now: str) -> None:
        await self._database.write(lambda db: sqlite_effects.end(db, key, run_id, status, outcome, now))

    async def effects(self, *sessions: str, status: str = "") -> list[Effect]:
        return await self._database.peek(lambda db: sqlite_effects.listed(db, sessions, status))

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
    return version, version != seen and sqlite_streams.is_waiting(db, session, cursor)
