"""A thread of a store: its history as a graph, and state, questions and differences at any moment of it (I9, C5)."""

from __future__ import annotations

import asyncio
from functools import partial
from pathlib import PurePath
from typing import TYPE_CHECKING, Any, ClassVar

from rich.text import Text
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Container, Horizontal, VerticalScroll
from textual.content import Content
from textual.message import Message
from textual.widgets import DataTable, Static, Tree

from hitl_tui.console import keys
from hitl_tui.console.dialogs.prompt_dialogs import confirm
from hitl_tui.console.dialogs.text_viewer import TextViewer
from hitl_tui.console.history_cursor import PAGE, CheckpointMarks, HistoryCursor, current_line, on_line
from hitl_tui.console.keymap import keymap_of
from hitl_tui.console.screens import thread_screen
from hitl_tui.console.screens.history_panes import SteppingScreen
from hitl_tui.console.services import console_of
from hitl_tui.console.widgets.action_bar import ReplayAction
from hitl_tui.console.widgets.bars import HeaderBar, KeyLine, MessageLine
from hitl_tui.console.widgets.history_table import GraphTable
from hitl_tui.console.widgets.lists import Listing, Reader
from hitl_tui.console.widgets.panes import TabStrip
from hitl_tui.console.widgets.state_tree import StateTree
from hitl_tui.console.widgets.virtual_rows import Rows
from hitl_tui.core.errors import BadInput
from hitl_tui.core.safe_text import one_line, safe_text
from hitl_tui.language import _, mark
from hitl_tui.threads.session_diff import ABSENT
from hitl_tui.threads.state_diff import differences
from hitl_tui.threads.store_thread import StoreThread
from hitl_tui.threads.thread_model import FullCheckpoint
from hitl_tui.wording import thread_rows
from hitl_tui.wording.rows import Row, text_row
from hitl_tui.wording.times import clock_words, error_words

if TYPE_CHECKING:
    from hitl_tui.console.keymap import Keymap
    from hitl_tui.threads.thread_model import CheckpointInfo, Namespace
    from hitl_tui.threads.thread_store import ThreadStore

PANES = (
    ("store-graph", mark("Graph")),
    ("store-moment", mark("Moment")),
    ("store-spaces", mark("Subgraphs")),
    ("store-state", mark("State")),
)
_PLACES = {1: mark("View"), 2: mark("Diff"), 3: mark("Fork"), 4: mark("Restore")}
_READ_ONLY = mark("A store is only read here; open it with --graph module:attribute and a copy of it can go on.")
_FORK_INSTEAD = mark("A store is only read here: {replay.3} begins a session with a copy instead.")
_AROUND = mark("A subgraph goes on with the graph around it: choose a checkpoint of that.")
_LABELS = {
    "replay.decision_after": mark("later question"),
    "replay.leave": mark("threads"),
}
_LOOKED_AT = 2.0
"""Seconds after which it is looked whether the thread went on."""


