"""How much room a terminal has: where all panes are seen at once, and where their frames go."""

from __future__ import annotations

from textual.geometry import Size
from textual.widget import Widget

_WIDE = Size(100, 30)
"""Columns and rows from which on all panes are seen at once."""
SHORT = 20
"""Below so many rows the panes lose their frames."""
_VAST = 160
"""Columns from which on the stream stands beside the plan and the history."""
_TALL = 48
"""From so many rows on a question may be higher."""

_PAGE, _EDGES = 112, 8
"""Cells of the longest line of the first screen, see its stylesheet, and of margins and scroll bars beside a line."""

_AROUND = 7
"""Rows of header, tabs, a pane's frame, the line of messages, the prompt and the keys."""
_PANE = 8
"""Steps of a plan that are seen at most beside a question that needs the room, where one pane is seen at a time."""
_USUAL = 9
"""Rows of a question as the stylesheet has it, which knows how many of them its actions take."""
_USUAL_WIDE, _USUAL_TALL = 14, 22
"""The same where all panes are seen at once."""
_FRAME = 2
"""Rows of a pane's frame."""
_STEPS = 5
"""Steps of a plan that are seen at least where all panes are."""
FEW = 3
"""Lines of a stream that hasn't begun, or of an answer that isn't there: they get no more rows than that."""
_LAST = 6
"""Lines of a stream that are seen at least once it has begun, whatever a question needs."""
_HISTORY = 6
"""Moments of the past that are seen where there is room, however short the plan is."""


def is_wide(size: Size) -> bool:
    """Return whether everything is seen at once in a terminal of this size, in cells."""
    return size.width >= _WIDE.width and size.height >= _WIDE.height


def page(size: Size) -> int:
    """Return how many cells a line of the first screen has in a terminal of this size: a longer one is hard to read."""
    return min(size.width - _EDGES, _PAGE)


def above(size: Size) -> int:
    """Return how many rows the first screen leaves empty above what it says, in a terminal of this size."""
    return 1 + max(0, size.height - _WIDE.height) // 3


def question_room(size: Size, steps: int, *, plan: bool = True) -> int:
    """Return how many rows a question may take, its frame and actions included; 0 for the usual.

    Where one pane is seen at a time a plan keeps its steps, and any other pane gives way to a few lines; where all are
    seen, each keeps some rows.

    Args:
        size: the terminal, in cells.
        steps: rows of the plan.
        plan: it is the pane that is seen, where there is one at a time.
    """
    if size.height < SHORT:
        return 0
    if is_wide(size):
        rows = size.height - _AROUND - (min(max(steps, FEW), _STEPS) + _FRAME + 1 + _LAST + _FRAME)
        return rows if rows > (_USUAL_TALL if size.height >= _TALL else _USUAL_WIDE) else 0
    rows = size.height - _AROUND - (min(max(steps, 1), _PANE) if plan else FEW)
    return rows if rows > _USUAL else 0


def upper_rows(rows: int, steps: int, lines: int) -> int:
    """Return how many rows plan and history get, of those that they share with the stream or the answer below them.

    Args:
        rows: what there is for both.
        steps: rows of the plan.
        lines: what the lower one has to show.
    """
    wanted = max(steps, _HISTORY) + _FRAME
    if lines <= FEW:
        return max(rows - FEW - _FRAME, min(wanted, rows // 2))
    least = min(max(steps, FEW), _STEPS) + _FRAME
    return max(min(wanted, rows * 2 // 5), min(least, rows - _LAST - _FRAME), 1)


def plan_rows(rows: int, steps: int) -> int:
    """Return how many rows the plan gets, of those that it shares with the history below it."""
    return max(1, min(max(steps, _HISTORY) + _FRAME, rows * 3 // 5))


def fold(screen: Widget, *, whole: bool = False) -> None:
    """Give a screen the classes that its stylesheet folds it by: `-wide`, `-vast`, `-short` and `-tall`.

    Args:
        screen: the screen.
        whole: one pane has all the room, in a terminal of any size.
    """
    size = screen.app.size
    wide = is_wide(size) and not whole
    screen.set_class(wide, "-wide")
    screen.set_class(wide and size.width >= _VAST, "-vast")
    screen.set_class(size.height < SHORT, "-short")
    screen.set_class(size.height >= _TALL, "-tall")
