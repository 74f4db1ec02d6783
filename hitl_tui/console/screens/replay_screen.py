"""Replay: a session's past, moment by moment. Looking executes nothing; going back asks first (C5)."""

from __future__ import annotations

import asyncio
from functools import partial
from pathlib import PurePath
from typing import TYPE_CHECKING, Any, ClassVar

from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Container, Horizontal, VerticalScroll
from textual.content import Content
from textual.widgets import DataTable, Static

from hitl_tui.console import keys
from hitl_tui.console.history_actions import difference_between, fork, restore, show_steps, show_todo
from hitl_tui.console.history_cursor import CheckpointMarks, HistoryCursor, current_line, on_line
from hitl_tui.console.screens.history_panes import SteppingScreen
from hitl_tui.console.services import sessions_of
from hitl_tui.console.session_handle import SessionHandle
from hitl_tui.console.widgets.action_bar import ReplayAction
from hitl_tui.console.widgets.bars import HeaderBar, KeyLine, MessageLine
from hitl_tui.console.widgets.history_table import GraphTable
from hitl_tui.console.widgets.lists import Reader
from hitl_tui.console.widgets.panes import TabStrip
from hitl_tui.console.widgets.plan_table import PlanTable
from hitl_tui.console.widgets.state_tree import StateTree
from hitl_tui.console.widgets.virtual_rows import Rows
from hitl_tui.core.safe_text import safe_text
from hitl_tui.language import _, mark
from hitl_tui.threads.session_diff import compare
from hitl_tui.threads.thread_reader import HistoryPlace
from hitl_tui.wording.history_rows import (
    decision_words,
    moment_rows,
    place_words,
    plan_at,
    todos_at,
)
from hitl_tui.wording.rows import Row, text_row
from hitl_tui.wording.status_words import PlanLines, status_of_session
from hitl_tui.wording.times import clock_words

if TYPE_CHECKING:
    from hitl_tui.console.screens.session_screen import SessionScreen
    from hitl_tui.console.services import SessionConsole
    from hitl_tui.threads.session_history import CheckpointInfo


PANES = (
    ("past-plan", mark("Plan")),
    ("past-graph", mark("Graph")),
    ("past-moment", mark("Moment")),
    ("past-state", mark("State")),
)
BANNER = mark("VIEWING THE PAST · nothing runs from here")
_PLACES = {1: mark("View"), 2: mark("Diff"), 3: mark("Fork"), 4: mark("Restore")}
_STATES_KEPT = 12
_PAST = mark(
    "This is the past: nothing can be changed in it. {replay.4} goes back to it, {replay.3} begins a session from it."
)


