"""What is pasted into a line of a dialog is kept whole, and nothing of it is a key (C3)."""

from __future__ import annotations

from pathlib import Path

import pytest
from console_support import RISE, command_workspace, console
from textual import events

from hitl_tui.console.dialogs.form_fields import FieldInput
from hitl_tui.console.dialogs.prompt_dialogs import WordsDialog, WordsInput
from hitl_tui.core.todos import Status

pytestmark = pytest.mark.long


async def test_several_lines_pasted_as_a_reason_are_the_reason(tmp_path: Path) -> None:
    async with console(tmp_path, query=RISE) as c:
        await c.asked()
        await c.to_question()
        await c.press("3")
        await c.until(lambda: isinstance(c.app.screen, WordsDialog), "the reason")
        await c.press("n", "o")
        c.app.post_message(events.Paste(": too much\r\nand\tto\u202eo late\r\n"))
        line = c.app.screen.query_one(WordsInput)
        await c.until(lambda: line.value != "no", "what was pasted")
        assert line.value == "no: too much and    too late"
        assert c.status("todo_001") == Status.WAITING_APPROVAL
        c.clock.rest()
        await c.press("!", "enter")
        await c.until(lambda: c.status("todo_001") == Status.FAILED, "rejected")
        assert c.snapshot.todos[0].error == "rejected by ops: no: too much and    too late!"


async def test_several_lines_pasted_into_a_field_replace_what_is_selected(tmp_path: Path) -> None:
    workspace = command_workspace(tmp_path / "w")
    async with console(tmp_path / "d", workspace, query="The cap", mode="risk") as c:
        await c.until(lambda: c.shown() and c.status("todo_001") == Status.COMPLETED, "the search")
        await c.send("/todo add command_team keep file=one")
        await c.asked()
        await c.to_question()
        await c.read_on()
        await c.press("2")
        await c.until(lambda: c.app.screen.query(FieldInput), "the field")
        line = c.app.screen.query_one(FieldInput)
        line.select_all()
        assert line.selected_text == "one"
        c.app.post_message(events.Paste("two\r\nthree\n"))
        await c.until(lambda: line.value == "two␊three", "what was pasted")
        assert line.written == "two\nthree", "the line feed is kept"
        assert [q.view.decisions for q in c.snapshot.questions] == [()]
