"""The inbox: everything that waits for a person, of every session, what expires first on top."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import PurePath
from typing import TYPE_CHECKING, ClassVar

from rich.text import Text
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.content import Content
from textual.events import Resize
from textual.screen import ModalScreen
from textual.widgets import DataTable, Static

from hitl_tui.console import keys
from hitl_tui.console.keymap import keymap_of
from hitl_tui.console.screens.dialogs import named_keys
from hitl_tui.console.terms import left_words
from hitl_tui.console.widgets.frame import Dialog
from hitl_tui.console.widgets.lists import Listing
from hitl_tui.console.words import number_of
from hitl_tui.core.requests import Kind
from hitl_tui.core.safe_text import one_line, safe_text
from hitl_tui.language import _, mark, render

if TYPE_CHECKING:
    from hitl_tui.ledger.contract import RequestView

_RISKS = {"high": mark("RISKY"), "medium": mark("medium"), "low": mark("low")}
_LEFT = 18
_WIDEST = 120
"""Cells of the dialog at most, as its stylesheet says."""
_TAKEN = 10 + 8 + 6 + _LEFT + 5 * 2 + 5
"""Cells of the other columns, of all their padding, and of the dialog's edges with its scroll bar."""


class Inbox(ModalScreen[tuple[str, str] | None]):
    """Lists open questions; its result is session and request id of the chosen one.

    Args:
        views: the open requests, in the order they are shown.
        here: the session that is open.
    """

    CSS_PATH: ClassVar[list[str | PurePath]] = ["dialogs.tcss", "../widgets/rows.tcss"]
    BINDINGS: ClassVar[list[BindingType]] = [*keys.bindings(keys.INBOX)]

    def __init__(self, views: Sequence[RequestView], here: str) -> None:
        super().__init__()
        self._views = views
        self._here = here

    def compose(self) -> ComposeResult:
        with Dialog(classes="dialog -large") as box:
            box.border_title = Content(_("Inbox · {n} open").format(n=len(self._views)))
            if self._views:
                yield Listing(id="inbox-table")
            else:
                yield Static(Content(_("Nothing waits for you.")))
            yield Static(
                named_keys(
                    keymap_of(self.app),
                    _("{list.choose} goes to the question · {inbox.close} closes; nothing is decided here"),
                ),
                classes="dialog-keys",
            )

    def on_mount(self) -> None:
        if not self._views:
            return
        table = self.query_one("#inbox-table", DataTable)
        for column, size in (("session", 10), ("todo", 8), ("risk", 6), ("title", self._room), ("left", _LEFT)):
            table.add_column("", key=column, width=size)
        self._fill()
        table.focus()

    def on_resize(self, event: Resize) -> None:
        if self._views and self.query_one(DataTable).columns:
            self._fill()

    @property
    def _room(self) -> int:
        """Cells that are left for titles."""
        return max(10, min(self.app.size.width * 9 // 10, _WIDEST) - _TAKEN)

    def _fill(self) -> None:
        from hitl_tui.core.shapes.recognise import title_of

        table, now, width = self.query_one("#inbox-table", DataTable), datetime.now(UTC), self._room
        here = table.cursor_row
        table.clear()
        table.columns["title"].width = width  # type: ignore[index]
        for view in self._views:
            request = view.request
            asked = title_of(request)
            ours = request.kind in (Kind.PLAN, Kind.PROPOSAL)
            title = safe_text(render(asked) if ours else asked, multiline=False)
            name = number_of(request.todo_id) if request.todo_id else render(request.kind.value)
            arrow = "→ " if request.session == self._here else "  "
            table.add_row(
                Text(one_line(arrow + safe_text(request.session, multiline=False), 10)),
                Text(one_line(name, 8)),
                Text(_(_RISKS.get(str(request.about.get("risk", "")), ""))),
                Text(one_line(title, width)),
                Text(one_line(left_words(request.deadline, now), _LEFT)),
            )
        table.move_cursor(row=here, animate=False)

    def on_data_table_row_selected(self, event: DataTable.RowSelected) -> None:
        event.stop()
        request = self._views[event.cursor_row].request
        self.dismiss((request.session, request.id))

    def action_close(self) -> None:
        self.dismiss(None)
