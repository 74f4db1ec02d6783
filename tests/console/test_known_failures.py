"""What is known to go wrong in other tools, each as a test by its name: none of it decides or loses anything (C3)."""

from __future__ import annotations

from pathlib import Path

import pytest
from console_support import RISE, Console, command_workspace, console, late_by
from textual import events

from hitl_tui.console.dialogs.prompt_dialogs import ConfirmDialog, WordsDialog, WordsInput
from hitl_tui.console.dialogs.text_viewer import TextViewer
from hitl_tui.console.widgets.bars import HeaderBar
from hitl_tui.core.todos import Status

pytestmark = pytest.mark.long


def burst(c: Console, text: str) -> None:
    """Type faster than anything is done about it."""
    names = {" ": "space", "\r": "enter", "\x1b": "escape"}
    for character in text:
        c.app.post_message(events.Key(names.get(character, character), character))


def undecided(c: Console) -> bool:
    return all(not q.view.decisions for q in c.snapshot.questions) and c.status("todo_001") == Status.WAITING_APPROVAL


async def test_typing_any_way_as_a_question_opens(tmp_path: Path) -> None:
    async with console(tmp_path, query=RISE) as c:
        for key in ("a", "n", "y", "space"):
            await c.press(key)
        await c.asked()
        for key in ("w", "a", "y", "space", "1"):
            await c.press(key)
            c.clock.rest()
        assert c.prompt.text == "any way 1" and c.prompt.has_focus
        assert undecided(c)


async def test_digits_while_typing_are_text(tmp_path: Path) -> None:
    async with console(tmp_path, query=RISE) as c:
        await c.asked()
        for key in "14123":
            c.clock.rest()
            await c.press(key)
        assert c.prompt.text == "14123"
        assert undecided(c)


async def test_the_click_that_brings_the_window_back_decides_nothing(tmp_path: Path) -> None:
    async with console(tmp_path, query=RISE) as c:
        await c.asked()
        await c.to_question()
        c.app.post_message(events.AppBlur())
        await c.until(lambda: not c.panel.has_focus, "the focus is gone")
        c.clock.rest()
        c.app.post_message(events.AppFocus())
        await c.pilot.click("#place-1")
        await c.pilot.pause()
        assert undecided(c)


async def test_text_dropped_into_a_window_without_the_focus_is_kept(tmp_path: Path) -> None:
    async with console(tmp_path, query=RISE) as c:
        await c.asked()
        c.app.post_message(events.AppBlur())
        c.app.post_message(events.Paste("a file's name"))
        await c.until(lambda: c.prompt.text == "a file's name", "the text")


async def test_shift_tab_in_a_comment_field_changes_neither_mode_nor_text(tmp_path: Path) -> None:
    async with console(tmp_path, query=RISE) as c:
        await c.asked()
        await c.to_question()
        await c.press("3")
        await c.until(lambda: isinstance(c.app.screen, WordsDialog), "the reason")
        await c.press("n", "o", "shift+tab", "1", "shift+tab", "!")
        assert c.app.screen.query_one(WordsInput).value == "no1!"
        await c.press("escape")
        assert c.session.query_one(HeaderBar).mode == "ASK EVERY STEP"
        assert undecided(c)


async def test_padding_cant_push_a_part_of_a_command_off_the_screen(tmp_path: Path) -> None:
    workspace = command_workspace(tmp_path / "w")
    async with console(tmp_path / "d", workspace, query="The cap", mode="risk", size=(80, 24)) as c:
        await c.until(lambda: c.shown() and c.status("todo_001") == Status.COMPLETED, "the search")
        await c.send(f'/todo add command_team keep file="one{" " * 600}two"')
        await c.asked(1)
        await c.until(lambda: c.panel.question and c.panel.question.view.evidence, "the preview")
        await c.to_question()
        await c.press("1")
        assert c.message.startswith("Read to the end first (PgDn)")
        assert c.panel.question is not None and not c.panel.question.view.decisions


