"""A team's own steps on the screen: the state at each, what differs, and going on from one of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import PurePath
from types import MappingProxyType
from typing import TYPE_CHECKING, ClassVar

from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Horizontal
from textual.content import Content
from textual.screen import Screen
from textual.widget import Widget

from hitl_tui.console import keys
from hitl_tui.console.history_cursor import CheckpointMarks, HistoryCursor
from hitl_tui.console.restore_actions import done_words, step_back
from hitl_tui.console.screens.history_screen import HistoryScreen
from hitl_tui.console.screens.history_view import (
    DIFF,
    RESTORE,
    HistoryFrame,
    HistoryPanes,
    HistoryView,
    ShownCheckpoint,
)
from hitl_tui.console.widgets.history_table import StepsTable
from hitl_tui.console.widgets.lists import Reader
from hitl_tui.console.widgets.state_tree import StateTree
from hitl_tui.console.widgets.virtual_rows import Rows
from hitl_tui.core.safe_text import safe_text
from hitl_tui.language import _, mark
from hitl_tui.threads.state_diff import differences
from hitl_tui.threads.thread_reader import Capability, HistoryPlace, LastRead
from hitl_tui.wording.difference_rows import value_rows
from hitl_tui.wording.rows import Row, text_row
from hitl_tui.wording.status_words import number_of
from hitl_tui.wording.thread_rows import name_of

if TYPE_CHECKING:
    from hitl_tui.console.services import Console, Speaker
    from hitl_tui.console.session_handle import SessionHandle
    from hitl_tui.console.widgets.bars import HeaderBar
    from hitl_tui.core.todos import SupervisorTodo
    from hitl_tui.threads.thread_model import CheckpointInfo

_STATES_KEPT = 12
_WIDE = 100
"""Columns from which on the state and what differs stand beside each other."""
_PANES = ("steps-list", "steps-state", "steps-difference")


class StepsPanes(HistoryPanes):
    """The list of the steps, and beneath it the state at one, and what differs."""

    _differs = False

    def compose(self) -> ComposeResult:
        yield StepsTable(id="steps-list")
        with Horizontal(id="steps-panes"):
            yield StateTree(id="steps-state")
            with Reader(id="steps-difference"):
                yield Rows(id="steps-rows")

    def on_mount(self) -> None:
        for pane, title in zip(_PANES, (_("Steps"), _("State"), _("Difference")), strict=True):
            self.query_one(f"#{pane}").border_title = Content(title)

    def draw(self, frame: HistoryFrame) -> None:
        table, ids = self.query_one(StepsTable), [info.checkpoint_id for info in frame.cursor.infos]
        here = table.selected.checkpoint_id if table.selected is not None else ""
        # Who moves on in the list is followed, not called back.
        table.follow(frame.cursor, frame.signs, index=ids.index(here) if here in ids else frame.cursor.index)
        self.query_one(StateTree).show_value(frame.shown.state)
        self.query_one(Rows).show(frame.shown.rows)

    def look(self, mode: int) -> None:
        self._differs = mode == DIFF
        self.share_room()

    def share_room(self) -> None:
        wide = self.app.size.width >= _WIDE
        self.query_one("#steps-state").display = wide or not self._differs
        self.query_one("#steps-difference").display = wide or self._differs

    def focus_next(self, focused: Widget | None, by: int = 1) -> None:
        shown = [pane for pane in (self.query_one(f"#{name}") for name in _PANES) if pane.display]
        self.screen.set_focus(shown[(shown.index(focused) + by) % len(shown)] if focused in shown else shown[0])


class StepsScreen(HistoryScreen, inherit_bindings=False):
    """Shows a team's own steps. Its result says whether the team is to go on from one."""

    CSS_PATH: ClassVar[list[str | PurePath]] = [*HistoryScreen.CSS_PATH, "steps.tcss"]
    BINDINGS: ClassVar[list[BindingType]] = [*Screen.BINDINGS, *keys.bindings(keys.STEPS)]
    AUTO_FOCUS = "#steps-list"
    PART = keys.STEPS


class StepsView(HistoryView):
    """The history of one run of a TODO's team.

    Args:
        console: the app.
        handle: the session.
        todo: the TODO, as it is or as it was.
        say: shows one safe line where the session is shown.
    """

    acts = MappingProxyType({RESTORE: Capability.RESUME})
    listed = True
    marks = CheckpointMarks(most=1)
    empty = mark("Its team has no steps here: none were kept, or they lie in a store of its own.")

    def __init__(
        self, console: Console, handle: SessionHandle, todo: SupervisorTodo, say: Callable[[str], None]
    ) -> None:
        self._console = console
        self.reader = handle.thread.of_team(todo.thread)
        self.cursor = HistoryCursor(self.reader)
        self._handle = handle
        self._todo = todo
        self._say = say
        self._states = LastRead(self.reader.state_at, _STATES_KEPT)

    def panes(self) -> HistoryPanes:
        return StepsPanes()

    def banner(self) -> str:
        return _("A TEAM'S OWN STEPS · nothing runs from here")

    async def begin(self) -> None:
        await self.cursor.open()

    def entitle(self, header: HeaderBar) -> None:
        header.session = safe_text(self._handle.session.id, multiline=False)
        header.title_text = f"{number_of(self._todo.id)}  {safe_text(self._todo.name, multiline=False, limit=400)}"
        header.mode = _("STEPS")

    async def load(self, place: HistoryPlace, host: Speaker, *, ours: bool) -> ShownCheckpoint:
        return ShownCheckpoint(place, ours, "", "", await self._states.get(place.info.checkpoint_id))

    def name(self, info: CheckpointInfo, number: int) -> str:
        return name_of(info)

    async def difference_rows(self, older: CheckpointInfo | None, newer: CheckpointInfo) -> Sequence[Row]:
        before = await self._states.get(older.checkpoint_id) if older is not None else {}
        found = differences(before, await self._states.get(newer.checkpoint_id))
        names = " → ".join([name_of(older) if older is not None else _("nothing"), name_of(newer)])
        return [text_row(names, "bold"), *(value_rows(found) if found else [text_row(_("Nothing differs."))])]

    async def act(self, capability: Capability, place: HistoryPlace, host: Speaker) -> bool:
        """Let the team go on from a step when that is confirmed."""
        said = done_words(await step_back(self._console, self._handle, self._todo, place.info), host)
        if said is not None:
            self._say(said)
        return said is not None
