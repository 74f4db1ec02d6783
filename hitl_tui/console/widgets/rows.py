"""Labelled rows that wrap under their own beginning."""

from __future__ import annotations

from collections.abc import Sequence

from textual.app import RenderResult
from textual.content import Content
from textual.geometry import Size
from textual.widget import Widget

from hitl_tui.console.asking import Row, layout


class Rows(Widget):
    """Shows rows; it is as high as they are.

    Args:
        rows: what is shown at first.
    """

    def __init__(self, rows: Sequence[Row] = (), id: str | None = None) -> None:
        super().__init__(id=id)
        self.rows = tuple(rows)
        self._laid: dict[int, Content] = {}

    def show(self, rows: Sequence[Row]) -> None:
        """Show other rows."""
        self.rows = tuple(rows)
        self._laid = {}
        self.refresh(layout=True)

    def _layout(self, width: int) -> Content:
        """Return the rows laid out; each width once, for a long text takes a tenth of a second."""
        if width not in self._laid:
            self._laid = {width: layout(self.rows, width)}
        return self._laid[width]

    @property
    def needed(self) -> int:
        """How many lines the rows take at the width they have now; what is laid out may still be older ones."""
        return self._layout(max(1, self.size.width)).plain.count("\n") + 1

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        return self._layout(width).plain.count("\n") + 1

    def render(self) -> RenderResult:
        return self._layout(max(1, self.size.width))
