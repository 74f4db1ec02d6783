"""Rows of a label and safe text, and how they fill a width. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from textual.content import Content

from hitl_tui.core.safe_text import cell_width, safe_text

_LABEL = 9
_WIDEST_LABEL = 14
_ROOMY = 60
_BAR = "  │ "
"""What text that is quoted begins with, in each line that it takes."""
_HEADING = "── "
"""What a heading begins with; it goes on behind that."""
_LONGEST_LABEL = 40
"""Cells of a label up to which its text stands beside it; under a longer one, which is shown whole."""
MARKS = re.compile(f"^(?:{_BAR}|{_HEADING})", re.MULTILINE)
"""Finds lines that begin with one of these."""
NEAR = 0.7
"""Share of a line that is filled at least before a space breaks it."""
LONGEST_LINE = 10_000
"""Characters of a line up to which it is broken behind spaces; looking for them takes a while."""


@dataclass(frozen=True, slots=True)
class Row:
    """One line of what is shown: a label (empty for text that stands alone) and safe text.

    `exact` text keeps every space where it is broken; other text loses those at the end of a line. A viewer renders
    what is `markdown`.
    """

    label: str
    text: Content
    exact: bool = False
    markdown: bool = False


def text_row(text: str, style: str = "") -> Row:
    """Return a line without a label; `text` has to be safe."""
    return Row("", Content.styled(text, style))


def quoted_row(text: str, style: str = "") -> Row:
    """Return what somebody says, with a bar before each line: no line of it can pass for a row of ours.

    Args:
        text: safe, of any number of lines.
        style: of it.
    """
    return Row("", Content.assemble((_BAR, "$text-muted"), (text, style)), exact=True)


def markdown_row(text: str) -> Row:
    """Return a text that is rendered where there is room for that; it has to be safe."""
    return Row("", Content(text), markdown=True)


def labelled(label: str, text: str, style: str = "", *, exact: bool = False) -> Row:
    """Return a line with a label; both have to be safe."""
    return Row(label, Content.styled(text, style), exact)


def in_line(text: str) -> str:
    """Return somebody's text as one safe line of whatever length."""
    return safe_text(text, multiline=False)


def layout(rows: Iterable[Row], width: int) -> Content:
    """Return rows as text of a width in cells: what is too long goes on under its own beginning."""
    return Content("\n").join(layout_lines(rows, width))


def layout_lines(rows: Iterable[Row], width: int) -> list[Content]:
    """Return rows as `layout` does, line by line."""
    rows = list(rows)
    column = column_of(rows, width)
    return [line for row in rows for line in lines_of(row, column, width)]


def column_of(rows: Iterable[Row], width: int) -> int:
    """Return how many cells the labels of these rows have, behind which their text begins."""
    widest = _WIDEST_LABEL if width >= _ROOMY else _LABEL
    return min(widest, max([_LABEL, *(cell_width(r.label) for r in rows)]))


def lines_of(row: Row, column: int, width: int) -> list[Content]:
    """Return the lines of one row.

    Args:
        row: the row.
        column: cells of the labels beside it, see `column_of`.
        width: in cells.
    """
    lines: list[Content] = []
    first, after, text = _begun(row, column)
    if row.label and first.cell_length > _longest_beside(column, width) + 1:
        lines += _named(row.label, width)
        first = after = Content(" " * (column + 1))
    room = max(8, width - first.cell_length)
    wrapped = [part for line in text.split("\n", allow_blank=True) for part in _broken(line, room, row.exact)]
    for number, part in enumerate(wrapped or [Content("")]):
        lines.append((after if number else first) + part)
    return lines


def room_beside(row: Row, column: int, width: int) -> int:
    """Return the cells for a row's text where it stands beside its label or alone, each line of it; else 0."""
    size = cell_width(row.label)
    if not size:
        return 0 if row.text.plain.startswith((_BAR, _HEADING)) else max(8, width)
    indent = max(column, size) + 1
    return max(8, width - indent) if indent <= _longest_beside(column, width) + 1 else 0


def _longest_beside(column: int, width: int) -> int:
    return max(column, min(_LONGEST_LABEL, width // 2))


def _begun(row: Row, column: int) -> tuple[Content, Content, Content]:
    """Return what a row's first line begins with, what its others begin with, and its text without that."""
    if row.label:
        size = cell_width(row.label)
        indent = max(column, size) + 1
        return Content.styled(row.label + " " * (indent - size), "$text-muted"), Content(" " * indent), row.text
    if row.text.plain.startswith(_BAR):
        bar = row.text[: len(_BAR)]
        return bar, bar, row.text[len(_BAR) :]
    if row.text.plain.startswith(_HEADING):
        return row.text[: len(_HEADING)], Content(" " * len(_HEADING)), row.text[len(_HEADING) :]
    return Content(""), Content(""), row.text


def _named(label: str, width: int) -> list[Content]:
    """Return a long label on lines of its own, only the first of which begins at the edge."""
    first, *others = _folded(Content.styled(label, "$text-muted"), max(8, width - 1))
    return [first, *(Content(" ") + part for part in others)]


def _broken(line: Content, width: int, exact: bool) -> list[Content]:
    if line.cell_length <= width:
        return [line]
    return _folded(line, width) if exact else line.wrap(width, overflow="fold")


def _folded(line: Content, width: int) -> list[Content]:
    """Return a line in parts that hold all of it: broken behind a space where there is one near the edge."""
    if len(line) > LONGEST_LINE:
        return line.fold(width)
    parts, begin, end = [], 0, len(line)
    while end - begin > width or line[begin:].cell_length > width:
        fits = line[begin : begin + width].fold(width)[0].plain
        behind = fits.rfind(" ") + 1
        cut = behind if behind > len(fits) * NEAR else len(fits)
        parts.append(line[begin : begin + cut])
        begin += cut
    return [*parts, line[begin:]]
