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
    """A new place for rows.

    Args:
        ids: what moves, in order.
        where: `before` or `after`.
        anchor: next to what.
    """

    ids: tuple[str, ...]
    where: str
    anchor: str


@dataclass(frozen=True, slots=True)
class RowDrag:
    """A button is held down on a row.

    Args:
        todo_id: the row's id.
        ids: of the rows that go with it, itself among them, in order.
        y: line under the pointer, counted from the top of what is seen; it may lie outside.
        inside: the pointer is over the rows' pane.
        over: id of the row under the pointer; empty for none.
        begun: the pointer has left the row, so that it isn't a click any more.
    """

    todo_id: str
    ids: tuple[str, ...]
    y: int
    inside: bool = True
    over: str = ""
    begun: bool = False

    def moved(self, y: int, *, inside: bool) -> RowDrag:
        """Return it with the pointer elsewhere."""
        return replace(self, y=y, inside=inside)

    def above(self, ids: Sequence[str], first: int) -> RowDrag:
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
        going = tuple(i for i in self.ids if i in ids)
        if not self.begun or not self.over or self.over in going or self.todo_id not in going:
            return None
        where = "after" if ids.index(self.over) > ids.index(self.todo_id) else "before"
        return Drop(going, where, self.over)

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


def with_place(
    strip: Strip, ids: Sequence[str], row: int, drag: RowDrag, drop: Drop | None, style: Style, *, top: bool
) -> Strip:
    """Return a line with the signs of a drag: what moves, where to, and a line across at that place.

    Args:
        strip: the line.
        ids: of all rows, in order.
        row: which of them it is.
        drag: what is dragged.
        drop: what letting go now does.
        style: of the signs.
        top: nothing is seen above it, so that a line above it has to be its own.
    """
    if ids[row] in drag.ids:
        return with_sign(strip, DRAGGED, style)
    if drop is None:
        return strip
    if ids[row] == drop.anchor:
        strip = with_sign(strip, AFTER if drop.where == "after" else BEFORE, style)
    below = ids.index(drop.anchor) + (drop.where == "after")
    if row == below - 1:
        return _styled(strip, Style(underline=True))
    return _styled(strip, Style(overline=True)) if row == below and top else strip


def _styled(strip: Strip, style: Style) -> Strip:
    return Strip(Segment.apply_style(strip, post_style=style), strip.cell_length)
