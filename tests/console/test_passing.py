"""Small things around the question: keys of panes, undo from anywhere, words that go when they aren't true any more."""

from __future__ import annotations

from pathlib import Path

import pytest
from console_support import RISE, console

from hitl_tui.console.prompt_hints import digit_meant
from hitl_tui.console.widgets.bars import KeyLine, MessageLine
from hitl_tui.console.widgets.history_table import HistoryTable
from hitl_tui.console.widgets.plan_table import PlanTable
from hitl_tui.console.widgets.stream_pane import StreamPane
from hitl_tui.core.todos import Status


@pytest.mark.long
async def test_letters_move_the_cursor_and_a_mark_says_on_which_row(tmp_path: Path) -> None:
    async with console(tmp_path, query=RISE) as c:
        await c.asked()
        plan = c.session.query_one(PlanTable)
        plan.focus()
        await c.press("j")
        assert plan.selected == "todo_002"
        await c.press("x")
        assert c.message.startswith("002 is marked: ")
        await c.press("k", "x")
        assert plan.selected == "todo_001" and c.message.startswith("001 is marked: ")
        await c.press("ㅓ", "x")  # with a Korean input method on
        assert c.message.startswith("002 isn't marked any more: ")
        shown = [label for __, __, label in c.session.query_one(KeyLine).keys]
        assert "undo" in shown[:5]
        history = c.session.query_one(HistoryTable)
        await c.until(lambda: len(history.checkpoints) > 1, "the history")
        history.focus()
        await c.press("j")
        assert history.cursor_row == 1
        stream = c.session.query_one(StreamPane)
        c.session.note("\n".join(map(str, range(200))))
        await c.until(lambda: stream.max_scroll_y > 20, "the stream")
        stream.focus()
        await c.press("g", "j")
        await c.until(lambda: stream.scroll_offset.y == 1, "one line down")


@pytest.mark.long
async def test_words_of_the_moment_go_and_a_decision_is_taken_back_from_the_prompt(tmp_path: Path) -> None:
    async with console(tmp_path, query=RISE, size=(80, 24)) as c:
        await c.asked()
        await c.to_question()
        c.clock.now -= 1.0
        c.app.guard.drawn()
        await c.press("1")
        assert c.message.startswith("Too soon")
        c.clock.rest()
        await c.press("down")
        assert c.message == "", "it isn't too soon any more"
        await c.press("escape")
        await c.send("1")
        assert "where 1 is Approve" in c.message and "Ctrl+G" in c.message
        assert c.status("todo_001") == "waiting_approval"
        c.clock.rest()
        await c.press("f8")
        assert c.message == "No decision of yours to undo."
        await c.to_question()
        await c.read_on()
        await c.press("4")
        await c.until(lambda: c.status("todo_001") == "skipped", "it is skipped")
        c.clock.rest()
        await c.press("f8")
        await c.until(lambda: c.status("todo_001") == "waiting_approval", "it is asked again")


@pytest.mark.long
async def test_nothing_waits_stands_there_only_while_nothing_does(tmp_path: Path) -> None:
    async with console(tmp_path, query="The cap", mode="risk") as c:
        await c.until(lambda: c.shown() and c.snapshot.concluded, "the search")
        await c.press("ctrl+g")
        assert c.message == "Nothing waits for you now."
        handle = c.session.handle
        assert handle is not None
        await handle.handler.handle_command("/mode plan")
        await handle.handler.handle_command("also compute 3 + 4")
        await c.asked()
        assert c.message == ""


@pytest.mark.long
async def test_the_next_pane_keeps_the_focus_however_fast_it_is_asked_for(tmp_path: Path) -> None:
    async with console(tmp_path, query=RISE, size=(80, 24)) as c:
        await c.asked()
        plan, history = c.session.query_one(PlanTable), c.session.query_one(HistoryTable)
        plan.focus()
        await c.pilot.pause()
        c.session.action_next_pane()
        c.session.action_next_pane()
        await c.pilot.pause()
        assert not history.has_focus and c.session.query_one(StreamPane).has_focus
        assert c.session.query_one(StreamPane).has_class("-seen")


@pytest.mark.parametrize("line", ["11", "/todos", "x", "", "①", "٣"])
def test_only_a_digit_alone_is_one(line: str, tmp_path: Path) -> None:
    from hitl_tui.console.keymap import Keymap

    assert digit_meant(line, Keymap(), None) == ""


@pytest.mark.long
async def test_a_digit_that_is_typed_in_the_prompt_decides_nothing_and_says_at_once_what_to_press(
    tmp_path: Path,
) -> None:
    async with console(tmp_path, query=RISE) as c:
        await c.asked()
        c.clock.rest()
        await c.press("1")
        hint = str(c.session.query_one(MessageLine).render())
        assert "Ctrl+G goes to the question, where 1 is Approve" in hint
        await c.press("0", "space", *"days")
        assert "Ctrl+G" not in str(c.session.query_one(MessageLine).render())
        assert c.prompt.text == "10 days" and c.status("todo_001") == Status.WAITING_APPROVAL
