"""A table in Markdown as it is shown: a rule under its head, columns as wide as what is in them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from textual.app import ComposeResult
from textual.content import Content
from textual.geometry import Size
from textual.widget import Widget

from hitl_tui.terminal.textual_widgets import ReadTable

_BETWEEN = 2
"""Cells between two columns."""
_NARROWEST = 4
"""A column that has to give room keeps so many cells."""
_FIGURE = re.compile(r"[+\-−]?\d[\d,]*(?:\.\d+)?\s?%?|–?")


def widths_of(columns: Sequence[Sequence[Content]], room: int) -> list[int]:
    """Return how wide columns are: as their widest cell, while there is room; the widest give it up first.

    Args:
        columns: their cells.
        room: cells for all of them, with what is between.
    """
    widths = [max(cell.cell_length for cell in column) for column in columns]
    left = max(room - _BETWEEN * (len(widths) - 1), _NARROWEST * len(widths))
    while sum(widths) > left:
        widest = max(widths)
        next_one = max((width for width in widths if width < widest), default=_NARROWEST)
        several = [n for n, width in enumerate(widths) if width == widest]
        # Down to the next one at once, or as far as is needed.
        give = min(widest - max(next_one, _NARROWEST), max(1, (sum(widths) - left) // len(several)))
        for n in several:
            if sum(widths) > left:
                widths[n] -= max(1, give)
    return widths


def drawn(headers: Sequence[Content], rows: Sequence[Sequence[Content]], room: int) -> Content:
    """Return a table as lines.

    Args:
        headers: of the columns.
        rows: as many cells each.
        room: cells in a line.
    """
    columns = [[head, *(row[n] for row in rows)] for n, head in enumerate(headers)]
    widths = widths_of(columns, room)
    right = [all(_FIGURE.fullmatch(cell.plain) for cell in column[1:]) for column in columns]
    rule = Content("─" * (sum(widths) + _BETWEEN * (len(widths) - 1))).stylize("$text-muted")
    lines = [*_lines([head.stylize("bold $text-primary") for head in headers], widths, right), rule]
    for row in rows:
        lines += _lines(row, widths, right)
    return Content("\n").join(lines)


def _lines(row: Sequence[Content], widths: Sequence[int], right: Sequence[bool]) -> Iterator[Content]:
    """Yield the lines of a row, what has no room in its column in further ones."""
    cells = [cell.wrap(width, overflow="fold") or [Content("")] for cell, width in zip(row, widths, strict=True)]
    for n in range(max(map(len, cells))):
        parts = []
        for lines, width, to_right in zip(cells, widths, right, strict=True):
            line = lines[n].rstrip() if n < len(lines) else Content("")
            missing = width - line.cell_length
            parts.append(line.pad_left(missing) if to_right else line.pad_right(missing))
        yield Content(" " * _BETWEEN).join(parts).rstrip()


class DrawnTable(Widget):
    """A table as it is drawn in the room that it gets.

    Args:
        headers: of the columns.
        rows: as many cells each.
    """

    DEFAULT_CSS = "DrawnTable { width: 1fr; height: auto; }"

    def __init__(self, headers: Sequence[Content], rows: Sequence[Sequence[Content]]) -> None:
        super().__init__()
        self._headers, self._rows = headers, rows

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        return drawn(self._headers, self._rows, width).plain.count("\n") + 1

    def render(self) -> Content:
        return drawn(self._headers, self._rows, self.size.width)


class TableBlock(ReadTable):
    """A table within Markdown."""

    def compose(self) -> ComposeResult:
        headers, rows = self.cells()
        blank = Content("")
        yield DrawnTable(headers, [[*row, *[blank] * len(headers)][: len(headers)] for row in rows])
