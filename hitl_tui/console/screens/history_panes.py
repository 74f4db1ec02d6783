"""What the screens have in common that step through checkpoints: work in order, and panes that share the room (C5)."""

from __future__ import annotations

import logging
from collections import deque
from collections.abc import Awaitable, Callable
from functools import partial
from typing import ClassVar

from textual.events import Resize
from textual.widgets import DataTable

from hitl_tui.console.history_cursor import HistoryCursor
from hitl_tui.console.modal_screen import SingleResultScreen
from hitl_tui.console.widgets.action_bar import ReplayAction
from hitl_tui.console.widgets.bars import MessageLine
from hitl_tui.console.widgets.history_table import GraphTable
from hitl_tui.console.widgets.layout import fold
from hitl_tui.console.widgets.panes import Tab, TabStrip
from hitl_tui.core.errors import HitlError
from hitl_tui.core.safe_text import safe_text
from hitl_tui.wording.times import error_words, failure_words

log = logging.getLogger(__name__)

Work = Callable[[], Awaitable[None]]


class Errands:
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

    async def _run(self) -> None:
        try:
            while self._waiting or self._stale:
                # Only the last of many steps is loaded and drawn: a key held down stays quick.
                work = self._waiting.popleft() if self._waiting else self._draw
                self._stale = work != self._draw
                await self._guard(work)
        finally:
            self._running = False


class SteppingScreen(SingleResultScreen[None]):
    """Steps through checkpoints.

    Args:
        reel: the checkpoints, and where in them it is.
    """

    PANES: ClassVar[tuple[tuple[str, str], ...]] = ()
    """Widget ids of the panes, with their titles; the first is in front at the beginning."""

    def __init__(self, reel: HistoryCursor) -> None:
        super().__init__()
        self._reel = reel
        self._errands = Errands(lambda run: self.run_worker(run(), group="reel"), self._load, self._guarded)
        self._mode = 1
        self._pane = self.PANES[0][0]

    @property
    def settled(self) -> bool:
        """What is shown is what was last asked for."""
        return self._errands.settled

    async def _load(self) -> None:
        """Load and draw where the reel is."""
        raise NotImplementedError

    def say(self, text: str, *, error: bool = False) -> None:
        """Show one safe line."""
        self.query_one(MessageLine).say(text, error=error)

    async def _guarded(self, work: Work) -> None:
        try:
            await work()
        except HitlError as error:
            self.say(safe_text(error_words(error.message, error.help), multiline=False), error=True)
        except Exception as error:
            log.exception("stepping")
            self.say(failure_words(error), error=True)

    # Keys --------------------------------------------------------------------------------------------------------

    def action_first(self) -> None:
        self._errands.do(self._reel.first)

    def action_last(self) -> None:
        self._errands.do(self._reel.last)

    def action_act(self, number: int) -> None:
        """Look, compare, fork or restore: what the keys 1 to 4 do."""
        raise NotImplementedError

    def action_leave(self) -> None:
        self.dismiss(None)

    async def action_select_cursor(self) -> None:
        """Choose the line at the cursor of the pane that has the focus."""
        if self.focused is not None:
            await self.focused.run_action("select_cursor")

    def on_replay_action_clicked(self, event: ReplayAction.Clicked) -> None:
        event.stop()
        self.action_act(event.number)

    def on_data_table_row_highlighted(self, event: DataTable.RowHighlighted) -> None:
        event.stop()
        table = self.query_one(GraphTable)
        chosen, current = table.selected, self._reel.current
        own = event.data_table is table and table.has_focus and event.cursor_row == table.cursor_row
        if not own or not self.settled or chosen is None or current is None:
            return
        if chosen.checkpoint_id != current.checkpoint_id:
            self._errands.do(partial(self._go, chosen.checkpoint_id))

    async def _go(self, checkpoint_id: str) -> None:
        ids = [c.checkpoint_id for c in self._reel.infos]
        if checkpoint_id in ids:
            await self._reel.go(ids.index(checkpoint_id))

    # Panes -------------------------------------------------------------------------------------------------------

    def _panes(self) -> list[str]:
        """Return the panes that there is something in."""
        return [name for name, _title in self.PANES]

    def action_next_pane(self) -> None:
        names = self._panes()
        here = (self.focused.id if self.focused is not None else "") or ""
        following = names[(names.index(here) + 1) % len(names)] if here in names else self._pane
        self.show_pane(following, focus=True)

    def on_resize(self, event: Resize) -> None:
        self._arrange()

    def _arrange(self) -> None:
        fold(self)
        self.show_pane(self._pane)

    def show_pane(self, pane: str, *, focus: bool = False) -> None:
        """Bring a pane to the front."""
        shown = self._panes()
        self._pane = pane if pane in shown else shown[0]
        for name, _title in self.PANES:
            self.query_one(f"#{name}").set_class(name == self._pane, "-seen")
        self.query_one(TabStrip).mark(self._pane)
        if focus:
            self.set_focus(self.query_one(f"#{self._pane}"))

    def on_descendant_focus(self) -> None:
        pane = (self.focused.id if self.focused else "") or ""
        if pane in dict(self.PANES) and pane != self._pane:
            self.show_pane(pane)

    def on_tab_chosen(self, event: Tab.Chosen) -> None:
        event.stop()
        self.show_pane(event.pane, focus=True)