async def test_a_key_from_before_the_question_was_drawn_decides_nothing_however_late_it_arrives(tmp_path: Path) -> None:
    async with console(tmp_path, query=RISE) as c:
        await c.asked()
        await c.press("ctrl+g")
        c.clock.rest(0.6)
        c.app.post_message(late_by(events.Key("1", "1"), 0.4))
        await c.until(lambda: c.message.startswith("Too soon"), "the message")
        assert undecided(c)


async def test_a_stale_question_cant_be_accepted(tmp_path: Path) -> None:
    async with console(tmp_path, query=RISE) as c:
        await c.asked()
        await c.to_question()
        question = c.panel.question
        assert question is not None and c.session.handle is not None
        await c.session.handle.handler.handle_command('/todo edit 1 {"query": "전세"}')
        c.panel.post_message(c.panel.Chosen(question, _approve(question)))
        await c.until(lambda: c.message, "the refusal")
        assert undecided(c)


def _approve(question: object) -> object:
    from hitl_tui.console.answer_actions import answers

    return answers(question)[0]  # type: ignore[arg-type]


async def test_rejecting_one_of_several_in_parallel_leaves_the_others_asking(tmp_path: Path) -> None:
    workspace = command_workspace(tmp_path / "w")
    async with console(tmp_path / "d", workspace, query="The cap", mode="risk") as c:
        await c.until(lambda: c.shown() and c.status("todo_001") == Status.COMPLETED, "the search")
        for name in ("one", "two", "three"):
            await c.send(f"/todo add command_team keep file={name}")
        await c.asked(3)
        await c.to_question()
        shown = c.panel.question
        await c.press("3")
        await c.until(lambda: isinstance(c.app.screen, WordsDialog), "the reason")
        c.clock.rest()
        await c.press("enter")
        await c.asked(2)
        assert shown is not None and c.status(shown.todo_id) == Status.FAILED
        assert [q.view.decisions for q in c.snapshot.questions] == [(), ()]
        assert not any((workspace / name).exists() for name in ("one", "two", "three"))


async def test_what_is_typed_while_a_line_is_sent_belongs_to_the_next_line(tmp_path: Path) -> None:
    async with console(tmp_path, query=RISE) as c:
        await c.asked()
        await c.press("slash", *"todos", "enter", *"next", "space", "1")
        await c.until(lambda: c.prompt.text == "next 1", "the next line alone")
        assert c.prompt.past[-1] == "/todos"


async def test_keys_that_come_before_a_dialog_is_built_wait_for_it(tmp_path: Path) -> None:
    async with console(tmp_path, query=RISE) as c:
        await c.asked()
        await c.to_question()
        for __ in range(3):
            c.clock.rest()
            await c.press("6")
            burst(c, "  j k")
            await c.until(lambda: isinstance(c.app.screen, TextViewer), "the details")
            await c.press("escape")
            await c.until(lambda: c.app.screen is c.session, "back")
        assert undecided(c)


async def test_enter_on_the_yes_of_a_confirmation_is_no(tmp_path: Path) -> None:
    async with console(tmp_path, query=RISE) as c:
        await c.asked()
        await c.send("/todo approve 2")
        await c.until(lambda: c.snapshot.todos[1].approval is not None, "approved ahead")
        from textual.content import Content

        found: list[bool | None] = []
        dialog = ConfirmDialog("Title", Content("What would happen"), "Do it")
        c.app.push_screen(dialog, found.append)
        await c.pilot.pause()
        c.clock.rest()
        await c.press("tab", "enter")
        await c.until(lambda: found, "an answer")
        assert found == [False]


async def test_what_had_the_focus_went_while_the_window_was_away(tmp_path: Path) -> None:
    async with console(tmp_path, query=RISE) as c:
        await c.asked()
        await c.to_question()
        c.app.post_message(events.AppBlur())
        await c.until(lambda: not c.panel.has_focus, "the focus is gone")
        assert c.session.handle is not None
        await c.session.handle.handler.handle_command("/stop")
        await c.until(lambda: not c.panel.display, "no question")
        c.app.post_message(events.AppFocus())
        burst(c, "abc")
        await c.until(lambda: c.prompt.text == "abc", "the words")
