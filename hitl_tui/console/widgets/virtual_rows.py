"""Rows that wrap under their own beginning; only the lines that are seen are made."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import accumulate
from typing import NamedTuple, overload

from rich.cells import get_character_cell_size
from textual.app import RenderResult
from textual.containers import VerticalScroll
from textual.content import Content
from textual.geometry import Size
from textual.strip import Strip
from textual.style import Style
from textual.visual import Visual
from textual.widget import Widget

from hitl_tui.console.row_layout import LONGEST_LINE, MARKS, NEAR, column_of, layout_lines, lines_of, room_beside
from hitl_tui.wording.rows import Row

NARROWEST = 24
"""Cells from which on every line of a row fits the width."""

_LOW = 8
"""Rows up to which a page is all of them: to repeat one of six costs a key in five."""


class _Part(NamedTuple):
    """A line of a row's text, from `begin` to `end`, with the cells there are for it (0: the row is laid out whole)."""

    row: Row
    begin: int
    end: int
    room: int


class VirtualRows(Sequence[Content]):
    """The lines that `layout_lines` gives, made when they are asked for: a plan may have ten thousand steps.

    Args:
        rows: what is laid out.
        width: in cells, at least `NARROWEST`.
    """

    def __init__(self, rows: Sequence[Row], width: int) -> None:
        self._width = width
        self._column = column_of(rows, width)
        self._made: dict[int, list[Content]] = {}
        self._parts: list[_Part] = []
        counts: list[int] = []
        for row in rows:
            for part, text in self._parted(row):
                self._parts.append(part)
                found = counted(text, part.room, exact=row.exact) if part.room else 0
                counts.append(found or len(self._lines(len(counts))))
        self._ends = list(accumulate(counts))

    def _parted(self, row: Row) -> Iterator[tuple[_Part, str]]:
        """Split a row at its line breaks: a subject in JSON is one row with a hundred thousand of them."""
        text, room = row.text.plain, room_beside(row, self._column, self._width)
        if not room or "\n" not in text or MARKS.search(text):
            yield _Part(row, 0, len(text), room), text
            return
        begin = 0
        for line in text.split("\n"):
            yield _Part(row, begin, begin + len(line), room), line
            begin += len(line) + 1

    def _lines(self, place: int) -> list[Content]:
        made = self._made.get(place)
        if made is None:
            made = self._made[place] = self._laid(self._parts[place])
        return made

    def _laid(self, part: _Part) -> list[Content]:
        row = part.row
        if part.begin == 0 and part.end == len(row.text.plain):
            return lines_of(row, self._column, self._width)
        text = row.text[part.begin : part.end]
        if part.begin == 0:
            return lines_of(replace(row, text=text), self._column, self._width)
        indent = Content(" " * (self._width - part.room))
        return [indent + line for line in lines_of(Row("", text, row.exact), self._column, part.room)]

    def __len__(self) -> int:
        return self._ends[-1] if self._ends else 0

    @overload
    def __getitem__(self, index: int) -> Content: ...

    @overload
    def __getitem__(self, index: slice) -> list[Content]: ...

    def __getitem__(self, index: int | slice) -> Content | list[Content]:
        if isinstance(index, slice):
            return [self[i] for i in range(*index.indices(len(self)))]
        line = index + len(self) if index < 0 else index
        if not 0 <= line < len(self):
            raise IndexError(index)
        place = bisect_right(self._ends, line)
        return self._lines(place)[line - (self._ends[place - 1] if place else 0)]


def counted(text: str, width: int, *, exact: bool) -> int:
    """Return how many lines a text takes; 0 where only laying it out tells.

    Args:
        text: one line, safe.
        width: in cells.
        exact: it keeps every space where it is broken.
    """
    if not text.isprintable() or len(text) > LONGEST_LINE:
        return 0
    if text.isascii():
        if len(text) <= width:
            return 1
        return _folds(text, width) if exact else _wraps(text, width)
    sizes = list(map(get_character_cell_size, text))
    if 0 in sizes:
        return 0
    if sum(sizes) <= width:
        return 1
    if exact:
        return _wide_folds(text, sizes, width)
    return _wraps("".join((" " if c.isspace() else "x") * size for c, size in zip(text, sizes, strict=True)), width)


def _wraps(text: str, width: int) -> int:
    """Count the lines of a text that is broken between words; a character is a cell."""
    count, begin, end = 0, 0, len(text.rstrip(" "))
    if text[0] == " " or begin == end:
        return 0
    while end - begin > width:
        space = text.rfind(" ", begin, begin + width + 1)
        if space < 0:
            return 0  # a word longer than a line
        count, begin = count + 1, space + 1
        while text[begin] == " ":
            begin += 1
    return count + 1


