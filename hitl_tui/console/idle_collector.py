"""Garbage collection put off to moments in which nobody types: a large session takes a tenth of a second."""

from __future__ import annotations

import gc
from collections.abc import Callable

QUIET = 2.0
"""Seconds without a key before a person is thought not to type."""
_ENOUGH = 10
"""Collections of the middle generation before the oldest is looked through; Python's own default."""
_AT_LAST = 200
"""The same for one who never stops typing."""


def delay_full_collections() -> None:
    """Let Python look through what has long been there much later by itself than it would; for a whole process."""
    young, middle, __ = gc.get_threshold()
    gc.set_threshold(young, middle, _AT_LAST)


class IdleCollector:
    """Knows when somebody typed, and looks for garbage at other times.

    Args:
        clock: monotonic seconds.
    """

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._typed = float("-inf")

    def typed(self) -> None:
        """A key was pressed."""
        self._typed = self._clock()

    def look(self) -> bool:
        """Look for garbage if it is time; return whether that was done. The console calls it every second."""
        if gc.get_count()[2] < _ENOUGH or self._clock() - self._typed < QUIET:
            return False
        gc.collect()
        return True
