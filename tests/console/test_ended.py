"""What stands there once a session has ended, and once it goes on after that."""

from __future__ import annotations

from pathlib import Path

import pytest
from console_support import command_workspace, console
from textual.app import App, ComposeResult
from textual.widgets._markdown import MarkdownBlockQuote

from hitl_tui.console.widgets.answer_pane import AnswerPane, parser
from hitl_tui.console.widgets.bars import HeaderBar
from hitl_tui.console.widgets.panes import Panes
from hitl_tui.console.widgets.session_table import SessionTable


def test_rows_of_a_table_or_a_log_keep_their_lines() -> None:
    text = "> product: widget, stock: 40\n> product: gadget, stock: 3\n\n- one\n  more\n"
    inline = [token for token in parser().parse(text) if token.type == "inline"]
    assert [[c.type for c in token.children or ()] for token in inline] == [["text", "hardbreak", "text"]] * 2


class _Answered(App[None]):
    CSS_PATH = Path(__file__).resolve().parents[2] / "hitl_tui" / "console" / "widgets" / "panes.tcss"

    def compose(self) -> ComposeResult:
        yield AnswerPane()


async def test_a_quoted_list_ends_with_its_last_item() -> None:
    app = _Answered()
    async with app.run_test() as pilot:
        await app.query_one(AnswerPane).show({"text": "> - the last item"})
        app.query_one(AnswerPane).add_class("-seen")
        await pilot.pause()
        assert app.query_one(MarkdownBlockQuote).size.height == 1


@pytest.mark.long
async def test_an_answer_is_called_outdated_while_the_work_goes_on_after_it(tmp_path: Path) -> None:
    async with console(tmp_path / "d", command_workspace(tmp_path / "w"), query="The cap", mode="risk") as c:
        await c.until(lambda: c.shown() and c.snapshot.concluded, "the end")
        panes = c.session.query_one(Panes)
        answer = panes.query_one(AnswerPane)
        await c.until(lambda: panes.chosen == "answer", "the answer")
        assert str(answer.border_title) == "Answer" and "Answer ready" in c.message
        await c.send("/todo add command_team keep file=one")
        await c.asked()
        await c.until(lambda: "OUTDATED" in str(answer.border_title), "that it goes on")
        assert panes.chosen == "answer", "what is asked covers no answer"
        await c.send("/todo add search_team The cap number 2")
        await c.until(lambda: c.status("todo_003") == "completed", "another step")
        assert panes.chosen == "answer"  # somebody looks at it
        await c.send("/todo reject todo_002 no")
        await c.until(lambda: c.snapshot.concluded and str(answer.border_title) == "Answer", "the new answer")


WAITS = """
[teams.command_team.commands.wait]
run = ["sh", "-c", "while [ ! -e gate ]; do sleep 0.05; done"]
description = "Wait for a file."
risk = "low"
"""


@pytest.mark.long
async def test_what_runs_on_for_long_comes_in_the_place_of_the_answer_once(tmp_path: Path) -> None:
    folder = command_workspace(tmp_path / "w")
    (folder / "hitl.toml").write_text(WAITS, encoding="utf-8")
    async with console(tmp_path / "d", folder, query="The cap", mode="risk") as c:
        panes = c.session.query_one(Panes)
        await c.until(lambda: c.shown() and c.snapshot.concluded and panes.chosen == "answer", "the answer")
        await c.send("/todo add command_team wait")
        await c.until(lambda: panes.chosen == "stream", "what runs")
        c.session.show_pane("answer")
        await c.session._tick()
        assert panes.chosen == "answer", "somebody looks at it"
        (folder / "gate").touch()
        await c.until(lambda: c.snapshot.concluded, "its end")


@pytest.mark.long
async def test_the_key_that_the_ending_names_leads_to_the_answer_each_time(tmp_path: Path) -> None:
    async with console(tmp_path / "d", command_workspace(tmp_path / "w"), query="The cap", mode="risk") as c:
        await c.until(lambda: c.shown() and c.snapshot.concluded, "the end")
        await c.until(lambda: "F6" in c.message, "what the ending names")
        for pane in ("answer", "plan", "answer"):
            if pane == "plan":
                c.session.show_pane("plan", focus=True)
            else:
                await c.press("f6")
            assert c.app.focused is not None and c.app.focused.id == pane
            await c.press("escape")


@pytest.mark.long
async def test_down_leads_from_the_first_screens_prompt_to_the_sessions(tmp_path: Path) -> None:
    async with console(tmp_path / "d", command_workspace(tmp_path / "w"), query="The cap") as c:
        await c.asked()
        await c.press("ctrl+o")
        await c.until(lambda: c.app.screen is c.app.home and c.prompt.has_focus, "the first screen")
        await c.press("x", "down")
        assert c.prompt.has_focus, "something is typed"
        await c.press("backspace", "down")
        await c.until(lambda: c.app.focused is not None and c.app.focused.id == "sessions", "the sessions")
        await c.press("enter")
        await c.until(lambda: c.app.screen is c.app.session, "the session again")


@pytest.mark.long
async def test_an_end_without_an_answer_promises_none(tmp_path: Path) -> None:
    async with console(tmp_path / "d", command_workspace(tmp_path / "w"), query="The cap") as c:
        await c.asked()
        await c.send("/todo reject todo_001 no")
        await c.until(lambda: c.snapshot.concluded and "1 rejected" in c.message, "the end")
        assert "Answer ready" not in c.message and "say what to do instead" in c.message


@pytest.mark.long
async def test_the_answer_pane_shows_the_session_that_is_open_and_no_other(tmp_path: Path) -> None:
    work = command_workspace(tmp_path / "w")
    async with console(tmp_path / "d", work, query="The cap", mode="risk") as c:
        await c.until(lambda: c.shown() and c.snapshot.concluded, "the end")
        answer = c.session.query_one(AnswerPane)
        await c.until(lambda: answer.text, "the answer")
        first, said = c.snapshot.session_id, answer.text
        await c.send("/new Keep file one")
        await c.until(lambda: c.shown() and c.snapshot.session_id != first, "the other session")
        assert answer.text == ""
        await c.send(f"/open {first}")
        await c.until(lambda: c.shown() and c.snapshot.session_id == first, "the first session")
        await c.until(lambda: answer.text == said, "its answer again")
    async with console(tmp_path / "d", work, session=first) as c:
        await c.until(lambda: c.shown() and c.snapshot.concluded, "the session, opened again")
        await c.until(lambda: c.session.query_one(AnswerPane).text == said, "its answer")
        assert c.session.query_one(Panes).chosen == "answer"
        await c.send("/decisions")
        await c.until(lambda: c.session.query_one(Panes).chosen == "stream", "the list, where it is written")


@pytest.mark.long
async def test_an_answer_that_found_nothing_isnt_called_ready(tmp_path: Path) -> None:
    async with console(tmp_path / "d", command_workspace(tmp_path / "w"), query="wifi password?", mode="risk") as c:
        await c.until(lambda: c.shown() and c.snapshot.concluded, "the end")
        await c.until(lambda: c.message.startswith("Nothing found · F6"), "that nothing was found")
        assert c.session.query_one(HeaderBar).status == "✓ nothing found"
        await c.press("ctrl+o")
        await c.until(lambda: c.app.screen is c.app.home, "the first screen")
        await c.until(lambda: c.app.home.query_one(SessionTable).row_count == 1, "the session")
        assert c.app.home.query_one(SessionTable).get_row_at(0)[1].plain.strip() == "✓ nothing found"
