"""What is typed right after a key that opens a dialog belongs into the dialog; none of it is lost or decides (C3)."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from console_support import EXAMPLE, RISE, Console, command_workspace, console
from test_shapes_console import asking
from textual.events import Key, Paste
from textual.keys import _character_to_key
from textual.widgets import TextArea

from hitl_tui.console.dialogs.answer_dialog import TextAnswer
from hitl_tui.console.dialogs.edit_dialog import EditDialog
from hitl_tui.console.dialogs.form_fields import FieldInput
from hitl_tui.console.dialogs.prompt_dialogs import WordsDialog, WordsInput
from hitl_tui.core.todos import Status

REASON = "1 bad idea: 6 of 9 jokes, 7 well-known; u do x"  # most of these do something in the panel


def burst(c: Console, text: str) -> None:
    """Let characters arrive at once, as one write to a terminal does."""
    for character in text:
        key = "enter" if character == "\r" else "space" if character == " " else _character_to_key(character)
        c.app.post_message(Key(key, character))


async def ready(c: Console) -> None:
    await c.to_question()
    await c.read_on()


@pytest.mark.long
async def test_a_reason_typed_at_once_is_the_reason(tmp_path: Path) -> None:
    async with console(tmp_path, EXAMPLE, query=RISE) as c:
        await c.asked()
        await ready(c)
        await c.press("3")
        burst(c, REASON)
        await c.until(lambda: isinstance(c.app.screen, WordsDialog), "the reason")
        await c.until(lambda: c.app.screen.query_one(WordsInput).value == REASON, "all of it")
        assert c.status("todo_001") == Status.WAITING_APPROVAL
        c.clock.rest()
        burst(c, " and more")
        await c.until(lambda: c.app.screen.query_one(WordsInput).value.endswith(" and more"), "the rest of it")
        c.clock.rest()
        await c.press("enter")
        await c.until(lambda: c.status("todo_001") == Status.FAILED, "rejected")
        todo = c.snapshot.todo("todo_001")
        assert todo is not None and REASON + " and more" in str(todo.to_dict())


@pytest.mark.long
async def test_a_paste_after_the_key_is_the_reason_too(tmp_path: Path) -> None:
    async with console(tmp_path, EXAMPLE, query=RISE) as c:
        await c.asked()
        await ready(c)
        await c.press("3")
        burst(c, "a1 ")
        c.app.post_message(Paste("pasted 1"))
        burst(c, " z")
        await c.until(lambda: isinstance(c.app.screen, WordsDialog), "the reason")
        await c.until(lambda: c.app.screen.query_one(WordsInput).value == "a1 pasted 1 z", "all of it")


@pytest.mark.long
async def test_what_is_typed_at_once_after_edit_stands_in_the_first_field(tmp_path: Path) -> None:
    (tmp_path / "d").mkdir()
    workspace = command_workspace(tmp_path / "w")
    async with console(tmp_path / "d", workspace, query="The cap", mode="risk") as c:
        await c.until(lambda: c.shown() and c.status("todo_001") == Status.COMPLETED, "the search")
        await c.send("/todo add command_team keep file=before")
        await c.asked()
        await ready(c)
        await c.press("2")
        c.app.post_message(Key("f9", None))  # pressed before there was a dialog to approve in
        burst(c, "1s6 j")
        await c.until(lambda: isinstance(c.app.screen, EditDialog), "the dialog")
        first: Callable[[], FieldInput] = lambda: c.app.screen.query(FieldInput).first()  # noqa: E731
        await c.until(lambda: first().value == "before1s6 j", "all of it, behind what stood there")
        assert isinstance(c.app.screen, EditDialog) and not (workspace / "before").exists()


@pytest.mark.long
async def test_a_text_is_edited_at_its_end_and_a_number_is_replaced(tmp_path: Path) -> None:
    long = "a question that is much longer than its field is wide. " * 4
    async with console(tmp_path, query=long, size=(80, 24)) as c:
        await c.asked()
        await ready(c)
        await c.press("2")
        await c.until(lambda: isinstance(c.app.screen, EditDialog), "the dialog")
        first = c.app.screen.query(FieldInput).first()
        await c.until(lambda: first.has_focus, "the first field")
        assert first.selection.is_empty and first.cursor_at_end
        limit = next(box for box in c.app.screen.query(FieldInput) if box.field.name == "limit")
        limit.focus()
        await c.until(lambda: limit.selected_text == limit.value, "the selection")


@pytest.mark.long
async def test_one_key_is_named_for_sending_words(tmp_path: Path) -> None:
    async with asking(tmp_path, "approval") as c:
        await ready(c)
        await c.press("5")
        await c.until(lambda: isinstance(c.app.screen, TextAnswer), "the dialog")
        assert isinstance(c.app.screen, TextAnswer)
        named = [spec.id for spec in c.app.screen.key_specs() if spec.label == "respond"]
        assert named == ["say.send"]


@pytest.mark.long
async def test_what_is_typed_at_once_after_respond_is_the_answer(tmp_path: Path) -> None:
    async with asking(tmp_path, "approval") as c:
        await ready(c)
        await c.press("5")
        burst(c, REASON)
        await c.until(lambda: isinstance(c.app.screen, TextAnswer), "the dialog")
        await c.until(lambda: c.app.screen.query_one("#say", TextArea).text == REASON, "all of it")
        assert c.panel.question is not None and not c.panel.question.view.decisions


@pytest.mark.long
async def test_where_no_dialog_comes_the_keys_go_where_they_would_have_gone(tmp_path: Path) -> None:
    async with asking(tmp_path, "approval") as c:
        await ready(c)
        await c.press("1")  # answers at once: no dialog
        c.app.post_message(Key("f2", None))
        burst(c, "/to")
        await c.until(lambda: c.status("todo_001") == Status.COMPLETED, "the graph's end")
        await c.until(lambda: c.prompt.text == "/to", "the prompt")


async def test_keys_that_erase_act_before_a_key_that_gives_the_focus_away(tmp_path: Path) -> None:
    async with console(tmp_path, query=RISE) as c:
        await c.asked()
        c.prompt.text = "abc"
        c.prompt.move_cursor(c.prompt.document.end)
        for key in ("backspace", "backspace", "ctrl+g"):
            c.app.post_message(Key(key, None))
        await c.until(lambda: c.panel.has_focus, "the question")
        await c.pilot.pause()
        assert c.prompt.text == "a"
        assert c.status("todo_001") == "waiting_approval"
