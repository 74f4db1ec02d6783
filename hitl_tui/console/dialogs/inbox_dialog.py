"""The inbox: everything that waits for a person, of every session, what expires first on top."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, ClassVar

from rich.text import Text
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.content import Content
from textual.events import Resize
from textual.message import Message
from textual.widgets import DataTable, Static

from hitl_tui.console import keys
from hitl_tui.console.dialogs.guarded_dialog import CSS, named_keys
from hitl_tui.console.engine import WAITING_PAGE
from hitl_tui.console.keymap import keymap_of
from hitl_tui.console.modal_screen import Modal
from hitl_tui.console.services import sessions_of
from hitl_tui.console.widgets.dialog_frame import Dialog
from hitl_tui.console.widgets.layout import SHORT
from hitl_tui.console.widgets.lists import Listing
from hitl_tui.console.widgets.text_search import SearchInput, TextSearch
from hitl_tui.console.workers import work_on
from hitl_tui.core.policy import Risk
from hitl_tui.core.safe_text import ELLIPSIS, cell_width, one_line, safe_text
from hitl_tui.language import _, mark, safe_message
from hitl_tui.wording.inbox_rows import asked_words, late_words, option_lines, risk_shown, votes_words, waits_words
from hitl_tui.wording.status_words import fork_first

if TYPE_CHECKING:
    from hitl_tui.ledger.records import RequestView

_RISKS = {Risk.HIGH: mark("RISKY"), Risk.MEDIUM: mark("medium"), Risk.LOW: mark("low")}
_RISK, _WHEN = 6, 18
_WIDEST = 120
"""Cells of the dialog at most, as its stylesheet says."""
_TAKEN = _RISK + 4 * 2 + 5
"""Cells of the risk, of the padding of all columns, and of the dialog's edges with its scroll bar."""
_SESSIONS = 0.35
"""Share of the room that is left that the sessions' titles take."""
_NAMED = 36
"""Cells of that room from which on the sessions' titles are shown beside their ids."""
_ID = 12
_SHOWN, _SOUGHT = 1_000, 10_000
"""Lines at most, and requests that words are looked for in: the most urgent ones."""
_FEW_OPTIONS = 5
"""Options below the list, of a question that gives a choice."""
_LONGEST = 300
"""Characters of a session's title below the list."""
_HEADS = {"session": mark("session"), "asks": mark("what it asks"), "risk": mark("risk"), "when": mark("waits")}


class InboxTable(Listing, SearchInput):
    """The lines of the inbox; words that are typed after `/` leave those that have them."""

    PART = keys.INBOX

    class Sought(Message):
        """Other words are looked for."""

    def __init__(self, id: str | None = None) -> None:
        super().__init__(id=id)
        self.finding = TextSearch()

    def seek(self) -> None:
        self.post_message(self.Sought())


