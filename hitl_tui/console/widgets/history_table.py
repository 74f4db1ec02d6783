"""The history as a branch graph: checkpoints, newest first, with what was left behind by a restore."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from types import MappingProxyType
from typing import TYPE_CHECKING, ClassVar

from rich.text import Text
from textual.binding import BindingType
from textual.content import Content
from textual.events import Resize
from textual.message import Message
from textual.widgets import DataTable

from hitl_tui.console import keys
from hitl_tui.console.history_cursor import HistoryCursor
from hitl_tui.console.keymap import keymap_of
from hitl_tui.core.safe_text import cell_width, one_line, safe_text
from hitl_tui.language import _, mark, ngettext, translate
from hitl_tui.threads.thread_reader import HeadAncestry
from hitl_tui.wording.history_rows import CheckpointChoice, cause_forms, checkpoint_choices
from hitl_tui.wording.rows import in_line, joined
from hitl_tui.wording.status_words import history_said
from hitl_tui.wording.times import clock_words

if TYPE_CHECKING:
    from hitl_tui.threads.checkpoint_causes import CheckpointCause
    from hitl_tui.threads.session_history import CheckpointInfo

_NODE, _LONG_NODE = 13, 17
"""Cells of a node's name, and of the longest of ours where there is room."""
_STEPS_NODE = 28
_CLOCK, _MINUTES = 8, 5
_ROOMY = 56
_LANES = 5
"""Lines drawn beside each other; further ones are cut off."""
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


def contracted(checkpoints: Sequence[CheckpointInfo], shown: Sequence[int]) -> list[CheckpointInfo]:
    """Return some of a history's checkpoints, each as if it came from the one of them that it goes back to.

    Args:
        checkpoints: newest first, none left out between them.
        shown: which of them, rising.
    """
    known = {info.checkpoint_id: info.parent_id for info in checkpoints}
    kept = {checkpoints[n].checkpoint_id for n in shown}
    found = []
    for info in (checkpoints[n] for n in shown):
        parent = info.parent_id
        while parent in known and parent not in kept:
            parent = known[parent]
        found.append(info if parent == info.parent_id else replace(info, parent_id=parent))
    return found


def said_of(info: CheckpointInfo, row: GraphRow, room: int, cause: CheckpointCause | None = None) -> str:
    """Return what happened at a checkpoint, safe: whether it was left behind, what led there, who was asked.

    It takes at most `room` cells; where it has too little, what was left says that alone.

    Args:
        info: the checkpoint.
        row: its place in the graph.
        room: cells.
        cause: what led to it; None for what the checkpoint says of itself.
    """
    left = f"({_(LEFT_BEHIND)})" if row.tip else ""
    said = in_line(" ".join(history_said(info).split()))
    forms = cause_forms(cause) if cause is not None else [(said,)] if said else []
    text = fitted(forms, room - (cell_width(left) + 3 if left and forms else 0))
    text = joined(left, text)
    return one_line(left if left and cell_width(text) > room else text, room)


def fitted(parts: Sequence[Sequence[str]], room: int) -> str:
    """Return parts of a line in at most `room` cells, or the first in its shortest form alone and cut.

    What there is no room for is counted; each part that stands there takes the fullest form that has room.

    Args:
        parts: each in several forms, the fullest first.
        room: cells.
    """
    chosen = [forms[-1] for forms in parts]
    dropped = 0
    while len(chosen) > 1 and cell_width(_line(chosen, dropped)) > room:
        chosen.pop()
        dropped += 1
    for n, forms in enumerate(parts[: len(chosen)]):
        rest = room - cell_width(_line([*chosen[:n], "", *chosen[n + 1 :]], dropped)) - (3 if len(chosen) > 1 else 0)
        chosen[n] = next((form for form in forms if cell_width(form) <= rest), chosen[n])
    said = _line(chosen, dropped)
    return one_line(said if cell_width(said) <= room or not dropped else joined(*chosen, f"+{dropped}"), room)


