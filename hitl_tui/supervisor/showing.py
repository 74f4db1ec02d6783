"""Which questions were shown, put on record while an interface goes on drawing (T2, T3)."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Iterable

from hitl_tui.core.errors import HitlError
from hitl_tui.ledger.protocols import Ledger

log = logging.getLogger(__name__)


class Showing:
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
