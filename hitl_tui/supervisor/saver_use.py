"""Who uses a saver: LangGraph waits for no write of a run that is cancelled, so whoever closes the saver has to."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager


class SaverUse:
    """Counts who uses a saver."""

    def __init__(self) -> None:
        self._users = 0
        self._unused = asyncio.Event()
        self._unused.set()

    @contextmanager
    def counted(self) -> Iterator[None]:
        """Use it meanwhile."""
        self._users += 1
        self._unused.clear()
        try:
            yield
        finally:
            self._users -= 1
            if not self._users:
                self._unused.set()

    async def ended(self) -> None:
        """Wait until nobody uses it."""
        for _ in range(3):  # what was begun a moment ago comes to it in the next turns of the loop
            await asyncio.sleep(0)
            await self._unused.wait()
