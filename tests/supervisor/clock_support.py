"""Clocks that jump, for the ids that LangGraph gives and for our own texts."""

from __future__ import annotations

import time
from types import SimpleNamespace

import pytest
from langgraph.checkpoint.base import id as ids
from session_support import Place

SECONDS = pytest.mark.parametrize("seconds", [20, 3600, 20 * 366 * 24 * 3600], ids=["20 s", "an hour", "20 years"])
"""How far a clock was ahead; new ids don't follow the last of them, so that only the order of writing is right."""


class Jumps:
    """Sets the clock of this process as if it had begun anew.

    Args:
        monkeypatch: puts the right one back.
    """

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self._patch = monkeypatch
        self._ahead = 0.0

    def to(self, seconds: float, place: Place | None = None) -> None:
        """Be so many seconds ahead of the real clock."""
        ahead = int(seconds * 1e9)
        self._patch.setattr(ids, "time", SimpleNamespace(time_ns=lambda: time.time_ns() + ahead))
        self._patch.setattr(ids, "_last_v6_timestamp", None)
        if place is not None:
            place.clock.forward(seconds - self._ahead)
        self._ahead = seconds


@pytest.fixture
def jumps(monkeypatch: pytest.MonkeyPatch) -> Jumps:
    return Jumps(monkeypatch)
