"""Streams and requests over anything that keeps numbered entries: files, a graph database.

`TableLedger` keeps tables of requests; here they are folded from a stream's entries when it is read. An entry is
written by its number alone: of two writers of one number one succeeds, and the other reads again and checks anew.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Protocol

from hitl_tui.core.errors import BadInput, Refused, StorageError
from hitl_tui.core.events import after_seconds
from hitl_tui.core.json_text import digest
from hitl_tui.core.json_types import Stored
from hitl_tui.core.messages import Message, messages_restored
from hitl_tui.core.requests import Decision, Outcome, Request, Verdict, check_decision
from hitl_tui.core.supersession import Cause, Supersession
from hitl_tui.ledger.protocols import OWN_KINDS, Conflict
from hitl_tui.ledger.records import GENESIS, Entry, Head, Problem, RequestView, decided_event, entry_hash, seal
from hitl_tui.ledger.stored_request import StoredRequest

_OF_REQUESTS = frozenset({"request_opened", "decision", "event", "request_superseded"})
_TRIES = 1_000
"""Writers of one stream at once, at most: each loses to another one as often as there are others."""


_ALL = 1_000_000_000


@dataclass(frozen=True, slots=True)
class Kept:
    """An entry as it lies in its place.

    Args:
        entry: the entry.
        order: grows with what is written later, over all streams of the place.
    """

    entry: Entry
    order: int


class EntryPlace(Protocol):
    """Where entries are kept. Nothing that is there is ever changed.

    Attributes:
        poll: seconds between looks at what others wrote.
    """

    poll: float

    async def read(self, stream: str, after: int) -> Sequence[Kept]:
        """Return a stream's entries with n > `after`, in order.

        Raises:
            StorageError: one can't be read.
        """
        ...

    async def add(self, entry: Entry) -> bool:
        """Write an entry durably; return False, and write nothing, where there is one of its number.

        Raises:
            StorageError: it can't be written.
        """
        ...

    async def stamp(self) -> int:
        """Return what is another number after anybody has written; 0 where that can't be told."""
        ...

    async def names(self) -> Sequence[str]:
        """Return the names of all streams, whether or not they can be read.

        Raises:
            StorageError: the place itself can't be read.
        """
        ...

    async def read_new(self, heads: Mapping[str, int], order: int) -> Sequence[Kept]:
        """Return the entries of all streams that aren't known yet, those of each stream in order.

        Args:
            heads: the number of the last entry that is known, by stream.
            order: everything up to this one is known in any case.

        Raises:
            StorageError: one can't be read.
        """
        ...


class _Nothing:
    """A place with nothing in it."""

    poll = 0.0

    async def read(self, stream: str, after: int) -> Sequence[Kept]:
        return ()

    async def stamp(self) -> int:
        return 0

    async def names(self) -> Sequence[str]:
        return ()

    async def read_new(self, heads: Mapping[str, int], order: int) -> Sequence[Kept]:
        return ()

    async def add(self, entry: Entry) -> bool:
        raise StorageError(Message("nothing can be written to a snapshot"))


