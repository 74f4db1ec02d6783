"""Rows of a label and safe text, and how they fill a width. Pure."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from textual.content import Content

from hitl_tui.core.safe_text import cell_width, safe_text

_LABEL = 9
_WIDEST_LABEL = 14
_ROOMY = 60
_NEAR = 0.7
"""Share of a line that is filled at least before a space breaks it."""
_LONGEST_LINE = 10_000
"""Characters of a line up to which it is broken behind spaces; looking for them takes a while."""


@dataclass(frozen=True, slots=True)
class Row:
    """One line of what is shown: a label (empty for text that stands alone) and safe text.

    `exact` text keeps every space where it is broken; other text loses those at the end of a line.
    """

    label: str
    text: Content
    exact: bool = False


def text_row(text: str, style: str = "") -> Row:
    """Return a line without a label; `text` has to be safe."""
    return Row("", Content.styled(text, style))


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
    lines: list[Content] = []
    rows = list(rows)
    widest = _WIDEST_LABEL if width >= _ROOMY else _LABEL
    column = min(widest, max([_LABEL, *(cell_width(r.label) for r in rows)]))
    for row in rows:
        size = cell_width(row.label)
        indent = max(column, size) + 1 if row.label else 0
        label = Content.styled(row.label + " " * (indent - size), "$text-muted")
        room = max(8, width - indent)
        wrapped = [part for line in row.text.split("\n", allow_blank=True) for part in _broken(line, room, row.exact)]
        for number, part in enumerate(wrapped or [Content("")]):
            lines.append((label if number == 0 else Content(" " * indent)) + part)
    return lines


def _broken(line: Content, width: int, exact: bool) -> list[Content]:
    if line.cell_length <= width:
        return [line]
    return _folded(line, width) if exact else line.wrap(width, overflow="fold")


def _folded(line: Content, width: int) -> list[Content]:
    """Return a line in parts that hold all of it: broken behind a space where there is one near the edge."""
    if len(line) > _LONGEST_LINE:
        return line.fold(width)
    parts, begin, end = [], 0, len(line)
    while end - begin > width or line[begin:].cell_length > width:
        fits = line[begin : begin + width].fold(width)[0].plain
        behind = fits.rfind(" ") + 1
        cut = behind if behind > len(fits) * _NEAR else len(fits)
        parts.append(line[begin : begin + cut])
        begin += cut
    return [*parts, line[begin:]]
