"""Texts as they are compared when words are looked for. Pure."""

from __future__ import annotations

import unicodedata


def comparable(text: str) -> str:
    """Return text for comparing: case and the forms of characters don't count."""
    return lowered(normal(text))


def normal(text: str) -> str:
    """Return text with one form for each character, as it can be shown and cut where `comparable` found something."""
    return unicodedata.normalize("NFKC", text)


def lowered(text: str) -> str:
    """Return text for comparing without regard to case, character by character, so that places stay the same."""
    low = text.casefold()
    return low if len(low) == len(text) else "".join(c.casefold() if len(c.casefold()) == 1 else c for c in text)
