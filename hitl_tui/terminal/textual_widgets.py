"""Widgets of Textual that had to be opened up: tables, the command palette, bindings of a widget.

Each place says which internal of Textual it relies on, as of Textual 8.2.8, and what would make it unnecessary.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TypeVar

from rich.align import Align
from rich.text import Text
from textual.command import CommandList, CommandPalette
from textual.content import Content
from textual.message import Message
from textual.widget import Widget
from textual.widgets import DataTable
from textual.widgets._markdown import MarkdownTable
from textual.widgets.data_table import ColumnKey, Row, RowKey
from textual.widgets.option_list import Option

CellType = TypeVar("CellType")


class OneLineTable(DataTable[CellType]):
    """A table whose columns have widths of their own and whose rows are one line high."""

    # Relies on `DataTable._clear_caches()` and `DataTable._require_update_dimensions`.
    # Upstream: a public method that draws all cells anew after their widths or colours changed.
    def redraw_cells(self) -> None:
        """Draw every cell again: other widths, other colours."""
        self._clear_caches()
        self._require_update_dimensions = True
        self.check_idle()
        self.refresh()

    # Relies on `DataTable._update_dimensions(new_rows)` being what measures the cells of new rows.
    # Upstream: no measuring of cells in tables whose columns all have a width and whose rows a height.
    def _update_dimensions(self, new_rows: Iterable[RowKey]) -> None:
        super()._update_dimensions(())

    # Relies on `DataTable._row_locations`, `DataTable._data` and `DataTable._update_count`.
    # Upstream: an `add_rows` that takes keys and counts as one update; `add_row` for each takes ten times as long.
    def fill(self, columns: Sequence[str], rows: Iterable[tuple[str, Sequence[CellType]]]) -> None:
        """Fill the table, which is empty.

        Args:
            columns: their keys.
            rows: the key and the cells of each row.
        """
        keys = [ColumnKey(name) for name in columns]
        for place, (name, cells) in enumerate(rows):
            if place == 0:
                self.add_row(*cells, key=name)
                continue
            key = RowKey(name)
            self._row_locations[key] = place
            self._data[key] = dict(zip(keys, cells, strict=True))
            self.rows[key] = Row(key, 1)
        self._update_count += 1


class ReadTable(MarkdownTable):
    """A table within Markdown that tells what is in it."""

    # Relies on `MarkdownTable` of a private module, and its `_get_headers_and_rows()`.
    # Upstream: the block of a table, and its cells, as public names.
    def cells(self) -> tuple[list[Content], list[list[Content]]]:
        """Return the heads of the columns, and the rows."""
        return self._get_headers_and_rows()


class OpenPalette(CommandPalette):
    """The command palette, with the message for no matches in words of ours, and messages that may be refused."""

    no_matches = ""
    """What it says when nothing is found, safe."""

    def accepts(self, message: Message) -> bool:
        """Return whether to take a message at all."""
        return True

    # Relies on `MessagePump._on_message(message)` being what every message passes before its handlers.
    # Upstream: the palette takes one choice only; one that is made twice quickly is carried out twice.
    async def _on_message(self, message: Message) -> None:
        if self.accepts(message):
            await super()._on_message(message)

    # Relies on `CommandPalette._start_no_matches_countdown(search_value)`, `_stop_no_matches_countdown()`,
    # `_no_matches_timer`, `_list_visible`, `_NO_MATCHES` and `_NO_MATCHES_COUNTDOWN`.
    # Upstream: an attribute for the words, which are a literal in English.
    def _start_no_matches_countdown(self, search_value: str) -> None:
        self._stop_no_matches_countdown()

        def show() -> None:
            if search_value:
                said = Align.center(Text(self.no_matches, style="not bold"))
                self.query_one(CommandList).add_option(Option(said, disabled=True, id=self._NO_MATCHES))
            self._list_visible = bool(search_value)

        self._no_matches_timer = self.set_timer(self._NO_MATCHES_COUNTDOWN, show)


# Relies on `DOMNode._bindings.key_to_bindings`.
# Upstream: a public lookup of the bindings that a widget itself has, without those of what lies around it.
def bound_action(widget: Widget, key: str) -> str:
    """Return the action that a widget itself binds to a key; empty for none."""
    bound = widget._bindings.key_to_bindings.get(key, ())
    return bound[0].action if bound else ""
