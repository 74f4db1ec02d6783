"""The lines of the plan: as many columns as there is room for, kept up to date cell by cell, or those with words.

It only draws: keys, clicks and what they ask for are in `plan_table.py`.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import ClassVar

from rich.segment import Segment
from rich.text import Text
from textual.binding import BindingType
from textual.events import Resize
from textual.strip import Strip
from textual.widgets import DataTable
from textual.widgets.data_table import ColumnKey

from hitl_tui.console import keys
from hitl_tui.console.themes import rich_colour
from hitl_tui.console.widgets.text_search import SearchInput, TextSearch
from hitl_tui.core.safe_text import cell_width, one_line
from hitl_tui.core.step_heads import without_head
from hitl_tui.core.text_comparison import lowered
from hitl_tui.terminal.textual_widgets import OneLineTable
from hitl_tui.wording.status_words import PlanRow

_WIDTHS = {"status": 10, "number": 3, "risk": 1, "priority": 2, "team": 8, "needs": 9, "attempts": 3, "time": 8}
"""The widest that a column gets; of the number the least, and of status and team what they always have."""
_COLUMNS = ("status", "number", "risk", "priority", "team", "title", "needs", "attempts", "time")
_PADDING = 2
_NARROWEST_TITLE = 24
"""What is left to a title that long whatever else has to go."""
_LONGEST_TITLE = 44
"""What is left to a title that long before anything else is shown beside it."""
_ROOMY_TITLE, _WIDEST_TITLE = 64, 100
"""Cells that titles take at most where none is longer, and whatever they are: what stands behind stays near them."""
_NARROWEST_TIME = 6
"""Room for less than a minute; a longer time makes the column wider once."""
# What goes first where there is no room: the time column says what a step waits for, when it has no time yet.
_DISPENSABLE = ("needs", "team", "attempts")
_WIDEST_NUMBER = 8


def fitting(width: int, rows: Sequence[PlanRow]) -> dict[str, int]:
    """Return the columns that find room in a width in cells, with their widths; the title takes what is left."""
    empty = {
        "risk": not any(r.risk for r in rows),
        "priority": not any(r.priority for r in rows),
        "needs": not any(r.needs for r in rows),
        "attempts": not any(r.attempts for r in rows),
        "time": not any(r.time or r.needs for r in rows),
    }
    shown = [name for name in _COLUMNS if not empty.get(name)]
    number = max((len(r.number) for r in rows), default=0)
    needs = _widest({r.needs for r in rows})
    widths = {
        **_WIDTHS,
        "number": max(_WIDTHS["number"], min(number, _WIDEST_NUMBER)),
        "needs": min(needs, _WIDTHS["needs"]),
    }
    wanted = _title_wanted(rows)
    least = {"needs": wanted}
    for name in _DISPENSABLE:
        if name in shown and _title_room(width, shown, widths) < least.get(name, min(wanted, _NARROWEST_TITLE)):
            shown.remove(name)
    time = _widest({r.time or ("" if "needs" in shown else r.needs) for r in rows})
    widths["time"] = _NARROWEST_TIME if time <= _NARROWEST_TIME else _WIDTHS["time"]
    if "priority" in shown:
        word = _widest({priority_words(r) for r in {(r.priority, r.level): r for r in rows}.values()})
        if _title_room(width, shown, {**widths, "priority": word}) >= wanted:
            widths["priority"] = word
        else:
            widths["priority"] = _widest({r.priority for r in rows})
    room = _title_room(width, shown, widths)
    title = room if room <= _ROOMY_TITLE else min(room, max(_ROOMY_TITLE, _title_wanted(rows, _WIDEST_TITLE)))
    return {name: widths.get(name, max(4, title)) for name in shown}


def priority_words(row: PlanRow) -> str:
    """Return a TODO's priority as a sign and a word; empty for medium."""
    return f"{row.priority:<2} {row.level}".rstrip()


def title_words(row: PlanRow, *, beside_team: bool) -> str:
    """Return a TODO's title, beside its team without what that says already.

    Args:
        row: the TODO's line.
        beside_team: its team's column is shown.
    """
    return without_head(row.title, f"{row.team}_team") if beside_team else row.title


