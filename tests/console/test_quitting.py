"""Leaving the console while a step runs says what that ends; a page that is gone ends nothing that runs (D17)."""

from __future__ import annotations

from pathlib import Path

import pytest
from console_support import Console, command_workspace, console

from hitl_tui.console.dialogs.prompt_dialogs import QuitDialog
from hitl_tui.console.user_files import recall_lines

pytestmark = pytest.mark.long

WAITS = """
[teams.command_team.commands.wait]
run = ["sh", "-c", "while [ ! -e gate ]; do sleep 0.05; done"]
description = "Wait for a file."
risk = "low"
"""


def waiting(folder: Path) -> Path:
    workspace = command_workspace(folder)
    (workspace / "hitl.toml").write_text(WAITS, encoding="utf-8")
    return workspace


async def running(c: Console) -> None:
    await c.until(lambda: c.shown() and c.snapshot.concluded, "the search")
    await c.send("/todo add command_team wait")
    await c.until(lambda: c.snapshot.running == ("todo_002",), "the step")


@pytest.mark.parametrize("key", ["ctrl+q", "enter"])
async def test_who_leaves_while_a_step_runs_is_asked_and_told_which(tmp_path: Path, key: str) -> None:
    async with console(tmp_path / "d", waiting(tmp_path / "w"), query="The cap", mode="risk") as c:
        await running(c)
        await c.press("ctrl+q")
        assert isinstance(c.app.screen, QuitDialog) and not c.app.parting
        said = "\n".join(str(widget.render()) for widget in c.app.screen.query("DialogText, #confirm Static"))
        assert "Ends 002 of s1, which is running." in said
        await c.press("escape")
        assert c.app.screen is c.session and c.snapshot.running
        await c.press("ctrl+q")
        c.clock.rest()
        await c.press(key)
        assert c.app.parting.startswith("Ended while it ran: 002 of s1. s1 isn't finished.")


async def test_where_nothing_runs_any_more_nobody_is_asked(tmp_path: Path) -> None:
    workspace = waiting(tmp_path / "w")
    async with console(tmp_path / "d", workspace, query="The cap", mode="risk") as c:
        await running(c)
        (workspace / "gate").touch()
        await c.until(lambda: c.snapshot.concluded, "the end")
        await c.press("ctrl+q")
        assert c.app.parting


async def test_without_a_page_the_console_ends_once_nothing_runs_and_keeps_what_was_typed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    workspace = waiting(tmp_path / "w")
    async with console(tmp_path / "d", workspace, query="The cap", mode="risk") as c:
        await running(c)
        c.prompt.text = "not sent yet"
        monkeypatch.setattr(c.app._driver, "unseen", True, raising=False)
        c.app._each_second()
        assert c.app.return_code is None
        (workspace / "gate").touch()
        await c.until(lambda: c.app.return_code == 0, "its end")
    assert recall_lines(tmp_path / "d")[-1] == "not sent yet"
