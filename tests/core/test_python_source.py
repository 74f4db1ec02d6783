"""Python is parsed in several threads at once, as binding does it, and always comes out whole."""

from __future__ import annotations

import ast
import gc
import sys
import threading
from collections.abc import Iterator

import pytest

from hitl_tui.core.python_source import parse_source

SOURCE = "\n".join(f"def f{n}(a, b={n}):\n    return [a, (b, {{'k': [a for a in range({n})]}})]" for n in range(60))


@pytest.fixture
def switching() -> Iterator[None]:
    """Let threads take turns in the middle of a tree: whenever garbage is collected."""
    threshold, interval = gc.get_threshold(), sys.getswitchinterval()

    def collected(phase: str, info: dict[str, int]) -> None:
        sum(range(300))

    gc.callbacks.append(collected)
    gc.set_threshold(50)
    sys.setswitchinterval(1e-6)
    try:
        yield
    finally:
        sys.setswitchinterval(interval)
        gc.set_threshold(*threshold)
        gc.callbacks.remove(collected)


@pytest.mark.usefixtures("switching")
def test_threads_that_parse_at_once_all_get_a_tree() -> None:
    failed: list[BaseException] = []
    trees: list[ast.Module] = []

    def parse() -> None:
        try:
            trees.extend(parse_source(SOURCE) for _ in range(20))
        except SystemError as error:
            failed.append(error)

    threads = [threading.Thread(target=parse) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failed == [] and len(trees) == 120
