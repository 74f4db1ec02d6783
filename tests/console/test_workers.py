"""Work in the background: of what is closed before its work began, nothing is left behind."""

from __future__ import annotations

import ast
import gc
import warnings
from pathlib import Path

from textual.app import App

import hitl_tui.console
from hitl_tui.console.workers import work_on


async def test_work_that_is_cancelled_before_it_began_leaves_no_coroutine_behind() -> None:
    did: list[str] = []

    async def work() -> None:
        did.append("worked")

    app: App[None] = App()
    async with app.run_test() as pilot:
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            work_on(app, work, group="some").cancel()
            await pilot.pause()
            gc.collect()
        assert not did and not [str(one.message) for one in told if "never awaited" in str(one.message)]


def test_nothing_in_the_console_hands_a_coroutine_to_a_worker() -> None:
    found = []
    for file in Path(*hitl_tui.console.__path__).rglob("*.py"):
        for node in ast.walk(ast.parse(file.read_text())):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "run_worker":
                threads = any(word.arg == "thread" for word in node.keywords)
                found += [f"{file.name}:{node.lineno}"] if not threads and file.name != "workers.py" else []
    assert not found
