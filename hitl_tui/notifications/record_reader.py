"""Reading the record for what has to be told: entries since the last look, of sessions and of tasks outside of them."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager, suppress
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path

from hitl_tui.core.errors import BadInput, StorageError
from hitl_tui.core.requests import BY_RULE, Decision, Outcome, Request
from hitl_tui.ledger.existing_record import existing_record, named_database
from hitl_tui.ledger.protocols import Streams, read_stream
from hitl_tui.ledger.records import LEDGER_FILE, Entry
from hitl_tui.notifications.moments import Moment, Told, half_time
from hitl_tui.notifications.outbox import Outbox
from hitl_tui.task_checkpoints.folders import entries_folder, store_of, uses_neo4j
from hitl_tui.task_checkpoints.task_inbox import TaskInbox

_TICK = 200_000_000
"""Nanoseconds."""
SESSIONS = ""
"""The place of the ledger of sessions; that of tasks is their folder."""
_GRACE = timedelta(seconds=60)
"""What was decided so long before the first look is still told."""
_DEADLINE_GRACE = timedelta(seconds=2)
"""How long after a deadline a decision that came in time may still be on its way into the record."""


class RecordReader:
    """Reads what is new, and says what is to be told.

    Args:
        data: the data folder.
        environ: says which store tasks are in.
        outbox: keeps how far was read, and what waits.
    """

    def __init__(self, data: Path, environ: Mapping[str, str], outbox: Outbox) -> None:
        self._data, self._environ, self._outbox = data, environ, outbox
        self._tasks = TaskInbox(data, environ)
        self._stores: dict[Path, Streams] = {}
        self._seen: dict[str, tuple[tuple[int, int], ...]] = {}

    async def read(self, now: str) -> list[tuple[str, Told]]:
        """Return what is to be told from now on, with the place that it is of; within one transaction.

        What can't be read is left for the next look.
        """
        found: list[tuple[str, Told]] = []
        async with self._sources() as sources:
            for place, streams in sources:
                try:
                    await self._read_place(place, streams, found)
                except StorageError:
                    self._seen.pop(place, None)
        before = (datetime.fromisoformat(now) - _DEADLINE_GRACE).isoformat()
        for place, told in self._outbox.overdue("deadline", before):
            self._outbox.end(told.request.id)
            if not self._is_old(told.request.expires_at):
                found.append((place, replace(told, moment=Moment.DECIDED, outcome=Outcome.EXPIRED)))
        fresh = self._outbox.fresh()
        opened = {told.request.id for _, told in fresh}
        half = [(p, told) for p, told in self._outbox.overdue("half_time", now) if told.request.id not in opened]
        return [*found, *fresh, *((place, replace(told, moment=Moment.HALF_TIME)) for place, told in half)]

    @asynccontextmanager
    async def _sources(self) -> AsyncIterator[list[tuple[str, Streams]]]:
        """Give what was written since the last look."""
        found: list[tuple[str, Streams]] = []
        for masc in self._tasks.folders():
            with suppress(StorageError, BadInput):
                if self._changed(str(masc), *self._files(masc)):
                    found.append((str(masc), self._store(masc)))
        ledger = self._data / LEDGER_FILE
        if not named_database(self._environ) and not self._changed(
            SESSIONS, ledger, ledger.with_name(f"{ledger.name}-wal")
        ):
            yield found
            return
        async with existing_record(self._data, self._environ) as sessions:
            yield found if sessions is None else [(SESSIONS, sessions), *found]

    def _store(self, masc: Path) -> Streams:
        if masc not in self._stores:
            self._stores[masc] = store_of(masc, self._environ)
        return self._stores[masc]

    def _files(self, masc: Path) -> tuple[Path, ...]:
        return () if uses_neo4j(self._environ) else (entries_folder(masc),)

    def _changed(self, place: str, *files: Path) -> bool:
        """Return whether something may have been written since the last look; a database server can't tell."""
        written = []
        for file in files:
            with suppress(OSError):
                found = file.stat()
                written.append((found.st_mtime_ns, found.st_size))
        stamp = tuple(written)
        changed = not stamp or self._seen.get(place) != stamp
        # What is written within a tick of the clock leaves no trace of its own.
        settled = all(time.time_ns() - at > _TICK for at, _size in stamp)
        self._seen[place] = stamp if settled else ()
        return changed

    async def _read_place(self, place: str, streams: Streams, found: list[tuple[str, Told]]) -> None:
        for head in await streams.streams():
            cursor = self._outbox.cursor(place, head.stream)
            if "/" in head.stream or head.n <= cursor:  # those of trust, approvers and keys ask nothing
                continue
            async for entry in read_stream(streams, head.stream, cursor):
                found += [(place, told) for told in self._take(place, entry)]
                cursor = entry.n
            self._outbox.move_cursor(place, head.stream, cursor)

    def _take(self, place: str, entry: Entry) -> Iterator[Told]:
        """Bring what waits up to an entry; yield what it decided."""
        data = entry.data
        match entry.kind:
            case "request_opened":
                self._put(place, Told(Moment.OPENED, Request.from_dict(data["request"])), fresh=True)
            case "request_shown" if told := self._outbox.waits(data["request_id"]):
                request = told.request
                deadline = data["deadline"] or request.deadline
                self._put(place, replace(told, request=replace(request, first_shown=entry.at, deadline=deadline)))
            case "decision" if told := self._outbox.waits(data["decision"]["request_id"]):
                decisions = (*told.decisions, Decision.from_dict(data["decision"]))
                told = replace(told, decisions=decisions)
                self._put(place, told)
                if "settled" in data:
                    yield from self._settle(told, data["settled"]["outcome"], entry.at)
            case "event" if told := self._outbox.waits(data.get("settles", "")):
                yield from self._settle(told, data["event"].get("outcome", ""), entry.at)
            case "request_superseded":
                self._outbox.end(data["request_id"])

    def _put(self, place: str, told: Told, *, fresh: bool = False) -> None:
        if told.request.superseded is None:
            self._outbox.put_waiting(place, told, half_time(told.request), fresh=fresh)

    def _settle(self, told: Told, outcome: str, at: str) -> Iterator[Told]:
        self._outbox.end(told.request.id)
        by_rule = bool(told.decisions) and all(one.channel == BY_RULE for one in told.decisions)
        if not by_rule and not self._is_old(at):
            yield replace(told, moment=Moment.DECIDED, outcome=Outcome(outcome))

    def _is_old(self, at: str) -> bool:
        """Return whether something was over long before anybody began to tell."""
        return datetime.fromisoformat(at) < datetime.fromisoformat(self._outbox.begun) - _GRACE
