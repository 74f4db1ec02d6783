"""Where events go: to the runtime's own output, and to whoever listens to one job."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from hitl_tui.channels.runtime.events import Event
from hitl_tui.core.json_types import JsonObject

Write = Callable[[dict[str, Any]], bool]
"""Writes an event; returns whether anybody can have read it. It may block."""
Events = asyncio.Queue[Event]


class EventStream:
    """Hands events on, in order.

    Args:
        write: writes them to the runtime's output.
        masked: returns a document with the names of secrets instead of their values.
    """

    def __init__(self, write: Write, masked: Callable[[JsonObject], JsonObject]) -> None:
        self._write = write
        self.masked = masked
        self._turn = asyncio.Lock()
        self._listeners: dict[str, set[Events]] = {}

    async def tell(self, event: Event) -> bool:
        """Tell what happened; return whether it was published to anybody."""
        async with self._turn:  # in a thread: a reader that is slow stops nobody else
            written = await asyncio.to_thread(self._write, event.to_dict())
            listeners = self._listeners.get(event.job_id, ())
            for listener in listeners:
                listener.put_nowait(event)
        return written or bool(listeners)

    @contextmanager
    def listen(self, job_id: str) -> Iterator[Events]:
        """Get the events of one job while the context lasts."""
        events: Events = asyncio.Queue()
        self._listeners.setdefault(job_id, set()).add(events)
        try:
            yield events
        finally:
            self._listeners[job_id].discard(events)
            if not self._listeners[job_id]:
                del self._listeners[job_id]