@dataclass(slots=True)
class _Stream:
    """What is known of a stream."""

    head: Head
    entries: list[Entry] = field(default_factory=list)
    requests: dict[str, StoredRequest] = field(default_factory=dict)
    orders: dict[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class _Proposed:
    """An entry that is to be written, if none comes after the head that it was thought of with.

    Args:
        head: the last entry before it.
        kind, data, at: see `records.Entry`.
    """

    head: Head
    kind: str
    data: Mapping[str, object]
    at: str


class StreamLedger:
    """`Streams` and `Requests` of `ledger.protocols`, over a place for entries.

    Args:
        place: where they are kept.
        changed: called when requests were opened, decided or superseded.
    """

    def __init__(self, place: EntryPlace, changed: Callable[[], None] | None = None) -> None:
        self._place = place
        self._changed = changed
        self._known: dict[str, _Stream] = {}
        self._where: dict[str, str] = {}
        self._order = self._stamp = 0

    @property
    def poll(self) -> float:
        """Seconds between looks at what others wrote."""
        return self._place.poll

    @classmethod
    @asynccontextmanager
    async def open(cls, place: EntryPlace) -> AsyncIterator[StreamLedger]:
        """Open one over a place that needs no closing."""
        yield cls(place)

    # ----------------------------------------------------------------------------------------------------- streams

    async def append(self, stream: str, expected_n: int, kind: str, data: Mapping[str, object], at: str) -> Entry:
        _check_kind(kind)
        known = await self._read(stream)
        if known.head.n != expected_n or (written := await self._write(known.head, kind, data, at)) is None:
            raise Conflict(
                Message(
                    'The stream "{}" has {} entries, not {}; read them, then decide again.',
                    stream,
                    (await self._read(stream)).head.n,
                    expected_n,
                )
            )
        return written

    async def record(self, stream: str, kind: str, data: Mapping[str, object], at: str) -> Entry:
        _check_kind(kind)

        async def propose() -> _Proposed:
            return _Proposed((await self._read(stream)).head, kind, data, at)

        written = await self._written(propose)
        assert written is not None, "it is proposed whatever others write"
        return written

    async def entries(self, stream: str, after: int = 0, limit: int = 1000) -> list[Entry]:
        return (await self._read(stream)).entries[after : after + max(0, limit)]

    async def streams(self) -> list[Head]:
        await self._read_all()
        return sorted((known.head for known in self._known.values() if known.head.n), key=lambda head: head.stream)

    async def head(self, stream: str) -> Head:
        return (await self._read(stream)).head

    async def names(self) -> list[str]:
        """Return the names of all streams; one that is damaged has a name, too."""
        return sorted(await self._place.names())

    async def snapshot(self) -> StreamLedger:
        """Return what is written by now, to be read at length without looking for more; it can't be written to."""
        await self._read_all()
        still = StreamLedger(_Nothing())
        still._known, still._where = self._known, self._where
        return still

    async def view_problems(self, stream: str | None = None) -> list[Problem]:
        return []  # views are folded from entries whenever they are read

    # ---------------------------------------------------------------------------------------------------- requests

    async def open_requests(self, requests: Sequence[Request]) -> list[str]:
        for request in requests:
            if digest(dict(request.subject)) != request.digest:
                raise BadInput(Message("The digest of request {} isn't the digest of its subject.", request.id))
        return [request.id for request in requests if await self._written(partial(self._opening, request))]

    async def _opening(self, request: Request) -> _Proposed | None:
        known = await self._read(request.session)
        if request.id in known.requests:
            return None
        data = {"request": replace(request, first_shown="").to_dict()}
        return _Proposed(known.head, "request_opened", data, request.opened_at)

    async def request(self, request_id: str, now: str) -> RequestView | None:
        stored = await self._find(request_id)
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
        if session is None:
            await self._read_all()
        found: list[tuple[int, StoredRequest]] = []
        for known in list(self._known.values()) if session is None else [await self._read(session)]:
            found += [
                (known.orders[request_id], stored)
                for request_id, stored in known.requests.items()
                if todo_id is None or stored.request.todo_id == todo_id
            ]
        found.sort(key=lambda item: item[0])
        views = (stored.view(now) for _, stored in found if not pending or not stored.settled_at)
        wanted = [v for v in views if not pending or v.resolution.outcome is Outcome.PENDING]
        return wanted[: max(0, limit)]

    async def decided_since(self, since: str, now: str) -> list[RequestView]:
        views = await self.requests(now, pending=False, limit=_ALL)
        return [view for view in views if any(at >= since for at in _ended_at(view))]

    async def mark_shown(self, request_ids: Sequence[str], by: str, channel: str, now: str) -> list[str]:
        async def propose(request_id: str) -> _Proposed | None:
            stored = await self._find(request_id)
            if stored is None or stored.request.first_shown or stored.settled_at:
                return None
            if stored.view(now).resolution.outcome is not Outcome.PENDING:
                return None
            request, seconds = stored.request, stored.request.terms.deadline
            deadline = after_seconds(now, seconds) if request.ends_in_approval and seconds else ""
            data = {"request_id": request_id, "by": by, "channel": channel, "deadline": deadline}
            return _Proposed(self._known[request.session].head, "request_shown", data, now)

        return [shown for shown in dict.fromkeys(request_ids) if await self._written(partial(propose, shown))]

    async def decide(self, decision: Decision, now: str) -> RequestView:
        async def propose() -> _Proposed:
            stored = await self._find(decision.request_id)
            if stored is None:
                check_decision(None, (), decision, now)
                raise AssertionError(Message("an unknown request was let through"))
            at = max(now, stored.settled_at)
            check_decision(stored.request, stored.decisions, decision, at, stored.resolution(now))
            stream, data = stored.request.session, {"decision": decision.to_dict()}
            resolution = replace(stored, decisions=(*stored.decisions, decision)).resolution(now)
            if resolution.verdict is not None:
                data["settled"] = {"outcome": resolution.outcome.value, "verdict": resolution.verdict.value}
            return _Proposed(self._known[stream].head, "decision", data, now)

        written = await self._written(propose)
        assert written is not None, "what can't count is refused"
        return (await self._read(written.stream)).requests[decision.request_id].view(now)

    async def expire(self, now: str, session: str | None = None) -> list[str]:
        names = [session] if session is not None else [head.stream for head in await self.streams()]
        return [gone for name in names for gone in await self._expire(now, name)]

    async def _expire(self, now: str, session: str) -> list[str]:
        async def propose(request_id: str) -> _Proposed | None:
            known = await self._read(session)
            view = known.requests[request_id].view(now)
            if known.requests[request_id].settled_at or view.resolution.outcome is not Outcome.EXPIRED:
                return None
            data = {"event_id": f"decided:{request_id}", "event": decided_event(view), "settles": request_id}
            return _Proposed(known.head, "event", data, now)

        there = list((await self._read(session)).requests)
        return [gone for gone in there if await self._written(partial(propose, gone))]

    async def supersede(
        self, session: str, keep: Sequence[str], cause: Cause, now: str, by: str = "", detail: str = ""
    ) -> list[str]:
        why = Supersession(cause, by, now, detail)

        async def propose(request_id: str) -> _Proposed | None:
            known = await self._read(session)
            if known.requests[request_id].view(now).resolution.outcome is not Outcome.PENDING:
                return None
            data = {"request_id": request_id, "reason": why.to_dict()}
            return _Proposed(known.head, "request_superseded", data, now)

        others = [request_id for request_id in (await self._read(session)).requests if request_id not in keep]
        return [gone for gone in others if await self._written(partial(propose, gone))]

    async def attach_evidence(self, request_id: str, evidence: Mapping[str, object], now: str) -> None:
        async def propose() -> _Proposed:
            stored = await self._find(request_id)
            if stored is None:
                raise Refused(Message("No request {}.", request_id), reason="unknown")
            data = {"request_id": request_id, "evidence": evidence}
            return _Proposed(self._known[stored.request.session].head, "evidence", data, now)

        await self._written(propose)

    # -------------------------------------------------------------------------------------------------- of its own

    async def _find(self, request_id: str) -> StoredRequest | None:
        if request_id in self._where:
            await self._read(self._where[request_id])
        else:
            await self._read_all()
        stream = self._where.get(request_id)
        return None if stream is None else self._known[stream].requests[request_id]

    async def _read(self, stream: str) -> _Stream:
        known = self._known.setdefault(stream, _Stream(Head(stream, 0, GENESIS)))
        for kept in await self._place.read(stream, known.head.n):
            self._learn(known, kept)
        return known

    async def _read_all(self) -> None:
        stamp = await self._place.stamp()
        if stamp and stamp == self._stamp:
            return
        heads = {stream: known.head.n for stream, known in self._known.items()}
        order = self._order
        for kept in await self._place.read_new(heads, order):
            stream = kept.entry.stream
            self._learn(self._known.setdefault(stream, _Stream(Head(stream, 0, GENESIS))), kept)
            order = max(order, kept.order)
        self._order, self._stamp = order, stamp

    def _learn(self, known: _Stream, kept: Kept) -> None:
        """Take the next entry of a stream, if it is that."""
        entry, stream = kept.entry, known.head.stream
        if entry.n <= known.head.n:
            return  # somebody else asked meanwhile
        if entry.n != known.head.n + 1:
            raise StorageError(Message('Entry {} of "{}" is missing.', known.head.n + 1, stream))
        if entry.prev != known.head.hash or entry_hash(entry) != entry.hash:
            raise StorageError(
                Message('Entry {} of "{}" was changed: its hash isn\'t that of its content.', entry.n, stream)
            )
        self._project(known, kept)
        known.entries.append(entry)
        known.head = Head(stream, entry.n, entry.hash)

    async def _written(self, propose: Callable[[], Awaitable[_Proposed | None]]) -> Entry | None:
        """Write what is proposed, and propose anew where somebody else wrote that number; None where nothing is.

        Raises:
            StorageError: others write all the time.
        """
        tries = 0
        while (proposed := await propose()) is not None:
            if written := await self._write(proposed.head, proposed.kind, proposed.data, proposed.at):
                return written
            tries += 1
            if tries == _TRIES:
                raise StorageError(Message("{} is being written all the time", proposed.head.stream))
        return None

    async def _write(self, head: Head, kind: str, data: Mapping[str, object], at: str) -> Entry | None:
        """Write what comes after a head; None where somebody else wrote that number."""
        if not head.stream:
            raise BadInput(Message("A stream needs a name."))
        entry, _ = seal(head, kind, data, at)
        if not await self._place.add(entry):
            return None
        if self._changed is not None and kind in _OF_REQUESTS:
            self._changed()
        return entry

    def _project(self, known: _Stream, kept: Kept) -> None:
        """Bring a stream's requests up to an entry."""
        entry = kept.entry
        try:
            self._take(known, entry, messages_restored(dict(entry.data)), kept.order)
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise StorageError(
                Message('Entry {} of "{}" isn\'t a proper {}.', entry.n, entry.stream, entry.kind)
            ) from error

    def _take(self, known: _Stream, entry: Entry, data: Stored, order: int) -> None:
        match entry.kind:
            case "request_opened":
                request = Request.from_dict(data["request"])
                known.requests[request.id] = StoredRequest(request, "", None, {}, ())
                known.orders[request.id] = order
                self._where[request.id] = entry.stream
            case "request_shown":
                stored = known.requests[data["request_id"]]
                deadline = data["deadline"] or stored.request.deadline
                request = replace(stored.request, first_shown=entry.at, deadline=deadline)
                known.requests[request.id] = replace(stored, request=request)
            case "decision":
                decision = Decision.from_dict(data["decision"])
                stored = known.requests[decision.request_id]
                stored = replace(stored, decisions=(*stored.decisions, decision))
                if "settled" in data:
                    stored = _settled(stored, entry.at, data["settled"])
                known.requests[decision.request_id] = stored
            case "event":
                known.requests[data["settles"]] = _settled(known.requests[data["settles"]], entry.at, data["event"])
            case "request_superseded":
                stored = known.requests[data["request_id"]]
                request = replace(stored.request, superseded=Supersession.from_dict(data["reason"]))
                known.requests[request.id] = replace(stored, request=request)
            case "evidence":
                stored = known.requests[data["request_id"]]
                known.requests[data["request_id"]] = replace(stored, evidence=data["evidence"])


def _ended_at(view: RequestView) -> list[str]:
    """Return when a request was decided about, or superseded."""
    return [*(decision.at for decision in view.decisions), view.request.ended_at]


def _settled(stored: StoredRequest, at: str, said: Stored) -> StoredRequest:
    """Return a request as settled: it stays so, whatever the rules of later versions make of its decisions."""
    return replace(stored, settled_at=at, settled=(Outcome(said["outcome"]), Verdict(said["verdict"])))


def _check_kind(kind: str) -> None:
    if kind in OWN_KINDS:
        raise BadInput(Message('An entry of kind "{}" is written by the ledger itself, never appended.', kind))
