"""A letter that decides counts alone: with another character after it, it is the beginning of words (C3)."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from textual.events import Key, Paste
from textual.timer import Timer

ALONE_FOR = 0.35
"""Seconds without another key that make a letter a decision."""

Typed = Key | Paste


class Alone:
    """Holds such a letter for a moment; digits and all other keys pass at once.

    Args:
        decides: tells whether a key is a letter that would decide at once.
        words: is called when it was the beginning of words: from then on what is typed goes where words go.
        dropped: is called when a key that is no character came after it.
        deliver: hands a key on.
        decide: is called with a letter that stayed alone.
        timer: calls something in so many seconds.
    """

    def __init__(
        self,
        decides: Callable[[Key], bool],
        words: Callable[[], None],
        dropped: Callable[[], None],
        deliver: Callable[[Typed], Awaitable[None]],
        decide: Callable[[Key], Awaitable[None]],
        timer: Callable[[float, Callable[[], Awaitable[None]]], Timer],
    ) -> None:
        self._decides = decides
        self._words = words
        self._dropped = dropped
        self._deliver = deliver
        self._decide = decide
        self._timer = timer
        self._letter: Key | None = None
        self._waiting: Timer | None = None

    @property
    def holding(self) -> bool:
        """A letter waits for what comes after it."""
        return self._letter is not None

    async def passes(self, event: Typed) -> bool:
        """Return whether an event goes on now; a letter that was held goes before it, or is forgotten."""
        letter = self._take()
        if letter is None:
            if not (isinstance(event, Key) and self._decides(event)):
                return True
            self._letter = event
            self._waiting = self._timer(ALONE_FOR, self._alone)
            return False
        if isinstance(event, Paste) or event.is_printable:
            self._words()
            await self._deliver(letter)
        else:
            self._dropped()
        return True

    async def _alone(self) -> None:
        if (letter := self._take()) is not None:
            await self._decide(letter)

    def _take(self) -> Key | None:
        letter, self._letter = self._letter, None
        if self._waiting is not None:
            self._waiting.stop()
            self._waiting = None
        return letter
