"""Dialogs: the last row names the keys that act, what was written survives Esc, and no key means two things."""

from __future__ import annotations

from pathlib import Path

import pytest
from console_support import EXAMPLE, RISE, Console, console
from textual.widgets import Static

from hitl_tui.console.dialogs.edit_dialog import EditDialog
from hitl_tui.console.dialogs.form_fields import FieldInput
from hitl_tui.console.dialogs.mode_dialog import ModeDialog
from hitl_tui.console.dialogs.prompt_dialogs import WordsDialog
from hitl_tui.console.widgets.bars import KeyLine
from hitl_tui.console.widgets.dialog_frame import Dialog

pytestmark = pytest.mark.long


async def editing(c: Console) -> dict[str, FieldInput]:
    """Open the edit dialog of the question; return its fields."""
    await c.to_question()
    await c.press("2")
    await c.until(lambda: isinstance(c.app.screen, EditDialog), "the dialog")
    return {box.field.name: box for box in c.app.screen.query(FieldInput)}


def edge(c: Console) -> str:
    return str(c.app.screen.query_one(Dialog).border_subtitle)


def last_row(c: Console) -> list[str]:
    """Return the ids of the keys in the last row of the screen that is seen."""
    return [name for name, __, __ in c.app.screen.query_one(KeyLine).keys]


async def test_the_last_row_names_the_keys_of_the_dialog_and_none_of_what_lies_below(tmp_path: Path) -> None:
    async with console(tmp_path, query=RISE) as c:
        await c.asked()
        await editing(c)
        found = last_row(c)
        assert {"form.send", "form.approve", "form.cancel", "console.help"} <= set(found)
        assert not [name for name in found if name.startswith(("question.", "session.", "prompt."))]
        await c.press("escape")
        await c.to_question()
        await c.press("3")
        await c.until(lambda: isinstance(c.app.screen, WordsDialog), "the reason")
        assert last_row(c)[:2] == ["words.cancel", "words.send"]
        told = "\n".join(str(part.render()) for part in c.app.screen.query("DialogText Static").results(Static))
        assert "What waits for it won't run: 002." in told
        await c.press("escape")
        await c.until(lambda: c.app.screen is c.session, "the session")
        await c.press("f4")
        await c.until(lambda: isinstance(c.app.screen, ModeDialog), "the modes")
        digits = [keys for name, keys, __ in c.app.screen.query_one(KeyLine).keys if name == "choosing.1"]
        assert digits == ["1 2 3 F9"], "as many digits as there are modes"


async def test_what_was_edited_comes_back_while_the_question_is_the_same(tmp_path: Path) -> None:
    async with console(tmp_path, query=RISE) as c:
        await c.asked()
        fields = await editing(c)
        asked, limit = fields["query"].value, fields["limit"].value
        fields["query"].value = "another query"
        await c.pilot.pause()
        await c.press("escape")
        await c.until(lambda: c.app.screen is c.session, "the session")
        assert c.message.startswith("Draft kept")
        fields = await editing(c)
        assert (fields["query"].value, fields["limit"].value) == ("another query", limit)
        assert "your draft" in str(c.app.screen.query_one(Dialog).border_title)
        fields["query"].value = asked
        await c.pilot.pause()
        await c.press("escape")
        await c.until(lambda: c.app.screen is c.session, "the session")
        assert not c.message, "nothing is different from what is asked"
        fields = await editing(c)
        assert "your draft" not in str(c.app.screen.query_one(Dialog).border_title)
        fields["limit"].value = "3"
        await c.pilot.pause()
        c.clock.rest()
        before = c.panel.question
        await c.press("ctrl+s")
        await c.until(lambda: before and c.panel.question and c.panel.question.digest != before.digest, "asked anew")
        fields = await editing(c)
        assert fields["limit"].value == "3" and "draft" not in str(c.app.screen.query_one(Dialog).border_title)


async def test_the_lower_edge_says_what_is_wrong_instead_of_ready(tmp_path: Path) -> None:
    async with console(tmp_path, EXAMPLE, query=RISE) as c:
        await c.asked()
        fields = await editing(c)
        c.clock.rest()
        fields["limit"].value = "many"
        await c.until(lambda: edge(c) == "not valid yet: limit", "what is wrong")
        fields["limit"].value = "3"
        await c.until(lambda: "not valid" not in edge(c), "that it is right again")


async def test_the_lower_edge_says_by_itself_when_a_key_decides(tmp_path: Path) -> None:
    async with console(tmp_path, EXAMPLE, query=RISE) as c:
        await c.asked()
        await editing(c)
        await c.until(lambda: edge(c) == "…", "that it pauses")
        c.clock.rest()
        await c.until(lambda: edge(c) == "ready", "that the pause is over")
        await c.press("x")
        await c.until(lambda: edge(c) == "…", "another pause")
        c.clock.rest()
        await c.until(lambda: edge(c) == "ready", "and again")
