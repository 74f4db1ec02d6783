"""A question that lay under a dialog is seen anew once the screen was drawn: only then keys arm (C3)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from console_support import RISE, console

from hitl_tui.console.dialogs.prompt_dialogs import WordsDialog
from hitl_tui.console.screens.session_screen import SessionScreen
from hitl_tui.core.todos import Status


@pytest.mark.long
@pytest.mark.parametrize("slow", [0.0, 1.0], ids=["drawn at once", "drawn after a second"])
async def test_a_key_before_the_question_is_on_the_screen_again_decides_nothing(tmp_path: Path, slow: float) -> None:
    async with console(tmp_path, query=RISE) as c:
        await c.asked()
        await c.to_question()
        await c.press("3")
        await c.until(lambda: isinstance(c.app.screen, WordsDialog), "the reason")
        c.clock.rest(10)
        display, frames = c.app._display, [slow]

        def slowly(screen: Any, renderable: Any) -> None:
            if isinstance(screen, SessionScreen) and frames and c.app.screen is screen:
                c.clock.rest(frames.pop())
            display(screen, renderable)

        c.app._display = slowly  # type: ignore[method-assign]
        await c.press("escape")
        await c.until(lambda: c.app.screen is c.session and c.panel.has_focus, "the question")
        c.app._display = display  # type: ignore[method-assign]
        c.clock.rest(0.3)
        await c.press("4")
        assert c.message.startswith("Too soon")
        assert c.status("todo_001") == Status.WAITING_APPROVAL
        c.clock.rest(0.6)
        await c.press("4")
        await c.until(lambda: c.status("todo_001") == Status.SKIPPED, "skipped")
