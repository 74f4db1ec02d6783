"""The help begins where the person is and can be searched; and what the plan, the history and the first screen say."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import pytest
from console_support import EXAMPLE, RISE, Console, command_workspace, console
from textual.content import Content
from textual.widgets import Static

from hitl_tui.console.dialogs.mode_dialog import ModeDialog
from hitl_tui.console.dialogs.text_viewer import HelpScreen, HelpText, TextViewer
from hitl_tui.console.help_rows import KeyRow, having, help_rows, parts_here, sections_of
from hitl_tui.console.keys import ANYWHERE, FINDING, HISTORY, PLAN, QUESTION, SESSION
from hitl_tui.console.screens.home_screen import declared_defaults
from hitl_tui.console.screens.session_screen import SessionScreen
from hitl_tui.console.widgets.bars import KeyLine
from hitl_tui.console.widgets.history_table import HistoryTable
from hitl_tui.console.widgets.plan_table import PlanTable
from hitl_tui.console.widgets.stream_pane import Line, StreamPane
from hitl_tui.console.widgets.virtual_rows import Rows


def titles(c: Console) -> list[str]:
    return [section[0].text.plain for section in sections_of(c.app.screen.query_one(Rows).rows)]


def said(c: Console) -> list[str]:
    return [row.text.plain for row in c.app.screen.query_one(Rows).rows]


def foot(c: Console) -> str:
    return Content.from_markup(str(c.app.screen.query_one(HelpText).border_subtitle)).plain


def history(c: Console) -> list[str]:
    table = c.session.query_one(HistoryTable)
    return [str(table.get_row_at(n)[0]) for n in range(table.row_count)]


async def shown_help(c: Console) -> None:
    await c.press("f1")
    await c.until(lambda: isinstance(c.app.screen, HelpScreen), "the help")


@pytest.mark.long
async def test_the_help_begins_with_the_pane_that_has_the_focus_and_its_key_closes_it(tmp_path: Path) -> None:
    async with console(tmp_path, query=RISE, size=(80, 24)) as c:
        await c.asked()
        c.session.set_focus(c.session.query_one(PlanTable))
        assert parts_here(c.session)[:3] == [PLAN, FINDING, SESSION]
        await shown_help(c)
        assert titles(c)[0] == "Plan pane" and titles(c)[1] == "Signs in the plan"
        assert titles(c).index("Anywhere") < titles(c).index("History pane")
        await c.press("f1")
        assert isinstance(c.app.screen, SessionScreen)
        for pane, part, title in (
            (c.session.query_one(HistoryTable), HISTORY, "History pane"),
            (c.panel, QUESTION, "Question (Ctrl+G)"),
        ):
            c.session.set_focus(pane)
            assert parts_here(c.session)[0] == part and ANYWHERE not in parts_here(c.session)
            await shown_help(c)
            assert titles(c)[0] == title
            await c.press("escape")
        await c.press("f6")
        c.session.set_focus(c.session.query_one(PlanTable))
        await c.press("enter")
        await c.until(lambda: isinstance(c.app.screen, TextViewer), "the TODO")
        await c.press("f1")
        assert isinstance(c.app.screen, SessionScreen), "it closes any text"
        await c.send("/help")
        await c.until(lambda: isinstance(c.app.screen, HelpScreen), "the help")
        assert titles(c)[0] == "Commands"
        await c.press("escape")
        assert c.status("todo_001") == "waiting_approval"


@pytest.mark.long
async def test_words_are_looked_for_in_the_help(tmp_path: Path) -> None:
    async with console(tmp_path, size=(80, 24)) as c:
        await shown_help(c)
        assert "/ Find" in foot(c)
        whole = len(said(c))
        await c.press("slash", *"prior")
        assert titles(c) == ["Plan pane", "Signs in the plan", "Commands"]
        assert "/prior" in foot(c)
        await c.press("j", "q")
        assert "not found" in foot(c) and "/priorjq" in foot(c), "what is typed is no key"
        await c.press("escape")
        assert len(said(c)) == whole and isinstance(c.app.screen, HelpScreen)
        await c.press("slash", *"plan.undo", "enter", "escape")
        assert len(said(c)) == whole, "kept words go first"
        await c.press("slash", *"a", "f1")
        assert not isinstance(c.app.screen, HelpScreen), "its own key closes it even then"


def test_a_section_is_found_whole_by_its_title_and_a_key_by_its_name() -> None:
    rows = help_rows()
    assert [s[0].text.plain for s in sections_of(having(rows, "history pane"))] == ["History pane"]
    assert len(having(rows, "history pane")) > 4
    found = having(rows, "plan.undo")
    assert [row.binding for row in found if isinstance(row, KeyRow)] == ["plan.undo"]
    assert having(rows, "no such words") == []


async def test_names_of_bindings_stand_at_the_end_of_their_lines_while_words_are_looked_for(tmp_path: Path) -> None:
    async with console(tmp_path, size=(120, 40)) as c:
        await shown_help(c)
        lines = c.app.screen.query_one(Rows)

        def drawn() -> list[str]:
            return ["".join(s.text for s in lines.render_line(y)).rstrip() for y in range(lines.size.height)]

        ends = ("console.help", "plan.undo", "choosing.1 … 9")
        assert not [line for line in drawn() if line.endswith(ends)], "who only wants a key needs no names"
        assert sum("Choose the option of this number" in line for line in drawn()) == 1
        await c.press("slash", "o")
        keys = [line for line in drawn() if line.endswith(ends)]
        assert len(keys) == 3 and len({len(line) for line in keys}) == 1


@pytest.mark.long
async def test_the_plan_names_its_keys_and_counts_its_lines_at_80x24(tmp_path: Path) -> None:
    async with console(tmp_path, query=RISE, size=(80, 24)) as c:
        await c.asked()
        table = c.session.query_one(PlanTable)
        table.focus()
        await c.pilot.pause()
        line = str(c.session.query_one(KeyLine).render())
        for named in ("Enter show", "a approve", "s skip", "/ find", "K J move", "F1 help", "Ctrl+Q quit"):
            assert f" {named} " in line
        assert str(table.border_title) == "Plan · 2"
        await c.press("slash", *"analy")
        assert str(table.border_title) == "Plan · 1 of 2"
        await c.press("escape")
        assert str(table.border_title) == "Plan · 2"


@pytest.mark.long
async def test_the_stream_and_the_help_have_a_first_and_a_last_line(tmp_path: Path) -> None:
    async with console(tmp_path, query=RISE, size=(80, 24)) as c:
        await c.asked()
        stream = c.session.query_one(StreamPane)
        stream.add([Line("", "", f"line {n}") for n in range(300)])
        c.session.show_pane("stream", focus=True)
        await c.until(lambda: stream.scroll_offset.y == stream.max_scroll_y > 0, "its end")
        await c.press("g")
        await c.until(lambda: stream.scroll_offset.y == 0, "the first line")
        await c.press("G")
        await c.until(lambda: stream.is_vertical_scroll_end, "the newest line")
        await shown_help(c)
        text = c.app.screen.query_one(HelpText)
        await c.press("end")
        await c.until(lambda: text.scroll_offset.y == text.max_scroll_y > 0, "the last line")
        await c.press("g")
        await c.until(lambda: text.scroll_offset.y == 0, "the first line again")


@pytest.mark.long
async def test_the_history_says_what_led_to_each_checkpoint(tmp_path: Path) -> None:
    workspace = command_workspace(tmp_path / "w")
    async with console(tmp_path / "d", workspace, query="What is the cap?", size=(160, 40)) as c:
        await c.asked()
        for number in (2, 3):
            await c.send(f"/todo add command_team keep file=f{number} --after todo_001")
            await c.until(partial(c.status, f"todo_00{number}"), "the TODO")
        await c.send("/todo priority 2 critical")
        await c.send("/todo move 3 before 2")
        await c.until(lambda: "moved 003" in history(c)[0], "the newest")
        rows = history(c)
        assert "priority of 002: critical" in rows[1]
        assert "added keep file=f3" in rows[2] and "added keep file=f2" in rows[3]
        assert [number for number, row in enumerate(rows) if "asked 001" in row] == [4]
        c.session.query_one(HistoryTable).focus()
        await c.press("full_stop", "end")
        oldest = c.session.query_one(HistoryTable).selected
        assert oldest is not None and not oldest.parent_id
        await c.press("g")
        newest = c.session.query_one(HistoryTable).selected
        assert newest is not None and newest.checkpoint_id == c.snapshot.checkpoint_id


@pytest.mark.parametrize(
    ("text", "defaults"),
    [
        ("", {}),
        ('[defaults]\nmode = "risk"\n', {"mode": "risk"}),
        ('defaults = "risk"\n', None),
        ("[defaults\n", None),
    ],
)
def test_the_defaults_of_a_workspace_are_read_from_its_file(tmp_path: Path, text: str, defaults: object) -> None:
    (tmp_path / "hitl.toml").write_text(text, encoding="utf-8")
    assert declared_defaults(tmp_path / "hitl.toml") == defaults
    assert declared_defaults(tmp_path) is None, "a folder"


async def test_the_first_screen_says_which_mode_new_sessions_get_and_its_key(tmp_path: Path) -> None:
    (tmp_path / "w").mkdir()
    async with console(tmp_path / "d", tmp_path / "w") as c:
        facts = c.app.home.query_one("#home-facts", Static)
        assert "ASK EVERY STEP  (F4 changes it)" in str(facts.render())
        await c.press("f4")
        await c.until(lambda: isinstance(c.app.screen, ModeDialog), "the list")
        c.clock.rest()
        await c.press("2")
        await c.until(lambda: "ASK PLAN, THEN RISKY STEPS  (F4 changes it)" in str(facts.render()), "what was chosen")
    async with console(tmp_path / "e", EXAMPLE) as c:
        facts = c.app.home.query_one("#home-facts", Static)
        await c.until(lambda: "as hitl.toml says" in str(facts.render()), "what the file declares")
        assert "ASK EVERY STEP  (as hitl.toml says; F4 changes it)" in str(facts.render())
    (tmp_path / "w" / "hitl.toml").write_text('[teams.search_team]\ndocuments = ["."]\n', encoding="utf-8")
    async with console(tmp_path / "f", tmp_path / "w") as c:
        facts = c.app.home.query_one("#home-facts", Static)
        await c.until(lambda: "ASK EVERY STEP" in str(facts.render()), "what holds where the file declares none")
        assert "ASK EVERY STEP  (F4 changes it)" in str(facts.render())
