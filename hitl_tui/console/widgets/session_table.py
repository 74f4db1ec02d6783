"""The sessions of the first screen as a table: those with certain words, and what is to be done with one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, ClassVar

from rich.text import Text
from textual.binding import BindingType
from textual.content import Content
from textual.message import Message
from textual.widgets import DataTable

from hitl_tui.console import keys
from hitl_tui.console.widgets.layout import page
from hitl_tui.console.widgets.text_search import SearchInput, TextSearch
from hitl_tui.core.safe_text import ELLIPSIS, cell_width, one_line, safe_text
from hitl_tui.core.text_comparison import comparable, lowered
from hitl_tui.language import _
from hitl_tui.supervisor.session_summary import with_words
from hitl_tui.wording.session_rows import FOUND, session_status, session_title
from hitl_tui.wording.times import day_words

if TYPE_CHECKING:
    from hitl_tui.supervisor.session_summary import SessionSummary

_FIXED = (10, 14, 16)
"""Cells of id, status and time; an id takes less where all are shorter."""
_SHOWN = 1_000
"""Lines at most: the newest sessions, of those with the words that are looked for."""
_DAY = 10
_AFTER = 12
"""Characters from the first of the words on that are to be seen."""
_NARROW = 100
"""Below so many cells the day of the last change stands there alone."""


def _status_words(summary: SessionSummary) -> str:
    asks = f" ●{summary.questions}" if summary.questions else ""
    return session_status(summary.status, summary.tally) + asks


class SessionTable(DataTable[Text], SearchInput):
    """Sessions, newest first; the cursor stays on its session.

    Args:
        id: widget id.
    """

    PART = keys.SESSIONS
    BINDINGS: ClassVar[list[BindingType]] = [*keys.bindings(keys.MOVE, keys.SESSIONS)]

    class Wanted(Message):
        """Something shall be done: `rename`, `fork`, `export`, `import`, `delete` or `leave`."""

        def __init__(self, what: str, session_id: str) -> None:
            super().__init__()
            self.what = what
            self.session_id = session_id

    class Sought(Message):
        """Other words are looked for."""

    def __init__(self, id: str | None = None) -> None:
        super().__init__(id=id, cursor_type="row", show_header=False)
        self._all: list[SessionSummary] = []
        self._rows: list[SessionSummary] = []
        self._found = 0
        self._texts: Mapping[str, Mapping[str, str]] = {}
        self._unread = 0
        self._widths: tuple[int, ...] = (*_FIXED, 20)
        self._last = ""
        self.finding = TextSearch()

    def on_mount(self) -> None:
        self.border_title = Content(_("Sessions"))  # said, not drawn: the title is above
        for key, width in zip(("id", "status", "updated", "title"), self._widths, strict=True):
            self.add_column(Text(), key=key, width=width)  # a string would be read as markup
        self.show(self._all)

    @property
    def known(self) -> Sequence[SessionSummary]:
        """All sessions, newest first."""
        return tuple(self._all)

    @property
    def selected(self) -> str:
        """Id of the session at the cursor; empty when there is none."""
        return self._rows[self.cursor_row].id if 0 <= self.cursor_row < len(self._rows) else ""

    def show(self, sessions: Sequence[SessionSummary], at: str = "") -> None:
        """List these, newest first.

        Args:
            sessions: all there are.
            at: the one to put the cursor on; empty to leave it.
        """
        here = at or self.selected
        self._all = list(sessions)
        if "title" in self.columns:
            self._fill(here)

    def _lay_out(self, rows: Sequence[SessionSummary]) -> tuple[int, ...]:
        """Return the widths of the columns for some rows."""
        identity, status, time = _FIXED
        words = max((cell_width(_status_words(s)) for s in rows), default=status)
        status = max(status, min(words, self.app.size.width // 5))
        identity = min(identity, max((len(s.id) for s in rows), default=identity))
        wide = self.app.size.width >= _NARROW and not self.finding.text  # then the line that has the words has the room
        time = time if wide else _DAY
        return identity, status, time, max(10, page(self.app.size) - identity - status - time - 4 * 2 - 1)

    def look_for(self, words: str) -> None:
        """Show those with these words; all with none."""
        self.finding.forget()
        self.finding.paste(words)
        self.seek()

    def take_texts(self, texts: Mapping[str, Mapping[str, str]], unread: int) -> None:
        """Take what questions, steps and answers were found to have of the words that are looked for.

        Args:
            texts: by word and session, see `SessionTexts.having`.
            unread: how many sessions are still to be looked through.
        """
        self._texts, self._unread = texts, unread
        self._fill(self.selected)

    def forget(self) -> None:
        """Look for nothing any more, and go to the newest."""
        self.stop_finding()
        if self._rows:
            self.move_cursor(row=0, animate=False)

    def seek(self) -> None:
        self._fill(self.selected)
        self.post_message(self.Sought())

    def _fill(self, here: str) -> None:
        row, above = self.cursor_row, self.cursor_row - self.scroll_target_y
        here = self._last = here or self._last  # where nothing is found the place isn't forgotten
        words = self.finding.text
        found = self._all
        if words.strip():
            texts = self._texts
            with_them = (with_words(s, words, texts, session_status(s.status, s.tally)) for s in found)
            found = [s for s in with_them if s is not None]
        before, self._rows, self._found = self._rows, found[:_SHOWN], len(found)
        widths = self._lay_out(self._rows)
        # What comes below what is there is added: to draw a thousand lines anew takes a while.
        if widths != self._widths or self._rows[: len(before)] != before:
            before, self._widths = [], widths
            self.clear()
            for column, width in zip(self.columns.values(), widths, strict=True):
                column.width = width
        for summary in self._rows[len(before) :]:
            self.add_row(*self._cells(summary))
        if self._rows:
            ids = [s.id for s in self._rows]
            self.move_cursor(row=ids.index(here) if here in ids else min(row, len(ids) - 1), animate=False)
            if here in ids and not before:  # what was drawn anew stays where it was on the screen
                self.call_after_refresh(self.scroll_to, y=self.cursor_row - above, animate=False)

    def _cells(self, summary: SessionSummary) -> tuple[Text, ...]:
        _identity, status, time, room = self._widths
        return (
            Text(one_line(safe_text(summary.id, multiline=False), _FIXED[0])),
            Text(one_line(_status_words(summary), status)),
            Text(day_words(summary.updated)[:time], style="dim"),
            self._titled(summary, room),
        )

    def _titled(self, summary: SessionSummary, room: int) -> Text:
        """Return the title; with the line that has the words where the title lacks them."""
        title = session_title(summary.title, summary.message)
        if not summary.found:
            return Text(one_line(title, room))
        title = one_line(title, room - min(room * 3 // 5, cell_width(summary.found) + len(FOUND)))
        line, words = summary.found, comparable(self.finding.text).split()
        first = min((at for word in words if (at := lowered(line).find(word)) >= 0), default=0)
        left = room - cell_width(title) - len(FOUND)
        if cell_width(line[: first + _AFTER]) > left:
            line = f"{ELLIPSIS}{line[max(0, first - left // 5) :]}"
        shown = Text.assemble(title, (f"{FOUND}{one_line(line, left)}", "dim"))
        for word in words:
            at = lowered(shown.plain).find(word, len(title))
            if at >= 0:
                shown.stylize("bold not dim", at, at + len(word))
        return shown

    @property
    def found(self) -> Content:
        """What is looked for and how much was found; empty when nothing is."""
        if not self.finding.active:
            return Content("")
        if not self.finding.text.strip():
            return self.finding.shown(_("looks in titles, questions, steps and answers"))
        count = _("{n:,} of {total:,}").format(n=self._found, total=len(self._all))
        if self._unread:
            count = _("{count}, {n:,} still to look through").format(count=count, n=self._unread)
        return self.finding.shown(count)

    # Keys --------------------------------------------------------------------------------------------------------

    def action_want(self, what: str) -> None:
        self.post_message(self.Wanted(what, self.selected))

    def action_leave(self) -> None:
        if not self.stop_finding():
            self.post_message(self.Wanted("leave", ""))
