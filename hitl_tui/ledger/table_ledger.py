"""The ledger in tables of a database, for all sessions and any number of processes."""

from __future__ import annotations

import asyncio
import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from typing import TypeVar

from hitl_tui.core.json_types import JsonObject
from hitl_tui.core.requests import Decision, Request
from hitl_tui.core.supersession import Cause, Supersession
from hitl_tui.ledger import (
    effect_tables,
    request_tables,
    stream_tables,
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
    RecordFigures,
    RequestView,
    SessionCopy,
)
from hitl_tui.ledger.signature_table import SignedStream, signed_streams, signing_keys
from hitl_tui.ledger.signatures import KnownSignatures, Place
from hitl_tui.ledger.sql_transaction import TableDatabase, TableForm, Transaction

T = TypeVar("T")

Changed = Callable[[str], None]


def _nobody(_session: str) -> None:
    """Nobody carries sessions that aren't open."""


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


class TableLedger(ABC):
    """`Ledger` on the tables of a database; open one with `SqliteLedger.open` or `PostgresLedger.open`.

    Each method is one transaction that runs whole on a thread of the ledger's own. Cancelling a caller doesn't undo or
    halve what it asked for. Failures of the database raise StorageError, and then nothing was written.

    Args:
        database: where they are.
        changed: called, on the ledger's thread, with the session of requests that were opened, decided or superseded.
        signals: wakes those that wait here, also for what another process announces.
        posted: called, on the ledger's thread, with the session whose inbox got something.
    """

    def __init__(
        self,
        database: TableDatabase,
        changed: Changed | None = None,
        signals: PostSignals | None = None,
        posted: Changed | None = None,
    ) -> None:
        self._database = database
        self._changed = changed
        self._signals = signals or PostSignals()
        self._has_mail = posted or _nobody
        self._waiting = request_tables.WaitingList()
        self._quiet: dict[str, int] = {}
        self._quiet_since: object = None
        self._quiet_at = 0.0

    async def append(self, stream: str, expected_n: int, kind: str, data: Mapping[str, object], at: str) -> Entry:
        return await self._database.write(lambda db: stream_tables.append(db, stream, expected_n, kind, data, at))

    async def record(self, stream: str, kind: str, data: Mapping[str, object], at: str) -> Entry:
        return await self._database.write(lambda db: stream_tables.append(db, stream, None, kind, data, at))

    async def entries(self, stream: str, after: int = 0, limit: int = 1000) -> list[Entry]:
        return await self._database.peek(lambda db: stream_tables.entries(db, stream, after, limit))

    async def streams(self) -> list[Head]:
        return await self._database.peek(stream_tables.heads)

    async def head(self, stream: str) -> Head:
        return await self._database.peek(lambda db: stream_tables.head(db, stream))

    async def open_requests(self, requests: Sequence[Request]) -> list[str]:
        if not requests:
            return []
        asked = tuple(requests)
        return await self._database.write(
            lambda db: request_tables.open_requests(db, asked),
            then=lambda new: self._tell(asked[0].session) if new else None,
        )

    async def request(self, request_id: str, now: str) -> RequestView | None:
        stored = await self._database.read(lambda db: request_tables.find_request(db, request_id))
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
            version, look = self._database.version, self._waiting.look
            return (await self._database.read(lambda db: look(db, version(db), now)))[: max(0, limit)]
        return await self._database.read(
            lambda db: request_tables.list_requests(db, now, session, todo_id, pending, limit)
        )

    async def urgent(self, now: str, limit: int) -> list[RequestView]:
        return await self._database.read(lambda db: request_tables.most_urgent(db, now, limit))

    async def open_ids(self, session: str) -> list[str]:
        return await self._database.read(lambda db: request_tables.open_ids(db, session))

    async def waiting_counts(self, now: str) -> dict[str, int]:
        return await self._database.peek(lambda db: request_tables.waiting_counts(db, now))

    async def figures(self, now: str) -> RecordFigures:
        """Return how much is on record, of all sessions."""
        return await self._database.read(lambda db: request_tables.figures(db, now))

    async def decided_since(self, since: str, now: str) -> list[RequestView]:
        return await self._database.read(lambda db: request_tables.decided_since(db, since, now))

    async def mark_shown(self, request_ids: Sequence[str], by: str, channel: str, now: str) -> list[str]:
        ids = tuple(dict.fromkeys(request_ids))
        if not await self._database.read(lambda db: request_tables.unshown(db, ids)):
            return []
        return await self._database.write(lambda db: request_tables.mark_shown(db, ids, by, channel, now))

    async def decide(self, decision: Decision, now: str) -> RequestView:
        def announce(view: RequestView) -> None:
            if view.resolution.decided:
                self._ended(view.request.session)

        machine = self._database.machine
        return await self._database.write(lambda db: request_tables.decide(db, decision, now, machine), then=announce)

    async def expire(self, now: str, session: str | None = None) -> list[str]:
        if session is None:
            overdue = await self._database.read(lambda db: request_tables.overdue_sessions(db, now))
            return [gone for name in overdue for gone in await self.expire(now, name)]
        return await self._database.write(
            lambda db: request_tables.expire(db, session, now),
            then=lambda ids: self._ended(session) if ids else None,
        )

    def _ended(self, session: str) -> None:
        self._signals.announce(session)
        self._tell(session)
        self._has_mail(session)

    def _posted(self, session: str) -> None:
        self._signals.announce(session)
        self._database.announce(session)
        self._has_mail(session)

    def _tell(self, session: str) -> None:
        self._database.announce(session)
        if self._changed is not None:
            self._changed(session)

    async def supersede(
        self, session: str, keep: Sequence[str], cause: Cause, now: str, by: str = "", detail: str = ""
    ) -> list[str]:
        kept = frozenset(keep)
        return await self._database.write(
            lambda db: request_tables.supersede(db, session, kept, Supersession(cause, by, now, detail))
        )

    async def attach_evidence(self, request_id: str, evidence: Mapping[str, object], now: str) -> None:
        await self._database.write(lambda db: request_tables.attach_evidence(db, request_id, evidence, now))

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
            lambda db: request_tables.post_event(db, session, branch, event_id, event, at, closing),
            then=lambda _: self._posted(session) if closing is None else self._ended(session),
        )

    async def after(self, session: str, cursor: int, branch: int) -> list[Posted]:
        return await self._database.peek(lambda db: stream_tables.after(db, session, cursor, branch))

    async def last_seq(self, session: str) -> int:
        return await self._database.peek(lambda db: stream_tables.last_seq(db, session))

    async def highest_seq(self, session: str) -> int:
        return await self._database.peek(lambda db: stream_tables.highest_seq(db, session))

    async def wait(
        self,
        session: str,
        cursor: int,
        timeout: float | None,  # noqa: ASYNC109 - running out of time is an answer here, not an error
        poll: float = 0.1,
    ) -> bool:
        loop, database = asyncio.get_running_loop(), self._database
        end = None if timeout is None else loop.time() + timeout
        version: object = None
        with self._signals.listen(session) as posted:
            while True:
                if posted.is_set():
                    posted.clear()
                    version = None
                before, since = database.written(), loop.time()
                patience = database.patience(before, poll)
                version, something = await database.read(partial(self._glance, session, cursor, version))
                if something:
                    return True
                while not posted.is_set() and database.written() == before:
                    left = poll if end is None else min(poll, end - loop.time())
                    if left <= 0:
                        return False
                    with suppress(TimeoutError):
                        async with asyncio.timeout(left):
                            await posted.wait()
                    if loop.time() - since >= patience:
                        break

    def _glance(self, session: str, cursor: int, seen: object, db: Transaction) -> tuple[object, bool]:
        """Return the version of what is read, and whether there is something to do unless it is `seen`."""
        version = self._database.version(db)
        return version, version != seen and stream_tables.has_waiting_event(db, session, cursor)

    async def news(self, cursors: Mapping[str, int]) -> frozenset[str]:
        written, clock = self._database.written(), time.monotonic()
        if written != self._quiet_since or clock - self._quiet_at > self._database.patience(written, 0.0):
            self._quiet = {}  # what is being committed is there to be read a little later
            self._quiet_at = clock
        unknown = [(session, cursor) for session, cursor in cursors.items() if self._quiet.get(session) != cursor]
        if not unknown:
            return frozenset()
        found = await self._database.read(lambda db: stream_tables.with_waiting_events(db, unknown))
        self._quiet_since = written
        self._quiet.update((session, cursor) for session, cursor in unknown if session not in found)
        return found

    async def branch(self, session: str) -> Branch:
        return await self._database.peek(lambda db: stream_tables.branch(db, session))

    async def begin_restore(
        self, session: str, checkpoint_id: str, by: str, now: str, *, channel: str = "", number: int = 0
    ) -> Branch:
        return await self._database.write(
            lambda db: request_tables.begin_restore(db, session, checkpoint_id, by, now, channel, number),
            then=lambda _: self._posted(session),
        )

    async def finish_restore(
        self, session: str, branch: int, now: str, extra: Mapping[str, object] | None = None
    ) -> None:
        await self._database.write(
            lambda db: stream_tables.finish_restore(db, session, branch, now, extra or {}),
            then=lambda ended: self._posted(session) if ended else None,
        )

    async def begin_copy(self, copy: SessionCopy, now: str) -> None:
        await self._database.write(lambda db: stream_tables.begin_copy(db, copy, now))

    async def begin_effect(self, effect: Effect, now: str, *, resolution: str = "", answer_to: str = "") -> EffectClaim:
        return await self._database.write(lambda db: effect_tables.begin(db, effect, now, resolution, answer_to))

    async def end_effect(self, key: str, run_id: str, status: str, outcome: JsonObject, now: str) -> None:
        await self._database.write(lambda db: effect_tables.end(db, key, run_id, status, outcome, now))

    async def effects(self, *sessions: str, status: str = "") -> list[Effect]:
        return await self._database.peek(lambda db: effect_tables.list_effects(db, sessions, status))

    async def stop_run(self, session: str, run_id: str, now: str) -> None:
        await self._database.write(lambda db: stream_tables.stop_run(db, session, run_id, now))

    @property
    def place(self) -> Place:
        """What it is known by: its file, or the address of its database."""
        return self._database.place

    def stamp(self) -> object:
        """Return what is another value soon after anybody has written, and now and then. Cheap."""
        return self._database.stamp()

    @abstractmethod
    async def view_problems(self, stream: str | None = None) -> list[Problem]:
        """See `Streams.view_problems`."""

    async def chain_problem(self, stream: str) -> str:
        """Return what of a stream's chain of hashes isn't as it was written, one sentence; empty when all is.

        The bytes are hashed as they are stored, which is quick enough for each opening of a session.
        """
        return await self._database.read(lambda db: stream_tables.chain_problem(db, stream))

    async def signed(
        self, known: KnownSignatures, stream: str | None = None
    ) -> tuple[list[SignedStream], list[Problem]]:
        """Return how far streams are signed, and what of that isn't as it should be.

        Args:
            known: keys that are known here, and ledgers that are known to be signed.
            stream: which stream; None for all.
        """
        return await self.look(lambda db, form: signed_streams(db, form, known, self.place, stream))

    async def look(self, work: Callable[[Transaction, TableForm], T]) -> T:
        """Read from one consistent state of the tables, in the form that their database has."""
        form = self._database.form
        return await self._database.read(lambda db: work(db, form))

    async def signing_keys(self) -> list[str]:
        """Return all public keys that signed something here."""
        form = self._database.form
        return await self._database.read(lambda db: signing_keys(db, form))

    async def close(self) -> None:
        await self._database.close()
