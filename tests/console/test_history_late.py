"""A history that is still being read when its session is closed takes the console down with it no more (C8)."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from console_support import RISE, console

from hitl_tui.console.widgets.history_table import HistoryTable

pytestmark = pytest.mark.long


async def test_the_console_outlives_a_session_that_is_closed_while_its_history_is_read(tmp_path: Path) -> None:
    async with console(tmp_path, query=RISE) as c:
        await c.asked()
        handle, reading, closed = c.session.handle, asyncio.Event(), asyncio.Event()
        assert handle is not None
        place = handle.thread.place

        async def late(checkpoint_id: str) -> int:
            reading.set()
            await closed.wait()
            return await place(checkpoint_id)

        handle.thread.place = late  # type: ignore[method-assign]
        await c.send("/todo priority 1 low")
        await reading.wait()
        await c.app.engine.close()
        closed.set()
        await c.pilot.pause()
        await c.press("f1")
        assert c.app.screen is not c.session and not c.app.failure, "it goes on"


async def test_no_history_is_read_on_for_a_session_that_another_one_takes_the_place_of(tmp_path: Path) -> None:
    async with console(tmp_path, query=RISE) as c:
        await c.asked()
        handle, reading, never = c.session.handle, asyncio.Event(), asyncio.Event()
        assert handle is not None

        async def stuck(checkpoint_id: str) -> int:
            reading.set()
            await never.wait()
            raise AssertionError(checkpoint_id)

        handle.thread.place = stuck  # type: ignore[method-assign]
        await c.send("/todo priority 1 low")
        await reading.wait()
        await c.send("/new The cap")
        await c.until(lambda: c.shown() and c.session.handle is not handle and c.panel.questions, "the new session")
        await c.until(lambda: c.session.query_one(HistoryTable).checkpoints, "its history")
        left = [w for w in c.app.workers if w.group == "history" and w.is_running]
        assert not left
