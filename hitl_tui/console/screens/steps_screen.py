"""A team's own steps: the state at each, what differs, and going on from one of them (D13, C5)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import PurePath
from typing import TYPE_CHECKING, Any, ClassVar

from rich.text import Text
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Horizontal
from textual.content import Content
from textual.widgets import DataTable, Static

from hitl_tui.console import keys
from hitl_tui.console.dialogs.prompt_dialogs import confirm
from hitl_tui.console.modal_screen import SingleResultScreen
from hitl_tui.console.services import sessions_of
from hitl_tui.console.session_handle import SessionHandle
from hitl_tui.console.widgets.bars import HeaderBar, KeyLine, MessageLine
from hitl_tui.console.widgets.lists import Listing, Reader
from hitl_tui.console.widgets.state_tree import StateTree
from hitl_tui.console.widgets.virtual_rows import Rows
from hitl_tui.core.safe_text import cell_width, one_line, safe_text
from hitl_tui.core.todos import SupervisorTodo
from hitl_tui.language import _, mark, render
from hitl_tui.threads.state_diff import values_that_differ
from hitl_tui.wording.difference_rows import value_rows
from hitl_tui.wording.rows import Row, text_row
from hitl_tui.wording.status_words import number_of
from hitl_tui.wording.times import clock_words

if TYPE_CHECKING:
    from hitl_tui.console.services import SessionConsole
    from hitl_tui.threads.session_history import CheckpointInfo

PAGE = 50
BANNER = mark("A TEAM'S OWN STEPS · nothing runs from here")
_NODE = 28
_STATES_KEPT = 12


class StepsScreen(SingleResultScreen[bool]):
    """Steps through the checkpoints of one run of a TODO's team. Its result says whether the team is to go on from one.

    Args:
        link: the session.
        todo: the TODO, as it is or as it was.
        page: steps that are read at once.
    """

    CSS_PATH: ClassVar[list[str | PurePath]] = ["steps.tcss", "../widgets/rows.tcss"]
    BINDINGS: ClassVar[list[BindingType]] = [*keys.bindings(keys.STEPS)]
    AUTO_FOCUS = "#steps-list"

    def __init__(self, link: SessionHandle, todo: SupervisorTodo, page: int = PAGE) -> None:
        super().__init__()
        self._link = link
        self._todo = todo
        self._page = page
        self._thread = link.thread.of_team(todo.thread)
        self._steps: list[CheckpointInfo] = []
        self._more = True
        self._states: dict[str, dict[str, Any]] = {}
        self._marked = ""
        self._differs = False

    @property
    def hitl(self) -> SessionConsole:
        """The app."""
        return sessions_of(self.app)

    @property
    def selected(self) -> CheckpointInfo | None:
        """The step at the cursor; None before there is one."""
        row = self.query_one("#steps-list", DataTable).cursor_row
        return self._steps[row] if 0 <= row < len(self._steps) else None

    def compose(self) -> ComposeResult:
        yield HeaderBar(id="header")
        yield Static(Content(f" {_(BANNER)}"), id="steps-banner")
        yield Listing(id="steps-list")
        with Horizontal(id="steps-panes"):
            yield StateTree(id="steps-state")
            with Reader(id="steps-difference"):
                yield Rows(id="steps-rows")
        yield MessageLine(id="message")
        yield KeyLine(id="keys")

    def on_mount(self) -> None:
        header, todo = self.query_one(HeaderBar), self._todo
        header.session = safe_text(self._link.face.id, multiline=False)
        header.title_text = f"{number_of(todo.id)}  {safe_text(todo.name, multiline=False, limit=400)}"
        header.mode = _("STEPS")
        table = self.query_one("#steps-list", DataTable)
        table.border_title = Content(_("Steps"))
        table.add_column(Text(), key="row", width=max(20, self.app.size.width - 6))
        self.query_one("#steps-state").border_title = Content(_("State"))
        self.query_one("#steps-difference").border_title = Content(_("Difference"))
        self.query_one(KeyLine).show([*keys.of(keys.STEPS, line=True), *keys.of(keys.ANYWHERE, line=True)[:1]])
        self._show_panes()
        self._work(self._read)

    def say(self, text: str, *, error: bool = False) -> None:
        """Show one safe line."""
        self.query_one(MessageLine).say(text, error=error)

    def _work(self, work: Any) -> None:
        self.run_worker(self.hitl.guarded(work()), group="steps")

    # Reading -----------------------------------------------------------------------------------------------------

    async def _read(self) -> None:
        """Read the next page of steps, newest first."""
        before = self._steps[-1].checkpoint_id if self._steps else ""
        fresh = await self._thread.older(self._page, before)
        self._more = len(fresh) == self._page
        self._steps += fresh
        table = self.query_one("#steps-list", DataTable)
        for info in fresh:
            table.add_row(self._line(info), key=info.checkpoint_id)
        if not self._steps:
            self.say(_("Its team has no steps here: none were kept, or they lie in a store of its own."))
        await self._show()

    def _line(self, info: CheckpointInfo) -> Text:
        sign = "A" if info.checkpoint_id == self._marked else " "
        node = one_line(safe_text(render(info.node) if info.node in ("start", "ended") else info.node), _NODE)
        gap = " " * (_NODE - cell_width(node))
        return Text(f"{sign} {info.step:>4}  {node}{gap}  {clock_words(info.timestamp)}")

    async def _state(self, info: CheckpointInfo) -> dict[str, Any]:
        key = info.checkpoint_id
        found = self._states.pop(key, None)
        if found is None:
            found = await self._thread.state_at(key)
        self._states[key] = found
        while len(self._states) > _STATES_KEPT:
            self._states.pop(next(iter(self._states)))
        return found

    # Showing -----------------------------------------------------------------------------------------------------

    async def _show(self) -> None:
        info = self.selected
        if info is None:
            return
        state = await self._state(info)
        if self.selected is not info:  # the cursor went on meanwhile, and shows what is there
            return
        self.query_one(StateTree).show_value(state)
        self.query_one("#steps-rows", Rows).show(await self._difference(info, state))

    def _other(self, info: CheckpointInfo) -> CheckpointInfo | None:
        """Return what a step is compared with: the marked one, or the one it came from."""
        wanted = self._marked if self._marked and self._marked != info.checkpoint_id else info.parent_id
        return next((s for s in self._steps if s.checkpoint_id == wanted), None)

    async def _difference(self, info: CheckpointInfo, state: Mapping[str, Any]) -> Sequence[Row]:
        other = self._other(info)
        if other is None and info.parent_id:
            return [text_row(_("The step before it isn't listed yet: further down there are more."))]
        before = await self._state(other) if other is not None else {}
        older = other is None or other.checkpoint_id < info.checkpoint_id
        found = list(values_that_differ(before, state) if older else values_that_differ(state, before))
        named = [_named(s) for s in ((other, info) if older else (info, other)) if s is not None]
        head = text_row(" → ".join(named if other is not None else [_("nothing"), *named]), "bold")
        return [head, *(value_rows(found) if found else [text_row(_("Nothing differs."))])]

    def _show_panes(self) -> None:
        wide = self.app.size.width >= 100
        self.query_one("#steps-state").display = wide or not self._differs
        self.query_one("#steps-difference").display = wide or self._differs

    def on_resize(self) -> None:
        self._show_panes()
        table = self.query_one("#steps-list", DataTable)
        if "row" in table.columns:
            table.columns["row"].width = max(20, self.app.size.width - 6)  # type: ignore[index]
            table.refresh()

    def on_data_table_row_highlighted(self, event: DataTable.RowHighlighted) -> None:
        event.stop()
        if self._more and event.cursor_row >= len(self._steps) - 1 and self._steps:
            self._work(self._read)
        else:
            self._work(self._show)

    # Keys --------------------------------------------------------------------------------------------------------

    def action_view(self, differs: bool) -> None:
        self._differs = differs
        self._show_panes()

    def action_mark(self) -> None:
        info = self.selected
        if info is None:
            return
        old, self._marked = self._marked, "" if self._marked == info.checkpoint_id else info.checkpoint_id
        table = self.query_one("#steps-list", DataTable)
        for step in self._steps:
            if step.checkpoint_id in (old, self._marked):
                table.update_cell(step.checkpoint_id, "row", self._line(step))
        self._work(self._show)

    def action_next_pane(self) -> None:
        panes = [f"#{i}" for i in ("steps-list", "steps-state", "steps-difference")]
        shown = [p for p in panes if self.query_one(p).display]
        here = f"#{self.focused.id}" if self.focused is not None else ""
        following = shown[(shown.index(here) + 1) % len(shown)] if here in shown else shown[0]
        self.set_focus(self.query_one(following))

    def action_restore(self) -> None:
        info = self.selected
        if info is not None:
            self._work(partial(self._restore, info))

    async def _restore(self, info: CheckpointInfo) -> None:
        number, since = number_of(self._todo.id), sum(s.checkpoint_id > info.checkpoint_id for s in self._steps)
        said = "\n".join(
            [
                _("{todo} would go on from {step}, once it is approved anew.").format(todo=number, step=_named(info)),
                _("! {n} steps came after it. What they did to the world is NOT undone.").format(n=since),
                _("Nothing is executed by going back, and the steps stay."),
            ]
        )
        title = _("Go on from a step of {todo}").format(todo=number)
        if not await confirm(self.hitl, title, said, _("Restore")):
            self.say(_("Nothing was changed."))
            return
        result = await self._link.handler.handle(f"/checkpoint restore {info.checkpoint_id}")
        message = safe_text(render(result.message), multiline=False)
        if result.failed:
            self.say(message, error=True)
        else:
            self.dismiss(True)
            self.hitl.say(message)

    def action_leave(self) -> None:
        self.dismiss(False)


def _named(info: CheckpointInfo) -> str:
    return f"{info.step} {safe_text(info.node, multiline=False)} {clock_words(info.timestamp)}"
