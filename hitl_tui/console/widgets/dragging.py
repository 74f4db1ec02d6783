"""Rows dragged by the mouse: what would happen if it were let go now. By ids, for rows come and go meanwhile. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from rich.segment import Segment
from rich.style import Style
from textual.strip import Strip

DRAGGED, BEFORE, AFTER, MARKED = "»", "▲", "▼", "◆"


@dataclass(frozen=True, slots=True)
class Drop:
    """A new place for a row.

    Args:
        todo_id: what moves.
        where: `before` or `after`.
        anchor: next to what.
    """

    todo_id: str
    where: str
    anchor: str


@dataclass(frozen=True, slots=True)
class Drag:
    """A button is held down on a row.

    Args:
        todo_id: the row's id.
        y: line under the pointer, counted from the top of what is seen; it may lie outside.
        inside: the pointer is over the rows' pane.
        over: id of the row under the pointer; empty for none.
        begun: the pointer has left the row, so that it isn't a click any more.
    """

    todo_id: str
    y: int
    inside: bool = True
    over: str = ""
    begun: bool = False

    def moved(self, y: int, *, inside: bool) -> Drag:
        """Return it with the pointer elsewhere."""
        return replace(self, y=y, inside=inside)

    def above(self, ids: Sequence[str], first: int) -> Drag:
        """Return it with the row that lies under the pointer now.

        Args:
            ids: of all rows, in order.
            first: index of the row at the top of what is seen.
        """
        row = min(first + self.y, len(ids) - 1)
        over = ids[row] if self.inside and row >= 0 else ""
        return replace(self, over=over, begun=self.begun or over != self.todo_id)

    def drop(self, ids: Sequence[str]) -> Drop | None:
        """Return what letting go now does; None for nothing."""
        if not self.begun or not self.over or self.over == self.todo_id or self.todo_id not in ids:
            return None
        where = "after" if ids.index(self.over) > ids.index(self.todo_id) else "before"
        return Drop(self.todo_id, where, self.over)

    def scroll(self, height: int) -> int:
        """Return by how many rows to scroll: at the edges one, beyond them the more the further."""
        if self.begun and self.y <= 0:
            return self.y - 1
        if self.begun and self.y >= height - 1:
            return self.y - height + 2
        return 0


def with_sign(strip: Strip, sign: str, style: Style) -> Strip:
    """Return a line with a sign in its first cell."""
    rest = strip.crop(1)
    first = next((segment.style for segment in strip if segment.style is not None), Style())
    return Strip([Segment(sign, first + style), *rest], strip.cell_length)
