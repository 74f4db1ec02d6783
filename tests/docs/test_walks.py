"""The walks of docs/walks.md, walked: each function is called after the one before it."""

from __future__ import annotations

import os
import re
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Any

import pytest
from console_support import EXAMPLE, console
from test_shapes_console import asking

ROOT = Path(__file__).parents[2]
PACKAGE = f"{ROOT / 'hitl_tui'}{os.sep}"
pytestmark = pytest.mark.long


class Trace:
    """The functions of ours that were called or resumed, in order, as the walks name them."""

    def __init__(self) -> None:
        self.called: list[str] = []

    def __call__(self, frame: FrameType, event: str, _argument: Any) -> None:
        code = frame.f_code
        if event == "call" and code.co_filename.startswith(PACKAGE):
            self.called.append(f"{code.co_filename[len(PACKAGE) :]}:{code.co_qualname}")

    @contextmanager
    def everywhere(self) -> Iterator[None]:
        """Trace this thread and those that begin from now on."""
        before = sys.getprofile()
        threading.setprofile(self)
        sys.setprofile(self)
        try:
            yield
        finally:
            threading.setprofile(None)
            sys.setprofile(before)


def stations(title: str) -> list[str]:
    """Return the first name of each numbered line below a heading."""
    page = (ROOT / "docs" / "walks.md").read_text(encoding="utf-8")
    section = page.partition(f"### {title}\n")[2].partition("\n#")[0]
    return re.findall(r"^\d+\. `([^`]+)`", section, re.MULTILINE)


def walked(called: list[str], wanted: list[str]) -> list[str]:
    """Return the stations that weren't passed in their order."""
    rest = iter(called)
    return [station for station in wanted if station not in rest]


async def test_an_approval(tmp_path: Path) -> None:
    trace = Trace()
    with trace.everywhere():
        async with console(tmp_path / "d", EXAMPLE, query="What is the legal cap?") as c:
            await c.asked()
            await c.to_question()
            trace.called.clear()
            await c.press("1")
            await c.until(lambda: c.status("todo_001") in ("in_progress", "completed"), "the search")
            called = list(trace.called)
    key, plan = stations("From the key to the ledger"), stations("From the ledger to the plan")
    assert len(key) == 19 and len(plan) == 12
    assert walked(called, [*key, *plan]) == []


async def test_an_interrupt_and_its_answer(tmp_path: Path) -> None:
    trace = Trace()
    with trace.everywhere():
        async with asking(tmp_path, "approval") as c:
            shown = list(trace.called)
            await c.to_question()
            await c.read_on()
            trace.called.clear()
            await c.press("1")
            await c.until(lambda: c.status("todo_001") == "completed", "the graph's end")
            called = list(trace.called)
    there, back = stations("From the graph to the screen"), stations("From the answer to the graph")
    assert len(there) == 33 and len(back) == 11
    assert walked(shown, there) == []
    assert walked(called, back) == []
