"""What waits for a reviewer, followed from the events of a runtime or from the requests that it published."""

from __future__ import annotations

import asyncio
import os
import stat
import threading
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, Protocol

from hitl_tui.channels.plan_feedback.documents import LARGEST_DOCUMENT
from hitl_tui.channels.plan_feedback.feedback import proper_id
from hitl_tui.channels.plan_feedback.review_place import Ending, RequestPlace
from hitl_tui.channels.plan_feedback.store import PublishedRequest
from hitl_tui.core.errors import BadInput
from hitl_tui.core.json_text import strict_json
from hitl_tui.core.messages import Message
from hitl_tui.core.review_request import DECIDED, PLAN, ReviewRequest, ReviewStep, review_request

Event = Mapping[str, Any]

_ENDED = ("done", "failed")
_CHUNK = 1 << 16
_LOOK = 0.2
"""Seconds between looks at a file that grows."""
INTERVAL = 2.0
"""Seconds between looks at the published requests."""


class Reviews:
    """What waits, and what became of what waited.

    Attributes:
        waiting: requests by id, in the order they came.
        endings: what became of requests that don't wait.
    """

    def __init__(self) -> None:
        self.waiting: dict[str, ReviewRequest] = {}
        self.endings: dict[str, Ending] = {}
        self._plans: dict[str, tuple[str, tuple[ReviewStep, ...]]] = {}
        self._answered: set[str] = set()
        self._path = ""

    def take(self, event: Event) -> None:
        """Take an event in; one that was taken before changes nothing."""
        kind = event.get("type") or event.get("event_type")
        if kind == DECIDED:
            by = event.get("by")
            names = tuple(name for name in by if isinstance(name, str)) if isinstance(by, list) else ()
            ending = Ending(str(event.get("outcome", "")), names, str(event.get("at") or ""))
            self.end(str(event.get("request_id", "")), ending)
        elif kind in _ENDED and event.get("final", True):
            job = event.get("job_id") or event.get("session_id")
            for one in [one for one in self.waiting.values() if job and one.job == job]:
                self.end(one.request_id)
        elif (request := self._read(event)) is not None and not self._settled(request.request_id):
            if request.kind == PLAN:
                earlier, _steps = self._plans.get(request.job, ("", ()))
                if request.job and earlier != request.request_id and earlier in self.waiting:
                    self.end(earlier)
                self._plans[request.job] = (request.request_id, request.steps)
            self.endings.pop(request.request_id, None)  # a runtime that began anew tells it again
            self.waiting[request.request_id] = request

    def address(self, request: ReviewRequest) -> str:
        """Return where feedback for a request is kept, as its runtime told it.

        Raises:
            BadInput: it didn't.
        """
        ending = f"/{request.request_id}.json"
        if request.path.endswith(ending):
            return request.path.removesuffix(ending)
        if self._path:
            return self._path
        raise BadInput(
            Message("{} doesn't say where feedback is looked for; name it with --to.", request.request_id),
        )

    def _read(self, event: Event) -> ReviewRequest | None:
        request = review_request(event)
        if request is None:
            return None
        ending = f"/{request.request_id}.json"
        if request.path.endswith(ending):
            self._path = request.path.removesuffix(ending)
        before_id, before = self._plans.get(request.job, ("", None))
        if request.kind == PLAN and before is not None and before_id != request.request_id:
            return review_request(event, before)
        return self.waiting.get(request.request_id, request)

    def _settled(self, request_id: str) -> bool:
        ending = self.endings.get(request_id)
        return request_id in self._answered or (ending is not None and bool(ending.outcome))

    def answer(self, request_id: str) -> None:
        """Note that a request was answered from here, or by somebody who was first."""
        self._answered.add(request_id)
        self.end(request_id)

    def end(self, request_id: str, ending: Ending | None = None) -> None:
        """Note that a request waits no more."""
        self.waiting.pop(request_id, None)
        if request_id:
            self.endings[request_id] = ending or Ending()


