"""When a key may decide: keys typed before a question was on the screen don't answer it (C3)."""

from __future__ import annotations

from collections.abc import Callable

ARM_AFTER = 0.5
"""Seconds of quiet before a key decides."""


class Arming:
    """Keeps the times of what was drawn and typed.

    Args:
        clock: monotonic seconds.
        delay: how long a question has to stand, and the keyboard to rest, before a key decides.
    """

    def __init__(self, clock: Callable[[], float], delay: float = ARM_AFTER) -> None:
        self._clock = clock
        self._delay = delay
        self._drawn = clock()
        self._before = float("-inf")
        self._last = float("-inf")
        self.pointer = False
        """The last input came from the mouse."""

    def drawn(self) -> None:
        """What is asked was drawn just now, anew or changed."""
        self._drawn = self._clock()

    def key(self) -> None:
        """A key was pressed, or something was pasted."""
        self._before, self._last = self._last, self._clock()
        self.pointer = False

    def click(self) -> None:
        """A mouse button was pressed."""
        self.pointer = True

    @property
    def decides(self) -> bool:
        """The key that was pressed last may decide: it came after the pause."""
        return self._last - max(self._drawn, self._before) >= self._delay

    @property
    def remaining(self) -> float:
        """Seconds of quiet still needed; 0 when the next key decides."""
        return max(0.0, self._delay - (self._clock() - max(self._drawn, self._last)))
