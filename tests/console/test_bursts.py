"""Text typed while the question has the focus: none of it decides, none of it piles dialogs up (C3)."""

from __future__ import annotations

from pathlib import Path

import pytest
from console_support import RISE, console
from test_known_failures import burst


@pytest.mark.parametrize("text", ["/rules", "really good idea\r", "dl", "ldldld", "well done\r", "led\r", "sell it\r", "all good\r"])
async def test_show(text: str, tmp_path: Path) -> None:
    async with console(tmp_path, query=RISE) as c:
        await c.asked()
        for rest in (True, False):
            await c.press("ctrl+g")
            if rest:
                c.clock.rest()
            burst(c, text)
            for _ in range(30):
                await c.pilot.pause(0.02)
            print(repr(text), rest, [type(s).__name__ for s in c.app.screen_stack], c.message, c.status("todo_001"))
            while len(c.app.screen_stack) > 1 and c.app.screen is not c.session:
                await c.app.screen.dismiss(None)
                await c.pilot.pause(0.1)
            await c.press("escape")