def needs_words(needs: str, width: int) -> str:
    """Return what a TODO depends on in a width: `← 001 002`, `← 1 2`, or as many as fit: `← 1 2 +4`."""
    if cell_width(needs) <= width:
        return needs
    sign, *numbers = needs.split(" ")
    short = [n.lstrip("0") or n for n in numbers]
    for kept in range(len(short), 0, -1):
        more = [f"+{len(short) - kept}"] if kept < len(short) else []
        said = " ".join([sign, *short[:kept], *more])
        if cell_width(said) <= width:
            return said
    return needs


def _widest(texts: Collection[str]) -> int:
    return max((cell_width(text) for text in texts), default=0)


def _title_wanted(rows: Sequence[PlanRow], most: int = _LONGEST_TITLE) -> int:
    """Return how many cells titles should have: what the longest takes, at most so many."""
    found = 4
    for row in rows:
        if len(row.title) * 2 > found:  # else it is shorter whatever its characters
            found = max(found, cell_width(title_words(row, beside_team=True)))
        if found >= most:
            return most
    return found


def _title_room(width: int, shown: Sequence[str], widths: Mapping[str, int]) -> int:
    return width - sum(widths.get(name, 0) for name in shown) - len(shown) * _PADDING - 1


def shown_number(row: PlanRow, width: int) -> str:
    """Return a TODO's number as it stands in a column of so many cells."""
    plain = row.number.isascii() and row.number.isprintable() and len(row.number) <= width
    return row.number if plain else one_line(row.number, width)


_ABOVE = ("↑", "^")
"""What signs of a priority above medium begin with, also in ASCII."""
_SIGN = 2
"""Cells of the longest sign of a priority."""
_PATCHED = 20
"""So many rows come or go one by one; for more the table is filled anew."""


class Cell:
    """A cell of a line: its text is made when it is drawn, for a screen shows few of ten thousand lines.

    Args:
        row: the line.
        name: of the column.
        table: knows the widths and colours of the moment.
    """

    __slots__ = ("_name", "_row", "_table")

    def __init__(self, row: PlanRow, name: str, table: PlanList) -> None:
        self._row, self._name, self._table = row, name, table

    def __rich__(self) -> Text:
        return self._table.text_of(self._row, self._name)

    def __str__(self) -> str:
        """Return what it says, in words also where there is only room for a sign."""
        return priority_words(self._row) if self._name == "priority" else self.__rich__().plain


