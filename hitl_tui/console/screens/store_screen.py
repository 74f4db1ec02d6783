"""`hitl-tui open` at a terminal: the threads of any LangGraph checkpoint store, and each one's past (I9).

Nothing is written and nothing is run; there is no engine behind it, so LangGraph isn't even imported.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterable, Sequence
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, Any, ClassVar

from textual.app import ComposeResult, SystemCommand
from textual.binding import BindingType
from textual.containers import Container
from textual.content import Content
from textual.screen import Screen
from textual.widgets import DataTable, Static

from hitl_tui.console import keys
from hitl_tui.console.console_app import ConsoleApp
from hitl_tui.console.engine import sentence
from hitl_tui.console.keymap import TITLES, Keymap, keymap_of
from hitl_tui.console.widgets.bars import HeaderBar, KeyLine, MessageLine
from hitl_tui.console.widgets.thread_table import ThreadTable
from hitl_tui.core.errors import HitlError
from hitl_tui.core.safe_text import one_line, safe_text
from hitl_tui.language import _, mark, ngettext, render
from hitl_tui.supervisor.termination import Termination
from hitl_tui.wording.rows import Row, styled, text_row
from hitl_tui.wording.times import error_words, padded

if TYPE_CHECKING:
    from hitl_tui.console.console_options import ConsoleOptions
    from hitl_tui.console.screens.thread_screen import ThreadScreen
    from hitl_tui.threads.thread_model import ThreadInfo
    from hitl_tui.threads.thread_store import ThreadStore

log = logging.getLogger(__name__)

PAGE = 100
_SHOWN = (
    keys.STORE,
    keys.FINDING,
    keys.REPLAY,
    keys.LIST,
    keys.TREE,
    keys.VIEWER,
)


class StoreScreen(Screen[None]):
    """Lists the threads of a store.

    Args:
        store: the store.
        thread: a thread to show at once; empty for none.
        graph: the graph that can go on in a copy; empty for none.
    """

    CSS_PATH: ClassVar[list[str | PurePath]] = ["store.tcss", "../widgets/rows.tcss"]
    AUTO_FOCUS = "#store-threads"

    def __init__(self, store: ThreadStore, thread: str = "", graph: str = "") -> None:
        super().__init__()
        self._store = store
        self._graph = graph
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
        self.query_one(KeyLine).show([*keys.of(keys.STORE, line=True), *_anywhere(keymap_of(self.app))])
        self._banner()
        self._read(fresh=True)
        if isinstance(self.app, StoreApp):
            self.app.take_keys()
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
        notes = [one_line(safe_text(render(note), multiline=False), 300) for note in self._store.info.notes]
        self.query_one("#store-banner", Static).update(Content(" " + " · ".join([*said, *notes])))

    # Reading -----------------------------------------------------------------------------------------------------

    def _read(self, *, fresh: bool) -> None:
        self._reading = True
        self.run_worker(self._guarded(fresh=fresh), group="threads", exclusive=True)

    async def _guarded(self, *, fresh: bool) -> None:
        try:
            await (self._first() if fresh else self._more())
        except HitlError as error:
            self.say(safe_text(error_words(error.message, error.help), multiline=False), error=True)
        except Exception as error:
            log.exception("store")
            self.say(sentence(error), error=True)
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
        empty = "" if found or table.finding.text else _("There is no thread in this store yet.")
        self.say(empty or safe_text(render(note), multiline=False))

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
        from hitl_tui.console.screens.thread_screen import ThreadScreen

        title = next((t.title for t in self.query_one(ThreadTable).threads if t.thread_id == thread), "")
        self.app.push_screen(ThreadScreen(self._store, thread, title, self._graph))


class StoreApp(ConsoleApp):
    """The console with a store instead of sessions.

    Args:
        options: as the console's; only the data folder counts, for keys and themes.
        store: an open store.
        thread: a thread to show at once; empty for the list.
        graph: the graph that can go on in a copy; empty for none.
    """

    # The app's own styles are looked for beside this file, too.
    CSS_PATH: ClassVar[list[str | PurePath]] = [
        *(Path("..") / path for path in ConsoleApp.CSS_PATH),
        *StoreScreen.CSS_PATH,
    ]

    BINDINGS: ClassVar[list[BindingType]] = [b for b in keys.bindings(keys.STORE) if b.id == "store.help"]

    def __init__(self, options: ConsoleOptions, store: ThreadStore, thread: str = "", graph: str = "") -> None:
        super().__init__(options)
        self._threads = StoreScreen(store, thread, graph)
        self.wanted: tuple[str, str] | None = None
        """Thread and checkpoint that a session shall begin with, once the store was left for it."""

    def get_default_screen(self) -> Screen[Any]:
        return self._threads

    def on_thread_screen_forked(self, event: ThreadScreen.Forked) -> None:
        self.wanted = (event.thread, event.checkpoint_id)
        self.exit(0)

    def action_home(self) -> None:
        while self.screen is not self._threads:
            self.pop_screen()

    def action_mode(self) -> None:
        self.say(_("A store is only read: there is no mode in which something runs."))

    def action_inbox(self) -> None:
        self.say(_("A store is only read: its questions are answered where its graph runs."))

    def help(self) -> list[Row]:
        rows = [text_row(safe_text(problem, multiline=False), "$text-warning") for problem in self.problems]
        for where in _SHOWN:
            title = _("In a thread") if where == keys.REPLAY else _(TITLES[where])
            rows.append(text_row(self.keymap.named(title), "bold $text-primary"))
            specs = [s for s in self.keymap.of(where) if s.id != "replay.4"]
            rows += [Row(padded(f"  {s.shown}", 14), styled(self.keymap.named(_in_store(s)))) for s in specs]
            rows.append(text_row(""))
        rows.append(text_row(_(TITLES[keys.ANYWHERE]), "bold $text-primary"))
        rows += [Row(padded(f"  {s.shown}", 14), styled(_(s.help))) for s in _anywhere(self.keymap)]
        return rows

    def get_system_commands(self, screen: Screen[Any]) -> Iterable[SystemCommand]:
        for spec in _anywhere(self.keymap):
            if spec.action not in ("command_palette", "quit"):
                yield SystemCommand(f"{_(spec.label).capitalize()} ({spec.shown})", _(spec.help), self._caller(spec))
        yield SystemCommand(_("Theme"), _("Another theme; now {theme}").format(theme=self.theme), self.search_themes)
        yield SystemCommand(
            _("Quit ({shown})").format(shown=self.keymap.shown("console.quit")), _("Leave"), self.action_quit
        )

    def _caller(self, spec: keys.KeySpec) -> Any:
        return lambda: self.call(spec.action)


def _in_store(spec: keys.KeySpec) -> str:
    """Return what a key of replay does in a thread of a store, where it isn't just the same."""
    instead = {
        "replay.leave": _("Back to the list of threads"),
        "replay.pane": _("Next pane: Graph, Moment, Subgraphs, State"),
        "replay.decision_before": _("Back to where something was asked"),
        "replay.decision_after": _("Forward to where something was asked"),
        "replay.show": _("Graph: the moment whole; state: the value whole; subgraphs: its history"),
        "replay.3": _("With --graph: begin a session that goes on with a copy from here"),
        "replay.2": _("What differs: from where it came from, from the mark, or between two marks"),
    }
    return instead.get(spec.id, _(spec.help))


