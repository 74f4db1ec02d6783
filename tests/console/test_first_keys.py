"""The first screen names the keys that act where the focus is, and what commands and changes say is in words."""

from __future__ import annotations

from pathlib import Path

import pytest
from console_support import RISE, Console, console
from rich.text import Text
from textual.widgets import DataTable, Static

from hitl_tui.console.dialogs.inbox_dialog import InboxDialog
from hitl_tui.console.dialogs.text_viewer import HelpScreen, TextViewer
from hitl_tui.console.screens.home_screen import HomeScreen
from hitl_tui.console.widgets.bars import HeaderBar, KeyLine
from hitl_tui.console.widgets.history_table import HistoryTable
from hitl_tui.console.widgets.panes import Panes
from hitl_tui.console.widgets.stream_pane import StreamPane
from hitl_tui.console.widgets.virtual_rows import Rows
from hitl_tui.core.todos import SupervisorTodo
from hitl_tui.threads.session_diff import TodoChange
from hitl_tui.threads.state_diff import ValueChange
from hitl_tui.wording import difference_rows


@pytest.mark.long
async def test_the_key_of_the_sessions_goes_to_them_where_none_is_open(tmp_path: Path) -> None:
    async with console(tmp_path, query=RISE) as c:
        await c.asked()
    elsewhere = tmp_path / "elsewhere"  # here the session would be opened again
    elsewhere.mkdir()
    async with console(tmp_path, elsewhere) as c:
        await c.until(lambda: c.app.screen.query("#sessions"), "the list of sessions")
        assert c.prompt.has_focus
        await c.press("ctrl+o")
        assert c.app.screen.query_one("#sessions").has_focus
        await c.press("escape")
        assert c.prompt.has_focus


@pytest.mark.long
async def test_the_first_screen_names_the_keys_of_where_the_focus_is(tmp_path: Path) -> None:
    async with console(tmp_path, query=RISE) as c:
        await c.asked()
        await c.press("ctrl+o")
        await c.until(lambda: isinstance(c.app.screen, HomeScreen), "the first screen")
        await c.until(lambda: c.app.screen.query("#sessions"), "the list of sessions")
        title, line = c.app.screen.query_one("#sessions-title", Static), c.app.screen.query_one(KeyLine)

        c.app.home.to_prompt()
        await c.press("home")
        assert c.prompt.has_focus
        assert str(title.render()) == "Sessions (F6 twice)"
        assert ("Enter", "send") in [(shown, label) for __, shown, label in line.keys]

        await c.press("f6")
        assert str(title.render()) == "Sessions (F6)"
        assert [(shown, label) for __, shown, label in line.keys][:3] == [
            *(("Enter", "choose"), ("F6", "next"), ("Esc", "back")),
        ]

        await c.press("f6")
        assert str(title.render()) == "Sessions · / finds words in questions, steps and answers"
        assert ("Enter", "open") in [(shown, label) for __, shown, label in line.keys]


@pytest.mark.long
async def test_a_checkpoint_shows_its_todos_as_the_plan_does(tmp_path: Path) -> None:
    async with console(tmp_path, query=RISE) as c:
        await c.asked()
        table = c.session.query_one(HistoryTable)
        await c.until(lambda: table.row_count, "the history")
        table.focus()
        await c.press("enter")
        await c.until(lambda: isinstance(c.app.screen, TextViewer), "the checkpoint")
        shown = "\n".join(row.text.plain for row in c.app.screen._shown)
        assert "? asks" in shown and "· waits" in shown
        assert "waiting_approval" not in shown


@pytest.mark.long
async def test_help_for_one_command_shows_that_command(tmp_path: Path) -> None:
    async with console(tmp_path, query=RISE) as c:
        await c.asked()
        await c.send("/help mode")
        await c.until(lambda: isinstance(c.app.screen, TextViewer), "its usage")
        said = "\n".join(row.text.plain for row in c.app.screen.query_one(Rows).rows)
        assert "Show or set when you are asked" in said and "/todo approve" not in said
        await c.press("escape")
        await c.send("/help")
        await c.until(lambda: isinstance(c.app.screen, HelpScreen), "the help")


