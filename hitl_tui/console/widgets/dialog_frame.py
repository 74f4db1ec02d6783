"""The frame of a dialog: as high as what stands in it, and where the terminal is too low, what scrolls gives way."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from textual.containers import Horizontal, Vertical, VerticalScroll
from textual.content import Content
from textual.geometry import Size
from textual.layout import Layout, WidgetPlacement
from textual.layouts.horizontal import HorizontalLayout
from textual.layouts.vertical import VerticalLayout
from textual.widget import Widget
from textual.widgets import Static

_COMFORT = 3
"""Rows of each part that scrolls, for which empty rows between the parts are given up."""

_BUTTON_PAD = 1
"""Cells before a button's words, which no stylesheet can take away."""


class Dialog(Vertical):
    """A dialog's frame. Its last row is always on the screen: of what is too high, the parts that scroll shrink.

    Args:
        title: one line, safe.
        large: wider, for texts and tables.
        id: of the widget.
    """

    DEFAULT_CSS = "Dialog { height: auto; }"

    def __init__(self, title: str = "", *, large: bool = False, id: str | None = None) -> None:
        super().__init__(id=id, classes="dialog -large" if large else "dialog")
        self.border_title = Content(title)

    @property
    def layout(self) -> Layout:
        return _Fitted()


class DialogText(VerticalScroll):
    """What a dialog is about, above what answers it.

    Args:
        content: safe text.
    """

    def __init__(self, content: Content) -> None:
        super().__init__(Static(content, markup=False), classes="dialog-text", can_focus=False)


class Flow(Horizontal):
    """Stands buttons beside each other, in another row where there is no room; their words begin at its left edge."""

    DEFAULT_CSS = "Flow { height: auto; }"

    def __init__(self, *buttons: Widget) -> None:
        super().__init__(*buttons, classes="dialog-row")

    @property
    def layout(self) -> Layout:
        return _Flowing()


class _Fitted(VerticalLayout):
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


class _Flowing(HorizontalLayout):
    name = "flowing"

    def arrange(self, parent: Widget, children: list[Widget], size: Size, greedy: bool = True) -> list[WidgetPlacement]:
        placed, x, y = [], -_BUTTON_PAD, 0
        for place in super().arrange(parent, children, size, greedy):
            __, __, width, height = place.region
            if x > 0 and size.width and x + width > size.width:
                x, y = -_BUTTON_PAD, y + height
            placed.append(place._replace(region=type(place.region)(x, y, width, height)))
            x += width + place.margin.right
        return placed


def shared(wanted: Sequence[int], room: int) -> list[int]:
    """Return how many rows each gets: none more than it wants, those that want more the same, none less than one."""
    found, left = [0] * len(wanted), room
    for done, n in enumerate(sorted(range(len(wanted)), key=wanted.__getitem__)):
        found[n] = min(wanted[n], max(1, left // (len(wanted) - done)))
        left -= found[n]
    return found