def _line(parts: Sequence[str], more: int) -> str:
    return joined(*parts, _("+{n} more").format(n=more) if more else "")


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
        self._rows_shown: list[CheckpointInfo] = []
        self._drawn: list[CheckpointInfo] = []
        self._graph: list[GraphRow] = []
        self._head = ""
        self._turns: Sequence[tuple[str, str]] = ()
        self._marks: Mapping[str, str] = {}
        self.causes: Mapping[str, CheckpointCause] = {}
        """What led to checkpoints, by id, as far as that is known."""
        self._numbers: Mapping[str, int] = {}
        self._with_nodes = True
        self._lanes, self._digits, self._node = 1, 1, _NODE
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
        return tuple(self._rows_shown)

    @property
    def selected(self) -> CheckpointInfo | None:
        """The checkpoint at the cursor."""
        return self._rows_shown[self.cursor_row] if 0 <= self.cursor_row < len(self._rows_shown) else None

    def follow(self, cursor: HistoryCursor, marks: Mapping[str, str], *, index: int, first: int = 0) -> None:
        """Show the part of a history that is around a cursor.

        Args:
            cursor: stands at a checkpoint of it.
            index: which of the checkpoints around the cursor is chosen.
            marks: at most two cells put before a checkpoint, by id; with none at all there is no room for them.
            first: which of all checkpoints the newest around the cursor is, from 1; 0 to show supersteps.
        """
        if cursor.shape is None:
            return
        shown, infos = cursor.shown, cursor.infos
        here = shown.index(index) if index in shown else 0
        numbers = {infos[n].checkpoint_id: first - n for n in shown} if first else {}
        form = (cursor.shape.head, cursor.shape.turns, numbers, not cursor.folded, cursor.causes)
        now = (self._head, self._turns, self._numbers, self._with_nodes, self.causes)
        rows = [infos[n] for n in shown]
        quiet = sum(cause.quiet for info in infos if (cause := cursor.causes.get(info.checkpoint_id)))
        old, self._marks = self._marks, dict(marks)
        if rows != self._rows_shown or form != now or bool(old) != bool(marks):
            self._head, self._turns, self._numbers, self._with_nodes, self.causes = form
            self._rows_shown, self._drawn = rows, contracted(infos, shown)
            self._fill(here)
            self._say_folded(quiet, "replay.fold")
            return
        for number, info in enumerate(rows):
            if old.get(info.checkpoint_id) != marks.get(info.checkpoint_id):
                self.update_cell(info.checkpoint_id, "row", self._text(number))
        self.move_cursor(row=here, animate=False)

    def _say_folded(self, n: int, key_id: str) -> None:
        """Say in the frame how many checkpoints only the engine made, and which key shows or hides them."""
        if self._with_nodes:
            said = ngettext("{n} engine step · {key} hides it", "{n} engine steps · {key} hides them", n)
        else:
            said = ngettext("{n} engine step · {key} shows it", "{n} engine steps · {key} shows them", n)
        key = keymap_of(self.app).named("{" + key_id + "}") if n else ""
        self.border_subtitle = Content(said.format(n=n, key=key)) if n else Content("")

    def _fill(self, index: int | None = None) -> None:
        here = self.selected.checkpoint_id if self.selected and self.cursor_row else ""
        self._graph = branch_graph(self._drawn, self._head, self._turns)
        self._lanes = max([1, *(len(row.drawn) for row in self._graph)])
        self._digits = max((len(self._number(info)) for info in self._rows_shown), default=1)
        self._node = max([_NODE, *(min(_LONG_NODE, cell_width(info.node)) for info in self._rows_shown)])
        self.clear()
        for number, info in enumerate(self._rows_shown):
            self.add_row(self._text(number), key=info.checkpoint_id)
        if not self._rows_shown:
            return
        if index is None:
            index = next((n for n, c in enumerate(self._rows_shown) if c.checkpoint_id == here), 0)
        self.move_cursor(row=index, animate=False)

    def _number(self, info: CheckpointInfo) -> str:
        """Return which of all checkpoints one is, or its superstep."""
        return str(self._numbers[info.checkpoint_id]) if info.checkpoint_id in self._numbers else _step(info)

    def _text(self, number: int) -> Text:
        """Return one row: mark, graph, number, node, what happened, time; what happened is cut to the room."""
        info, row = self._rows_shown[number], self._graph[number]
        mark = f"{self._marks.get(info.checkpoint_id, ''):<3}" if self._marks else ""
        # Beside several branches the seconds have no room.
        exact = _CLOCK if self._lanes <= 3 or self._room >= _ROOMY else _MINUTES
        clock = clock_words(info.timestamp)[:exact] if self._room >= 34 else ""
        step = f"{self._number(info):>{self._digits}} " if self._numbers or self._room >= _ROOMY else ""
        head = f"{mark}{row.drawn:<{self._lanes}} {step}{self._node_cell(info)}"
        room = max(0, self._room - cell_width(head) - (exact + 1 if clock else 0))
        said = said_of(info, row, room, self.causes.get(info.checkpoint_id))
        if not said and not self._with_nodes and info.checkpoint_id == self._head:
            said = one_line(_("now"), room)
        gap = " " * (room - cell_width(said) + 1)
        style = "" if row.ours else "dim"
        return Text.assemble((head + said, style), (f"{gap}{clock}" if clock else "", "dim"))

    def _node_cell(self, info: CheckpointInfo) -> str:
        if not self._with_nodes:
            return ""
        wide = self._node if self._room >= _ROOMY else _NODE
        node = one_line(safe_text(info.node, multiline=False), wide)
        return f"{node}{' ' * (wide - cell_width(node))} "


