"""The history of a thread: its checkpoints as a graph, and state, decisions and differences at any of them.

Looking executes nothing; going back or elsewhere asks first.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import PurePath
from typing import TYPE_CHECKING, Any, ClassVar

from textual.actions import SkipAction
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.content import Content
from textual.events import Resize
from textual.widgets import DataTable, Static, Tree

from hitl_tui.console import keys
from hitl_tui.console.dialogs.text_viewer import TextViewer
from hitl_tui.console.keymap import keymap_of
from hitl_tui.console.modal_screen import SingleResultScreen
from hitl_tui.console.screens.history_panes import GRAPH, PAST, PLAN, SPACES
from hitl_tui.console.screens.history_view import DIFF, VIEW, HistoryFrame
from hitl_tui.console.widgets.action_bar import ActionClicked
from hitl_tui.console.widgets.bars import HeaderBar, KeyLine, MessageLine
from hitl_tui.console.widgets.history_table import GraphTable
from hitl_tui.console.widgets.plan_table import PlanTable
from hitl_tui.console.widgets.text_search import SearchInput
from hitl_tui.console.workers import Work, guarded, work_on
from hitl_tui.language import _
from hitl_tui.threads.thread_reader import Capability, HeadAncestry, HistoryPlace
from hitl_tui.wording.history_rows import obstacle_words
from hitl_tui.wording.rows import Row, text_row

if TYPE_CHECKING:
    from hitl_tui.console.history_cursor import HistoryCursor
    from hitl_tui.console.screens.history_view import HistoryView, ShownCheckpoint
    from hitl_tui.threads.thread_model import CheckpointInfo


class ScreenTasks:
    """Does work in the order in which it was asked for; after the last of it, what is shown is drawn once.

    Args:
        start: runs a coroutine function in the background.
        draw: loads and draws what is to be shown.
        guard: runs work; what goes wrong becomes a sentence on the screen.
    """

    def __init__(self, start: Callable[[Work], object], draw: Work, guard: Callable[[Work], Awaitable[None]]) -> None:
        self._start = start
        self._draw = draw
        self._guard = guard
        self._waiting: deque[Work] = deque()
        self._running = self._stale = False

    @property
    def settled(self) -> bool:
        """Everything was done and drawn."""
        return not (self._running or self._waiting or self._stale)

    def do(self, work: Work) -> None:
        """Do something after what was asked for before."""
        self._waiting.append(work)
        if not self._running:
            self._running = True
            self._start(self._run)

    def redraw(self) -> None:
        """Load and draw what is to be shown again."""
        self.do(self._draw)

    async def _run(self) -> None:
        try:
            while self._waiting or self._stale:
                # Only the last of many steps is loaded and drawn: a key held down stays quick.
                work = self._waiting.popleft() if self._waiting else self._draw
                self._stale = work != self._draw
                await self._guard(work)
        finally:
            self._running = False


class HistoryScreen(SingleResultScreen[bool]):
    """Steps through the checkpoints of a thread. Its result says whether it was left because of something done there.

    Args:
        view: what is shown of them, and what can be done there.
    """

    CSS_PATH: ClassVar[list[str | PurePath]] = ["../widgets/tabs.tcss", "history.tcss", "../widgets/rows.tcss"]
    BINDINGS: ClassVar[list[BindingType]] = [
        *keys.bindings(keys.REPLAY),
        *(key for key in keys.bindings(keys.SESSION) if key.id in ("session.question", "session.undo")),
    ]
    AUTO_FOCUS = ".history-pane"
    PART: ClassVar[str] = keys.REPLAY
    """The part of the map that its keys stand in."""

    def __init__(self, view: HistoryView) -> None:
        super().__init__()
        self._view = view
        self._tasks = ScreenTasks(partial(work_on, self, group="history"), self._load, self._guarded)
        self._panes = view.panes()
        self._mode = VIEW
        self._shown: ShownCheckpoint | None = None
        self._marks = view.marks
        self._numbers: dict[str, int] = {}

    @property
    def settled(self) -> bool:
        """What is shown is what was last asked for."""
        return self._tasks.settled

    @property
    def place(self) -> HistoryPlace | None:
        """What is shown; None before anything is."""
        return self._shown.place if self._shown is not None else None

    @property
    def marks(self) -> tuple[str, ...]:
        """Ids of the marked checkpoints, in the order they were marked."""
        return self._marks.ids

    @property
    def _cursor(self) -> HistoryCursor:
        return self._view.cursor

    def compose(self) -> ComposeResult:
        yield HeaderBar(id="header")
        if self._view.banner():
            yield Static(id="history-banner")
        yield self._panes
        yield MessageLine(id="message")
        yield KeyLine(id="keys")

    def on_mount(self) -> None:
        header, labels = self.query_one(HeaderBar), self._view.labels
        self._view.entitle(header)
        self._view.live(header)
        self._draw_banner()
        shown = [s._replace(label=labels.get(s.id, s.label)) for s in keys.of(self.PART, line=True)]
        self.query_one(KeyLine).show([*shown, *keys.of(keys.ANYWHERE, line=True)[:1]])
        self._panes.share_room()
        if self._view.interval:
            self.set_interval(self._view.interval, self._look)
        self._tasks.do(self._view.begin)

    def say(self, text: str, *, error: bool = False) -> None:
        """Show one safe line."""
        self.query_one(MessageLine).say(text, error=error)

    async def _guarded(self, work: Work) -> None:
        await guarded(work, self.say)

    def _begin(self, work: Work) -> None:
        """Begin something that may last as long as a dialog is open."""
        work_on(self, partial(self._guarded, work), group="going")

    def _look(self) -> None:
        """The thread may go on meanwhile: say how it stands, and take note of what was added."""
        self._view.live(self.query_one(HeaderBar))
        if self.settled:
            work_on(self, partial(self._guarded, self._peek), group="look", exclusive=True)

    async def _peek(self) -> None:
        if await self._view.changed() and self.settled:
            self._tasks.do(self._view.refresh)

    # What is shown -----------------------------------------------------------------------------------------------

    async def _load(self) -> None:
        cursor = self._cursor
        place, form = await cursor.look(), cursor.shape
        if place is None or form is None:
            self._shown = None
            self.say(_(self._view.empty))
            return
        ours = HeadAncestry.of(form.head, form.turns).has(place.info)
        shown = await self._view.load(place, self, ours=ours)
        if self._mode == VIEW and not self._view.listed:
            title, rows = _("Moment"), await self._view.moment_rows(shown, self)
        else:
            title, rows = await self._difference(place)
        why_not = {number: await self._why_not(number, place) for number in (VIEW, DIFF, *self._view.acts)}
        # From here on nothing is waited for: what is shown is of one moment.
        self._shown = replace(shown, rows=rows)
        signs = self._marks.glyphs(place.info.checkpoint_id)
        marked = self._marks.words(lambda info: self._view.name(info, self._numbers[info.checkpoint_id]))
        self._panes.draw(HistoryFrame(self._shown, cursor, signs, marked, title, self._mode, why_not))
        self._draw_banner()

    def _draw_banner(self) -> None:
        for banner in self.query("#history-banner").results(Static):
            banner.update(Content(f" {self._view.banner()}"))

    # Differences -------------------------------------------------------------------------------------------------

    async def _pair(self, place: HistoryPlace) -> tuple[CheckpointInfo | None, CheckpointInfo]:
        """Return what is compared, the older one first: two marks, mark and this one, or this one and the one before.

        The older one is None when there is none: then everything is new.
        """
        for info in (*self._marks.infos, place.info):
            await self._number(info)
        return self._marks.pair(place.info, self._numbers) or (await self._view.before(place), place.info)

    async def _number(self, info: CheckpointInfo) -> int:
        """Return which of all checkpoints one is, from 1: what is added later leaves that as it is."""
        key = info.checkpoint_id
        if key not in self._numbers:
            self._numbers[key] = await self._view.reader.place(key)
        return self._numbers[key]

    async def _difference(self, place: HistoryPlace) -> tuple[str, Sequence[Row]]:
        """Return what is compared, in words, and what differs."""
        older, newer = await self._pair(place)
        which = self._view.name(older, await self._number(older)) if older else _("nothing")
        name = self._view.name(newer, await self._number(newer))
        title = _("Diff · {which} → {newer}").format(which=which, newer=name)
        rows = await self._view.difference_rows(older, newer)
        if self._view.listed:
            return title, rows
        before = await self._view.before(place)
        alone = older is None or (before is not None and older.checkpoint_id == before.checkpoint_id)
        said = _("between the two marks") if len(self._marks.infos) == 2 else _("mark and this moment")
        said = _(self._view.beside) if alone and len(self._marks.infos) < 2 else said
        how = keymap_of(self.app).named(_("{said}; {replay.mark} marks another to compare")).replace("{said}", said)
        return title, [text_row(how, "$text-muted"), *rows]

    # Keys --------------------------------------------------------------------------------------------------------

    def action_first(self) -> None:
        self._tasks.do(self._cursor.first)

    def action_last(self) -> None:
        self._tasks.do(self._cursor.last)

    def action_step(self, by: int) -> None:
        self._tasks.do(partial(self._step, by))

    async def _step(self, by: int) -> None:
        moved = await self._cursor.step(by)
        place = None if moved else await self._cursor.look()
        said = self._view.first_words(place.number) if place is not None and by < 0 else self._view.ends[1]
        self.say("" if moved else keymap_of(self.app).named(_(said)))

    def action_decision(self, by: int) -> None:
        self._tasks.do(partial(self._seek, by))

    async def _seek(self, by: int) -> None:
        self.say(await self._view.seek(by))

    def action_mark(self) -> None:
        self._tasks.do(self._mark)

    async def _mark(self) -> None:
        info = self._cursor.current
        if info is not None:
            await self._number(info)
            self._marks = self._marks.toggled(info)

    def action_fold(self) -> None:
        """Show or hide the checkpoints at which only the engine went on."""
        if not self._cursor.folds:
            self.say(_("Nothing is folded here."))
            return
        self._cursor.folded = not self._cursor.folded
        self._tasks.redraw()

    def action_act(self, number: int) -> None:
        """Look, compare, fork or restore: what the keys 1 to 4 do."""
        self._tasks.do(partial(self._act, number))

    async def _act(self, number: int) -> None:
        # Where the keys before this one led to, drawn or not: never act on a moment that was left.
        place = await self._cursor.look()
        why_not = await self._why_not(number, place)
        if why_not or place is None:
            self.say(why_not)
        elif number in self._view.acts:
            self._begin(partial(self._do, self._view.acts[number], place))
        else:
            self._mode = number
            self._panes.look(number)

    async def _do(self, capability: Capability, place: HistoryPlace) -> None:
        if await self._view.act(capability, place, self):
            self.dismiss(True)

    async def _why_not(self, number: int, place: HistoryPlace | None) -> str:
        if place is None:
            return _(self._view.empty)
        keymap = keymap_of(self.app)
        alone = number == DIFF and not self._view.listed and not place.info.parent_id
        if alone and (await self._pair(place))[0] is None:
            said = _("The first checkpoint has none before it; mark another one with {replay.mark} to compare.")
            return keymap.named(said)
        if number in self._view.acts:
            obstacle = self._view.reader.obstacle(self._view.acts[number], newest=self._cursor.at_head)
            return keymap.named(obstacle_words(obstacle)) if obstacle is not None else ""
        return ""

    def action_leave(self) -> None:
        """Look for nothing any more, or go back to the moment from what it differs in, or out of the past."""
        if isinstance(self.focused, SearchInput) and self.focused.stop_finding():
            return
        if self._mode == DIFF:
            self._mode = VIEW
            self._panes.look(VIEW)
        else:
            self.dismiss(False)

    def action_question(self) -> None:
        """Go back to the session as it is now, to its question."""
        why_not = self._view.to_question()
        if why_not is None:
            raise SkipAction
        if why_not:
            self.say(why_not)
        else:
            self.dismiss(False)

    def action_undo(self) -> None:
        """Say that nothing is taken back in the past."""
        self.say(keymap_of(self.app).named(self._view.undo_words()))

    async def action_select_cursor(self) -> None:
        """Choose the line at the cursor of the pane that has the focus."""
        if self.focused is not None:
            await self.focused.run_action("select_cursor")

    def on_action_clicked(self, event: ActionClicked) -> None:
        event.stop()
        self.action_act(event.number)

    # Panes -------------------------------------------------------------------------------------------------------

    def on_data_table_row_highlighted(self, event: DataTable.RowHighlighted) -> None:
        event.stop()
        table = self.query_one(GraphTable)
        chosen, current = table.selected, self._cursor.current
        own = event.data_table is table and table.has_focus and event.cursor_row == table.cursor_row
        leads = self.settled or self._view.listed
        if not own or not leads or chosen is None or current is None:
            return
        if chosen.checkpoint_id != current.checkpoint_id:
            self._tasks.do(partial(self._go, chosen.checkpoint_id))

    async def _go(self, checkpoint_id: str) -> None:
        ids = [c.checkpoint_id for c in self._cursor.infos]
        if checkpoint_id in ids:
            await self._cursor.go(ids.index(checkpoint_id))

    def on_data_table_row_selected(self, event: DataTable.RowSelected) -> None:
        event.stop()
        pane = event.data_table.id or ""
        if pane in (PLAN, GRAPH):
            self._begin(partial(self._choose, pane, str(event.row_key.value)))
        elif pane == SPACES:
            self._tasks.do(partial(self._enter, str(event.row_key.value)))

    async def _enter(self, space: str) -> None:
        """Show the history of a subgraph, or of the graph around it: marks are checkpoints of one and the same."""
        self._marks = self._view.marks
        self._numbers.clear()
        await self._choose(SPACES, space)

    async def _choose(self, pane: str, row: str) -> None:
        if self._shown is not None:
            self._show_whole(await self._view.choose(self._shown, pane, row))

    def _show_whole(self, found: tuple[str, Sequence[Row]] | None) -> None:
        if found is not None:
            self.app.push_screen(TextViewer(*found))

    def on_tree_node_selected(self, event: Tree.NodeSelected[Any]) -> None:
        """A value that has no parts is shown whole."""
        event.stop()
        if not event.node.allow_expand and event.node.data is not None and self._shown is not None:
            self._show_whole(self._view.value(self._shown, event.node.data[0]))

    def on_plan_table_wanted(self, event: PlanTable.Wanted) -> None:
        event.stop()
        if event.what == "steps" and event.todo_id:
            self._begin(partial(self._show_steps, event.todo_id))
        else:
            self.say(keymap_of(self.app).named(_(PAST)))

    async def _show_steps(self, todo_id: str) -> None:
        """Show the team's own steps of the run that the TODO had then; going on from one means back to the session."""
        shown = self._shown
        if shown is not None and await self._view.show_steps(shown, todo_id, self):
            self.dismiss(True)

    def on_plan_table_held(self, event: PlanTable.Held) -> None:
        event.stop()
        self.say(keymap_of(self.app).named(_(event.why)))

    def action_next_pane(self, by: int = 1) -> None:
        self._panes.focus_next(self.focused, by)

    def on_resize(self, event: Resize) -> None:
        self._panes.share_room()

    def on_descendant_focus(self) -> None:
        self._panes.follow_focus(self.focused)