@pytest.mark.long
async def test_an_answer_of_more_lines_than_the_stream_shows_is_read_on_a_screen_of_its_own(tmp_path: Path) -> None:
    async with console(tmp_path, query=RISE, size=(80, 24)) as c:
        await c.asked()
        panes = c.session.query_one(Panes)
        assert panes.seen("plan") and not panes.seen("stream")
        await c.send("/rules allow 1")
        await c.until(lambda: isinstance(c.app.screen, TextViewer), "all of it")
        await c.press("escape")
        assert sum("This rule would be saved:" in line for line in c.session.query_one(StreamPane).lines) == 1
        assert c.prompt.has_focus and not c.message
        await c.send("/todos")
        await c.until(lambda: panes.seen("plan"), "the plan")


@pytest.mark.parametrize(
    ("path", "said"),
    [
        (("metadata", "ran_before"), "<ran before>"),
        (("metadata", "ran_before", "status"), "<ran before>"),
        (("asked",), "<asked anew>"),
        (("question", "name"), "<another question>"),
        (("retry_count",), "retry count"),
    ],
)
def test_what_changed_in_a_todo_is_said_in_words(
    monkeypatch: pytest.MonkeyPatch, path: tuple[str, ...], said: str
) -> None:
    monkeypatch.setattr(difference_rows, "_", lambda text: f"<{text}>")
    todo = SupervisorTodo(id="todo_001", name="find it")
    assert difference_rows.change_words(TodoChange(todo, todo, (ValueChange(path, 0, 1),))) == said


@pytest.mark.long
async def test_header_and_inbox_say_of_what_a_session_is_a_fork(tmp_path: Path) -> None:
    async with console(tmp_path, query=RISE) as c:
        await c.asked()
        first = c.snapshot.session_id
        await c.send("/fork")
        await c.until(lambda: ", a fork of" in c.message, "the fork")
        await c.send("/open s2")
        await c.until(lambda: c.shown() and c.snapshot.session_id == "s2", "the fork on the screen")
        await c.until(lambda: c.session.query_one(HeaderBar).title_text, "its title")
        assert c.session.query_one(HeaderBar).title_text.startswith(f"fork of {first} · ")
        await c.press("f3")
        await c.until(lambda: isinstance(c.app.screen, InboxDialog), "the inbox")
        table = c.app.screen.query_one(DataTable)
        await c.until(lambda: any(str(cell).startswith(f"s2 fork of {first}") for cell in sessions(table)), "it there")


def sessions(table: DataTable[Text]) -> list[str]:
    """Return what the inbox's list says of sessions, without the arrow of the one on the screen."""
    return [str(table.get_row_at(n)[0]).removeprefix("→ ").strip() for n in range(table.row_count)]


def labels(c: Console) -> dict[str, str]:
    """Return what the last row of the session's screen names: labels by the id of their key."""
    return {name: label for name, __, label in c.session.query_one(KeyLine).keys}


async def test_the_last_row_names_only_keys_of_the_question_that_do_something(tmp_path: Path) -> None:
    async with console(tmp_path, query=RISE) as c:
        await c.asked()
        await c.to_question()
        await c.read_on()
        await c.until(lambda: "question.page_down" not in labels(c), "that it was read")
        nothing_to = {"question.next", "question.review", "question.results", "question.undo", "session.question"}
        assert not nothing_to & set(labels(c))
        await c.press("1")
        await c.until(lambda: c.panel.question is not None and c.panel.question.todo_id == "todo_002", "the next one")
        await c.until(lambda: "question.results" in labels(c), "what can be read")
        assert "question.undo" not in labels(c)  # 001 has run


@pytest.mark.long
async def test_the_key_that_enlarges_a_pane_says_when_it_makes_it_smaller(tmp_path: Path) -> None:
    async with console(tmp_path, query=RISE) as c:
        await c.asked()
        await c.press("f6")
        assert labels(c)["plan.maximise"] == "maximise"
        await c.press("plus")
        await c.until(lambda: labels(c)["plan.maximise"] == "smaller", "the other way")
        await c.press("plus")
        await c.until(lambda: labels(c)["plan.maximise"] == "maximise", "its place again")