def _anywhere(keymap: Keymap) -> list[keys.KeySpec]:
    """Return the keys of the whole console that do something here, with what they do here."""
    words = {
        "console.help": (mark("help"), mark("All keys")),
        "console.quit": (mark("quit"), mark("Leave")),
        "console.palette": (mark("palette"), mark("Themes and commands")),
        "console.home": (mark("threads"), mark("To the list of threads")),
    }
    found = {spec.id: spec for spec in keymap.of(keys.ANYWHERE)}
    return [found[name]._replace(label=label, help=what) for name, (label, what) in words.items()]


async def _run(options: ConsoleOptions, address: str, thread: str, graph: str) -> StoreApp:
    from hitl_tui.threads.thread_store import open_store

    async with open_store(address) as store:
        named = await store.find_thread(thread) if thread else ""
        app = StoreApp(options, store, named, graph)
        with Termination.current().calling(lambda number: app.exit(return_code=128 + number)):
            await app.run_async()
        return app


def run_store(options: ConsoleOptions, address: str, thread: str = "", graph: str = "") -> int | tuple[str, str]:
    """Show a store until it is left; return the exit code, or thread and checkpoint that a session shall begin with.

    Args:
        options: the data folder has keys and themes.
        address: a SQLite file or `postgresql://…`.
        thread: a thread to begin with, its id or how it begins; empty for the list.
        graph: the graph that can go on in a copy; empty for none.

    Raises:
        HitlError: it can't be opened, or the console stopped because of something unexpected.
    """
    app = asyncio.run(_run(options, address, thread, graph))
    if app.failure:
        raise HitlError(app.failure)
    return app.wanted or app.return_code or 0
