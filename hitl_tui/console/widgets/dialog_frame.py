"""The frame of a dialog: as high as what stands in it, and where the terminal is too low, what scrolls gives way."""

from __future__ import annotations

from textual.containers import Horizontal, Vertical, VerticalScroll
from textual.content import Content
from textual.geometry import Size
from textual.layout import Layout, WidgetPlacement
from textual.layouts.horizontal import HorizontalLayout
from textual.widget import Widget
from textual.widgets import Static

from hitl_tui.console.widgets.fitted_layout import Fitted

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
        return Fitted()


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
