"""The list of the threads of a checkpoint store, which is only read."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import PurePath
from typing import TYPE_CHECKING, ClassVar

from textual.app import ComposeResult
from textual.containers import Container
from textual.content import Content
from textual.screen import Screen
from textual.widgets import DataTable, Static

from hitl_tui.console import keys
from hitl_tui.console.keymap import Keymap, keymap_of
from hitl_tui.console.widgets.bars import HeaderBar, KeyLine, MessageLine
from hitl_tui.console.widgets.thread_table import ThreadTable
from hitl_tui.console.workers import guarded, work_on
from hitl_tui.core.safe_text import one_line
from hitl_tui.language import _, mark, ngettext, safe_message

if TYPE_CHECKING:
    from hitl_tui.threads.thread_model import ThreadInfo
    from hitl_tui.threads.thread_store import ThreadStore


PAGE = 100


class StoreScreen(Screen[None]):
    """Lists the threads of a store.

    Args:
        store: the store.
        open_thread: shows a thread, given its id and title.
        ready: called once what is typed can be taken.
        thread: a thread to show at once; empty for none.
    """

    CSS_PATH: ClassVar[list[str | PurePath]] = ["store.tcss", "../widgets/rows.tcss"]
    AUTO_FOCUS = "#store-threads"

    def __init__(
        self,
        store: ThreadStore,
        open_thread: Callable[[str, str], None],
        ready: Callable[[], None],
        thread: str = "",
    ) -> None:
        super().__init__()
        self._store = store
        self._open_thread = open_thread
        self._ready = ready
        self._thread = thread
        self._total: int | None = None
        self._whole = False
        self._reading = False

    @property
    def settled(self) -> bool:
        """Nothing is being read."""
        return not self._reading

    def compose(self) -> ComposeResult:
        yield HeaderBar(id="header")
        yield Static(id="store-banner")
        with Container(id="store-list"):
            yield ThreadTable(id="store-threads")
        yield MessageLine(id="message")
        yield KeyLine(id="keys")

    def on_mount(self) -> None:
        header, info = self.query_one(HeaderBar), self._store.info
        header.title_text = f"{info.kind} · {info.name}"
        header.mode = _("READ-ONLY")
        self.query_one(KeyLine).show([*keys.of(keys.STORE, line=True), *anywhere_keys(keymap_of(self.app))])
        self._banner()
        self._read(fresh=True)
        self._ready()
        if self._thread:
            self._open(self._thread)

    def on_screen_resume(self) -> None:
        if self.is_mounted and self._total:
            self._read(fresh=True)

    def say(self, text: str, *, error: bool = False) -> None:
        """Show one safe line."""
        self.query_one(MessageLine).say(text, error=error)

    def _banner(self) -> None:
        n = self._total
        count = ngettext("{n:,} thread", "{n:,} threads", n).format(n=n) if n is not None else _("reading…")
        said = [_("{name}: only read, nothing runs from here").format(name=self._store.info.kind), count]
        notes = [one_line(safe_message(note, multiline=False), 300) for note in self._store.info.notes]
        self.query_one("#store-banner", Static).update(Content(" " + " · ".join([*said, *notes])))

    # Reading -----------------------------------------------------------------------------------------------------

    def _read(self, *, fresh: bool) -> None:
        self._reading = True
        work_on(self, partial(self._guarded, fresh=fresh), group="threads", exclusive=True)

    async def _guarded(self, *, fresh: bool) -> None:
        await guarded(self._first if fresh else self._more, self.say)
        self._reading = False

    async def _first(self) -> None:
        table = self.query_one(ThreadTable)
        wanted = max(PAGE, len(table.threads))
        found, note = await self._page(wanted, 0)
        self._whole = len(found) < wanted
        table.show(found)
        more = "" if self._whole else "+"
        table.say_found(ngettext("{n} thread", "{n} threads", len(found)).format(n=f"{len(found):,}{more}"))
        self._total = await self._store.thread_count()
        self._banner()
        empty = "" if found or table.finding.text else _("No threads in this store yet.")
        self.say(empty or safe_message(note, multiline=False))

    async def _page(self, limit: int, offset: int) -> tuple[Sequence[ThreadInfo], str]:
        """Return a page of what is looked for, or of all, and what wasn't looked at."""
        text = self.query_one(ThreadTable).finding.text
        if not text.split():
            return await self._store.threads(limit, offset), ""
        search = await self._store.search(text, limit, offset)
        return search.threads, search.note

    async def _more(self) -> None:
        table = self.query_one(ThreadTable)
        found, _note = await self._page(PAGE, len(table.threads))
        self._whole = len(found) < PAGE
        table.add(found)

    def on_thread_table_sought(self, event: ThreadTable.Sought) -> None:
        event.stop()
        self._read(fresh=True)

    def on_thread_table_refreshed(self, event: ThreadTable.Refreshed) -> None:
        event.stop()
        self._read(fresh=True)

    def on_thread_table_more(self, event: ThreadTable.More) -> None:
        event.stop()
        if not (self._whole or self._reading):
            self._read(fresh=False)

    def on_data_table_row_selected(self, event: DataTable.RowSelected) -> None:
        event.stop()
        if chosen := self.query_one(ThreadTable).selected:
            self._open(chosen)

    def _open(self, thread: str) -> None:
        title = next((t.title for t in self.query_one(ThreadTable).threads if t.thread_id == thread), "")
        self._open_thread(thread, title)


def anywhere_keys(keymap: Keymap) -> list[keys.KeySpec]:
    """Return the keys of the whole console that do something here, with what they do here."""
    words = {
        "console.help": (mark("help"), mark("All keys")),
        "console.quit": (mark("quit"), mark("Leave")),
        "console.palette": (mark("palette"), mark("Themes and commands")),
        "console.home": (mark("threads"), mark("To the list of threads")),
    }
    found = {spec.id: spec for spec in keymap.of(keys.ANYWHERE)}
    return [found[name]._replace(label=label, help=what) for name, (label, what) in words.items()]
