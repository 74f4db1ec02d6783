"""How many keys a starter takes from its first question to its answer."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import pytest
from console_support import Console, console

SIZES = ((120, 40), (80, 24))


def moved_on(c: Console, question_id: str) -> bool:
    question = c.panel.question
    return c.snapshot.concluded or (question is not None and question.id != question_id)


def ready(c: Console) -> bool:
    """Let the keyboard rest since what was painted last; return whether the panel says that a key decides."""
    c.clock.rest()
    return "ready" in str(c.panel.border_subtitle)


async def answered(c: Console) -> list[str]:
    """Go to the question, read and approve each, and return the keys that it took."""
    pressed: list[str] = []

    async def press(key: str) -> None:
        pressed.append(key)
        await c.press(key)
        c.clock.rest()

    await press("ctrl+g")
    while not c.snapshot.concluded:
        question = c.panel.question
        assert question is not None and c.panel.has_focus
        await c.until(lambda: c.panel.complete, "the previews")
        c.clock.rest()
        while not c.panel.read:
            await press("pagedown")
            await c.pilot.pause(0.05)  # that the end was on the screen is known once it was painted
        await c.until(partial(ready, c), "that a key decides")
        await press("1")
        await c.until(partial(moved_on, c, question.id), "what comes next")
        c.clock.rest()
    return pressed


@pytest.mark.sampled(2)
@pytest.mark.long
@pytest.mark.parametrize(("number", "most"), [(1, 4), (2, 7), (3, 6)])
@pytest.mark.parametrize("size", SIZES, ids="{0[0]}x{0[1]}".format)
async def test_a_starter_takes_few_keys(tmp_path: Path, number: int, most: int, size: tuple[int, int]) -> None:
    async with console(tmp_path, size=size) as c:
        await c.press(str(number), "enter")
        await c.asked()
        keys = await answered(c)
        assert len(keys) <= most, keys