class PlanList(OneLineTable[Cell], SearchInput):
    """TODOs in plan order, one line each; the cursor stays on its TODO.

    Args:
        id: of the widget.
    """

    PART = keys.PLAN
    BINDINGS: ClassVar[list[BindingType]] = [*keys.bindings(keys.MOVE, keys.LIST)]

    def __init__(self, id: str | None = None) -> None:
        super().__init__(id=id, cursor_type="row", show_header=False, zebra_stripes=False)
        self._all: list[PlanRow] = []
        self._places: dict[str, int] = {}
        self._times: dict[str, str] = {}  # that went on since the cell was filled: drawn over it, row by row
        self._rows: list[PlanRow] = []
        self._widths: dict[str, int] = {}
        self._ids: list[str] = []
        self._followed, self._moved, self._height = "", False, 0
        self.finding = TextSearch()

    def on_mount(self) -> None:
        self._fit()
        self.app.theme_changed_signal.subscribe(self, lambda theme: self._drawn_anew())

    def on_resize(self, event: Resize) -> None:
        before, row, top = self._widths, self.cursor_row, int(self.scroll_y)
        seen = top <= row < top + self._height
        self._height = event.size.height
        if not self._fit() and self._widths != before:
            self.move_cursor(row=row, animate=False)
        if seen:  # what was in sight stays there in a lower pane
            self.call_after_refresh(lambda: self.move_cursor(row=self.cursor_row, animate=False))

    def _fit(self) -> bool:
        """Lay the columns out for the width there is; return whether that filled the table anew.

        Where the columns stay and only get other widths, the lines in sight are drawn anew, and that is all.
        """
        widths = fitting(self.size.width or 80, self._all)
        if widths == self._widths:
            return False
        here, before, self._widths, top = self.selected, self._widths, widths, int(self.scroll_y)
        if [*before] == [*widths]:
            for name, width in widths.items():
                self.columns[ColumnKey(name)].width = width
            self._drawn_anew()
            return False
        self.clear(columns=True)
        for name, width in widths.items():
            self.add_column("", key=name, width=width)
        self._fill(here, top)
        return True

    def _drawn_anew(self) -> None:
        """Draw every cell again: other widths, other colours."""
        for todo_id in [i for i in self._ids if i in self._times and i in self._places] if self._times else ():
            self.update_cell(todo_id, "time", Cell(self._all[self._places[todo_id]], "time", self))
        self._times.clear()
        self.redraw_cells()

    @property
    def steps(self) -> int:
        """How many TODOs the plan has, shown or not."""
        return len(self._all)

    def follow(self, todo_id: str, *, anew: bool = False) -> None:
        """Go to a TODO, unless a person moved the cursor.

        Args:
            todo_id: the one that is asked about.
            anew: what a person did with the cursor before doesn't count any more.
        """
        self._moved = self._moved and not anew
        if self._moved or todo_id not in self._ids:
            return
        self._followed = todo_id
        if todo_id != self.selected:
            self.move_cursor(row=self._ids.index(todo_id), animate=False)

    def on_data_table_row_highlighted(self, event: DataTable.RowHighlighted) -> None:
        self._moved = self._moved or (self.has_focus and event.row_key.value != self._followed)

    @property
    def selected(self) -> str:
        """Id of the TODO at the cursor; empty when there is none."""
        return self._rows[self.cursor_row].todo_id if 0 <= self.cursor_row < len(self._rows) else ""

    def update_rows(self, rows: Sequence[PlanRow]) -> None:
        """Show these lines; the cursor stays on its TODO."""
        self._all = list(rows)
        self._places = {r.todo_id: place for place, r in enumerate(self._all)}
        here, old = self.selected, {r.todo_id: r for r in self._rows}
        self._rows = self._found()
        ids = [r.todo_id for r in self._rows]
        same = ids == self._ids
        if self._fit():
            return
        if not same and not self._patch(old, here):
            self._fill(here, int(self.scroll_y))
            return
        for now in self._rows:
            self._redraw(old.get(now.todo_id, now), now)

    def reset(self) -> None:
        """Show nothing, and forget what was looked for and where the cursor was: another plan comes."""
        self.finding.forget()
        self._followed, self._moved = "", False
        self.update_rows([])

    def update_some(self, rows: Sequence[PlanRow]) -> None:
        """Show these lines in place of those of the same TODOs; whatever has no line yet is left out."""
        known = [r for r in rows if r.todo_id in self._places]
        fresh = {self._places[r.todo_id]: r for r in known if r != self._all[self._places[r.todo_id]]}
        room = self._widths.get("time", 0)
        if self.finding.needle or any(cell_width(r.time) > room for r in fresh.values()):
            self.update_rows([fresh.get(place, r) for place, r in enumerate(self._all)])
            return
        for place, now in fresh.items():
            before, self._all[place], self._rows[place] = self._all[place], now, now
            if before.time and replace(before, time=now.time) == now:
                self._times[now.todo_id] = now.time
                self.refresh_row(place)
            else:
                self._redraw(before, now)

    def _redraw(self, before: PlanRow, now: PlanRow) -> None:
        """Draw the cells of a line that changed; each that is touched means drawing the table anew."""
        if before is now or before == now:
            return
        for key, cell in self._cells(now).items():
            if self._said(now, key) != self._said(before, key):
                self.update_cell(now.todo_id, key, cell)
                if key == "time":
                    self._times.pop(now.todo_id, None)

    def _patch(self, old: Collection[str], here: str) -> bool:
        """Take out and put in single rows, and order them anew, with the view where it is.

        Returns:
            Whether that could be done; when not, nothing is changed.
        """
        places = {r.todo_id: place for place, r in enumerate(self._rows)}
        gone, fresh = [i for i in self._ids if i not in places], [r for r in self._rows if r.todo_id not in old]
        by_number = {shown_number(r, self._widths["number"]): place for place, r in enumerate(self._rows)}
        if not self._rows or len(gone) + len(fresh) > _PATCHED or len(by_number) < len(self._rows):
            return False
        row, top = self.cursor_row, int(self.scroll_y)
        seen = top <= row < top + self.scrollable_content_region.height
        for todo_id in gone:
            self.remove_row(todo_id)
        for added in fresh:
            self._times.pop(added.todo_id, None)
            self.add_row(*self._cells(added).values(), key=added.todo_id)
        self.sort("number", key=lambda cell: by_number[str(cell)])
        self._ids = [r.todo_id for r in self._rows]
        self.move_cursor(row=places.get(here, min(row, len(self._ids) - 1)), animate=False, scroll=seen)
        self.rearranged()
        return True

    def _found(self) -> list[PlanRow]:
        needle = self.finding.needle
        return [r for r in self._all if not needle or needle in lowered(_words(r))]

    def _fill(self, here: str = "", top: int | None = None) -> None:
        """Fill the table anew.

        Args:
            here: the TODO that the cursor stands on; empty for the one that it is on now.
            top: the row that stays the first in sight; None to go where the cursor is.
        """
        here, height = here or self.selected, self.scrollable_content_region.height
        seen = top is None or (here in self._ids and top <= self._ids.index(here) < top + height)
        self._times.clear()
        self.clear()
        if self._rows:  # row by row it would hold up every key
            cells = ((row.todo_id, list(self._cells(row).values())) for row in self._rows)
            self.fill(list(self._widths), cells)
        self._ids = [r.todo_id for r in self._rows]
        if self._rows:
            self.move_cursor(row=self._ids.index(here) if here in self._ids else 0, animate=False)
        if top:
            self.scroll_to(y=top, animate=False, immediate=True)  # in the next frame already
            if not seen:  # the cursor brings its row into sight once the table is measured
                self.call_after_refresh(self.scroll_to, y=top, animate=False, immediate=True)
        self.rearranged()

    def _cells(self, row: PlanRow) -> dict[str, Cell]:
        return {name: Cell(row, name, self) for name in self._widths}

    def text_of(self, row: PlanRow, name: str) -> Text:
        """Return what stands in a column of a line, with its colour."""
        text, colour = self._said(row, name)
        style = rich_colour(self.app.theme_variables.get(colour.removeprefix("$"), "")) if colour[:1] == "$" else colour
        return Text(one_line(text, self._widths[name]), style=style)

    def _said(self, row: PlanRow, name: str) -> tuple[str, str]:
        """Return what a column says of a line, of whatever length, and a style or the variable of a colour."""
        match name:
            case "status":
                return f"{row.glyph} {row.word}", row.colour
            case "priority":
                said = priority_words(row) if self._widths.get("priority", 0) > _SIGN else row.priority
                return said, "bold" if row.priority[:1] in _ABOVE else "dim"
            case "risk":
                return row.risk, "$text-error"
            case "needs":
                return needs_words(row.needs, self._widths[name]), "dim"
            case "time":
                needs = "" if "needs" in self._widths else needs_words(row.needs, self._widths[name])
                return (row.time, "") if row.time else (needs, "dim")
            case "title":
                return title_words(row, beside_team="team" in self._widths), ""
        return str(getattr(row, name)), ""

    def rearranged(self) -> None:
        """Other rows stand where these stood."""

    def seek(self) -> None:
        """Show the lines that have the words."""
        here = self.selected
        self._rows = self._found()
        self._fill(here)

    def render_line(self, y: int) -> Strip:
        strip = super().render_line(y)
        row = y + int(self.scroll_y)
        if self._times and row < len(self._ids) and (time := self._times.get(self._ids[row])):
            return self._with_time(strip, time)
        return strip

    def _with_time(self, strip: Strip, time: str) -> Strip:
        before = [width for name, width in self._widths.items() if name != "time"][: list(self._widths).index("time")]
        at = sum(before) + (2 * len(before) + 1) * self.cell_padding - int(self.scroll_x)
        end = at + self._widths["time"]
        if at < 0 or end > strip.cell_length:
            return strip
        cell = strip.crop(at, end)
        style = next((segment.style for segment in cell), None)
        shown = Strip([Segment(time + " " * (end - at - cell_width(time)), style)], end - at)
        return Strip.join([strip.crop(0, at), shown, strip.crop(end, strip.cell_length)])


def _words(row: PlanRow) -> str:
    return f"{row.word} {row.number} {row.todo_id} {row.level} {row.team} {row.title}"
