"""A letter at a question counts alone: with another character after it, it is the beginning of words (C3)."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Protocol

from textual.events import Key, Paste
from textual.timer import Timer

ALONE_FOR = 0.35
"""Seconds without another key that make a letter an answer."""

Typed = Key | Paste


class Keyboard(Protocol):
    """The console, as far as what is typed is concerned."""

    def counts_alone(self, key: Key) -> bool:
        """Return whether a key is a letter that acts only when no words follow it."""

    def words_begin(self) -> None:
        """The letter was the beginning of words: from now on what is typed goes where words go."""

    def letter_dropped(self) -> None:
        """A key that is no character came after the letter."""

    async def decide(self, letter: Key) -> None:
        """The letter stayed alone."""

    async def hand_on(self, event: Typed) -> None:
        """Hand a key on, as if it was typed now."""

    def set_timer(self, delay: float, callback: Callable[[], Awaitable[None]]) -> Timer:
        """Call something in so many seconds."""


class Alone:
    """Holds such a letter for a moment; digits and all other keys pass at once.

    Args:
        keyboard: what is typed on.
    """

    def __init__(self, keyboard: Keyboard) -> None:
        self._keyboard = keyboard
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
            if not (isinstance(event, Key) and self._keyboard.counts_alone(event)):
                return True
            self._letter = event
            self._waiting = self._keyboard.set_timer(ALONE_FOR, self._alone)
            return False
        if isinstance(event, Paste) or event.is_printable:
            self._keyboard.words_begin()
            await self._keyboard.hand_on(letter)
        else:
            self._keyboard.letter_dropped()
        return True

    async def _alone(self) -> None:
        if (letter := self._take()) is not None:
            await self._keyboard.decide(letter)

    def _take(self) -> Key | None:
        letter, self._letter = self._letter, None
        if self._waiting is not None:
            self._waiting.stop()
            self._waiting = None
        return letter
