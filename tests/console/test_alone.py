"""A digit or letter that would decide is the beginning of words when another character follows (C3)."""

from __future__ import annotations

from pathlib import Path

import pytest
from console_support import EXAMPLE, RISE, Console, console
from test_typed_ahead import burst
from textual.events import Paste

from hitl_tui.core.todos import Status

pytestmark = pytest.mark.long


async def ready(c: Console) -> None:
    await c.asked()
    await c.to_question()
    await c.read_on()


@pytest.mark.sampled(3)
@pytest.mark.parametrize("words", ["also check the cap", "ㅁ1", "a 1", "10 days notice", "11", "2 of them", "just 1"])
async def test_words_typed_while_the_question_has_the_focus_are_in_the_prompt(tmp_path: Path, words: str) -> None:
    async with console(tmp_path, EXAMPLE, query=RISE) as c:
        await ready(c)
        burst(c, words)
        await c.until(lambda: c.prompt.text == words, "all of it, in its order")
        assert c.session.focused is c.prompt
        assert c.message == "Read as text, so it went to the prompt; nothing was decided."
        assert c.status("todo_001") == Status.WAITING_APPROVAL


@pytest.mark.parametrize("key", ["a", "ㅁ", "1"])
async def test_a_character_alone_decides(tmp_path: Path, key: str) -> None:
    async with console(tmp_path, EXAMPLE, query=RISE) as c:
        await ready(c)
        burst(c, key)
        await c.until(lambda: c.status("todo_001") == Status.COMPLETED, "approved")


async def test_a_letter_and_a_paste_are_words(tmp_path: Path) -> None:
    async with console(tmp_path, EXAMPLE, query=RISE) as c:
        await ready(c)
        burst(c, "a")
        c.app.post_message(Paste("pproach: 1\n1"))
        await c.until(lambda: c.prompt.text == "approach: 1\n1", "all of it")
        assert c.status("todo_001") == Status.WAITING_APPROVAL


async def test_another_key_right_after_a_letter_takes_it_back(tmp_path: Path) -> None:
    async with console(tmp_path, EXAMPLE, query=RISE) as c:
        await ready(c)
        await c.pilot.press("a", "escape")
        await c.until(lambda: c.session.focused is c.prompt, "Esc goes to the prompt")
        assert c.message == "Another key came right after it; nothing was decided."
        c.clock.rest()
        await c.pilot.pause(0.5)
        assert (c.prompt.text, c.status("todo_001")) == ("", Status.WAITING_APPROVAL)


async def test_a_letter_that_came_before_the_question_changed_decides_nothing(tmp_path: Path) -> None:
    async with console(tmp_path, EXAMPLE, query=RISE) as c:
        await ready(c)
        burst(c, "a")
        c.app.call_later(c.app.guard.drawn)
        await c.until(lambda: "Too soon" in c.message, "why not")
        assert c.status("todo_001") == Status.WAITING_APPROVAL


async def test_a_letter_whose_question_went_is_for_nothing_else(tmp_path: Path) -> None:
    async with console(tmp_path, EXAMPLE, query=RISE) as c:
        await ready(c)
        burst(c, "a")
        c.app.call_later(c.prompt.focus)
        await c.until(lambda: c.message == "The question it was for is gone; nothing was decided.", "what became of it")
        assert (c.prompt.text, c.status("todo_001")) == ("", Status.WAITING_APPROVAL)