class StepsTable(GraphTable):
    """A team's own steps, one a row, which are one line."""

    def _text(self, number: int) -> Text:
        info = self._rows_shown[number]
        sign = "A" if "A" in self._marks.get(info.checkpoint_id, "") else " "
        node = one_line(safe_text(translate(info.node) if info.node in ("start", "ended") else info.node), _STEPS_NODE)
        gap = " " * (_STEPS_NODE - cell_width(node))
        return Text(f"{sign} {info.step:>4}  {node}{gap}  {clock_words(info.timestamp)}")


class HistoryTable(GraphTable):
    """The history pane: further pages are asked for when the cursor comes to the end.

    Checkpoints at which only the engine went on are folded, until somebody wants to see them.
    """

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

    def __init__(self, id: str | None = None) -> None:
        super().__init__(id=id)
        self._loaded: list[CheckpointInfo] = []
        self._count = 0
        self._with_nodes = False

    @property
    def loaded(self) -> Sequence[CheckpointInfo]:
        """The checkpoints that were read, newest first, folded ones too."""
        return tuple(self._loaded)

    @property
    def folded(self) -> bool:
        """Checkpoints at which only the engine went on aren't shown."""
        return not self._with_nodes

    @property
    def choices(self) -> list[CheckpointChoice]:
        """The checkpoints that can be gone back to, newest first."""
        return checkpoint_choices(self._loaded, self._count, self.causes)

    def reset(self) -> None:
        """Show nothing: another session comes."""
        self._loaded, self.causes, self._count = [], {}, 0
        self._show()

    def newest(
        self,
        page: Sequence[CheckpointInfo],
        count: int = 0,
        causes: Mapping[str, CheckpointCause] = MappingProxyType({}),
    ) -> None:
        """Take over the newest page; the cursor stays at the top, or with the focus there on its checkpoint.

        Args:
            page: newest first.
            count: how many checkpoints there are; 0 to show supersteps.
            causes: what led to these, by id.
        """
        fresh = {**self.causes, **causes}
        if list(page) == self._loaded[: len(page)] and fresh == self.causes:
            return
        self.causes, self._count = fresh, count
        known = {c.checkpoint_id: number for number, c in enumerate(self._loaded)}
        last = known.get(page[-1].checkpoint_id) if page else None
        self._loaded = [*page, *(self._loaded[last + 1 :] if last is not None else [])]
        self._show()

    def older(
        self, page: Sequence[CheckpointInfo], causes: Mapping[str, CheckpointCause] = MappingProxyType({})
    ) -> None:
        """Add the page that comes before what is shown, with what led to its checkpoints."""
        self.causes = {**self.causes, **causes}
        known = {c.checkpoint_id for c in self._loaded}
        self._loaded += [c for c in page if c.checkpoint_id not in known]
        self._show()

    def _show(self) -> None:
        # Nobody looks at it while the focus is elsewhere: then it shows what is new.
        here = self.selected.checkpoint_id if self.selected and self.cursor_row and self.has_focus else ""
        shown = [n for n, info in enumerate(self._loaded) if self._with_nodes or not self._is_quiet(info)]
        self._rows_shown, self._drawn = [self._loaded[n] for n in shown], contracted(self._loaded, shown)
        self._numbers = {self._loaded[n].checkpoint_id: self._count - n for n in shown} if self._count else {}
        self._head = self._loaded[0].checkpoint_id if self._loaded else ""
        self._fill(next((n for n, c in enumerate(self._rows_shown) if c.checkpoint_id == here), 0))
        self._foot()

    def _is_quiet(self, info: CheckpointInfo) -> bool:
        cause = self.causes.get(info.checkpoint_id)
        return cause.quiet if cause is not None else not (info.waiting or info.outcome)

    def _foot(self) -> None:
        """Say in the frame how many checkpoints are folded, and what shows them."""
        self._say_folded(sum(map(self._is_quiet, self._loaded)), "history.fold")

    def action_fold(self) -> None:
        self._with_nodes = not self._with_nodes
        self._show()

    def on_data_table_row_highlighted(self, event: DataTable.RowHighlighted) -> None:
        if self.has_focus and event.cursor_row >= len(self._rows_shown) - 1:
            self.post_message(self.Older())

    def action_restore(self) -> None:
        if self.selected is not None:
            self.post_message(self.Restore(self.selected))

    def action_leave(self) -> None:
        self.post_message(self.Left())
