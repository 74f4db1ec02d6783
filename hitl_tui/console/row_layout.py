"""How rows of a label and text fill a width. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable

from textual.content import Content
from textual.content import Span as ContentSpan

from hitl_tui.core.safe_text import cell_width
from hitl_tui.wording.rows import BAR, HEADING, Row, StyledText

_LABEL = 9
_WIDEST_LABEL = 14
_ROOMY = 60
_LONGEST_LABEL = 40
"""Cells of a label up to which its text stands beside it; under a longer one, which is shown whole."""
MARKS = re.compile(f"^(?:{BAR}|{HEADING})", re.MULTILINE)
"""Finds lines that begin with one of these."""
NEAR = 0.7
"""Share of a line that is filled at least before a space breaks it."""
LONGEST_LINE = 10_000
"""Characters of a line up to which it is broken behind spaces; looking for them takes a while."""


def content_of(text: StyledText) -> Content:
    """Return text as Textual draws it."""
    return Content(text.plain, [ContentSpan(span.start, span.end, span.style) for span in text.spans])


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
        return 0 if row.text.plain.startswith((BAR, HEADING)) else max(8, width)
    indent = max(column, size) + 1
    return max(8, width - indent) if indent <= _longest_beside(column, width) + 1 else 0


def _longest_beside(column: int, width: int) -> int:
    return max(column, min(_LONGEST_LABEL, width // 2))


def _begun(row: Row, column: int) -> tuple[Content, Content, Content]:
    """Return what a row's first line begins with, what its others begin with, and its text without that."""
    text = content_of(row.text)
    if row.label:
        size = cell_width(row.label)
        indent = max(column, size) + 1
        return Content.styled(row.label + " " * (indent - size), "$text-muted"), Content(" " * indent), text
    if text.plain.startswith(BAR):
        bar = text[: len(BAR)]
        return bar, bar, text[len(BAR) :]
    if text.plain.startswith(HEADING):
        return text[: len(HEADING)], Content(" " * len(HEADING)), text[len(HEADING) :]
    return Content(""), Content(""), text


def _named(label: str, width: int) -> list[Content]:
    """Return a long label on lines of its own, only the first of which begins at the edge."""
    first, *others = _folded(Content.styled(label, "$text-muted"), max(8, width - 1))
    return [first, *(Content(" ") + part for part in others)]


def _broken(line: Content, width: int, exact: bool) -> list[Content]:
    """Return a line in parts of a width; one that is indented goes on as far from the edge as it begins."""
    if line.cell_length <= width:
        return [line]
    if exact:
        return _folded(line, width)
    indent = len(line) - len(line.plain.lstrip(" "))
    if not 0 < indent <= width // 2:
        return line.wrap(width, overflow="fold")
    return [line[:indent] + part for part in line[indent:].wrap(width - indent, overflow="fold")]


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