def _folds(text: str, width: int) -> int:
    """Count the lines of a text that is broken behind a space near the edge; a character is a cell."""
    count, begin, end = 1, 0, len(text)
    while end - begin > width:
        behind = text.rfind(" ", begin, begin + width) + 1 - begin
        begin += behind if behind > width * NEAR else width
        count += 1
    return count


def _wide_folds(text: str, sizes: Sequence[int], width: int) -> int:
    """Count as `_folds` does where characters take one cell or two."""
    count, begin, left = 1, 0, sum(sizes)
    while left > width:
        fits, room = begin, width
        while sizes[fits] <= room:
            room -= sizes[fits]
            fits += 1
        behind = text.rfind(" ", begin, fits) + 1 - begin
        cut = behind if behind > (fits - begin) * NEAR else fits - begin
        left -= sum(sizes[begin : begin + cut])
        begin += cut
        count += 1
    return count


_WIDTHS_KEPT = 2
"""With and without a scrollbar: while a screen is laid out both are asked for."""


class Rows(Widget):
    """Shows rows; it is as high as they are. Only the lines that are seen are drawn: a plan may have thousands.

    Args:
        rows: what is shown at first.
    """

    def __init__(self, rows: Sequence[Row] = (), id: str | None = None) -> None:
        super().__init__(id=id)
        self.rows = tuple(rows)
        self._laid: dict[int, Sequence[Content]] = {}

    def show(self, rows: Sequence[Row]) -> None:
        """Show other rows."""
        self.rows = tuple(rows)
        self._laid = {}
        self.refresh(layout=True)

    def lay(self, width: int) -> Sequence[Content]:
        """Return the lines that the rows take at a width in cells."""
        return layout_lines(self.rows, width) if width < NARROWEST else VirtualRows(self.rows, width)

    def _lines(self, width: int) -> Sequence[Content]:
        """Return the rows laid out; each width once, for a long text takes a tenth of a second."""
        found = self._laid.pop(width, None)
        if found is None:
            found = self.lay(width)
            if not isinstance(found, VirtualRows):
                found = [part for line in found for part in _within(line, width)]
        self._laid[width] = found  # the newest comes last
        while len(self._laid) > _WIDTHS_KEPT:
            del self._laid[next(iter(self._laid))]
        return found

    @property
    def needed(self) -> int:
        """How many lines the rows take at the width they have now; what is laid out may still be older ones."""
        return max(1, len(self._lines(max(1, self.size.width))))

    @property
    def texts(self) -> list[str]:
        """The lines that the rows take at the width they have now."""
        return [line.plain for line in self._lines(max(1, self.size.width))]

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        return max(1, len(self._lines(width)))

    def render(self) -> RenderResult:
        return Content("\n").join(self._lines(max(1, self.size.width)))

    def render_line(self, y: int) -> Strip:
        width, style = self.size.width, self.visual_style
        lines = self._lines(max(1, width))
        if y >= len(lines):
            return Strip.blank(width, style.rich_style)
        line = lines[y]
        if (selection := self.text_selection) is not None and (span := selection.get_span(y)) is not None:
            start, end = span
            chosen = Style.from_styles(self.screen.get_component_styles("screen--selection"))
            line = line.stylize(chosen, start, len(line.plain) if end == -1 else end)
        strips = Visual.to_strips(self, line, width, 1, style, apply_selection=False)
        return strips[0].apply_offsets(0, y) if strips else Strip.blank(width, style.rich_style)


def _within(line: Content, width: int) -> list[Content]:
    return [line] if line.cell_length <= width else line.fold(width)


class Readable(VerticalScroll):
    """What has to be read; it scrolls, and has nothing beside its text."""

    @property
    def parts(self) -> Sequence[Widget]:
        """What the text is made of."""
        return self.children

    @property
    def laid_out(self) -> bool:
        """It has a place on the screen, and so has all that stands in it."""
        parts = self.parts
        return self.size.height > 0 and bool(parts) and all(part.size.width > 0 for part in parts)

    @property
    def at_end(self) -> bool:
        """The last line is within what is shown. Of rows that count as they are now: older ones may still be drawn."""
        below = self.scroll_offset.y + self.scrollable_content_region.height
        return below >= sum(part.needed if isinstance(part, Rows) else part.size.height for part in self.parts)

    def restart(self) -> None:
        """Go to the beginning at once."""
        self.scroll_home(animate=False, force=True, immediate=True)

    def line(self, by: int) -> None:
        """Scroll by so many lines."""
        self.scroll_relative(y=by, animate=False)

    def edge(self, last: bool) -> None:
        """Scroll to the last line, or to the first."""
        self.scroll_to(y=self.max_scroll_y if last else 0, animate=False)

    def page(self, by: int) -> None:
        """Scroll by so many pages, of which a line stays in sight where a page has many."""
        rows = self.size.height
        self.line(by * max(1, rows - 1 if rows > _LOW else rows))
