"""Garbage is looked for while nobody types."""

from __future__ import annotations

import gc
import weakref
from collections.abc import Iterator

import pytest

from hitl_tui.console.idle_collector import QUIET, IdleCollector, delay_full_collections


class Ring:
    """Something that only the collector can free."""

    def __init__(self) -> None:
        self.me = self


@pytest.fixture(autouse=True)
def _as_before() -> Iterator[None]:
    before = gc.get_threshold()
    yield
    gc.set_threshold(*before)


def aged() -> weakref.ref[Ring]:
    """Return a ring that has reached the oldest generation, dropped, with enough collections behind it."""
    gc.collect()
    ring = Ring()
    gc.collect(1)
    gc.collect(1)
    found = weakref.ref(ring)
    for _ in range(12):
        gc.collect(1)
    return found


def test_garbage_goes_once_nobody_types() -> None:
    delay_full_collections()
    now = [0.0]
    leisure = IdleCollector(lambda: now[0])
    leisure.typed()
    ring = aged()
    now[0] = QUIET / 2
    assert not leisure.look() and ring() is not None, "somebody types"
    now[0] = QUIET
    assert leisure.look() and ring() is None
    assert not leisure.look(), "there was nothing new since"


def test_putting_off_leaves_the_young_generations_alone() -> None:
    before = gc.get_threshold()
    delay_full_collections()
    assert gc.get_threshold()[:2] == before[:2] and gc.get_threshold()[2] > before[2]
