"""How much room a terminal has: where all panes are seen at once, and where their frames go."""

from __future__ import annotations

from typing import Any

from textual.geometry import Size
from textual.screen import Screen

_WIDE = Size(100, 30)
"""Columns and rows from which on all panes are seen at once."""
_SHORT = 20
"""Below so many rows the panes lose their frames."""


def is_wide(size: Size) -> bool:
    """Return whether everything is seen at once in a terminal of this size, in cells."""
    return size.width >= _WIDE.width and size.height >= _WIDE.height


def fold(screen: Screen[Any]) -> None:
    """Give a screen the classes that its stylesheet folds it by: `-wide` and `-short`."""
    size = screen.app.size
    screen.set_class(is_wide(size), "-wide")
    screen.set_class(size.height < _SHORT, "-short")
