"""The history as a branch graph: checkpoints, newest first, with what was left behind by a restore."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from types import MappingProxyType
from typing import TYPE_CHECKING, ClassVar

from rich.text import Text
from textual.binding import BindingType
from textual.events import Resize
from textual.message import Message
from textual.widgets import DataTable

from hitl_tui.console import keys
from hitl_tui.console.history_cursor import HeadAncestry, HistoryCursor
from hitl_tui.core.safe_text import cell_width, one_line, safe_text
from hitl_tui.language import _, mark, translate
from hitl_tui.wording.status_words import history_said
from hitl_tui.wording.times import clock_words

if TYPE_CHECKING:
    from hitl_tui.threads.session_history import CheckpointInfo
    from hitl_tui.wording.history_rows import CheckpointCause

_NODE, _LONG_NODE = 13, 17
"""Cells of a node's name, and of the longest of ours where there is room."""
_STEPS_NODE = 28
_CLOCK, _MINUTES = 8, 5
_ROOMY = 56
_LANES = 5
"""Lines drawn beside each other; further ones are cut off."""
_SOME = 8
"""Cells that a part of what a decision was about takes at least; less of it says nothing."""
LEFT_BEHIND = mark("left behind")


@dataclass(frozen=True, slots=True)
class GraphRow:
    """One checkpoint's place in the graph.

    Args:
        drawn: the lines and the glyph, as `│ ├─○`.
        ours: the session's head came from it.
        tip: it is the newest of a branch that was left behind.
    """

    drawn: str
    ours: bool
    tip: bool = False


def branch_graph(
    checkpoints: Sequence[CheckpointInfo], head: str = "", turns: Sequence[tuple[str, str]] = ()
) -> list[GraphRow]:
    """Return the graph of some checkpoints.

    The line to the head is the first one; branches that were left behind stand beside it, dotted.

    Args:
        checkpoints: newest first, none left out between them.
        head: id of the session's newest checkpoint; empty when the first of these is it.
        turns: where the whole history turns (`History.turns`), for checkpoints that don't begin at the head; empty
            to take it from these.
    """
    if not checkpoints:
        return []
    first = head or checkpoints[0].checkpoint_id
    ancestry = HeadAncestry.of(first, turns or _turns(checkpoints))
    ours = [c.checkpoint_id for c in checkpoints if ancestry.has(c)]
    lanes: list[str | None] = [ours[0] if ours else None]
    return [_row(info, lanes, ancestry.has(info)) for info in checkpoints]


def _turns(checkpoints: Sequence[CheckpointInfo]) -> list[tuple[str, str]]:
    """Return where these turn, oldest first, as far as they show it."""
    pairs = pairwise(checkpoints)
    found = [(c.checkpoint_id, c.parent_id) for c, older in pairs if c.parent_id != older.checkpoint_id]
    return found[::-1]


def _row(info: CheckpointInfo, lanes: list[str | None], ours: bool) -> GraphRow:
    """Draw one checkpoint and let the lanes, each of which waits for a checkpoint, go on below it."""
    waiting = [k for k, awaited in enumerate(lanes) if awaited == info.checkpoint_id]
    tip = not waiting
    here = 0 if ours else waiting[0] if waiting else _free(lanes)
    cells = ["│" if k == 0 else "┊" if awaited else " " for k, awaited in enumerate(lanes)]
    if lanes[0] is None and not ours:
        cells[0] = " "
    between = [" "] * len(lanes)
    for k in waiting:
        if k > here:  # another branch that begins here ends on the right
            lanes[k] = None
            cells[k] = "╯"
            _join(cells, between, here, k)
    parent = info.parent_id or None
    left = next((k for k in range(here) if parent is not None and lanes[k] == parent), None)
    lanes[here] = parent if left is None else None
    if left is not None:
        cells[left] = "├"
        _join(cells, between, left, here)
    cells[here] = _glyph(info, ours, tip or left is not None or len(waiting) > 1)
    if cells[here] == "│" and len(waiting) > 1:
        cells[here] = "├"
    drawn = "".join(c + b for c, b in zip(cells[:_LANES], between[:_LANES], strict=False)).rstrip()
    while len(lanes) > 1 and lanes[-1] is None:
        lanes.pop()
    return GraphRow(drawn, ours, tip and not ours)


