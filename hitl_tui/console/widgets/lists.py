"""Lists whose only key of their own is the one that chooses: the map has it, not Textual (C2)."""

from __future__ import annotations

from typing import ClassVar

from rich.text import Text
from textual.binding import BindingType
from textual.widgets import DataTable, OptionList

from hitl_tui.console import keys


class Listing(DataTable[Text]):
    """A table whose rows can be chosen.

    Args:
        id: of the widget.
    """

    BINDINGS: ClassVar[list[BindingType]] = [*keys.bindings(keys.LIST)]

    def __init__(self, id: str | None = None) -> None:
        super().__init__(id=id, cursor_type="row", show_header=False)


class Choices(OptionList):
    """A short list of lines to choose from."""

    BINDINGS: ClassVar[list[BindingType]] = [*keys.bindings(keys.LIST)]

    def action_select_cursor(self) -> None:
        self.action_select()
