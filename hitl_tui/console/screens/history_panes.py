"""The panes of a history: plan, graph, moment, subgraphs and state; as many of them as there is room for are seen."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from rich.text import Text
from textual.app import ComposeResult
from textual.containers import Container
from textual.content import Content
from textual.widget import Widget

from hitl_tui.console.widgets.history_table import GraphTable
from hitl_tui.console.widgets.lists import Listing, Reader
from hitl_tui.console.widgets.panes import Tab, TabStrip
from hitl_tui.console.widgets.plan_table import PlanTable
from hitl_tui.console.widgets.state_tree import StateTree
from hitl_tui.console.widgets.virtual_rows import Rows
from hitl_tui.core.safe_text import one_line
from hitl_tui.language import _, mark
from hitl_tui.wording.rows import in_line
from hitl_tui.wording.times import clock_words

if TYPE_CHECKING:
    from hitl_tui.threads.thread_model import Namespace

PLAN, GRAPH, MOMENT, SPACES, STATE = (
    "history-plan",
    "history-graph",
    "history-moment",
    "history-spaces",
    "history-state",
)
PAST = mark(
    "This is the past: nothing can be changed in it. {replay.4} goes back to it, {replay.3} begins a session from it."
)


class HistoryPanes(Container):
    """Shows one pane, or with the class `-wide` on the screen all that there is something in.

    Args:
        panes: widget ids with their titles; the first is in front at the beginning.
        id: widget id.
    """

    def __init__(self, panes: Sequence[tuple[str, str]], id: str | None = None) -> None:
        super().__init__(id=id)
        for name, looks in ((PLAN, "-with-plan"), (SPACES, "-with-spaces")):
            self.set_class(name in dict(panes), looks)
        self._panes = panes
        self._spaces: tuple[Sequence[Namespace], str] = ((), "")
        self._chosen = panes[0][0]

    def compose(self) -> ComposeResult:
        yield TabStrip(self._panes, id="history-tabs")
        for name, title in self._panes:
            pane = _pane(name)
            pane.add_class("history-pane")
            pane.border_title = Content(_(title))
            with pane:
                if name == MOMENT:
                    yield Rows(id="history-text")

    def on_mount(self) -> None:
        for spaces in self.query(f"#{SPACES}").results(Listing):
            spaces.add_column("", key="space", width=200)

    @property
    def filled(self) -> list[str]:
        """The panes that there is something in."""
        return [name for name, _title in self._panes if name != SPACES or len(self._spaces[0]) > 1]

    def show(self, pane: str = "", *, focus: bool = False) -> None:
        """Bring a pane to the front; with none named the one that was there stays, as far as there is something in it.

        Args:
            pane: widget id.
            focus: give it the focus, too.
        """
        wanted, shown = pane or self._chosen, self.filled
        self._chosen = wanted if wanted in shown else shown[0]
        for name, _title in self._panes:
            self.query_one(f"#{name}").set_class(name == self._chosen, "-seen")
        self.query_one(TabStrip).mark(self._chosen)
        if focus:
            self.screen.set_focus(self.query_one(f"#{self._chosen}"))

    def follow_focus(self, focused: Widget | None) -> None:
        """Bring the pane to the front that has the focus."""
        pane = (focused.id if focused is not None else "") or ""
        if pane in dict(self._panes) and pane != self._chosen:
            self.show(pane)

    def focus_next(self, focused: Widget | None) -> None:
        """Give the focus to the pane after the one that has it."""
        names = self.filled
        here = (focused.id if focused is not None else "") or ""
        self.show(names[(names.index(here) + 1) % len(names)] if here in names else self._chosen, focus=True)

    def on_tab_chosen(self, event: Tab.Chosen) -> None:
        event.stop()
        self.show(event.pane, focus=True)

    def show_spaces(self, spaces: Sequence[Namespace], here: str) -> None:
        """List the graph and its subgraphs, where there are any.

        Args:
            spaces: in the order in which they began.
            here: the one whose history is shown.
        """
        if (spaces, here) == self._spaces:
            return
        self._spaces = spaces, here
        table = self.query_one(f"#{SPACES}", Listing)
        table.clear()
        for space in spaces:
            sign = "▸ " if space.ns == here else "  "
            name = "  " * (len(space.nodes) - 1) + in_line(space.nodes[-1]) if space.ns else _("the graph")
            about = f"  {space.checkpoints:,} · {clock_words(space.at)}"
            table.add_row(Text.assemble(sign + one_line(name, 60), (about, "dim")), key=space.ns)
        if spaces:
            names = [space.ns for space in spaces]
            table.move_cursor(row=names.index(here) if here in names else 0, animate=False)
        self.screen.set_class(len(spaces) > 1, "-nested")
        self.show()


def _pane(name: str) -> Widget:
    if name == PLAN:
        return PlanTable(id=name, fixed=PAST)
    if name == GRAPH:
        return GraphTable(id=name)
    if name == SPACES:
        return Listing(id=name)
    return StateTree(id=name) if name == STATE else Reader(id=name)
