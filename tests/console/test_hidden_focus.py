"""What is typed while the focus is on something that went away belongs to the prompt (C3)."""

from __future__ import annotations

from pathlib import Path

from console_support import RISE, console
from textual import events

from hitl_tui.console.widgets.action_bar import ActionClicked


async def test_a_click_on_a_question_that_goes_away_meanwhile_loses_no_character(tmp_path: Path) -> None:
    async with console(tmp_path, query=RISE) as c:
        await c.asked()
        assert c.session.handle is not None
        await c.session.handle.handler.handle_command("/stop")
        await c.until(lambda: not c.panel.display, "no question")
        c.panel.post_message(ActionClicked(1))  # it was made while the question stood there, and arrives now
        await c.until(lambda: c.panel.has_focus, "the focus")
        for character in "abc":
            c.app.post_message(events.Key(character, character))
        await c.until(lambda: c.prompt.has_focus, "the focus")
        assert c.prompt.text == "abc"
