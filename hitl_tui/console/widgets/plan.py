"""The plan: one line a TODO, with its status in a glyph and a word."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from rich.text import Text
from textual.binding import BindingType
from textual.events import Resize
from textual.message import Message
from textual.widgets import DataTable

from hitl_tui.console import keys
from hitl_tui.console.words import PlanRow
from hitl_tui.core.safe_text import one_line

_FIXED = {"status": 10, "number": 3, "team": 8, "time": 9}
_PADDING = 2


class PlanTable(DataTable[Text]):
    """All TODOs in plan order."""

    BINDINGS: ClassVar[list[BindingType]] = [*keys.bindings(keys.PLAN)]

    class Wanted(Message):
        """Something shall happen to a TODO: `undo`, `cancel`, `filter` or `leave`."""

        def __init__(self, what: str, todo_id: str) -> None:
            super().__init__()
            self.what = what
            self.todo_id = todo_id

    def __init__(self, id: str | None = None) -> None:
        super().__init__(id=id, cursor_type="row", show_header=False, zebra_stripes=False)
        self._rows: list[PlanRow] = []
        self._title_width = 0

    def on_mount(self) -> None:
        for key, width in _FIXED.items():
            if key == "time":
                self.add_column("", key="title", width=10)
            self.add_column("", key=key, width=width)
        self._fit()

    def on_resize(self, event: Resize) -> None:
        self._fit()

    def _fit(self) -> None:
        """Give the title all that the other columns leave."""
        columns = len(_FIXED) + 1
        taken = sum(_FIXED.values()) + columns * _PADDING
        width = max(8, self.size.width - taken - 1)
        if width != self._title_width and "title" in self.columns:
            self._title_width = width
            self.columns["title"].width = width  # type: ignore[index]
            self._fill()

    @property
    def selected(self) -> str:
        """Id of the TODO at the cursor; empty when there is none."""
        return self._rows[self.cursor_row].todo_id if 0 <= self.cursor_row < len(self._rows) else ""

    def update_rows(self, rows: Sequence[PlanRow]) -> None:
        """Show these lines; the cursor stays on its TODO."""
        if [r.todo_id for r in rows] != [r.todo_id for r in self._rows]:
            self._rows, here = list(rows), self.selected
            self._fill(here)
            return
        for number, (old, new) in enumerate(zip(self._rows, rows, strict=True)):
            if old != new:
                self._rows[number] = new
                for key, cell in self._cells(new).items():
                    self.update_cell(new.todo_id, key, cell)

    def _fill(self, here: str = "") -> None:
        here = here or self.selected
        self.clear()
        for row in self._rows:
            self.add_row(*self._cells(row).values(), key=row.todo_id)
        place = next((i for i, r in enumerate(self._rows) if r.todo_id == here), 0)
        if self._rows:
            self.move_cursor(row=place, animate=False)

    def _cells(self, row: PlanRow) -> dict[str, Text]:
        colour = self.app.theme_variables.get(row.colour.removeprefix("$"), "")
        style = colour if colour.startswith("#") else ""
        return {
            "status": Text(f"{row.glyph} {row.word}", style=style),
            "number": Text(one_line(row.number, _FIXED["number"])),
            "team": Text(one_line(row.team, _FIXED["team"])),
            "title": Text(one_line(row.title, self._title_width or 10)),
            "time": Text(one_line(row.time or row.needs, _FIXED["time"]), style="" if row.time else "dim"),
        }

    def action_undo(self) -> None:
        self.post_message(self.Wanted("undo", self.selected))

    def action_cancel(self) -> None:
        self.post_message(self.Wanted("cancel", self.selected))

    def action_filter(self) -> None:
        self.post_message(self.Wanted("filter", self.selected))

    def action_leave(self) -> None:
        self.post_message(self.Wanted("leave", ""))
