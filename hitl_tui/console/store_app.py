"""`hitl-tui open` at a terminal: the threads of any LangGraph checkpoint store, and the history of each.

Nothing is written and nothing is run; there is no engine behind it, so LangGraph isn't even imported.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from pathlib import PurePath
from typing import TYPE_CHECKING, Any, ClassVar

from textual.app import SystemCommand
from textual.binding import BindingType
from textual.screen import Screen

from hitl_tui.console import keys
from hitl_tui.console.console_app import ConsoleApp
from hitl_tui.console.keymap import TITLES
from hitl_tui.console.screens.store_screen import StoreScreen, anywhere_keys
from hitl_tui.core.errors import HitlError
from hitl_tui.core.safe_text import safe_text
from hitl_tui.language import _
from hitl_tui.supervisor.termination import Termination
from hitl_tui.wording.rows import Row, styled, text_row
from hitl_tui.wording.times import padded

if TYPE_CHECKING:
    from hitl_tui.supervisor.open_options import OpenOptions
    from hitl_tui.threads.thread_store import ThreadStore

_SHOWN = (
    keys.STORE,
    keys.FINDING,
    keys.REPLAY,
    keys.LIST,
    keys.TREE,
    keys.VIEWER,
    keys.TEXT,
)


class StoreApp(ConsoleApp):
    """The console with a store instead of sessions.

    Args:
        options: as the console's; only the data folder counts, for keys and themes.
        store: an open store.
        thread: a thread to show at once; empty for the list.
        graph: the graph that can go on in a copy; empty for none.
    """

    CSS_PATH: ClassVar[list[str | PurePath]] = [*ConsoleApp.CSS_PATH, "screens/store.tcss", "widgets/rows.tcss"]
    BINDINGS: ClassVar[list[BindingType]] = [b for b in keys.bindings(keys.STORE) if b.id == "store.help"]

    def __init__(self, options: OpenOptions, store: ThreadStore, thread: str = "", graph: str = "") -> None:
        super().__init__(options)
        self._store = store
        self._graph = graph
        self._threads = StoreScreen(store, self._open, self.keyboard.take_early, thread)
        self.wanted: tuple[str, str] | None = None
        """Thread and checkpoint that a session shall begin with, once the store was left for it."""

    def get_default_screen(self) -> StoreScreen:
        return self._threads

    def _open(self, thread: str, title: str) -> None:
        from hitl_tui.console.screens.history_screen import HistoryScreen
        from hitl_tui.console.screens.thread_view import ThreadView

        self.push_screen(HistoryScreen(ThreadView(self, self._store, thread, title, self._graph, self._forked)))

    def _forked(self, thread: str, checkpoint_id: str) -> None:
        self.wanted = (thread, checkpoint_id)
        self.exit(0)

    def action_home(self) -> None:
        while self.screen is not self._threads:
            self.pop_screen()

    def action_mode(self) -> None:
        self.say(_("A store is read-only, so it has no mode."))

    def action_inbox(self) -> None:
        self.say(_("A store is read-only: its questions are answered where its graph runs."))

    def help(self, *, commands: bool = False) -> list[Row]:
        rows = [text_row(safe_text(problem, multiline=False), "$text-warning") for problem in self.problems]
        for where in _SHOWN:
            title = _("In a thread") if where == keys.REPLAY else _(TITLES[where])
            rows.append(text_row(self.keymap.named(title), "bold $text-primary"))
            specs = [s for s in self.keymap.of(where) if s.id != "replay.4"]
            rows += [Row(padded(f"  {s.shown}", 14), styled(self.keymap.named(_in_store(s)))) for s in specs]
            rows.append(text_row(""))
        rows.append(text_row(_(TITLES[keys.ANYWHERE]), "bold $text-primary"))
        rows += [Row(padded(f"  {s.shown}", 14), styled(_(s.help))) for s in anywhere_keys(self.keymap)]
        return rows

    def get_system_commands(self, screen: Screen[object]) -> Iterable[SystemCommand]:
        for spec in anywhere_keys(self.keymap):
            if spec.action not in ("command_palette", "quit"):
                yield SystemCommand(f"{_(spec.label).capitalize()} ({spec.shown})", _(spec.help), self._caller(spec))
        yield SystemCommand(_("Theme"), _("Change the theme; now {theme}").format(theme=self.theme), self.search_themes)
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
        "replay.decision_before": _("Previous question here"),
        "replay.decision_after": _("Next question here"),
        "replay.show": _("Graph: the moment whole; state: the value whole; subgraphs: its history"),
        "replay.3": _("With --graph: start a session that continues a copy from here"),
        "replay.2": _("What differs: from where it came from, from the mark, or between two marks"),
    }
    return instead.get(spec.id, _(spec.help))


async def _run(options: OpenOptions, address: str, thread: str, graph: str) -> StoreApp:
    from hitl_tui.threads.thread_store import open_store

    async with open_store(address) as store:
        named = await store.find_thread(thread) if thread else ""
        app = StoreApp(options, store, named, graph)
        with Termination.current().calling(lambda number: app.exit(return_code=128 + number)):
            await app.run_async()
        return app


def run_store(options: OpenOptions, address: str, thread: str = "", graph: str = "") -> int | tuple[str, str]:
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
