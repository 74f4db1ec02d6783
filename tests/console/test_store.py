"""`hitl-tui open` at a terminal: threads, history, state and differences of a store, read-only (I9)."""

from __future__ import annotations

import asyncio
import shutil
import sqlite3
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from textual.pilot import Pilot
from textual.screen import Screen
from textual.widgets import DataTable, Static

sys.path.insert(0, str(Path(__file__).parents[1] / "supervisor" / "foreign"))

from console_support import Clock
from foreign_support import QUESTION, at, digests, pay, payment, payments, sqlite_saver
from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer
from langgraph.types import Command

from hitl_tui.console.dialogs.prompt_dialogs import ConfirmDialog
from hitl_tui.console.dialogs.text_viewer import TextViewer
from hitl_tui.console.keyguard.guard import KeyGuard
from hitl_tui.console.screens.history_panes import ThreadPanes
from hitl_tui.console.screens.history_screen import HistoryScreen
from hitl_tui.console.screens.store_screen import StoreScreen
from hitl_tui.console.store_app import StoreApp
from hitl_tui.console.widgets.bars import HeaderBar, KeyLine, MessageLine
from hitl_tui.console.widgets.history_table import GraphTable
from hitl_tui.console.widgets.state_tree import StateTree
from hitl_tui.console.widgets.thread_table import ThreadTable
from hitl_tui.console.widgets.virtual_rows import Rows
from hitl_tui.supervisor.open_options import OpenOptions
from hitl_tui.threads.thread_store import open_store

pytestmark = pytest.mark.long

PATIENCE = 30.0


class Opened:
    """A store on the screen."""

    def __init__(self, app: StoreApp, pilot: Pilot[int]) -> None:
        self.app = app
        self.pilot = pilot

    @property
    def screen(self) -> Screen[Any]:
        return self.app.screen

    @property
    def table(self) -> ThreadTable:
        return next(s for s in self.app.screen_stack if isinstance(s, StoreScreen)).query_one(ThreadTable)

    @property
    def thread(self) -> HistoryScreen:
        return next(s for s in self.app.screen_stack if isinstance(s, HistoryScreen))

    @property
    def threads(self) -> list[str]:
        return [t.thread_id for t in self.table.threads]

    @property
    def message(self) -> str:
        return self.screen.query_one(MessageLine).text

    @property
    def rows(self) -> str:
        """What the pane of the moment, or a text on the whole screen, says."""
        return "\n".join(f"{row.label} {row.text.plain}" for row in self.screen.query_one(Rows).rows)

    @property
    def where(self) -> str:
        return str(self.thread.query_one("#history-where", Static).content)

    @property
    def step(self) -> int:
        assert self.thread.place is not None
        return self.thread.place.info.step

    def settled(self) -> bool:
        screens = [s for s in self.app.screen_stack if isinstance(s, (StoreScreen, HistoryScreen))]
        shown = all(s.place is not None for s in screens if isinstance(s, HistoryScreen))
        return shown and all(s.settled for s in screens)

    async def until(self, condition: Callable[[], object], what: str) -> None:
        loop = asyncio.get_running_loop()
        deadline = loop.time() + PATIENCE
        while not condition():
            assert loop.time() < deadline, f"never came: {what}"
            await self.pilot.pause(0.01)
        await self.pilot.pause()

    async def press(self, *keys: str) -> None:
        for key in keys:
            await self.pilot.press(key)
            await self.pilot.pause()
            await self.until(self.settled, f"the screen after {key}")

    async def open(self, thread: str) -> None:
        """Open a thread from the list."""
        self.table.move_cursor(row=self.threads.index(thread))
        await self.press("enter")
        await self.until(lambda: isinstance(self.screen, HistoryScreen), thread)


@asynccontextmanager
async def opened(
    path: Path, *, thread: str = "", graph: str = "", size: tuple[int, int] = (120, 40)
) -> AsyncIterator[Opened]:
    """Show a store without a terminal."""
    async with open_store(str(path)) as store:
        app = StoreApp(OpenOptions(path.parent / "data"), store, thread, graph)
        async with app.run_test(size=size) as pilot:
            found = Opened(app, pilot)
            await found.until(found.settled, "the store")
            yield found


@pytest.fixture(scope="module")
def store_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return payments(tmp_path_factory.mktemp("store") / "payments.db")


async def test_the_list_says_it_is_read_only_and_who_asks(store_file: Path) -> None:
    async with opened(store_file) as o:
        assert o.threads == ["forked", "done", "asks"]
        header = o.screen.query_one(HeaderBar)
        assert (header.mode, header.title_text) == ("READ-ONLY", f"SQLite · {store_file}")
        banner = str(o.screen.query_one("#store-banner", Static).content)
        assert "only read, nothing runs from here · 3 threads" in banner
        assert [str(cell) for cell in o.table.get_row_at(0)][:3] == ["? asks", "forked", QUESTION]
        assert str(o.table.get_row_at(1)[0]) == ""