def _free(lanes: list[str | None]) -> int:
    """Return a lane beside the first that nothing runs in."""
    for k in range(1, len(lanes)):
        if lanes[k] is None:
            return k
    lanes.append(None)
    return len(lanes) - 1


def _join(cells: list[str], between: list[str], left: int, right: int) -> None:
    """Draw a line between two lanes, across those that lie between."""
    for k in range(left, right):
        between[k] = "─"
        if k > left:
            cells[k] = "┼" if cells[k] != " " else "─"


def _glyph(info: CheckpointInfo, ours: bool, end: bool) -> str:
    if info.source == "fork":
        return "◂"
    if not ours:
        return "○" if end or info.waiting or info.outcome else "┊"
    if info.waiting or info.outcome:
        return "●"
    return "○" if not info.parent_id else "│"


def said_of(info: CheckpointInfo, row: GraphRow, room: int, led: CheckpointCause | None = None) -> str:
    """Return what happened at a checkpoint, safe: whether it was left behind, who was asked, how much was done.

    It takes at most `room` cells; where it has too little, `2 done` becomes `✓2`, and what was left says that alone.

    Args:
        info: the checkpoint.
        row: its place in the graph.
        room: cells.
        led: what led to it: a change of the plan comes before what was asked, all else goes first where room is scarce.
    """
    words = " ".join(history_said(info).split())
    said = [f"({_(LEFT_BEHIND)})"] if row.tip else []
    count = info.todos_completed if not info.outcome else 0
    said += _parts(
        words, led, room - cell_width(" · ".join([*said, ""])) - (cell_width(f" · ✓{count}") if count else 0)
    )
    text = safe_text(" · ".join([*said, _("{count} done").format(count=count)] if count else said), multiline=False)
    if count and cell_width(text) > room:
        text = safe_text(" · ".join([*said, f"✓{count}"]), multiline=False)
    return one_line(said[0] if row.tip and cell_width(text) > room else text, room)


def _parts(words: str, led: CheckpointCause | None, room: int) -> list[str]:
    """Return what was asked and what led there, in as many words as there is room for; else only what goes first."""
    asked = [words] if words else []
    if led is None:
        return asked
    beside = room - cell_width(" · ".join([*asked, ""]))
    # What was asked by then is told again where it is asked.
    least = (*led.fuller, led.words)[0] if led.order else led.words
    alone = (led.order or led.by_hand) and cell_width(least) > beside
    said = _in_room(led, room if alone else beside)
    if alone or not asked:
        return [said or led.words]
    if not said:
        return asked
    return [said, *asked] if led.order else [*asked, said]


def _in_room(led: CheckpointCause, room: int) -> str:
    """Return what led to a checkpoint in at most `room` cells, with as much of what it was about as fits."""
    whole = next((form for form in led.fuller if cell_width(form) <= room), "")
    if whole or cell_width(led.words) > room:
        return whole
    return one_line(led.fuller[0], room) if led.fuller and room - cell_width(led.words) >= _SOME else led.words


def _step(info: CheckpointInfo) -> str:
    """Return the superstep's number; what came before the first one has none."""
    return str(info.step) if info.step >= 0 else ""


