"""Which questions were shown, put on record while an interface goes on drawing (T2, T3)."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Iterable
from dataclasses import replace

from hitl_tui.core.errors import BadInput, HitlError
from hitl_tui.core.events import Event
from hitl_tui.core.json_text import check_storable
from hitl_tui.ledger.protocols import Ledger
from hitl_tui.ledger.records import Posted

log = logging.getLogger(__name__)


class ShownQuestions:
    """Records each question once, when it was first shown.

    Args:
        ledger: the record.
        now: the clock.
        read_only: this account can't write, so nothing is recorded; it can't decide either.
    """

    def __init__(self, ledger: Ledger, now: Callable[[], str], *, read_only: bool = False) -> None:
        self._ledger = ledger
        self._now = now
        self._read_only = read_only
        self._recorded: set[str] = set()
        self._writing: set[asyncio.Task[None]] = set()

    def note(self, request_ids: Iterable[str], by: str, channel: str) -> None:
        """Take note that questions are on the screen, or were printed; `settled` waits until that is on record.

        Args:
            request_ids: the questions' ids.
            by: who looks at them.
            channel: `console`, `repl`, `cli`, …
        """
        fresh = [i for i in dict.fromkeys(request_ids) if i not in self._recorded]
        if not fresh or self._read_only:
            return
        self._recorded.update(fresh)
        task = asyncio.create_task(self._write(fresh, by, channel), name="shown")
        self._writing.add(task)
        task.add_done_callback(self._writing.discard)

    async def settled(self) -> None:
        """Wait until all that was noted is on record."""
        while self._writing:
            await asyncio.wait(set(self._writing))

    async def _write(self, request_ids: list[str], by: str, channel: str) -> None:
        try:
            await self._ledger.show(request_ids, by, channel, self._now())
        except HitlError as error:  # deciding them will say so
            self._recorded.difference_update(request_ids)
            log.warning("not recorded as shown: %s", error.message)


def event_of(posted: Posted) -> Event:
    """Return an inbox event; what the ledger itself posts has its fields beside the kind, the rest within `data`.

    One that no checkpoint can hold comes without its content, and `fold` refuses it.
    """
    data = posted.event
    try:
        check_storable(data)
    except BadInput as error:
        return Event("unreadable", {"why": error.message}, posted.event_id, posted.seq)
    if "data" in data:
        return replace(Event.from_dict(data), id=posted.event_id, seq=posted.seq)
    body = {k: v for k, v in data.items() if k != "kind"}
    at, by = str(data.get("at", "")), str(data.get("by", ""))
    return Event(str(data.get("kind", "")), body, posted.event_id, posted.seq, at, by)