async def test_words_typed_after_a_slash_filter_the_list(store_file: Path) -> None:
    async with opened(store_file) as o:
        await o.press("slash", *"rent")
        await o.until(lambda: o.threads == ["done"], "one thread")
        assert "rent" in str(o.table.border_subtitle)
        await o.press("enter", "enter")
        await o.until(lambda: isinstance(o.screen, HistoryScreen), "the thread")
        await o.press("escape")
        assert o.threads == ["done"]
        await o.press("escape")
        await o.until(lambda: len(o.threads) == 3, "all again")


async def test_a_search_says_what_it_did_not_look_at(store_file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("hitl_tui.threads.thread_store._SEARCHED", 2)
    async with opened(store_file) as o:
        said = o.screen.query_one(MessageLine)
        await o.press("slash", *"ask")
        await o.until(lambda: o.threads == ["asks"], "the oldest, by its id")
        await o.until(lambda: "Titles were searched in the 2 newest threads, ids in all 3." in said.text, "the note")
        await o.press("enter", "escape")
        await o.until(lambda: len(o.threads) == 3 and not said.text, "all again")


async def test_letters_typed_as_words_are_words(store_file: Path) -> None:
    async with opened(store_file) as o:
        await o.press("slash", "question_mark", "r", "q")
        assert o.table.finding.text == "?rq"
        assert isinstance(o.screen, StoreScreen)


@pytest.mark.parametrize("size", [(120, 40), (80, 24)])
async def test_stepping_shows_state_and_what_ran(store_file: Path, size: tuple[int, int]) -> None:
    async with opened(store_file, size=size) as o:
        before = digests(store_file.parent)
        await o.open("done")
        assert o.screen.query_one(HeaderBar).mode == "READ-ONLY"
        assert "7 of 7 · end" in o.where
        while o.step > 1:
            await o.press("left")
        assert "it asked here, and was answered" in o.where
        assert "answer yes" in o.rows
        tree = o.thread.query_one(StateTree)
        shown = [str(n.label) for n in tree.root.children]
        assert {"messages  list of 2", "log  list of 1", "amount  100"} <= set(shown)
        await o.press("home", "left")
        assert o.message == "This is the first checkpoint."
        await o.press("end", "right")
        assert o.message == "This is the newest checkpoint."
        after = digests(store_file.parent)
        assert {name: after[name] for name in before} == before


async def test_brackets_go_to_questions(store_file: Path) -> None:
    async with opened(store_file, thread="done") as o:
        await o.until(lambda: isinstance(o.screen, HistoryScreen), "the thread")
        await o.press("left_square_bracket")
        assert "asked check: Is the account right?" in o.rows
        await o.press("left_square_bracket", "left_square_bracket")
        assert o.message == "Nothing was asked before this."
        assert "Transfer?" in o.rows
        await o.press("right_square_bracket")
        assert "Is the account right?" in o.rows


async def test_branches_are_drawn_and_what_was_left_says_so(store_file: Path) -> None:
    async with opened(store_file) as o:
        await o.open("forked")
        graph = o.thread.query_one(GraphTable)
        drawn = [str(graph.get_row_at(n)[0]) for n in range(graph.row_count)]
        assert any("left behind" in row for row in drawn)
        assert "on the current line" in o.where
        await o.press("left")
        assert "ON A BRANCH THAT WAS LEFT" in o.where
        assert "Is the account right?" in o.rows


async def test_of_an_edit_only_what_it_changed_led_there_and_of_a_step_only_what_ran(store_file: Path) -> None:
    async with opened(store_file) as o:
        await o.open("forked")
        assert "led here an edit of the state\n   ~ amount: 100 → 5" in o.rows
        assert "answered yes" not in o.rows
        while "led here ask" not in o.rows:
            await o.press("left")
        led = o.rows.partition("then ran")[0]
        assert "answered yes" in led and "amount ← 5" not in led


async def test_differences_of_a_moment_and_of_two_marks(store_file: Path) -> None:
    async with opened(store_file) as o:
        await o.open("forked")
        await o.press("2")
        assert "~ amount: 100 → 5" in o.rows
        assert "this moment and the one it came from" in o.rows
        await o.press("m", "left", "m")
        assert "between the two marks" in o.rows
        assert "- log.4: worked 2" in o.rows or "+ log.4: worked 2" in o.rows or "log.1" in o.rows
        assert "marks: A " in str(o.thread.query_one("#history-marks", Static).content)
        await o.press("m", "home", "2")
        assert "mark and this moment" in o.rows
        await o.press("1")
        assert "next" in o.rows


@pytest.mark.long
async def test_a_difference_names_the_key_that_marks_as_it_is_mapped(store_file: Path, tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "keys.toml").write_text('"replay.mark" = "f12"', encoding="utf-8")
    async with opened(Path(shutil.copy(store_file, tmp_path))) as o:
        await o.open("forked")
        await o.press("2")
        assert "F12 marks another to compare" in o.rows


async def test_a_store_is_never_forked_or_restored(store_file: Path) -> None:
    async with opened(store_file) as o:
        await o.open("asks")
        for key in ("3", "4"):
            await o.press(key)
            assert "read-only" in o.message
        for key in ("f3", "f4"):
            await o.press(key)
            assert "A store is read-only" in o.message


async def test_with_its_graph_a_thread_can_go_on_in_a_copy_once_that_is_confirmed(store_file: Path) -> None:
    async with opened(store_file, graph="agent.py:graph") as o:
        clock = Clock()
        o.app.keyboard.guard = KeyGuard(o.app.keyboard, clock)
        await o.open("done")
        await o.press("4")
        assert "3 starts a session with a copy" in o.message
        await o.press("home", "right", "right")
        await o.pilot.press("3")
        await o.until(lambda: isinstance(o.screen, ConfirmDialog), "the dialog")
        said = str(o.screen.query(Static).first().content)
        assert "agent.py:graph continues from 1 ask" in said
        assert "NOT undone" in said
        await o.pilot.press("1", "enter")  # the first comes before it could be read, the second means no
        await o.until(lambda: isinstance(o.screen, HistoryScreen), "the thread again")
        assert (o.message, o.app.wanted) == ("Nothing was made.", None)
        await o.pilot.press("3")
        await o.until(lambda: isinstance(o.screen, ConfirmDialog), "the dialog")
        clock.rest()
        await o.pilot.press("1")
        await o.until(lambda: o.app.wanted, "the end")
        assert o.thread.place is not None
        assert o.app.wanted == ("done", o.thread.place.info.checkpoint_id)


async def test_a_subgraph_goes_on_with_the_graph_around_it(store_file: Path) -> None:
    async with opened(store_file, graph="agent.py:graph") as o:
        await o.open("done")
        spaces = o.thread.query_one("#history-spaces", DataTable)
        o.thread.query_one(ThreadPanes).show("history-spaces", focus=True)
        spaces.move_cursor(row=1)
        await o.press("enter", "3")
        assert "continues with the graph around it" in o.message


@pytest.mark.parametrize("size", [(120, 40), (80, 24)])
async def test_subgraphs_have_a_pane_of_their_own(store_file: Path, size: tuple[int, int]) -> None:
    async with opened(store_file, size=size) as o:
        await o.open("done")
        spaces = o.thread.query_one("#history-spaces", DataTable)
        o.thread.query_one(ThreadPanes).show("history-spaces", focus=True)
        names = [str(spaces.get_row_at(n)[0]) for n in range(spaces.row_count)]
        assert [name.split("  ")[0] for name in names if name.startswith("▸")] == ["▸ the graph"]
        assert "check" in names[1]
        spaces.move_cursor(row=1)
        await o.press("enter")
        assert "4 of 4" in o.where
        await o.press("left")
        assert "confirm" in o.where
        assert "Is the account right?" in o.rows


async def test_a_value_and_a_moment_are_shown_whole(store_file: Path) -> None:
    async with opened(store_file) as o:
        await o.open("asks")
        tree = o.thread.query_one(StateTree)
        tree.focus()
        tree.move_cursor(next(n for n in tree.root.children if str(n.label).startswith("amount")))
        await o.pilot.press("enter")
        await o.until(lambda: isinstance(o.screen, TextViewer), "the value")
        assert o.rows.strip() == "100"
        await o.pilot.press("escape")
        o.thread.query_one(GraphTable).focus()
        await o.pilot.press("enter")
        await o.until(lambda: isinstance(o.screen, TextViewer), "the moment")
        assert "Transfer?" in o.rows


async def test_help_knows_the_keys_of_a_store(store_file: Path) -> None:
    async with opened(store_file) as o:
        for key in ("question_mark", "f1"):
            await o.pilot.press(key)
            await o.until(lambda: isinstance(o.screen, TextViewer), "help")
            assert "Only threads with these words" in o.rows
            assert "Back to the list of threads" in o.rows
            assert "/todo" not in o.rows
            await o.pilot.press("escape")
            await o.until(lambda: isinstance(o.screen, StoreScreen), "the list")
        await o.open("asks")
        labels = [label for _, _, label in o.screen.query_one(KeyLine).keys]
        assert {"threads", "earlier", "later question", "help"} <= set(labels)
        await o.press("ctrl+o")
        assert isinstance(o.screen, StoreScreen)


async def test_a_node_that_fails_after_it_was_answered_says_so(tmp_path: Path) -> None:
    with sqlite_saver(tmp_path / "p.db") as saver:
        pay(saver, "t")
    with sqlite3.connect(tmp_path / "p.db") as connection:
        row = connection.execute("SELECT * FROM writes WHERE channel = '__interrupt__'").fetchone()
        kind, value = JsonPlusSerializer().dumps_typed("ValueError('no such account')")
        error = [*row[:5], -1, "__error__", kind, value]
        connection.execute(f"INSERT INTO writes VALUES ({', '.join('?' * len(error))})", error)
    async with opened(tmp_path / "p.db") as o:
        await o.open("t")
        assert "✗ ask failed: ValueError('no such account')" in o.where


async def test_what_others_add_is_seen(tmp_path: Path) -> None:
    with sqlite_saver(tmp_path / "p.db") as saver:
        pay(saver, "t")
        async with opened(tmp_path / "p.db", thread="t") as o:
            await o.until(lambda: isinstance(o.screen, HistoryScreen) and o.settled(), "the thread")
            assert "? ask asks" in o.where
            payment(saver).invoke(Command(resume="yes"), at("t"))
            await o.until(lambda: "? check asks" in o.where, "the next question")
            pay(saver, "u")
            await o.press("escape")
            await o.until(lambda: o.threads == ["u", "t"], "the new thread")


async def test_long_lists_come_page_by_page(tmp_path: Path) -> None:
    path = tmp_path / "many.db"
    with sqlite_saver(path) as saver:
        pay(saver, "t0")
    with sqlite3.connect(path) as connection:
        for number in range(1, 250):
            connection.execute(
                "INSERT INTO checkpoints SELECT ?, checkpoint_ns, checkpoint_id, parent_checkpoint_id, type,"
                " checkpoint, metadata FROM checkpoints WHERE thread_id = 't0'",
                [f"t{number}"],
            )
    async with opened(path) as o:
        assert len(o.threads) == 100
        o.table.move_cursor(row=95)
        await o.until(lambda: len(o.threads) == 200, "the second page")
        o.table.move_cursor(row=195)
        await o.until(lambda: len(o.threads) == 250, "the last page")
        assert len(set(o.threads)) == 250


HOSTILE = "\x1b]0;owned\x07\x1b[31mred[@click=app.quit]x[/]\u202e\u200b[/b]"


@pytest.mark.parametrize("size", [(120, 40), (80, 24)])
async def test_hostile_text_is_shown_and_does_nothing(tmp_path: Path, size: tuple[int, int]) -> None:
    path = tmp_path / "p.db"
    with sqlite_saver(path) as saver:
        pay(saver, HOSTILE, ["yes"], HOSTILE)
    with sqlite3.connect(path) as connection:
        connection.execute("UPDATE checkpoints SET checkpoint_ns = ? WHERE checkpoint_ns <> ''", [f"{HOSTILE}:1"])
        connection.execute("UPDATE writes SET task_path = '~__pregel_pull, ' || ?", [HOSTILE])
    async with opened(path, size=size) as o:
        await o.open(HOSTILE)
        for key in ("2", "1", "left", "m", "f6", "f6", "f6"):
            await o.press(key)
            lines = o.screen._compositor.render_strips()
            screen = "".join(segment.text for line in lines for segment in line)
            assert not set(screen) & set("\x1b\x07\u202e\u200b")
        assert "␛]0;owned" in str(o.screen.query_one(HeaderBar).title_text)


async def test_a_state_that_cant_be_read_is_named_and_the_rest_goes_on(tmp_path: Path) -> None:
    path = payments(tmp_path / "p.db")
    with sqlite3.connect(path) as connection:
        connection.execute(
            "UPDATE checkpoints SET type = 'msgpack+aes' WHERE thread_id = 'asks' AND checkpoint_id ="
            " (SELECT max(checkpoint_id) FROM checkpoints WHERE thread_id = 'asks')"
        )
    async with opened(path) as o:
        o.table.move_cursor(row=o.threads.index("asks"))
        await o.pilot.press("enter")
        await o.until(lambda: isinstance(o.screen, HistoryScreen) and "encrypted (aes)" in o.message, "why")
        await o.press("left")
        assert "2 of 3" in o.where