class GraphTable(DataTable[Text]):
    """Checkpoints with the lines between them, one a row.

    Args:
        id: widget id.
    """

    BINDINGS: ClassVar[list[BindingType]] = [*keys.bindings(keys.MOVE, keys.LIST)]

    def __init__(self, id: str | None = None) -> None:
        super().__init__(id=id, cursor_type="row", show_header=False, zebra_stripes=False)
        self._checkpoints: list[CheckpointInfo] = []
        self._graph: list[GraphRow] = []
        self._head = ""
        self._turns: Sequence[tuple[str, str]] = ()
        self._marks: Mapping[str, str] = {}
        self.causes: Mapping[str, CheckpointCause] = {}
        """What led to checkpoints, by id, as far as that is known."""
        self._lanes, self._digits, self._node = 3, 1, _NODE
        self._first = 0
        self._room = 0

    def on_mount(self) -> None:
        self.add_column("", key="row", width=10)
        self._fit()

    def on_resize(self, event: Resize) -> None:
        self._fit()

    def _fit(self) -> None:
        width = max(12, self.size.width - 2)
        if width != self._room and "row" in self.columns:
            self._room = width
            self.columns["row"].width = width  # type: ignore[index]
            self._fill()

    @property
    def checkpoints(self) -> Sequence[CheckpointInfo]:
        """What is shown, newest first."""
        return tuple(self._checkpoints)

    @property
    def selected(self) -> CheckpointInfo | None:
        """The checkpoint at the cursor."""
        return self._checkpoints[self.cursor_row] if 0 <= self.cursor_row < len(self._checkpoints) else None

    def show(
        self,
        checkpoints: Sequence[CheckpointInfo],
        index: int,
        *,
        head: str,
        turns: Sequence[tuple[str, str]],
        marks: Mapping[str, str],
        first: int = 0,
    ) -> None:
        """Show a part of the history.

        Args:
            checkpoints: newest first.
            index: where the cursor stands.
            head, turns: see `branch_graph`.
            marks: at most two cells put before a checkpoint, by id; with none at all there is no room for them.
            first: which of all checkpoints the first of these is, from 1; 0 to show supersteps.
        """
        first, self._first = self._first, first
        fresh = (
            first != self._first
            or list(checkpoints) != self._checkpoints
            or (head, tuple(turns)) != (self._head, tuple(self._turns))
        )
        old, self._marks = self._marks, dict(marks)
        self._head, self._turns = head, tuple(turns)
        if fresh or bool(old) != bool(marks):
            self._checkpoints = list(checkpoints)
            self._fill(index)
            return
        for number, info in enumerate(self._checkpoints):
            if old.get(info.checkpoint_id) != marks.get(info.checkpoint_id):
                self.update_cell(info.checkpoint_id, "row", self._text(number))
        self.move_cursor(row=index, animate=False)

    def follow(self, cursor: HistoryCursor, signs: Mapping[str, str], *, index: int, first: int = 0) -> None:
        """Show the part of a history that is around a cursor; see `show`."""
        if cursor.shape is not None:
            head, turns = cursor.shape.head, cursor.shape.turns
            self.show(cursor.infos, index, head=head, turns=turns, marks=signs, first=first)

    def _fill(self, index: int | None = None) -> None:
        here = self.selected.checkpoint_id if self.selected and self.cursor_row else ""
        self._graph = branch_graph(self._checkpoints, self._head, self._turns)
        self._lanes = max([3, *(len(row.drawn) for row in self._graph)])
        self._digits = max((len(self._number(n)) for n in range(len(self._checkpoints))), default=1)
        self._node = max([_NODE, *(min(_LONG_NODE, cell_width(info.node)) for info in self._checkpoints)])
        self.clear()
        for number, info in enumerate(self._checkpoints):
            self.add_row(self._text(number), key=info.checkpoint_id)
        if not self._checkpoints:
            return
        if index is None:
            index = next((n for n, c in enumerate(self._checkpoints) if c.checkpoint_id == here), 0)
        self.move_cursor(row=index, animate=False)

    def _number(self, row: int) -> str:
        """Return which of all checkpoints a row is, or its superstep."""
        return str(self._first - row) if self._first else _step(self._checkpoints[row])

    def _text(self, number: int) -> Text:
        """Return one row: mark, graph, number and node, what happened, time; what happened is cut to the room."""
        info, row = self._checkpoints[number], self._graph[number]
        mark = f"{self._marks.get(info.checkpoint_id, ''):<3}" if self._marks else ""
        # Beside several branches the seconds have no room.
        exact = _CLOCK if self._lanes <= 3 or self._room >= _ROOMY else _MINUTES
        clock = clock_words(info.timestamp)[:exact] if self._room >= 34 else ""
        wide = self._node if self._room >= _ROOMY else _NODE
        node = one_line(safe_text(info.node, multiline=False), wide)
        step = f"{self._number(number):>{self._digits}} " if self._room >= _ROOMY else ""
        head = f"{mark}{row.drawn:<{self._lanes}} {step}{node}{' ' * (wide - cell_width(node))} "
        room = max(0, self._room - cell_width(head) - (exact + 1 if clock else 0))
        said = said_of(info, row, room, self.causes.get(info.checkpoint_id))
        gap = " " * (room - cell_width(said) + 1)
        style = "" if row.ours else "dim"
        return Text.assemble((head + said, style), (f"{gap}{clock}" if clock else "", "dim"))


