"""A key that repeats while a screen is being left leaves that screen alone, and does things once."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from console_support import RISE, Console, command_workspace, console
from textual.events import Key

from hitl_tui.console.dialogs.edit_dialog import EditDialog
from hitl_tui.console.palette import Palette
from hitl_tui.console.question_preview import QuestionPreviews
from hitl_tui.console.screens.home_screen import HomeScreen
from hitl_tui.wording.rows import Row

pytestmark = pytest.mark.long


def burst(c: Console, *names: str) -> None:
    """Let keys arrive at once, as a slow link delivers them."""
    for name in names:
        c.app.post_message(Key(name, "\r" if name == "enter" else None))


@pytest.mark.sampled(3)
@pytest.mark.parametrize("opening", ["f1", "f3", "f5", "ctrl+p"])
@pytest.mark.parametrize("key", ["escape", "enter"])
async def test_keys_that_repeat_close_one_screen_and_end_nothing(tmp_path: Path, opening: str, key: str) -> None:
    async with console(tmp_path, query=RISE) as c:
        await c.asked()
        await c.press(opening)
        await c.until(lambda: c.app.screen is not c.session, "the screen")
        await c.pilot.pause(0.3)
        burst(c, "down", *[key] * 5)
        await c.pilot.pause(0.5)
        assert c.app.is_running and c.app.return_code in (None, 0)
        assert c.session in c.app.screen_stack
        assert c.status("todo_001") == "waiting_approval"


@pytest.mark.long
async def test_what_is_chosen_in_the_palette_twice_is_done_once(tmp_path: Path) -> None:
    async with console(tmp_path, query=RISE) as c:
        await c.asked()
        await c.press("ctrl+o")
        await c.until(lambda: isinstance(c.app.screen, HomeScreen), "the sessions")
        for _ in range(5):
            await c.press("ctrl+p")
            await c.until(lambda: isinstance(c.app.screen, Palette), "the palette")
            await c.pilot.pause(0.3)
            await c.press("down", "enter")
            burst(c, "enter", "enter")
            await c.until(lambda: not isinstance(c.app.screen, Palette), "its end")
            await c.pilot.pause(0.2)
            assert c.app.is_running
            while not isinstance(c.app.screen, HomeScreen):
                await c.press("ctrl+o" if c.app.screen is c.app.session else "escape")


@pytest.mark.long
async def test_a_preview_that_ends_as_its_dialog_is_left_ends_nothing_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with console(tmp_path / "d", command_workspace(tmp_path / "w"), query="The cap", mode="risk") as c:
        await c.until(lambda: c.shown() and c.snapshot.concluded, "the search")
        await c.send("/todo add command_team keep file=one")
        await c.asked(1)
        await c.to_question()
        known = QuestionPreviews.rows
        ended: list[object] = []
        looked = asyncio.Event()

        async def rows(foresight: QuestionPreviews, bound: Mapping[str, Any]) -> list[Row]:
            found = await known(foresight, bound)
            dialog = next(s for s in c.app.screen_stack if isinstance(s, EditDialog))
            looked.set()
            while dialog.query("#edit-result"):  # noqa: ASYNC110 - the very turn of the loop in which it goes
                await asyncio.sleep(0)
            ended.append(found)
            return found

        monkeypatch.setattr(QuestionPreviews, "rows", rows)
        await c.press("2")
        await c.until(lambda: isinstance(c.app.screen, EditDialog), "the dialog")
        await c.until(looked.is_set, "the preview, but for its end")
        await c.press("escape")
        await c.until(lambda: ended, "the preview, after the dialog")
        await c.pilot.pause(0.1)
        assert c.app.is_running and c.app.screen is c.session
