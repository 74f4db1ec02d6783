"""The watch over threads that wait elsewhere goes on whatever a look ends with (I11)."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

import pytest

from hitl_tui.console import thread_watch
from hitl_tui.console.thread_watch import ThreadWatch
from hitl_tui.core.errors import BadInput


class Looks:
    """Counts looks, and lets a test wait for one of them."""

    def __init__(self) -> None:
        self.count = 0
        self._more = asyncio.Condition()

    async def add(self) -> int:
        async with self._more:
            self.count += 1
            self._more.notify_all()
            return self.count

    async def reach(self, wanted: int) -> None:
        async with asyncio.timeout(10), self._more:
            await self._more.wait_for(lambda: self.count >= wanted)


async def test_it_looks_again_after_whatever_went_wrong(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(thread_watch, "PERIOD", 0.01)
    looks = Looks()

    async def look() -> Sequence[str] | None:
        return ["a server can't be reached"] if await looks.add() % 2 else []

    watch = ThreadWatch(look)
    await looks.reach(4)
    assert tuple(watch.problems) in ((), ("a server can't be reached",))
    await watch.close()
    seen = looks.count
    await asyncio.sleep(0.05)
    assert looks.count == seen


async def test_a_fault_is_told() -> None:
    looks = Looks()

    async def look() -> Sequence[str] | None:
        await looks.add()
        raise RuntimeError("a fault")

    watch = ThreadWatch(look)
    await looks.reach(1)
    await watch.close()
    assert [str(problem) for problem in watch.problems] == ["Unexpected error (RuntimeError('a fault'))."]


async def test_where_nothing_can_be_looked_at_it_waits_for_other_settings() -> None:
    looks = Looks()

    async def look() -> Sequence[str] | None:
        if await looks.add() == 1:
            raise BadInput("hitl.toml can't be used")
        return ["told"]

    watch = ThreadWatch(look)
    await looks.reach(1)
    await asyncio.sleep(0.05)
    assert looks.count == 1
    watch.settings_changed()
    await looks.reach(2)
    await asyncio.sleep(0.05)
    assert watch.problems == ["told"]
    await watch.close()
