"""Threads that wait on LangGraph servers: while the console is open they become sessions, which its inbox lists."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Sequence

from hitl_tui.core.errors import HitlError
from hitl_tui.core.messages import Message
from hitl_tui.core.safe_text import one_line

log = logging.getLogger(__name__)

PERIOD = 15.0
"""Seconds between two looks at the servers."""


class ThreadWatch:
    """Looks again and again, until it is closed.

    Args:
        look: takes over what waits; returns why something can't be read, a sentence each, or None where no server is
            declared.
    """

    def __init__(self, look: Callable[[], Awaitable[Sequence[str] | None]]) -> None:
        self._look = look
        self._again = asyncio.Event()
        self._task = asyncio.create_task(self._run(), name="threads elsewhere")
        self.problems: Sequence[str] = ()
        """Why some can't be read now, a sentence each."""

    def settings_changed(self) -> None:
        """See whether the settings declare others now."""
        self._again.set()

    async def close(self) -> None:
        """Stop looking."""
        self._task.cancel()
        await asyncio.wait({self._task})

    async def _run(self) -> None:
        while True:
            self._again.clear()
            try:
                found = await self._look()
            except HitlError as error:  # whoever opens a session there is told
                log.info("the threads elsewhere can't be read: %s", error.message)
                found = None
            except Exception as error:
                log.exception("the threads elsewhere can't be read")
                found = [Message("Unexpected error ({}).", one_line(repr(error), 200))]
            self.problems = found or ()
            try:
                async with asyncio.timeout(None if found is None else PERIOD):
                    await self._again.wait()
            except TimeoutError:
                continue
