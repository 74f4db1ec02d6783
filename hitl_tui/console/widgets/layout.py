"""How much room a terminal has: where all panes are seen at once, and who gets which rows."""

from __future__ import annotations

from enum import Enum
from typing import NamedTuple

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

_LEAST = 5
"""Rows of a question with its frame, a line, and two rows of actions: neither a message nor a draft takes them."""
_LOW = 6
"""Rows that a question keeps whatever the panes have to show."""
_PANE = 8
"""Steps of a plan that are seen at most beside a question that needs the room, where one pane is seen at a time."""
_USUAL, _USUAL_SHORT = 9, 7
"""Rows that a question takes where little is left to the panes, one of which is seen or all in a row."""
_USUAL_WIDE, _USUAL_TALL = 14, 22
"""The same where all panes are seen, above and beneath each other."""
_FRAME = 2
"""Rows of a pane's frame."""
_TABS = 1
_STEPS = 5
"""Steps of a plan that are seen at least where all panes are."""
FEW = 3
"""Lines of a stream that hasn't begun, or of an answer that isn't there: they get no more rows than that."""
_LAST = 6
"""Lines of a stream that a question leaves to it that needs more rows than usual."""
_HISTORY = 6
"""Moments of the past that are seen where there is room, however short the plan is."""


class Places(Enum):
    """Where the panes stand."""

    ONE = "one at a time"
    ROW = "all in a row"
    BELOW = "plan and history above stream or answer"
    BESIDE = "plan above history, and beside them stream or answer"


def places(size: Size) -> Places:
    """Return where the panes stand in a terminal of this size, in cells."""
    if is_wide(size):
        return Places.BESIDE if size.width >= _VAST else Places.BELOW
    return Places.ROW if size.width >= _VAST and size.height >= SHORT else Places.ONE


class ScreenRows(NamedTuple):
    """Rows of what stands between header and keys."""

    panes: int
    question: int
    message: int
    prompt: int


class Shown(NamedTuple):
    """What is to be seen of a session.

    Args:
        steps: rows of the plan.
        plan: it is the pane that is seen, where there is one at a time.
        looking: somebody looks at a pane, so that a question takes no more of it than it usually does.
    """

    steps: int = 0
    plan: bool = True
    looking: bool = False


def is_wide(size: Size) -> bool:
    """Return whether everything is seen at once in a terminal of this size, in cells."""
    return size.width >= _WIDE.width and size.height >= _WIDE.height


def page(size: Size) -> int:
    """Return how many cells a line of the first screen has in a terminal of this size: a longer one is hard to read."""
    return min(size.width - _EDGES, _PAGE)


def above(size: Size) -> int:
    """Return how many rows the first screen leaves empty above what it says, in a terminal of this size."""
    return 1 + max(0, size.height - _WIDE.height) // 3


def divided(room: int, wanted: ScreenRows, size: Size, shown: Shown, frame: int = 0) -> ScreenRows:
    """Return who gets which of the rows between header and keys; together they are never more than there are.

    A draft grows until the question would lose its actions or its last line, and the prompt keeps a line. Further lines
    of a message come from the panes alone: a question that they made lower would have to be read to its end again.

    Args:
        room: rows that there are.
        wanted: what each would take; of the panes it doesn't count.
        size: the terminal, in cells.
        shown: what the panes have to show.
        frame: rows of the prompt's frame.
    """
    least = min(wanted.question, _LEAST)
    prompt = min(room, max(1 + frame, min(wanted.prompt, room - 1 - least)))
    line = max(0, min(wanted.message, 1, room - prompt - least))
    rest = room - prompt - line
    question = min(wanted.question, question_room(rest, size, shown))
    more = max(0, min(wanted.message - line, rest - question))
    return ScreenRows(rest - question - more, question, line + more, prompt)


def question_room(rows: int, size: Size, shown: Shown) -> int:
    """Return how many rows a question may take of those that it shares with the panes, its frame and actions included.

    What a plan of a few steps and the last lines of the stream leave is the question's. Where that is little, it takes
    what it usually does, as long as each pane that is seen keeps something.

    Args:
        rows: what there is for both.
        size: the terminal, in cells.
        shown: what the panes have to show.
    """
    frame = _FRAME if size.height >= SHORT else 0
    usual = _USUAL if frame else _USUAL_SHORT
    upper, one = min(max(shown.steps, FEW), _STEPS) + frame, min(max(shown.steps, 1), _PANE)
    match places(size):
        case Places.ONE:
            enough, least = _TABS + frame + (one if shown.plan else FEW), _TABS + frame + 1
        case Places.ROW:
            enough, least = frame + max(one, _TABS + FEW), frame + _TABS + 1
        case Places.BELOW:
            usual = _USUAL_TALL if size.height >= _TALL else _USUAL_WIDE
            enough, least = (upper + _TABS + frame + lines for lines in (_LAST, FEW))
        case Places.BESIDE:
            usual = _USUAL_TALL if size.height >= _TALL else _USUAL_WIDE
            enough, least = (upper + frame + moments for moments in (_HISTORY, FEW))
    found = min(usual, max(rows - least, _LOW))
    return min(rows, found if shown.looking else max(found, rows - enough))


def upper_rows(rows: int, steps: int, lines: int) -> int:
    """Return how many rows plan and history get, of those that they share with the stream or the answer below them.

    Args:
        rows: what there is for both.
        steps: rows of the plan.
        lines: what the lower one has to show.
    """
    wanted, least = max(steps, _HISTORY) + _FRAME, min(max(steps, FEW), _STEPS) + _FRAME
    if lines <= FEW:
        return max(rows - FEW - _FRAME, min(wanted, rows // 2), min(least, rows - 1 - _FRAME), 1)
    spare = rows - lines_room(lines) - _FRAME
    return max(min(wanted, rows * 2 // 5), min(least, rows - FEW - _FRAME), min(steps + _FRAME, spare), 1)


def lines_room(lines: int) -> int:
    """Return for how many lines there is room where some are: it doubles, so that few of them that come move a pane."""
    room = FEW
    while room < lines:
        room *= 2
    return room


def plan_rows(rows: int, steps: int) -> int:
    """Return how many rows the plan gets, of those that it shares with the history below it."""
    return max(1, min(max(steps, _HISTORY) + _FRAME, rows * 3 // 5))


def fold(screen: Widget, *, whole: bool = False, row: bool = False) -> None:
    """Give a screen the classes that its stylesheet folds it by: `-wide`, `-vast`, `-flat` and `-short`.

    Args:
        screen: the screen.
        whole: one pane has all the room, in a terminal of any size.
        row: where there are too few rows for more, all panes stand in a row if there are the columns for it.
    """
    size = screen.app.size
    stand = places(size) if not whole else Places.ONE
    flat = row and stand is Places.ROW
    screen.set_class(flat or stand in (Places.BELOW, Places.BESIDE), "-wide")
    screen.set_class(stand is Places.BESIDE, "-vast")
    screen.set_class(flat, "-flat")
    screen.set_class(size.height < SHORT, "-short")
