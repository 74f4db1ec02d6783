"""A step that lacks an argument is filled in from its question, and no key approves it before that."""

from __future__ import annotations

from pathlib import Path

import pytest
from console_support import command_workspace, console
from textual.widgets import Button, Static

from hitl_tui.console.dialogs.edit_dialog import EditDialog
from hitl_tui.console.dialogs.form_fields import FieldInput
from hitl_tui.core.todos import Status

pytestmark = pytest.mark.long

COMMAND = """
[teams.command_team.commands.note]
description = "Notes what somebody said"
run = ["touch", "--", "{file}"]
parameters.file = { type = "string", description = "name of the note" }
risk = "low"

[teams.command_team.commands.mark]
description = "Marks how urgent it is"
run = ["touch", "--", "{level}"]
parameters.level = { type = "choice", choices = ["low", "middle", "urgent"], description = "how urgent" }
risk = "low"
"""


def workspace(folder: Path) -> Path:
    made = command_workspace(folder)
    file = made / "hitl.toml"
    file.write_text(file.read_text(encoding="utf-8") + COMMAND, encoding="utf-8")
    return made


@pytest.mark.parametrize("key", ["1", "2", "f9"])
async def test_a_key_that_approves_approves_no_step_that_lacks_something(tmp_path: Path, key: str) -> None:
    folder = workspace(tmp_path / "w")
    async with console(tmp_path / "d", folder, query="run note") as c:
        await c.asked()
        await c.to_question()
        await c.press(key)
        assert c.status("todo_001") == Status.WAITING_APPROVAL


async def test_what_is_missing_is_filled_in_and_approved_in_one_form(tmp_path: Path) -> None:
    folder = workspace(tmp_path / "w")
    async with console(tmp_path / "d", folder, query="run note") as c:
        await c.asked()
        await c.to_question()
        await c.press("1")
        await c.until(lambda: isinstance(c.app.screen, EditDialog), "the form")
        await c.press("f9")
        assert isinstance(c.app.screen, EditDialog), "nothing is filled in yet"
        await c.press(*"minutes")
        c.clock.rest()
        await c.press("f9")
        await c.until(lambda: c.status("todo_001") == Status.COMPLETED, "it ran")
    assert (folder / "minutes").exists()


async def test_the_arrows_lead_from_a_button_back_into_the_fields(tmp_path: Path) -> None:
    folder = workspace(tmp_path / "w")
    async with console(tmp_path / "d", folder, query="run note") as c:
        await c.asked()
        await c.to_question()
        await c.press("1")
        await c.until(lambda: isinstance(c.app.screen, EditDialog), "the form")
        await c.press("tab")
        assert isinstance(c.app.focused, Button)
        assert "on a button; ↑ goes back" in str(c.app.screen.query_one("#field-hint", Static).render())
        await c.press("up")
        assert isinstance(c.app.focused, FieldInput)
        await c.press("shift+tab", "down")
        assert isinstance(c.app.focused, FieldInput)


async def test_a_choice_is_offered_while_it_is_written(tmp_path: Path) -> None:
    folder = workspace(tmp_path / "w")
    async with console(tmp_path / "d", folder, query="run mark") as c:
        await c.asked()
        await c.to_question()
        await c.press("1")
        await c.until(lambda: isinstance(c.app.screen, EditDialog), "the form")
        await c.press("U", "r")
        field = c.app.focused
        assert isinstance(field, FieldInput)
        await c.until(lambda: field._suggestion == "urgent", "the offer")
        await c.press("right")
        assert field.written == "urgent"