class EventSource(Protocol):
    """Where events come from."""

    def batches(self, *, follow: bool) -> AsyncIterator[Sequence[Event]]:
        """Yield events as they come; without `follow`, what is there, once."""


class EventFile:
    """Events as JSON lines, in a file that may grow or from a pipe. Lines that are no JSON object are left out.

    Args:
        path: of the file; None for a descriptor.
        descriptor: of a pipe that is open.
    """

    def __init__(self, path: Path | None, descriptor: int = -1) -> None:
        self._path, self._descriptor = path, descriptor

    async def batches(self, *, follow: bool) -> AsyncIterator[Sequence[Event]]:
        descriptor = self._descriptor if self._path is None else self._opened(self._path)
        lines = _Lines()
        try:
            if not stat.S_ISREG(os.fstat(descriptor).st_mode):
                chunks = _chunks(descriptor)
                while data := await chunks.get():
                    yield lines.events(data)
                return
            at = 0
            while True:
                size = os.fstat(descriptor).st_size
                if size < at:  # it was begun anew
                    at, lines = 0, _Lines()
                found: list[Event] = []
                while data := os.pread(descriptor, _CHUNK, at):
                    at += len(data)
                    found += lines.events(data)
                yield found
                if not follow:
                    return
                await asyncio.sleep(_LOOK)
        finally:
            if self._path is not None:
                os.close(descriptor)

    @staticmethod
    def _opened(path: Path) -> int:
        try:
            return os.open(path, os.O_RDONLY | os.O_CLOEXEC)
        except OSError as error:
            raise BadInput(Message("{} can't be read: {}.", path, error.strerror)) from error


class PublishedRequests:
    """The requests that wait, of a runtime that listens or published them where its feedback is.

    Args:
        store: where that is.
        interval: seconds between two looks.
    """

    def __init__(self, store: RequestPlace, interval: float = INTERVAL) -> None:
        self._store, self._interval = store, interval
        self._known: set[str] = set()

    async def one(self, request_id: str) -> PublishedRequest | None:
        """Return a request that is named, or what became of it; None where there is none."""
        return await self._store.request(request_id) if proper_id(request_id) else None

    async def batches(self, *, follow: bool) -> AsyncIterator[Sequence[Event]]:
        while True:
            there = {one.request_id: one.event for one in await self._store.requests()}
            gone = [await self._ended(request_id) for request_id in sorted(self._known - there.keys())]
            yield [*gone, *(event for request_id, event in there.items() if request_id not in self._known)]
            self._known = set(there)
            if not follow:
                return
            await asyncio.sleep(self._interval)

    async def _ended(self, request_id: str) -> Event:
        """Return what became of a request that isn't listed any more."""
        found = await self._store.request(request_id)
        ended = found.event if found is not None else {}
        return ended if ended.get("type") == DECIDED else {"type": DECIDED, "request_id": request_id}


def _chunks(descriptor: int) -> asyncio.Queue[bytes]:
    """Read a pipe on a thread that nothing waits for; the last chunk is empty."""
    loop, chunks = asyncio.get_running_loop(), asyncio.Queue[bytes]()

    def read() -> None:
        data = b"-"
        while data:
            try:
                data = os.read(descriptor, _CHUNK)
            except OSError:
                data = b""
            with suppress(RuntimeError):  # the loop ended meanwhile
                loop.call_soon_threadsafe(chunks.put_nowait, data)

    threading.Thread(target=read, daemon=True).start()
    return chunks


class _Lines:
    """Puts chunks together to lines."""

    def __init__(self) -> None:
        self._rest = b""
        self._too_long = False

    def events(self, data: bytes) -> list[Event]:
        return list(self._events(data))

    def _events(self, data: bytes) -> Iterator[Event]:
        *lines, self._rest = (self._rest + data).split(b"\n")
        for line in lines:
            if self._too_long:
                self._too_long = False
                continue
            try:
                event = strict_json(line.decode())
            except (ValueError, BadInput):
                continue
            if isinstance(event, dict):
                yield event
        if len(self._rest) > LARGEST_DOCUMENT:
            self._rest, self._too_long = b"", True
