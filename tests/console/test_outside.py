"""While an editor has the terminal, what was typed before it opened leaves or sends nothing."""

from __future__ import annotations

import asyncio
from contextlib import nullcontext
from pathlib import Path

import pytest
from console_support import command_workspace, console

from hitl_tui.console.dialogs.edit_dialog import EditDialog
from hitl_tui.core.todos import Status

pytestmark = pytest.mark.long


async def test_keys_right_after_the_one_for_the_editor_dont_close_the_dialog(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    go, editor = tmp_path / "go", tmp_path / "editor"
    editor.write_text(f'#!/bin/sh\nwhile [ ! -e "{go}" ]; do sleep 0.05; done\n', encoding="utf-8")
    editor.chmod(0o700)
    monkeypatch.setenv("VISUAL", str(editor))
    workspace = command_workspace(tmp_path / "w")
    async with console(tmp_path / "d", workspace, query="The cap", mode="risk") as c:
        await c.until(lambda: c.shown() and c.status("todo_001") == Status.COMPLETED, "the search")
        await c.send("/todo add command_team keep file=one")
        await c.asked()
        await c.to_question()
        await c.press("2")
        await c.until(lambda: isinstance(c.app.screen, EditDialog), "the dialog")
        monkeypatch.setattr(c.app, "suspend", nullcontext)  # there is no terminal to lend
        c.clock.rest()
        await c.press("ctrl+e", "escape", "ctrl+s", "escape")
        await asyncio.to_thread(go.touch)
        dialog = c.app.screen
        assert isinstance(dialog, EditDialog)
        await c.until(lambda: not dialog._outside, "the editor is closed")
        await c.press("escape")
        await c.until(lambda: c.app.screen is c.session, "back")
