"""The threads of a store as a table that pages, with a filter."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar

from rich.text import Text
from textual.binding import BindingType
from textual.content import Content
from textual.events import Resize
from textual.message import Message
from textual.widgets import DataTable

from hitl_tui.console import keys
from hitl_tui.console.widgets.text_search import SearchInput, TextSearch
from hitl_tui.core.safe_text import one_line
from hitl_tui.language import _
from hitl_tui.wording.thread_rows import THREAD_TITLES, thread_cells

if TYPE_CHECKING:
    from hitl_tui.threads.thread_model import ThreadInfo

_ASKS, _COUNT, _TIME, _NAME = 6, 8, 16, 36
_NARROW = 100


class ThreadTable(DataTable[Text], SearchInput):
    """Threads, those first that were written last.

    Args:
        id: widget id.
    """

    PART = keys.STORE
    BINDINGS: ClassVar[list[BindingType]] = [*keys.bindings(keys.MOVE, keys.STORE)]

    class Sought(Message):
        """Other words are looked for."""

    class More(Message):
        """The cursor is near the end: the next page is wanted."""

    class Refreshed(Message):
        """The list shall be read again."""

    def __init__(self, id: str | None = None) -> None:
        super().__init__(id=id, cursor_type="row", show_header=True, zebra_stripes=False)
        self._threads: list[ThreadInfo] = []
        self._widths: tuple[int, ...] = ()
        self.finding = TextSearch()
        self._sought = ""

    def on_mount(self) -> None:
        self._fit()

    def on_resize(self, event: Resize) -> None:
        self._fit()

    def _fit(self) -> None:
        width = self.size.width or self.app.size.width
        time = _TIME if width >= _NARROW else 0
        room = width - _ASKS - _COUNT - time - (10 if time else 8) - 1
        name = min(_NAME, max(10, room // 3))
        widths = (_ASKS, name, max(10, room - name), _COUNT, time)
        if widths == self._widths:
            return
        here, self._widths = self.selected, widths
        self.clear(columns=True)
        titles = [_(title) if title else "" for title in THREAD_TITLES]
        for key, (title, size) in enumerate(zip(titles, widths, strict=True)):
            if size:
                self.add_column(Text(title, style="dim"), key=str(key), width=size)
        self._fill(here)

    @property
    def threads(self) -> Sequence[ThreadInfo]:
        """What is listed."""
        return tuple(self._threads)

    @property
    def selected(self) -> str:
        """Id of the thread at the cursor; empty when there is none."""
        return self._threads[self.cursor_row].thread_id if 0 <= self.cursor_row < len(self._threads) else ""

    def show(self, threads: Sequence[ThreadInfo]) -> None:
        """List these; the cursor stays on its thread."""
        here, self._threads = self.selected, list(threads)
        self._fill(here)

    def add(self, threads: Sequence[ThreadInfo]) -> None:
        """List these, too."""
        known = {t.thread_id for t in self._threads}
        fresh = [t for t in threads if t.thread_id not in known]
        self._threads += fresh
        for thread in fresh:
            self.add_row(*self._cells(thread), key=thread.thread_id)

    def _fill(self, here: str) -> None:
        self.clear()
        for thread in self._threads:
            self.add_row(*self._cells(thread), key=thread.thread_id)
        if self._threads:
            place = next((n for n, t in enumerate(self._threads) if t.thread_id == here), 0)
            self.move_cursor(row=place, animate=False)

    def _cells(self, thread: ThreadInfo) -> list[Text]:
        styles = ("bold", "", "", "dim", "dim")
        cells = zip(thread_cells(thread), styles, self._widths, strict=True)
        return [Text(one_line(text, width), style=style) for text, style, width in cells if width]

    def on_data_table_row_highlighted(self, event: DataTable.RowHighlighted) -> None:
        if event.cursor_row >= len(self._threads) - 10:
            self.post_message(self.More())

    # Looking for words -----------------------------------------------------------------------------------------

    def say_found(self, found: str) -> None:
        """Show in the frame what is looked for and how much was found, safe."""
        self.border_subtitle = self.finding.shown(found) if self.finding.active else Content("")

    def seek(self) -> None:
        """Let the store be searched, when other words are looked for."""
        self.say_found("")
        if self.finding.text != self._sought:
            self._sought = self.finding.text
            self.post_message(self.Sought())

    def action_refresh(self) -> None:
        self.post_message(self.Refreshed())

    def action_leave(self) -> None:
        self.stop_finding()
