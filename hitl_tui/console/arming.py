"""When a key may decide: keys typed before a question was on the screen don't answer it (C3)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

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
        self._clicked = float("-inf")
        self._rest = (float("-inf"), float("-inf"))
        self.pictures = 0
        """How often something was drawn anew."""
        self.pointer = False
        """The last input came from the mouse."""

    def drawn(self) -> None:
        """What is asked was drawn just now, anew or changed."""
        self._drawn = self._clock()
        self.pictures += 1

    def key(self, late: float = 0.0) -> None:
        """A key was pressed, or something was pasted.

        Args:
            late: seconds since then: what came while the console was busy counts from when it came.
        """
        self._before, self._last = self._last, max(self._last, self._clock() - late)
        if self._last - self._before >= self._delay:
            self._rest = (self._before, self._last)
        self.pointer = False

    def click(self, late: float = 0.0) -> None:
        """A mouse button was pressed, so many seconds ago."""
        self._clicked = self._clock() - late
        self.pointer = True

    @property
    def now(self) -> float:
        """Seconds by the clock that all this is measured with."""
        return self._clock()

    def rested_since(self, opened: float) -> bool:
        """Return whether the keyboard rested at some moment since then, which is told as `now` tells it."""
        begun, ended = self._rest
        if self.pointer:
            begun, ended = max((begun, ended), (self._last, self._clicked))
        return ended - max(begun, opened) >= self._delay

    @property
    def decides(self) -> bool:
        """The key that was pressed last may decide: it came after the pause."""
        return self._last - max(self._drawn, self._before) >= self._delay

    @property
    def click_decides(self) -> bool:
        """The click that came last may decide: it came after the pause."""
        at = self._clicked if self.pointer else self._clock()
        return at - max(self._drawn, self._last) >= self._delay

    @property
    def remaining(self) -> float:
        """Seconds of quiet still needed; 0 when the next key decides."""
        return max(0.0, self._delay - (self._clock() - max(self._drawn, self._last)))


def arming_of(app: Any) -> Arming:
    """Return when keys decide in a console."""
    arming: Arming = app.arming
    return arming
