"""What is typed while nothing on the screen can take it: at the start, and while a dialog is being built."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from textual.events import Event


class EarlyKeys:
    """Keeps what was typed too early, in the order it was typed in. From the start it keeps everything.

    Args:
        take: is given each of it, once something can take it.
    """

    def __init__(self, take: Callable[[Event], Awaitable[None]]) -> None:
        self._take = take
        self._kept: list[Event] | None = []

    def __contains__(self, event: object) -> bool:
        return event in (self._kept or ())

    def begin(self) -> bool:
        """Keep what comes from now on; return False when that was so already."""
        if self._kept is not None:
            return False
        self._kept = []
        return True

    def keep(self, event: Event) -> bool:
        """Keep what was typed; return False, and do nothing, when there is something that can take it."""
        if self._kept is None:
            return False
        self._kept.append(event)
        self._kept.sort(key=lambda kept: kept.time)
        return True

    async def hand_on(self) -> None:
        """Hand on what was kept, and keep nothing more."""
        kept, self._kept = self._kept, None
        for event in kept or ():
            await self._take(event)