class InboxDialog(Modal[tuple[str, str] | None]):
    """Lists open questions; its result is session and request id of the chosen one.

    While it is open it goes on: what is asked comes, what was decided goes, times tick, the cursor stays on its line.

    Args:
        here: the session that is open.
    """

    CSS_PATH = CSS
    BINDINGS: ClassVar[list[BindingType]] = [*keys.bindings(keys.INBOX)]

    def __init__(self, here: str) -> None:
        super().__init__()
        self._all: list[RequestView] = []
        self._views: list[RequestView] = []
        self._found = 0
        self._total: int | None = None
        self.wanted = WAITING_PAGE
        """How many requests it wants; more as one goes down, or looks for words."""
        self._reading = True
        self._laid_out = False
        self._here = here
        self._warned: list[str] = []
        self._titles: dict[str, str] = {}

    def compose(self) -> ComposeResult:
        with Dialog(large=True):
            yield InboxTable(id="inbox-table")
            yield Static("", id="inbox-one", markup=False)
            yield Static("", id="inbox-warnings", markup=False)
            yield Static("", classes="dialog-keys", id="inbox-keys")

    def on_mount(self) -> None:
        table = self.query_one("#inbox-table", DataTable)
        for column, size in zip(_HEADS, (10, 10, _RISK, _WHEN), strict=True):
            table.add_column(Text(_(_HEADS[column])), key=column, width=size)
        self._laid_out = True
        self._fill()
        table.focus()
        work_on(self, self._name_sessions, group="names", exclusive=True)
        self.query_one("#inbox-warnings").display = False
        work_on(self, self._warn, group="warnings", exclusive=True)
        self.set_interval(1.0, self._tick)

    def key_specs(self) -> Sequence[keys.KeySpec]:
        opens = [spec for spec in keys.of(keys.LIST) if spec.id == "list.choose"]
        return [*opens, *super().key_specs()]

    def take(self, views: Sequence[RequestView], total: int | None = None) -> None:
        """Show what is open now.

        Args:
            views: the most urgent open requests, in the order they are shown.
            total: how many are open; None for as many as before.
        """
        counted = total is not None and total != self._total
        self._total = self._total if total is None else total
        strange = {v.request.session for v in views} - self._titles.keys()
        changed = self._reading or [v.request.id for v in views] != [v.request.id for v in self._all]
        self._all, self._reading = list(views), False
        if self.left or not self._laid_out:
            return
        self._show_warnings()
        if changed:
            self._fill()
        elif counted:
            self._say_state()
        if strange:
            work_on(self, self._name_sessions, group="names", exclusive=True)

    def _tick(self) -> None:
        """How long each waits, or has still, goes on."""
        now = datetime.now(UTC)
        table = self.query_one("#inbox-table", DataTable)
        waits = [_waits(view, now) for view in self._views]
        if waits and max(map(cell_width, (_(_HEADS["when"]), *waits))) != table.columns["when"].width:  # type: ignore[index]
            self._fill()
            return
        for view, waiting in zip(self._views, waits, strict=True):
            if str(table.get_cell(view.request.id, "when")) != waiting:
                table.update_cell(view.request.id, "when", Text(waiting))

    def _say_state(self) -> None:
        """Say how many there are, and which keys apply."""
        finding = self.query_one(InboxTable).finding
        title = Content(_("Inbox") if self._total is None else _("Inbox · {n} open").format(n=self._total))
        if finding.active:
            count = _("{n:,} of {total:,}").format(n=self._found, total=len(self._all))
            if _SOUGHT <= len(self._all) < (self._total or 0):
                count = _("{n:,} of the {total:,} most urgent").format(n=self._found, total=len(self._all))
            title = Content.assemble(title, "  ", finding.shown(count if finding.text else ""))
        self.query_one(Dialog).border_title = title
        said = _("{list.choose} Open the question · {inbox.find} Find · {inbox.close} Close")
        if not self._views:
            said = said if self._all else _("{inbox.close} Close")
            nothing = _("Nothing has these words.") if self._all else _("Nothing waits for you.")
            nothing = _("Reading what waits…") if self._reading else nothing
            self.query_one("#inbox-one", Static).update(Content(nothing))
        table = self.query_one(InboxTable)
        table.display = bool(self._all)
        if self._all and self.focused is not table:
            table.focus()
        self.query_one("#inbox-keys", Static).update(named_keys(keymap_of(self.app), said))

    async def _name_sessions(self) -> None:
        """Show the sessions' titles once they are read."""
        wanted = {view.request.session for view in self._all}
        admin = await sessions_of(self.app).engine.admin()
        titles = await admin.titles(wanted - self._titles.keys())
        # What has none, since it is no session or can't be read, isn't asked for again.
        self._titles |= dict.fromkeys(wanted, "") | self._titles | {s: fork_first(t) for s, t in titles.items()}
        self._fill()

    async def _warn(self) -> None:
        """Say what people should know of how all this is decided."""
        self._warned = await sessions_of(self.app).engine.inbox_warnings()
        self._show_warnings()

    def _show_warnings(self) -> None:
        remote = sessions_of(self.app).engine.remote
        problems = remote.problems if remote is not None else ()
        said = [safe_message(one, multiline=False) for one in (*self._warned, *problems)]
        place = self.query_one("#inbox-warnings", Static)
        place.display = bool(said)
        place.update(Content("\n".join(said)).stylize("$text-warning"))

    def on_resize(self, event: Resize) -> None:
        if self.query_one(DataTable).columns:
            self._fill()

    def _want(self, most: int) -> None:
        """Read more than is there; what comes is taken as ever."""
        if len(self._all) < (self._total or 0) and most > self.wanted:
            self.wanted = most
            work_on(self, self._read_more, group="more", exclusive=True)

    async def _read_more(self) -> None:
        self.take(await sessions_of(self.app).engine.requests(self.wanted))

    def _room(self, when: int) -> int:
        """Return how many cells are left for what is asked, and where."""
        return max(20, min(self.app.size.width * 9 // 10, _WIDEST) - _TAKEN - when)

    def _has(self, view: RequestView, words: Sequence[str]) -> bool:
        """Whether a line, or what it would let happen, has all of some words."""
        request = view.request
        said = (
            f"{request.session} {self._titles.get(request.session, '')} {asked_words(view)} {request.subject}".lower()
        )
        return all(word in said for word in words)

    def on_inbox_table_sought(self, event: InboxTable.Sought) -> None:
        event.stop()
        self._fill()

    def action_find(self) -> None:
        """Look for words."""
        self.query_one(InboxTable).action_find()

    def _fill(self) -> None:
        table, now = self.query_one("#inbox-table", InboxTable), datetime.now(UTC)
        table.show_header = self.app.size.height >= SHORT  # below it its one row is the line at the cursor
        words = table.finding.needle.split()
        found = [view for view in self._all if self._has(view, words)] if words else self._all
        self._views, self._found = found[:_SHOWN], len(found)
        if words:
            self._want(_SOUGHT)
        waits = [_waits(view, now) for view in self._views]
        when = max(map(cell_width, (_(_HEADS["when"]), *waits)))
        room = self._room(when)
        named = room >= _NAMED
        ids = max((cell_width(one_line(v.request.session, _ID)) for v in self._views), default=0)
        sessions = int(room * _SESSIONS) if named else max(ids + 2, cell_width(_(_HEADS["session"])))
        asks = room - sessions
        place = table.cursor_row
        at = str(table.ordered_rows[place].key.value) if place < table.row_count else ""
        table.clear()
        for column, size in zip(_HEADS, (sessions, asks, _RISK, when), strict=True):
            table.columns[column].width = size  # type: ignore[index]
        for view, waiting in zip(self._views, waits, strict=True):
            request = view.request
            arrow = "→ " if request.session == self._here else "  "
            title = f" {self._titles.get(request.session, '')}" if named else ""
            table.add_row(
                Text(one_line(safe_text(f"{arrow}{request.session}{title}", multiline=False), sessions)),
                Text(one_line(asked_words(view), asks)),
                Text(_(_RISKS[risk_shown(view)])),
                Text(waiting),
                key=request.id,
            )
        row = next((n for n, view in enumerate(self._views) if view.request.id == at), place)
        table.move_cursor(row=row, animate=False)
        self._say_state()
        self._say_whole(table.cursor_row)

    def on_data_table_row_highlighted(self, event: DataTable.RowHighlighted) -> None:
        """Say whole what the list has no room for."""
        event.stop()
        self._say_whole(event.cursor_row)
        if event.cursor_row >= len(self._views) - 1:
            self._want(_SHOWN)

    def _say_whole(self, row: int) -> None:
        if 0 <= row < len(self._views):
            view = self._views[row]
            where = f"{view.request.session} {self._titles.get(view.request.session, '')}"
            where = " · ".join(
                filter(None, (safe_text(where.strip(), multiline=False, limit=_LONGEST), votes_words(view)))
            )
            options = option_lines(view)
            more = [ELLIPSIS] if len(options) > _FEW_OPTIONS else []
            rows = (asked_words(view), where, late_words(view), *options[:_FEW_OPTIONS], *more)
            self.query_one("#inbox-one", Static).update(Content("\n".join(filter(None, rows))))

    def on_data_table_row_selected(self, event: DataTable.RowSelected) -> None:
        event.stop()
        request = next((v.request for v in self._views if v.request.id == event.row_key.value), None)
        if request is not None:
            self.dismiss((request.session, request.id))

    def action_close(self) -> None:
        if not self.query_one(InboxTable).stop_finding():
            self.dismiss(None)


def _waits(view: RequestView, now: datetime) -> str:
    """Return how much time is left, or for how long it waits already, in the column's room."""
    return one_line(waits_words(view, now), _WHEN)
