"""Reads what is stored of sessions twice, with LangGraph's graph and without it, and compares."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from hitl_tui.supervisor.checkpoint_file import CheckpointFile, open_read_only
from hitl_tui.supervisor.plain_values import NotPlain
from hitl_tui.supervisor.state_by_graph import state_by_graph
from hitl_tui.supervisor.stored_state import plain_state_of
from hitl_tui.threads.session_history import SessionHistory


async def assert_read_alike(path: Path, session_id: str) -> tuple[int, bool]:
    """Compare the state at every checkpoint of a session, and at its head, as both readers give it.

    Returns:
        how many were read without LangGraph, and whether the head was.
    """
    async with open_read_only(path) as file:
        history = SessionHistory(file, session_id)
        ids = [info.checkpoint_id for info in await history.page(10_000)]
        plain = [await _alike(file, session_id, name) for name in ("", *ids)]
    return sum(plain[1:]), plain[0]


async def _alike(file: CheckpointFile, session_id: str, checkpoint_id: str) -> bool:
    known = await state_by_graph(file, session_id, checkpoint_id)
    try:
        found = await plain_state_of(file, session_id, checkpoint_id)
    except NotPlain:
        return False
    assert _text(found) == _text(known), (file, checkpoint_id)
    assert found == known
    return True


def _text(state: dict[str, Any]) -> str:
    """Return a state as text: the order of keys counts, and what kind a number is."""
    return json.dumps(state, ensure_ascii=False)
