"""LangGraph's ids of checkpoints are times of a clock, and clocks go back: new ids go on from those that are there.

Our own files don't depend on it: see `CheckedSaver`. Stores of others do, because LangGraph's savers and the programs
that read them take the largest id for the newest.
"""

from __future__ import annotations

import time
from uuid import UUID

from langgraph.checkpoint.base import id as ids
from langgraph.types import StateSnapshot

_LAST = "_last_v6_timestamp"
"""Private to LangGraph: the time of the last id that was given."""

_EPOCH = 0x01B21DD213814000
"""Steps of 100 ns from the beginning of a UUID's time to that of Unix."""

_FURTHEST = 10 * 366 * 24 * 3600 * 10_000_000
"""Steps that an id may be ahead of the clock; one from further on isn't followed."""


def keep_ahead(checkpoint_id: str) -> None:
    """Let the ids that this process gives from now on be larger than this one."""
    try:
        found = UUID(checkpoint_id)
    except ValueError:
        return
    if found.version != 6:
        return
    told = (found.time_low << 28) | (found.time_mid << 12) | (found.time_hi_version & 0x0FFF)
    now = time.time_ns() // 100 + _EPOCH
    if now < told < now + _FURTHEST:
        last = vars(ids)[_LAST]
        vars(ids)[_LAST] = told if last is None else max(last, told)


def keep_ahead_of(state: StateSnapshot) -> None:
    """Let the ids that this process gives be larger than those where a thread and its subgraphs stand."""
    keep_ahead(str((state.config or {}).get("configurable", {}).get("checkpoint_id", "")))
    for task in state.tasks:
        if isinstance(task.state, StateSnapshot):
            keep_ahead_of(task.state)