class ReplayScreen(SteppingScreen):
    """Steps through the checkpoints of a session.

    Args:
        session: the screen of the session, which goes on meanwhile.
        link: the session.
        at: checkpoint to begin at; empty for the newest.
        page: checkpoints that are read at once.
    """

    CSS_PATH: ClassVar[list[str | PurePath]] = ["../widgets/tabs.tcss", "replay.tcss", "../widgets/rows.tcss"]
    BINDINGS: ClassVar[list[BindingType]] = [*keys.bindings(keys.REPLAY)]
    AUTO_FOCUS = "#past-plan"
    PANES = PANES

    def __init__(self, session: SessionScreen, link: SessionHandle, at: str = "", page: int = 50) -> None:
        super().__init__(HistoryCursor(link.thread, page))
        self._session = session
        self._link = link
        self._at = at
        self._place: HistoryPlace | None = None
        self._state: dict[str, Any] = {}
        self._states: dict[str, dict[str, Any]] = {}
        self._marks = CheckpointMarks()
        self._numbers: dict[str, int] = {}
        self._lines = PlanLines()

    @property
    def hitl(self) -> SessionConsole:
        """The app."""
        return sessions_of(self.app)

    @property
    def place(self) -> HistoryPlace | None:
        """What is shown; None before anything is."""
        return self._place

    @property
    def marks(self) -> tuple[str, ...]:
        """Ids of the marked checkpoints, in the order they were marked."""
        return self._marks.ids

    def compose(self) -> ComposeResult:
        yield HeaderBar(id="header")
        yield Static(Content(f" {_(BANNER)}"), id="replay-banner")
        yield Static(id="replay-where")
        with Container(id="past-panes"):
            yield PlanTable(id="past-plan", fixed=_PAST)
            yield GraphTable(id="past-graph")
            yield TabStrip(PANES, id="past-tabs")
            with Reader(id="past-moment"):
                yield Rows(id="past-text")
            yield StateTree(id="past-state")
        with Horizontal(id="replay-actions"):
            for number in _PLACES:
                yield ReplayAction(number, _(_PLACES[number]))
            yield Static(id="replay-marks")
        yield MessageLine(id="message")
        yield KeyLine(id="keys")

    def on_mount(self) -> None:
        header, snapshot = self.query_one(HeaderBar), self._link.face.snapshot
        header.session = safe_text(snapshot.session_id, multiline=False)
        header.title_text = safe_text(snapshot.query.split("\n")[0], multiline=False, limit=400)
        header.mode = _("REPLAY")
        header.followed = not self._link.face.owned
        header.read_only = self._link.setup.read_only
        for pane, label in PANES:
            self.query_one(f"#{pane}").border_title = Content(_(label))
        self.query_one(KeyLine).show([*keys.of(keys.REPLAY, line=True), *keys.of(keys.ANYWHERE, line=True)[:1]])
        self._arrange()
        self._live()
        self.set_interval(1.0, self._live)
        self._errands.do(partial(self._reel.open, self._at))

    def _live(self) -> None:
        """The session goes on: say what it needs, and count what it adds."""
        snapshot = self._link.face.snapshot
        self.query_one(HeaderBar).status = status_of_session(snapshot, self.hitl.options.by)
        shape = self._reel.shape
        if shape is not None and snapshot.checkpoint_id != shape.head and self.settled:
            self._errands.do(self._refresh)

    async def _refresh(self) -> None:
        await self._reel.refresh()

    # What is shown -----------------------------------------------------------------------------------------------

    async def _load(self) -> None:
        place = await self._reel.look()
        if place is None:
            self._place = None
            self.say(_("This session has no checkpoint yet."))
            return
        state = await self._state_of(place.info)
        before = await self._state_of(place.before) if place.before is not None else {}
        # In a thread: with ten thousand TODOs keys and countdowns would stand still meanwhile.
        plan = await asyncio.to_thread(plan_at, state, place.info.timestamp, self._lines)
        here = await asyncio.to_thread(compare, before, state)
        ours, view = self._ours(place.info), self._mode == 1
        rows = moment_rows(place, state, here, ours=ours) if view else await self._diff_rows(place)
        title = _("Moment") if view else await self._diff_title(place)
        # From here on nothing is waited for: what is shown is of one moment.
        self._place, self._state = place, state
        self.query_one(PlanTable).update_rows(plan)
        self.query_one(StateTree).show_value(state)
        self.query_one("#past-text", Rows).show(rows)
        self.query_one("#past-moment").border_title = Content(title)
        self.query_one("#past-plan").border_title = Content(
            _("Plan at {time}").format(time=clock_words(place.info.timestamp))
        )
        decided = decision_words(place, here)
        where = Content.assemble(
            (f" {place_words(place, ours=ours)}", "bold" if ours else "bold $text-warning"), "\n", f" {decided}"
        )
        self.query_one("#replay-where", Static).update(where)
        newest = _(" · the newest moment") if self._reel.at_head else ""
        self.query_one("#replay-banner", Static).update(Content(f" {_(BANNER)}{newest}"))
        self._draw_graph(place)
        self._draw_actions()

    def _draw_graph(self, place: HistoryPlace) -> None:
        shape = self._reel.shape
        assert shape is not None
        marks = self._marks.glyphs(place.info.checkpoint_id)
        table = self.query_one(GraphTable)
        infos, first = self._reel.infos, place.number + self._reel.index
        table.show(infos, self._reel.index, head=shape.head, turns=shape.turns, marks=marks, first=first)
        table.border_title = Content(_("Graph · {number} of {total}").format(number=place.number, total=place.total))

    def _draw_actions(self) -> None:
        for number in _PLACES:
            action = self.query_one(f"#replay-{number}", ReplayAction)
            action.show(self._why_not(number), chosen=number == self._mode)
        marked = self._marks.words(lambda info: _short_name(info, self._numbers[info.checkpoint_id]))
        self.query_one("#replay-marks", Static).update(Content(marked))

    def _ours(self, info: CheckpointInfo) -> bool:
        shape = self._reel.shape
        return shape is not None and on_line(info.checkpoint_id, current_line(shape.head, shape.turns))

    async def _state_of(self, info: CheckpointInfo) -> dict[str, Any]:
        key = info.checkpoint_id
        found = self._states.pop(key, None)
        if found is None:
            found = await self._link.thread.state_at(key)
        self._states[key] = found
        while len(self._states) > _STATES_KEPT:
            self._states.pop(next(iter(self._states)))
        return found

    # Differences -------------------------------------------------------------------------------------------------

    def _pair(self, place: HistoryPlace) -> tuple[CheckpointInfo | None, CheckpointInfo]:
        """Return what is compared, the older one first: two marks, mark and this one, or this one and the one before.

        The older one is None when there is none: then everything is new.
        """
        return self._marks.pair(place.info) or (place.before, place.info)

    async def _diff_title(self, place: HistoryPlace) -> str:
        older, newer = self._pair(place)
        return _("Diff · {which} → {newer}").format(
            which=_short_name(older, await self._number(older)) if older else _("nothing"),
            newer=_short_name(newer, await self._number(newer)),
        )

    async def _number(self, info: CheckpointInfo) -> int:
        """Return which of all checkpoints one is, from 1: what is added later leaves that as it is."""
        key = info.checkpoint_id
        if key not in self._numbers:
            self._numbers[key] = await self._link.thread.place(key)
        return self._numbers[key]

    async def _diff_rows(self, place: HistoryPlace) -> list[Row]:
        older, newer = self._pair(place)
        before = await self._state_of(older) if older is not None else {}
        rows = await difference_between(self._link, before, await self._state_of(newer))
        what = _("between the two marks") if len(self._marks.infos) == 2 else _("mark and this moment")
        said = what if older is not None and older is not place.before else _("this moment and the one before it")
        how = self.hitl.keymap.named(_("{said}; {replay.mark} marks another to compare")).replace("{said}", said)
        return [text_row(how, "$text-muted"), *rows]

    # Keys --------------------------------------------------------------------------------------------------------

    def action_step(self, by: int) -> None:
        self._errands.do(partial(self._step, by))

    async def _step(self, by: int) -> None:
        moved = await self._reel.step(by)
        newest, first = (
            _("This is the newest checkpoint; {replay.leave} goes back to live."),
            _("This is the first checkpoint."),
        )
        self.say("" if moved else self.hitl.keymap.named(newest if by > 0 else first))

    def action_decision(self, by: int) -> None:
        self._errands.do(partial(self._decision, by))

    async def _decision(self, by: int) -> None:
        found = await self._reel.decision(by)
        self.say(
            "" if found else _("Nothing was decided {which} this.").format(which=_("after") if by > 0 else _("before"))
        )

    def action_mark(self) -> None:
        self._errands.do(self._mark)

    async def _mark(self) -> None:
        info = self._reel.current
        if info is not None:
            await self._number(info)
            self._marks = self._marks.toggled(info)

    def action_act(self, number: int) -> None:
        self._errands.do(partial(self._act, number))

    async def _act(self, number: int) -> None:
        # Where the keys before this one led to, drawn or not: never act on a moment that was left.
        self._place = await self._reel.look()
        why_not = self._why_not(number)
        if why_not:
            self.say(why_not)
        elif number in (1, 2):
            self._mode = number
            self.query_one("#past-moment", VerticalScroll).scroll_home(animate=False)
            if number == 2:
                self.show_pane("past-moment", focus=True)
        else:
            self.run_worker(self._guarded(self._fork if number == 3 else self._restore), group="going")

    def _why_not(self, number: int) -> str:
        if self._place is None:
            return _("There is no checkpoint yet.")
        if number == 2 and self._pair(self._place)[0] is None:
            said = _("The first checkpoint has none before it; mark another one with {replay.mark} to compare.")
            return self.hitl.keymap.named(said)
        if number == 4 and self._reel.at_head:
            return _("The session is already here.")
        return ""

    def on_data_table_row_selected(self, event: DataTable.RowSelected) -> None:
        event.stop()
        plan = self.query_one(PlanTable)
        if event.data_table is plan and plan.selected:
            self.run_worker(self._guarded(partial(self._show, plan.selected)), group="going")

    def on_plan_table_wanted(self, event: PlanTable.Wanted) -> None:
        event.stop()
        if event.what == "steps" and event.todo_id:
            self.run_worker(self._guarded(partial(self._steps, event.todo_id)), group="going")
        else:
            self.say(self.hitl.keymap.named(_(_PAST)))

    async def _steps(self, todo_id: str) -> None:
        """Show the team's own steps of the run that the TODO had then; back there means back to the session."""
        if await show_steps(self.hitl, self._link, todos_at(self._state).get(todo_id), self.say):
            self.dismiss(None)

    def on_plan_table_held(self, event: PlanTable.Held) -> None:
        event.stop()
        self.say(self.hitl.keymap.named(_(event.why)))

    # Going back, going elsewhere ---------------------------------------------------------------------------------

    async def _show(self, todo_id: str) -> None:
        if self._place is not None:
            await show_todo(self, self._link, self._place, self._state, todo_id)

    async def _restore(self) -> None:
        if self._place is not None:
            await restore(self, self._session, self._link, self._place)

    async def _fork(self) -> None:
        if self._place is not None:
            await fork(self, self._link, self._place)


def _short_name(info: CheckpointInfo, number: int) -> str:
    return f"{number} {safe_text(info.node, multiline=False)} {clock_words(info.timestamp)}"
