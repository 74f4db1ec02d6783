"""Words typed at a dialog without a text field: they are kept in the prompt below it, and it says so (C3)."""

from __future__ import annotations

from pathlib import Path

import pytest
from console_support import STROKE, Console, console
from textual.content import Content
from textual.events import Paste

from hitl_tui.console.dialogs.inbox_dialog import InboxDialog
from hitl_tui.console.dialogs.prompt_dialogs import ConfirmDialog
from hitl_tui.console.dialogs.text_viewer import HelpScreen, TextViewer
from hitl_tui.console.keyguard.guard import ALONE_FOR

QUESTION = "What is the hotel limit per night?"
TYPED = {" ": "space", ",": "comma"}


async def words(c: Console, text: str) -> None:
    """Type words as a person does, and let the keyboard rest."""
    assert STROKE < ALONE_FOR
    await c.press(*(TYPED.get(character, character) for character in text))
    c.clock.rest()


@pytest.mark.long
async def test_words_typed_at_a_dialog_without_a_field_are_kept_in_the_prompt(tmp_path: Path) -> None:
    async with console(tmp_path, query=QUESTION) as c:
        await c.asked()
        prompt = c.prompt
        prompt.focus()
        expected = ""
        for key, kind in (("f1", HelpScreen), ("f3", InboxDialog)):
            await c.press(key)
            await c.until(lambda kind=kind: isinstance(c.app.screen, kind), "the dialog")  # type: ignore[misc]
            for text in ("fix it, please", "bouquets just go", "1y no"):
                await words(c, text)
                expected += text
                assert (prompt.text, type(c.app.screen)) == (expected, kind)
            await c.press("escape")
            await c.until(lambda: c.app.screen is c.session, "the session")
            assert prompt.text == expected and prompt.has_focus
        assert c.status("todo_001") == "waiting_approval"


@pytest.mark.long
async def test_a_lone_character_is_no_words_and_the_dialog_says_so(tmp_path: Path) -> None:
    async with console(tmp_path, query=QUESTION) as c:
        await c.asked()
        prompt = c.prompt
        await c.press("f1")
        await c.until(lambda: isinstance(c.app.screen, TextViewer), "the help")
        for character in "fxz":
            await words(c, character)
        assert prompt.text == ""
        said = str(c.app.screen.query_one("#viewer-text").border_subtitle)
        assert said.startswith("That key does nothing here.") and "Esc Close" in said
        await words(c, "fi")
        assert prompt.text == "fi"
        assert "went to the prompt" in str(c.app.screen.query_one("#viewer-text").border_subtitle)
        await words(c, "q")
        await c.until(lambda: c.app.screen is c.session, "what closes it alone")
        assert prompt.text == "fi"


@pytest.mark.long
async def test_words_and_pastes_at_a_confirmation_decide_nothing(tmp_path: Path) -> None:
    async with console(tmp_path, query=QUESTION) as c:
        await c.asked()
        prompt = c.prompt
        prompt.focus()
        answers: list[bool | None] = []
        c.app.push_screen(ConfirmDialog("Delete?", Content("Gone for good."), "Yes"), answers.append)
        await c.until(lambda: isinstance(c.app.screen, ConfirmDialog), "the dialog")
        c.clock.rest()
        await words(c, "my yes is 1")
        await c.app.guard.see(Paste("two\nlines"))
        assert (prompt.text, answers) == ("my yes is 1two\nlines", [])
        assert isinstance(c.app.screen, ConfirmDialog)
        await words(c, "y")
        await c.until(lambda: answers, "the key alone")
        assert answers == [True] and prompt.text == "my yes is 1two\nlines"
