"""Lists whose only key of their own is the one that chooses: the map has it, not Textual."""

from __future__ import annotations

from typing import ClassVar

from rich.segment import Segment
from rich.style import Style
from rich.text import Text
from textual.binding import BindingType
from textual.containers import VerticalScroll
from textual.strip import Strip
from textual.widgets import DataTable, OptionList

from hitl_tui.console import keys


class Listing(DataTable[Text]):
    """A table whose rows can be chosen.

    Args:
        id: of the widget.
    """

    BINDINGS: ClassVar[list[BindingType]] = [*keys.bindings(keys.MOVE, keys.LIST)]

    def __init__(self, id: str | None = None) -> None:
        super().__init__(id=id, cursor_type="row", show_header=False)

    def action_scroll_home(self) -> None:
        self.action_scroll_top()

    def action_scroll_end(self) -> None:
        self.action_scroll_bottom()


class Reader(VerticalScroll):
    """A text that has the keys of a pane.

    Args:
        id: of the widget.
    """

    BINDINGS: ClassVar[list[BindingType]] = [*keys.bindings(keys.MOVE)]

    def __init__(self, id: str | None = None) -> None:
        super().__init__(id=id, can_focus=True)

    def action_cursor_down(self) -> None:
        self.action_scroll_down()

    def action_cursor_up(self) -> None:
        self.action_scroll_up()


class Choices(OptionList):
    """A short list of lines to choose from."""

    BINDINGS: ClassVar[list[BindingType]] = [*keys.bindings(keys.MOVE, keys.LIST)]

    def action_select_cursor(self) -> None:
        self.action_select()

    def render_line(self, y: int) -> Strip:
        """Draw a line; that at the cursor in one colour, for on the cursor's no other can be read in every theme."""
        strip = super().render_line(y)
        if not self.has_focus or all(s.style is None or s.style.meta.get("option") != self.highlighted for s in strip):
            return strip
        ink = Style(color=self.get_component_rich_style("option-list--option-highlighted").color)
        return Strip(Segment.apply_style(strip, post_style=ink), strip.cell_length)
