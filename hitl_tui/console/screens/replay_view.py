"""A session's own history on the screen: the plan as it was, what was decided, and the ways back or elsewhere."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from contextlib import suppress
from typing import TYPE_CHECKING

from hitl_tui.console.dialogs.prompt_dialogs import confirm
from hitl_tui.console.history_actions import difference_between, result_of, show_steps, todo_then
from hitl_tui.console.history_cursor import PAGE, HistoryCursor
from hitl_tui.console.restore_actions import done_words, go_back
from hitl_tui.console.screens.history_panes import GRAPH, MOMENT, PLAN, STATE, ThreadPanes
from hitl_tui.console.screens.history_view import HistoryPanes, HistoryView, ShownCheckpoint
from hitl_tui.core.errors import StorageError
from hitl_tui.core.json_types import JsonObject
from hitl_tui.core.safe_text import safe_text
from hitl_tui.language import _, mark
from hitl_tui.threads.checkpoint_causes import CheckpointCauses
from hitl_tui.threads.session_diff import Difference, compare
from hitl_tui.threads.thread_reader import Capability, HistoryPlace, LastRead
from hitl_tui.wording.history_rows import decision_words, fork_words, moment_rows, place_words, plan_at, todos_at
from hitl_tui.wording.status_words import PlanLines, follower_words, status_of_session
from hitl_tui.wording.times import clock_words

if TYPE_CHECKING:
    from hitl_tui.console.services import SessionConsole, Speaker
    from hitl_tui.console.session_display import SessionDisplay
    from hitl_tui.console.session_handle import SessionHandle
    from hitl_tui.console.widgets.bars import HeaderBar
    from hitl_tui.threads.thread_model import CheckpointInfo
    from hitl_tui.wording.rows import Row

_PANES = ((PLAN, mark("Plan")), (GRAPH, mark("History")), (MOMENT, mark("Moment")), (STATE, mark("State")))
_STATES_KEPT = 12
_MOST_RESULTS = 8
"""Results of one moment whose files are listed."""
_ONLY_ENGINE = mark("Only engine steps before this: {replay.fold} shows them.")


class ReplayView(HistoryView):
    """The history of a session, which goes on meanwhile.

    Args:
        handle: the session.
        console: the app.
        display: shows the session.
        at: checkpoint to begin at; empty for the newest.
        page: checkpoints that are read at once.
    """

    empty = mark("This session has no checkpoint yet.")
    ends = (
        mark("This is the first checkpoint."),
        mark("This is the newest checkpoint; {replay.leave} goes back to live."),
    )
    beside = mark("this moment and the one before it")
    interval = 1.0

    def __init__(
        self, handle: SessionHandle, console: SessionConsole, display: SessionDisplay, at: str = "", page: int = PAGE
    ) -> None:
        self.reader = handle.thread
        self.cursor = HistoryCursor(self.reader, page, CheckpointCauses())
        self._handle = handle
        self._console = console
        self._display = display
        self._at = at
        self._states = LastRead(self.reader.state_at, _STATES_KEPT)
        self._lines = PlanLines()

    def panes(self) -> HistoryPanes:
        return ThreadPanes(_PANES)

    def banner(self) -> str:
        return _("VIEWING THE PAST · nothing runs from here") + (
            _(" · the newest moment") if self.cursor.at_head else ""
        )

    async def begin(self) -> None:
        await self.cursor.open(self._at)

    def entitle(self, header: HeaderBar) -> None:
        snapshot = self._handle.session.snapshot
        header.session = safe_text(snapshot.session_id, multiline=False)
        header.title_text = self._display.called(self._handle)
        header.mode = _("REPLAY")
        header.followed = "" if self._handle.session.owned else follower_words(self._handle.session.snapshot)
        header.read_only = self._handle.setup.read_only

    def live(self, header: HeaderBar) -> None:
        header.status = status_of_session(self._handle.session.snapshot, self._console.options.by)

    async def changed(self) -> bool:
        shape = self.cursor.shape
        return shape is not None and self._handle.session.snapshot.checkpoint_id != shape.head

    async def refresh(self) -> None:
        await self.cursor.refresh()

    async def load(self, place: HistoryPlace, host: Speaker, *, ours: bool) -> ShownCheckpoint:
        state = await self._states.get(place.info.checkpoint_id)
        before = await self._states.get(place.before.checkpoint_id) if place.before is not None else {}
        # In a thread: with ten thousand TODOs keys and countdowns would stand still meanwhile.
        plan = await asyncio.to_thread(plan_at, state, place.info.timestamp, self._lines)
        here = await asyncio.to_thread(compare, before, state)
        where, decided = place_words(place, ours=ours), decision_words(place, here)
        return ShownCheckpoint(
            place, ours, where, decided, state, first=place.number + self.cursor.index, plan=plan, difference=here
        )

    async def moment_rows(self, shown: ShownCheckpoint, host: Speaker) -> Sequence[Row]:
        here = shown.difference or Difference()
        fresh = [(r.todo_id, r.after) for r in here.results if r.todo_id and r.after][:_MOST_RESULTS]
        found: dict[str, JsonObject] = {}
        for todo_id, after in fresh:
            with suppress(StorageError):  # what became of the plan is known without it
                found[todo_id] = await result_of(self._handle, after) or {}
        return moment_rows(shown.place, shown.state, here, found, ours=shown.ours, engine=not self.cursor.folded)

    async def before(self, place: HistoryPlace) -> CheckpointInfo | None:
        return place.before

    def name(self, info: CheckpointInfo, number: int) -> str:
        return f"{number} {clock_words(info.timestamp)}"

    async def difference_rows(self, older: CheckpointInfo | None, newer: CheckpointInfo) -> Sequence[Row]:
        before = await self._states.get(older.checkpoint_id) if older is not None else {}
        key = self._console.keymap.shown("replay.fold") if self.cursor.folded else ""
        return await difference_between(self._handle, before, await self._states.get(newer.checkpoint_id), key)

    async def seek(self, by: int) -> str:
        if await self.cursor.decision(by):
            return ""
        return _("Nothing was decided {which} this.").format(which=_("after") if by > 0 else _("before"))

    def first_words(self, number: int) -> str:
        return self.ends[0] if number <= 1 else _ONLY_ENGINE

    def to_question(self) -> str:
        if not self._handle.session.snapshot.questions:
            return _("Nothing waits for you now.")
        self._display.to_question()
        return ""

    def undo_words(self) -> str:
        return _("Nothing is undone in the past: {replay.leave} goes back to live, where {session.undo} undoes.")

    async def choose(self, shown: ShownCheckpoint, pane: str, row: str) -> tuple[str, Sequence[Row]] | None:
        return await todo_then(self._handle, shown.place, shown.state, row) if pane == PLAN else None

    async def show_steps(self, shown: ShownCheckpoint, todo_id: str, host: Speaker) -> bool:
        todo = todos_at(shown.state).get(todo_id)
        return await show_steps(self._console, self._handle, todo, host.say, self._display.say)

    async def act(self, capability: Capability, place: HistoryPlace, host: Speaker) -> bool:
        return await (self._fork if capability is Capability.FORK else self._restore)(place, host)

    async def _restore(self, place: HistoryPlace, host: Speaker) -> bool:
        said = done_words(await go_back(self._console, self._handle, place.info), host)
        if said is None:
            return False
        self._display.say(said)
        self._display.note(said)
        self._display.to_next_question()
        return True

    async def _fork(self, place: HistoryPlace, host: Speaker) -> bool:
        """Begin another session at a checkpoint when that is confirmed; then offer to open it."""
        name, when = safe_text(self._handle.session.id, multiline=False), clock_words(place.info.timestamp)
        title = _("Fork {name} at {when}").format(name=name, when=when)
        if not await confirm(self._console, title, fork_words(place, name), _("Fork")):
            host.say(_("Nothing was made."))
            return False
        admin = await self._console.engine.admin()
        by = self._console.options.by
        begins = place.info.checkpoint_id
        made = (await admin.fork(self._handle.session.id, begins, by=by, channel="console")).session.id
        fresh = safe_text(made, multiline=False)
        goes_on = _(" What runs in {name} continues meanwhile.").format(name=name) if self._handle.session.owned else ""
        said = _("{fresh} was created and nothing runs in it.\nOpen it now?{goes_on}")
        host.say("")  # what was said of another fork isn't true of this one
        offer = said.format(fresh=fresh, goes_on=goes_on)
        if await confirm(self._console, _("Open {fresh}").format(fresh=fresh), offer, _("Open it")):
            self._console.sessions.open(made)
        else:
            said = _("{fresh} starts at this moment; {console.home} on the session's screen lists it.")
            host.say(self._console.keymap.named(said).replace("{fresh}", fresh))
        return False
