"""What is read on a screen: its rows, and the English words among them."""

from __future__ import annotations

import re
from collections.abc import Iterable

from textual.app import App

WORD = re.compile(r"[A-Za-z][A-Za-z'_-]*[A-Za-z]|[A-Za-z]")


def rows(app: App[object]) -> list[str]:
    """Return the rows of the screen as they are drawn, with all that lies over it."""
    width, height = app.size
    found = []
    for y, strip in enumerate(app.screen._compositor.render_strips(app.size)):
        assert strip.cell_length <= width
        assert y < height
        found.append(strip.text)
    return found


def english(lines: Iterable[str], known: re.Pattern[str]) -> list[str]:
    """Return the English words in lines, with what is known of them taken out first."""
    return [f"{word[0]!r} in {line.strip()!r}" for line in lines for word in WORD.finditer(known.sub(" ", line))]
