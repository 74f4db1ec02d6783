"""Labelled rows that wrap under their own beginning."""

from __future__ import annotations

from collections.abc import Sequence

from textual.app import RenderResult
from textual.content import Content
from textual.geometry import Size
from textual.strip import Strip
from textual.style import Style
from textual.visual import Visual
from textual.widget import Widget

from hitl_tui.console.laid import NARROWEST, Laid
from hitl_tui.console.row_layout import layout_lines
from hitl_tui.wording.rows import Row

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
        return layout_lines(self.rows, width) if width < NARROWEST else Laid(self.rows, width)

    def _lines(self, width: int) -> Sequence[Content]:
        """Return the rows laid out; each width once, for a long text takes a tenth of a second."""
        found = self._laid.pop(width, None)
        if found is None:
            found = self.lay(width)
            if not isinstance(found, Laid):
                found = [part for line in found for part in _within(line, width)]
        self._laid[width] = found  # the newest comes last
        while len(self._laid) > _WIDTHS_KEPT:
            del self._laid[next(iter(self._laid))]
        return found

    @property
    def needed(self) -> int:
        """How many lines the rows take at the width they have now; what is laid out may still be older ones."""
        return max(1, len(self._lines(max(1, self.size.width))))

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