class ThreadScreen(SteppingScreen):
    """Steps through the checkpoints of a thread.

    Args:
        store: where it lies.
        thread: its id.
        title: what it is about, any text.
        graph: the graph that can go on in a copy; empty for none.
    """

    CSS_PATH: ClassVar[list[str | PurePath]] = ["../widgets/tabs.tcss", "store.tcss", "../widgets/rows.tcss"]
    BINDINGS: ClassVar[list[BindingType]] = [*keys.bindings(keys.REPLAY)]
    AUTO_FOCUS = "#store-graph"
    PANES = PANES

    class Forked(Message):
        """A session shall begin with a copy of the thread up to this checkpoint."""

        def __init__(self, thread: str, checkpoint_id: str) -> None:
            super().__init__()
            self.thread = thread
            self.checkpoint_id = checkpoint_id

    def __init__(self, store: ThreadStore, thread: str, title: str = "", graph: str = "") -> None:
        self._past = StoreThread(store, thread)
        super().__init__(HistoryCursor(self._past, PAGE))
        self._graph = graph
        self._store = store
        self._title_text = title
        self._spaces: list[Namespace] = []
        self._info: CheckpointInfo | None = None
        self._moment: FullCheckpoint | None = None
        self._marks = CheckpointMarks()
        self._newest = ("", 0)

    @property
    def info(self) -> CheckpointInfo | None:
        """The checkpoint that is shown; None before any is."""
        return self._info

    def compose(self) -> ComposeResult:
        yield HeaderBar(id="header")
        yield Static(id="store-where")
        with Container(id="store-panes"):
            yield TabStrip(PANES, id="store-tabs")
            yield GraphTable(id="store-graph")
            with Reader(id="store-moment"):
                yield Rows(id="store-text")
            yield Listing(id="store-spaces")
            yield StateTree(id="store-state")
        with Horizontal(id="store-actions"):
            for number in _PLACES:
                yield ReplayAction(number, _(_PLACES[number]))
            yield Static(id="store-marks")
        yield MessageLine(id="message")
        yield KeyLine(id="keys")

    def on_mount(self) -> None:
        header = self.query_one(HeaderBar)
        header.session = one_line(thread_rows.line(self._past.thread), 40)
        header.title_text = safe_text(self._title_text, multiline=False, limit=400)
        header.mode = _("READ-ONLY")
        for pane, label in PANES:
            self.query_one(f"#{pane}").border_title = Content(_(label))
        self.query_one("#store-spaces", DataTable).add_column("", key="space", width=200)
        shown = [s._replace(label=_LABELS.get(s.id, s.label)) for s in keys.of(keys.REPLAY, line=True)]
        self.query_one(KeyLine).show([*shown, *keys.of(keys.ANYWHERE, line=True)[:1]])
        self._arrange()
        self.set_interval(_LOOKED_AT, self._look)
        self._errands.do(self._open)

    async def _open(self) -> None:
        self._spaces = await self._store.namespaces(self._past.thread)
        if self._spaces and self._past.ns not in {n.ns for n in self._spaces}:
            self._turn_to(self._spaces[0].ns)  # a thread of which only subgraphs are left
        self._draw_spaces()
        self._newest = await self._past.newest()
        await self._reel.open()

    def _look(self) -> None:
        """Others may go on with the thread: see what was added."""
        if self.settled:
            self.run_worker(self._guarded(self._peek), group="look", exclusive=True)

    async def _peek(self) -> None:
        newest = await self._past.newest()
        if newest != self._newest and self.settled:
            self._newest = newest
            self._errands.do(self._refresh)

    async def _refresh(self) -> None:
        shape = self._reel.shape
        if shape is None or self._newest[0] == shape.head:
            return
        newest = self._reel.at_head
        await self._reel.refresh()
        if newest:  # who looks at the newest moment goes on looking at it
            await self._reel.last()
        self._spaces = await self._store.namespaces(self._past.thread)
        self._draw_spaces()

    # What is shown -----------------------------------------------------------------------------------------------

    async def _load(self) -> None:
        info, shape = self._reel.current, self._reel.shape
        if info is None or shape is None:
            self.say(_("There is no checkpoint here."))
            return
        moment = await self._read(info, fresh=self._reel.at_head)
        number = await self._past.place(info.checkpoint_id)
        self._info, self._moment = info, moment
        ours = on_line(info.checkpoint_id, current_line(shape.head, shape.turns))
        view = self._mode == 1
        rows = await (self._view_rows(info, moment, ours=ours) if view else self._diff_rows(info))
        self.query_one("#store-text", Rows).show(rows)
        title = _("Moment") if view else await thread_screen.title(self._past, self._marks, info)
        self.query_one("#store-moment").border_title = Content(title)
        self.query_one(StateTree).show_value(await asyncio.to_thread(thread_rows.tree_of, moment))
        words = thread_rows.where_words(info, number, max(number, shape.total), ours=ours)
        style = "bold" if ours else "bold $text-warning"
        where = Content.assemble((f" {words}", style), "\n", f" {thread_rows.asked_line(moment)}")
        self.query_one("#store-where", Static).update(where)
        self._draw_graph(info, number)
        self._draw_actions(info)

    async def _read(self, info: CheckpointInfo, *, fresh: bool = False) -> FullCheckpoint:
        """Return a checkpoint whole; of one that can't be read, why."""
        try:
            return await self._past.moment(info.checkpoint_id, fresh=fresh)
        except BadInput as error:
            self.say(safe_text(error_words(error.message, error.help), multiline=False), error=True)
            return FullCheckpoint(info.checkpoint_id, {}, at=info.timestamp, notes=(error.message,))

    def _draw_graph(self, info: CheckpointInfo, number: int) -> None:
        shape = self._reel.shape
        assert shape is not None
        marks = self._marks.glyphs(info.checkpoint_id)
        table = self.query_one(GraphTable)
        table.show(self._reel.infos, self._reel.index, head=shape.head, turns=shape.turns, marks=marks)
        total = max(shape.total, number)
        where = _("Graph · {number} of {total}").format(number=number, total=total)
        inside = " › ".join(thread_rows.line(node) for node in _nodes(self._past.ns))
        table.border_title = Content(f"{where} · {inside}" if inside else where)

    def _draw_actions(self, info: CheckpointInfo) -> None:
        for number in _PLACES:
            action = self.query_one(f"#replay-{number}", ReplayAction)
            action.show(self._why_not(number, info), chosen=number == self._mode)
        self.query_one("#store-marks", Static).update(Content(self._marks.words(thread_rows.name_of)))

    def _draw_spaces(self) -> None:
        table = self.query_one("#store-spaces", DataTable)
        table.clear()
        for space in self._spaces:
            here = "▸ " if space.ns == self._past.ns else "  "
            name = "  " * (len(space.nodes) - 1) + thread_rows.line(space.nodes[-1]) if space.ns else _("the graph")
            about = f"  {space.checkpoints:,} · {clock_words(space.at)}"
            table.add_row(Text.assemble(here + one_line(name, 60), (about, "dim")), key=space.ns)
        self.set_class(len(self._spaces) > 1, "-nested")
        place = next((n for n, space in enumerate(self._spaces) if space.ns == self._past.ns), 0)
        if self._spaces:
            table.move_cursor(row=place, animate=False)
        self._arrange()

    async def _view_rows(self, info: CheckpointInfo, moment: FullCheckpoint, *, ours: bool) -> list[Row]:
        parent = await self._past.info(info.parent_id)
        before = await self._read(parent) if parent is not None else None
        inside = [n for n in self._spaces if n.parent == info.checkpoint_id and _around(n.ns) == self._past.ns]
        led = before.tasks if before is not None else ()
        return thread_rows.moment_rows(info, moment, led, inside, ours=ours)

    async def _diff_rows(self, info: CheckpointInfo) -> list[Row]:
        return await thread_screen.rows(self._past, self._marks, info, keymap_of(self.app))

    # Keys --------------------------------------------------------------------------------------------------------

    def action_step(self, by: int) -> None:
        self._errands.do(partial(self._step, by))

    async def _step(self, by: int) -> None:
        moved = await self._reel.step(by)
        end = _("This is the newest checkpoint.") if by > 0 else _("This is the first checkpoint.")
        self.say("" if moved else end)

    def action_decision(self, by: int) -> None:
        self._errands.do(partial(self._asked, by))

    async def _asked(self, by: int) -> None:
        current = self._reel.current
        found = await self._past.asked(current.checkpoint_id, by) if current is not None else ""
        if found:
            await self._reel.open(found)
        after = _("Nothing was asked after this.") if by > 0 else _("Nothing was asked before this.")
        self.say("" if found else after)

    def action_mark(self) -> None:
        self._errands.do(self._mark)

    async def _mark(self) -> None:
        info = self._reel.current
        if info is not None:
            self._marks = self._marks.toggled(info)

    def action_act(self, number: int) -> None:
        self._errands.do(partial(self._act, number))

    async def _act(self, number: int) -> None:
        why_not = self._why_not(number, self._reel.current)
        if why_not:
            self.say(why_not)
            return
        if number == 3:
            self.run_worker(self._guarded(self._fork), group="going")
            return
        self._mode = number
        self.query_one("#store-moment", VerticalScroll).scroll_home(animate=False)
        if number == 2:
            self.show_pane("store-moment", focus=True)

    def _why_not(self, number: int, info: CheckpointInfo | None) -> str:
        if info is None:
            return _("There is no checkpoint here.")
        if number == 2 and not info.parent_id and not self._marks.infos:
            said = _("The first checkpoint has none before it; mark another one with {replay.mark} to compare.")
            return keymap_of(self.app).named(said)
        if number == 3 and self._graph and self._past.ns:
            return _(_AROUND)
        if number == 4 and self._graph:
            return keymap_of(self.app).named(_(_FORK_INSTEAD))
        return _(_READ_ONLY) if number > 2 and not self._graph else ""

    async def _fork(self) -> None:
        """Ask, then leave the store for a session that goes on with a copy."""
        info = self._reel.current
        if info is None:
            return
        at_end = self._reel.at_head
        text = thread_rows.fork_words(info, thread_rows.line(self._graph), at_end=at_end)
        title = _("Go on in a copy from {name}").format(name=thread_rows.name_of(info))
        if await confirm(console_of(self.app), title, text, _("Copy and begin")):
            self.post_message(self.Forked(self._past.thread, info.checkpoint_id))
        else:
            self.say(_("Nothing was made."))

    # Panes -------------------------------------------------------------------------------------------------------

    def _panes(self) -> list[str]:
        return [name for name, __ in PANES if name != "store-spaces" or len(self._spaces) > 1]

    def on_data_table_row_selected(self, event: DataTable.RowSelected) -> None:
        event.stop()
        if event.data_table.id == "store-spaces":
            self._errands.do(partial(self._enter, str(event.row_key.value)))
        elif event.data_table.id == "store-graph" and self._moment is not None:
            title = thread_rows.line(self._moment.checkpoint_id)
            self.app.push_screen(TextViewer(title, self.query_one("#store-text", Rows).rows))

    async def _enter(self, ns: str) -> None:
        self._turn_to(ns)
        self._draw_spaces()
        self._newest = await self._past.newest()
        await self._reel.open()

    def _turn_to(self, ns: str) -> None:
        """Show another graph's history: marks are checkpoints of one and the same graph."""
        self._past = StoreThread(self._store, self._past.thread, ns)
        self._reel = HistoryCursor(self._past, PAGE)
        self._marks = CheckpointMarks()

    def on_tree_node_selected(self, event: Tree.NodeSelected[Any]) -> None:
        """A value that has no parts is shown whole."""
        event.stop()
        if event.node.allow_expand or event.node.data is None or self._moment is None:
            return
        path, __ = event.node.data
        value = thread_rows.value_at(self._moment, path)
        if value is not ABSENT:
            name = one_line(thread_rows.line(".".join(path)), 60)
            self.app.push_screen(TextViewer(name, thread_rows.value_rows(value)))


