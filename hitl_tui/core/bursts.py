"""When keys may decide, in the console and in line mode; bursts, faster than anybody types. Pure."""

from __future__ import annotations

import unicodedata

ARM_AFTER = 0.5
"""Seconds that a question has to stand, and a keyboard that typed to rest, before a key decides."""
BURST = 0.03
"""Seconds; keys that are less apart came together."""
BURST_ENDS = 0.1
"""Seconds of quiet after three or more keys of a burst until Enter is a person's again."""
_MANY = 3


class Bursts:
    """Follows when keys come, and tells what of them came together.

    Nothing in a burst sends or decides; Enter ends a line of text there. One exception: Enter right after a single
    Hangul syllable is a person's, for an input method commits what is being composed when Enter is pressed.
    """

    def __init__(self) -> None:
        self._last = float("-inf")
        self._count = 0
        self._ends = float("-inf")
        self.near = False
        """The key that came last came together with the one before."""
        self.lasts = False
        """It is part of a burst, or came so soon after one that it may be the rest of it."""

    def came(self, at: float) -> None:
        """Take over that a key came.

        Args:
            at: seconds, by a monotonic clock.
        """
        self.near = at - self._last < BURST
        self._last = max(self._last, at)
        self._count = self._count + 1 if self.near else 1
        self.lasts = self.near or at < self._ends
        if self._count >= _MANY:
            self._ends = at + BURST_ENDS

    def breaks_line(self, before: str) -> bool:
        """Return whether the key that came last, an Enter, ends a line of text instead of sending it.

        Args:
            before: the character before it; empty for none.
        """
        return self.lasts and not (self.near and self._count == _MANY - 1 and is_hangul(before))


def is_hangul(character: str) -> bool:
    """Return whether a character is a syllable or letter that a Korean input method composes."""
    return len(character) == 1 and unicodedata.name(character, "").startswith("HANGUL")