class StepsTable(GraphTable):
    """A team's own steps, one a row, which are one line."""

    def _text(self, number: int) -> Text:
        info = self._checkpoints[number]
        sign = "A" if "A" in self._marks.get(info.checkpoint_id, "") else " "
        node = one_line(safe_text(translate(info.node) if info.node in ("start", "ended") else info.node), _STEPS_NODE)
        gap = " " * (_STEPS_NODE - cell_width(node))
        return Text(f"{sign} {info.step:>4}  {node}{gap}  {clock_words(info.timestamp)}")


class HistoryTable(GraphTable):
    """The history pane: further pages are asked for when the cursor comes to the end."""

    BINDINGS: ClassVar[list[BindingType]] = [*keys.bindings(keys.HISTORY)]

    class Restore(Message):
        """The session shall stand at this checkpoint again."""

        def __init__(self, info: CheckpointInfo) -> None:
            super().__init__()
            self.info = info

    class Older(Message):
        """The cursor is at the end: the page before is wanted."""

    class Left(Message):
        """Back to the prompt."""

    def reset(self) -> None:
        """Show nothing: another session comes."""
        self._checkpoints, self.causes = [], {}
        self._fill()

    def newest(
        self,
        page: Sequence[CheckpointInfo],
        count: int = 0,
        causes: Mapping[str, CheckpointCause] = MappingProxyType({}),
    ) -> None:
        """Take over the newest page; the cursor stays at the top, or on its checkpoint.

        Args:
            page: newest first.
            count: how many checkpoints there are; 0 to show supersteps.
            causes: what led to these, by id.
        """
        self.causes = {**self.causes, **causes}
        if list(page) == self._checkpoints[: len(page)]:
            return
        self._first = count
        known = {c.checkpoint_id: number for number, c in enumerate(self._checkpoints)}
        last = known.get(page[-1].checkpoint_id) if page else None
        self._keep([*page, *(self._checkpoints[last + 1 :] if last is not None else [])])

    def older(
        self, page: Sequence[CheckpointInfo], causes: Mapping[str, CheckpointCause] = MappingProxyType({})
    ) -> None:
        """Add the page that comes before what is shown, with what led to its checkpoints."""
        self.causes = {**self.causes, **causes}
        known = {c.checkpoint_id for c in self._checkpoints}
        self._keep([*self._checkpoints, *(c for c in page if c.checkpoint_id not in known)])

    def _keep(self, checkpoints: list[CheckpointInfo]) -> None:
        here = self.selected.checkpoint_id if self.selected and self.cursor_row else ""
        self._checkpoints = checkpoints
        self._fill(next((n for n, c in enumerate(checkpoints) if c.checkpoint_id == here), 0))

    def on_data_table_row_highlighted(self, event: DataTable.RowHighlighted) -> None:
        if self.has_focus and event.cursor_row >= len(self._checkpoints) - 1:
            self.post_message(self.Older())

    def action_restore(self) -> None:
        if self.selected is not None:
            self.post_message(self.Restore(self.selected))

    def action_leave(self) -> None:
        self.post_message(self.Left())
