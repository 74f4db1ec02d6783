"""Layouts that are never higher than their room: what can be scrolled gives way to what can't."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise

from textual.geometry import Region, Size
from textual.layout import WidgetPlacement
from textual.layouts.vertical import VerticalLayout
from textual.widget import Widget

from hitl_tui.console.widgets.layout import ScreenRows

_COMFORT = 3
"""Rows of each part that scrolls, for which empty rows between the parts are given up."""


class Fitted(VerticalLayout):
    """Stands parts below each other; of what is too high, the parts that scroll shrink."""

    name = "fitted"

    def arrange(self, parent: Widget, children: list[Widget], size: Size, greedy: bool = True) -> list[WidgetPlacement]:
        placed = list(super().arrange(parent, children, size, greedy))
        if not placed or not size.height or placed[-1].region.bottom <= size.height:
            return placed
        heights = [p.region.height for p in placed]
        gaps = [placed[0].region.y, *(below.region.y - above.region.bottom for above, below in pairwise(placed))]
        flexible = [n for n, p in enumerate(placed) if p.widget.styles.overflow_y != "hidden"]
        wanted = [heights[n] for n in flexible]
        room = size.height - sum(heights) - sum(gaps) + sum(wanted)
        shares = shared(wanted, room)
        if any(share < min(_COMFORT, want) for share, want in zip(shares, wanted, strict=True)):
            shares, gaps = shared(wanted, room + sum(gaps)), [0] * len(gaps)
        for n, share in zip(flexible, shares, strict=True):
            heights[n] = share
        fitted, y = [], 0
        for place, gap, height in zip(placed, gaps, heights, strict=True):
            y += gap
            x, __, width, __ = place.region
            fitted.append(place._replace(region=type(place.region)(x, y, width, height), margin=place.margin))
            y += height
        return fitted


class Divided(VerticalLayout):
    """Divides a session's screen: header and keys keep their rows, the others get what they are given.

    Args:
        divide: tells who gets which of so many rows, of what each wants.
    """

    name = "divided"

    def __init__(self, divide: Callable[[int, ScreenRows], ScreenRows]) -> None:
        super().__init__()
        self._divide = divide

    def arrange(self, parent: Widget, children: list[Widget], size: Size, greedy: bool = True) -> list[WidgetPlacement]:
        placed = list(super().arrange(parent, children, size, greedy))
        heights = {place.widget.id or "": place.region.height for place in placed}
        if "panes" not in heights or "prompt-row" not in heights:  # a pane has all the room
            return placed
        wanted = ScreenRows(0, heights.get("question", 0), heights.get("message", 0), heights["prompt-row"])
        room = max(0, size.height - heights.get("header", 0) - heights.get("keys", 0))
        rows = self._divide(room, wanted)
        heights |= {"panes": rows.panes, "question": rows.question, "message": rows.message, "prompt-row": rows.prompt}
        y, fitted = 0, []
        for place in placed:
            height = heights[place.widget.id or ""]
            fitted.append(place._replace(region=Region(place.region.x, y, place.region.width, height)))
            y += height
        return fitted


def shared(wanted: Sequence[int], room: int) -> list[int]:
    """Return how many rows each gets: none more than it wants, those that want more the same, none less than one."""
    found, left = [0] * len(wanted), room
    for done, n in enumerate(sorted(range(len(wanted)), key=wanted.__getitem__)):
        found[n] = min(wanted[n], max(1, left // (len(wanted) - done)))
        left -= found[n]
    return found
