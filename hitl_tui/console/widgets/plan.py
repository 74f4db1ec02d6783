"""The plan: one line a TODO, with its status in a glyph and a word."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from rich.text import Text
from textual.binding import BindingType
from textual.content import Content
from textual.events import Key, Paste, Resize
from textual.message import Message
from textual.widgets import DataTable

from hitl_tui.console import keys
from hitl_tui.console.keymap import Keymap
from hitl_tui.console.themes import rich_colour
from hitl_tui.console.widgets.finding import Finding, lowered
from hitl_tui.console.words import PlanRow
from hitl_tui.core.safe_text import one_line
from hitl_tui.language import _

_WIDTHS = {"status": 10, "number": 3, "team": 8, "needs": 9, "attempts": 3, "time": 8}
_COLUMNS = ("status", "number", "team", "title", "needs", "attempts", "time")
_PADDING = 2
_NARROWEST_TITLE = 24
# What goes first where there is no room: the time column says what a step waits for, when it has no time yet.
_DISPENSABLE = ("needs", "team", "attempts")


def fitting(width: int, rows: Sequence[PlanRow]) -> dict[str, int]:
    """Return the columns that find room in a width in cells, with their widths; the title takes what is left."""
    empty = {
        "needs": not any(r.needs for r in rows),
        "attempts": not any(r.attempts for r in rows),
        "time": not any(r.time or r.needs for r in rows),
    }
    shown = [name for name in _COLUMNS if not empty.get(name)]
    for name in _DISPENSABLE:
        if _title_room(width, shown) < _NARROWEST_TITLE and name in shown:
            shown.remove(name)
    return {name: _WIDTHS.get(name, max(4, _title_room(width, shown))) for name in shown}


def _title_room(width: int, shown: Sequence[str]) -> int:
    return width - sum(_WIDTHS.get(name, 0) for name in shown) - len(shown) * _PADDING - 1


class PlanTable(DataTable[Text]):
    """All TODOs in plan order, or those that have certain words."""

    BINDINGS: ClassVar[list[BindingType]] = [*keys.bindings(keys.PLAN)]

    class Wanted(Message):
        """Something shall happen to a TODO: `undo`, `cancel`, `filter` or `leave`."""

        def __init__(self, what: str, todo_id: str) -> None:
            super().__init__()
            self.what = what
            self.todo_id = todo_id

    def __init__(self, id: str | None = None) -> None:
        super().__init__(id=id, cursor_type="row", show_header=False, zebra_stripes=False)
        self._all: list[PlanRow] = []
        self._rows: list[PlanRow] = []
        self._widths: dict[str, int] = {}
        self.finding = Finding()

    def on_mount(self) -> None:
        self._fit()

    def on_resize(self, event: Resize) -> None:
        self._fit()

    def _fit(self) -> bool:
        """Lay the columns out for the width there is; return whether that filled the table anew."""
        widths = fitting(self.size.width or 80, self._all)
        if widths == self._widths:
            return False
        here, self._widths = self.selected, widths
        self.clear(columns=True)
        for name, width in widths.items():
            self.add_column("", key=name, width=width)
        self._fill(here)
        return True

    @property
    def selected(self) -> str:
        """Id of the TODO at the cursor; empty when there is none."""
        return self._rows[self.cursor_row].todo_id if 0 <= self.cursor_row < len(self._rows) else ""

    def update_rows(self, rows: Sequence[PlanRow]) -> None:
        """Show these lines; the cursor stays on its TODO."""
        self._all = list(rows)
        here, shown = self.selected, self._found()
        same = [r.todo_id for r in shown] == [r.todo_id for r in self._rows]
        old, self._rows = self._rows, shown
        if self._fit():
            return
        if not same:
            self._fill(here)
            return
        for before, now in zip(old, shown, strict=True):
            if before != now:
                for key, cell in self._cells(now).items():
                    self.update_cell(now.todo_id, key, cell)

    def _found(self) -> list[PlanRow]:
        needle = self.finding.needle
        return [r for r in self._all if not needle or needle in lowered(_words(r))]

    def _fill(self, here: str = "") -> None:
        here = here or self.selected
        self.clear()
        for row in self._rows:
            self.add_row(*self._cells(row).values(), key=row.todo_id)
        place = next((i for i, r in enumerate(self._rows) if r.todo_id == here), 0)
        if self._rows:
            self.move_cursor(row=place, animate=False)

    def _cells(self, row: PlanRow) -> dict[str, Text]:
        time = row.time if row.time or "needs" in self._widths else row.needs
        texts = {
            "status": f"{row.glyph} {row.word}",
            "number": row.number,
            "team": row.team,
            "title": row.title,
            "needs": row.needs,
            "attempts": row.attempts,
            "time": time,
        }
        variables = self.app.theme_variables
        styles = {
            "status": rich_colour(variables.get(row.colour.removeprefix("$"), "")),
            "needs": "dim",
            "time": "" if row.time else "dim",
        }
        return {
            name: Text(one_line(texts[name], width), style=styles.get(name, "")) for name, width in self._widths.items()
        }

    # Looking for words -----------------------------------------------------------------------------------------

    def action_find(self) -> None:
        self.finding.begin()
        self._seek()

    def on_key(self, event: Key) -> None:
        keymap: Keymap = getattr(self.app, "keymap", None) or Keymap()
        if self.finding.key(event, keymap.at(keys.PLAN, event.key)):
            event.stop()
            event.prevent_default()
            self._seek()

    def on_paste(self, event: Paste) -> None:
        if self.finding.typing:
            event.stop()
            self.finding.paste(event.text)
            self._seek()

    def _seek(self) -> None:
        here = self.selected
        self._rows = self._found()
        self._fill(here)
        found = _("{n:,} of {total:,}").format(n=len(self._rows), total=len(self._all)) if self.finding.text else ""
        self.border_subtitle = self.finding.shown(found) if self.finding.active else Content("")

    def action_undo(self) -> None:
        self.post_message(self.Wanted("undo", self.selected))

    def action_cancel(self) -> None:
        self.post_message(self.Wanted("cancel", self.selected))

    def action_filter(self) -> None:
        self.post_message(self.Wanted("filter", self.selected))

    def action_leave(self) -> None:
        if self.finding.active:
            self.finding.forget()
            self._seek()
        else:
            self.post_message(self.Wanted("leave", ""))


def _words(row: PlanRow) -> str:
    return f"{row.word} {row.number} {row.todo_id} {row.team} {row.title}"