def _nodes(ns: str) -> list[str]:
    return [part.rpartition(":")[0] or part for part in ns.split("|")] if ns else []


def _around(ns: str) -> str:
    return ns.rpartition("|")[0]


async def pair(
    past: StoreThread, marks: CheckpointMarks, info: CheckpointInfo
) -> tuple[CheckpointInfo | None, CheckpointInfo]:
    """Return what is compared, the older one first; with none marked a checkpoint and its parent.

    Args:
        past: the thread.
        marks: the marked checkpoints.
        info: the one that is shown.
    """
    return marks.pair(info) or (await past.info(info.parent_id), info)


async def title(past: StoreThread, marks: CheckpointMarks, info: CheckpointInfo) -> str:
    """Return what is compared, in words; see `pair`."""
    older, newer = await pair(past, marks, info)
    which = thread_rows.name_of(older) if older else _("nothing")
    return _("Diff · {which} → {newer}").format(which=which, newer=thread_rows.name_of(newer))


async def rows(past: StoreThread, marks: CheckpointMarks, info: CheckpointInfo, keymap: Keymap) -> list[Row]:
    """Return what differs; see `pair`.

    Raises:
        BadInput: one of the two can't be read.
    """
    older, newer = await pair(past, marks, info)
    moments = [await past.moment(c.checkpoint_id) for c in (older, newer) if c is not None]
    before = moments[0].values if older is not None else {}
    found = await asyncio.to_thread(differences, before, moments[-1].values)
    which = _("between the two marks") if len(marks.infos) == 2 else _("mark and this moment")
    parent = older is None or older.checkpoint_id == info.parent_id
    said = _("this moment and the one it came from") if parent and len(marks.infos) < 2 else which
    how = keymap.named(_("{said}; {replay.mark} marks another to compare")).replace("{said}", said)
    notes = dict.fromkeys(note for moment in moments for note in moment.notes)
    return [text_row(how, "$text-muted"), *map(thread_rows.note_row, notes), *thread_rows.difference_rows(found)]
