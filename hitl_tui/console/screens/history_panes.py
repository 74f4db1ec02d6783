"""The panes of a history: plan, graph, moment, subgraphs and state; as many of them as there is room for are seen."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from rich.text import Text
from textual.app import ComposeResult
from textual.containers import Container, Horizontal
from textual.content import Content
from textual.widget import Widget
from textual.widgets import Static

from hitl_tui.console.screens.history_view import DIFF, FORK, RESTORE, VIEW, HistoryFrame, HistoryPanes
from hitl_tui.console.widgets.action_bar import ReplayAction
from hitl_tui.console.widgets.history_table import GraphTable
from hitl_tui.console.widgets.layout import fold, upper_rows
from hitl_tui.console.widgets.lists import Listing, Reader
from hitl_tui.console.widgets.panes import Tab, TabStrip
from hitl_tui.console.widgets.plan_table import PlanTable
from hitl_tui.console.widgets.state_tree import StateTree
from hitl_tui.console.widgets.virtual_rows import Rows
from hitl_tui.core.safe_text import one_line
from hitl_tui.language import _, mark
from hitl_tui.wording.rows import in_line
from hitl_tui.wording.thread_rows import count_of
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
    "This is the past: nothing can be changed here. {replay.4} restores it, {replay.3} starts a session from it."
)


_ACTIONS = {
    VIEW: mark("Moment"),
    DIFF: mark("Diff"),
    FORK: mark("Fork a new session"),
    RESTORE: mark("Restore this one"),
}


class ThreadPanes(HistoryPanes):
    """Shows one pane, or with the class `-wide` on the screen all that there is something in.

    Args:
        panes: widget ids with their titles; the first is in front at the beginning.
    """

    def __init__(self, panes: Sequence[tuple[str, str]]) -> None:
        super().__init__()
        self._panes = panes
        self._spaces: tuple[Sequence[Namespace], str] = ((), "")
        self._chosen = panes[0][0]
        self._upper = 0

    def compose(self) -> ComposeResult:
        yield Static(id="history-where")
        with Container(id="history-panes") as room:
            for name, looks in ((PLAN, "-with-plan"), (SPACES, "-with-spaces")):
                room.set_class(name in dict(self._panes), looks)
            yield TabStrip(self._panes, id="history-tabs")
            for name, title in self._panes:
                pane = _pane(name)
                pane.add_class("history-pane")
                pane.border_title = Content(_(title))
                with pane:
                    if name == MOMENT:
                        yield Rows(id="history-text")
        with Horizontal(id="history-actions"):
            for number, label in _ACTIONS.items():
                yield ReplayAction(number, _(label))
            yield Static(id="history-marks")

    def on_mount(self) -> None:
        for spaces in self.query(f"#{SPACES}").results(Listing):
            spaces.add_column("", key="space", width=200)

    @property
    def filled(self) -> list[str]:
        """The panes that there is something in."""
        return [name for name, _title in self._panes if name != SPACES or len(self._spaces[0]) > 1]

    def draw(self, frame: HistoryFrame) -> None:
        shown = frame.shown
        style = "bold" if shown.ours else "bold $text-warning"
        where = Content.assemble((f" {shown.where}", style), "\n", f" {shown.decided}")
        self.query_one("#history-where", Static).update(where)
        self.query_one("#history-text", Rows).show(shown.rows)
        self.query_one(f"#{MOMENT}").border_title = Content(frame.title)
        self.query_one(StateTree).show_value(shown.state)
        for plan in self.query(PlanTable):
            plan.update_rows(shown.plan)
            at = clock_words(shown.place.info.timestamp)
            plan.border_title = Content(_("Plan at {time}").format(time=at))
        self._show_spaces(shown.spaces, shown.ns)
        self._draw_graph(frame)
        for number, why_not in frame.why_not.items():
            self.query_one(f"#replay-{number}", ReplayAction).show(why_not, chosen=number == frame.mode)
        self.query_one("#history-marks", Static).update(Content(frame.marked))
        self._divide()

    def _draw_graph(self, frame: HistoryFrame) -> None:
        shown, cursor, graph = frame.shown, frame.cursor, self.query_one(GraphTable)
        graph.follow(cursor, frame.signs, index=cursor.index, first=shown.first)
        name, place = _(dict(self._panes)[GRAPH]), shown.place
        title = _("{name} · {number} of {total}").format(name=name, number=place.number, total=place.total)
        nodes = next((space.nodes for space in shown.spaces if space.ns == shown.ns), ())
        inside = " › ".join(map(in_line, nodes))
        graph.border_title = Content(f"{title} · {inside}" if inside else title)

    def look(self, mode: int) -> None:
        self.query_one(f"#{MOMENT}", Reader).scroll_home(animate=False)
        self.show(MOMENT, focus=True)

    def share_room(self) -> None:
        fold(self.screen)
        self.show()
        self._divide()

    def _divide(self) -> None:
        """Where all panes are seen, give plan and history the rows that they fill, and the rest to the others."""
        room = self.query_one("#history-panes")
        rows = room.size.height
        if not self.screen.has_class("-wide") or PLAN not in dict(self._panes) or rows < 2:
            return
        filled = max(self.query_one(PlanTable).steps, self.query_one(GraphTable).row_count)
        upper = upper_rows(rows, filled, rows)
        if upper != self._upper:
            self._upper = upper
            room.styles.grid_rows = f"{upper}fr {rows - upper}fr"

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
        pane = (focused.id if focused is not None else "") or ""
        if pane in dict(self._panes) and pane != self._chosen:
            self.show(pane)

    def focus_next(self, focused: Widget | None, by: int = 1) -> None:
        names = self.filled
        here = (focused.id if focused is not None else "") or ""
        self.show(names[(names.index(here) + by) % len(names)] if here in names else self._chosen, focus=True)

    def on_tab_chosen(self, event: Tab.Chosen) -> None:
        event.stop()
        self.show(event.pane, focus=True)

    def _show_spaces(self, spaces: Sequence[Namespace], here: str) -> None:
        """List the graph and its subgraphs, where there are any; one of them is shown."""
        if (spaces, here) == self._spaces:
            return
        self._spaces = spaces, here
        table = self.query_one(f"#{SPACES}", Listing)
        table.clear()
        for space in spaces:
            sign = "▸ " if space.ns == here else "  "
            name = "  " * (len(space.nodes) - 1) + in_line(space.nodes[-1]) if space.ns else _("the graph")
            about = f"  {count_of(space)} · {clock_words(space.at)}"
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
