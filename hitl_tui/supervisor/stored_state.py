"""The supervisor's state as a checkpoint file holds it: read without LangGraph where that gives what its graph would.

A session that rests, at a question or at its end, is read so. Between two steps there are writes that only the graph
knows how to apply; then, and for whatever else isn't as usual, the graph is built and asked.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from hitl_tui.core.board import Board, merge_todos
from hitl_tui.supervisor.checkpoint_file import CheckpointFile, StoredCheckpoints
from hitl_tui.supervisor.plain_values import NotPlain, StrictlyPlain, load_plain
from hitl_tui.threads.channel_values import CONTROL, NO_TASK
from hitl_tui.threads.session_history import thread_of
from hitl_tui.threads.value_decoder import Snapshot

TODOS = "todos"
CHANNELS = (
    "query",
    "session_id",
    "request_id",
    "current_phase",
    "approval_status",
    "approval_message",
    "planning",
    TODOS,
    "control",
    "results",
    "response",
)
"""The channels of `supervisor.state.MainSupervisorState`, which can't be had without LangGraph."""

_LAYOUT = 4
"""Version of LangGraph's checkpoints that is known here."""
_OVERWRITE = "__overwrite__"
"""What LangGraph marks a mapping with that replaces a delta channel's value."""


async def state_of(file: StoredCheckpoints, session_id: str, checkpoint_id: str = "") -> dict[str, Any]:
    """Return the supervisor's state at a checkpoint, the newest when none is named; empty where there is none.

    Args:
        file: the session's checkpoints.
        session_id: the session.
        checkpoint_id: which.

    Raises:
        StorageError: it isn't as it was written.
    """
    try:
        return await plain_state_of(file, session_id, checkpoint_id)
    except NotPlain:
        from hitl_tui.supervisor.state_by_graph import state_by_graph

        return await state_by_graph(file, session_id, checkpoint_id)


async def board_of(file: StoredCheckpoints, session_id: str) -> Board:
    """Return the plan as a session's newest checkpoint has it.

    Raises:
        StorageError: it isn't as it was written.
    """
    return Board.from_state(await state_of(file, session_id))


async def plain_state_of(file: StoredCheckpoints, session_id: str, checkpoint_id: str = "") -> dict[str, Any]:
    """Return the same, without LangGraph in any case.

    Raises:
        NotPlain: only the graph can tell.
        StorageError: it isn't as it was written.
    """
    if not isinstance(file, CheckpointFile):
        raise NotPlain("its values lie apart")
    thread = thread_of(session_id)
    stored = await file.stored(thread, checkpoint_id=checkpoint_id)
    if stored is None:
        return {}
    for task, _, _, channel, *_ in stored.writes:
        # Of an earlier checkpoint what its tasks wrote belongs to those that followed.
        if channel not in CONTROL and (task == NO_TASK or not checkpoint_id):
            raise NotPlain("something was written that is in no checkpoint yet")
    values, written = _channels(load_plain(stored.kind, stored.blob))
    found = dict(values)
    if TODOS not in values:
        found[TODOS] = await _todos(file, thread, stored.id) if TODOS in written else {}
    return {name: _plain(name, found[name]) for name in CHANNELS if name in found}


def _channels(checkpoint: object) -> tuple[Mapping[str, Any], Mapping[str, Any]]:
    """Return the values of a checkpoint's channels, and the versions of those that were ever written."""
    if not isinstance(checkpoint, dict) or checkpoint.get("v") != _LAYOUT:
        raise NotPlain("it is of another layout")
    values, versions = checkpoint.get("channel_values"), checkpoint.get("channel_versions")
    if not isinstance(values, dict) or not isinstance(versions, dict):
        raise NotPlain("it is of another layout")
    return values, versions


async def _todos(file: CheckpointFile, thread: str, checkpoint_id: str) -> dict[str, Any]:
    """Return the TODOs at a checkpoint that holds only what changed."""
    plain = CheckpointFile(file.conn, serde=StrictlyPlain(), column=file.column, check=file.check)
    past = (await plain.past_of(thread, "", checkpoint_id, [TODOS]))[TODOS]
    changes = [value for _, _, value in past.writes]
    if not all(isinstance(one, dict) and not _replaces(one) for one in changes):
        raise NotPlain("the TODOs were replaced")
    seed = _plain(TODOS, past.seed) if past.found else {}
    return merge_todos(seed, changes) if changes else seed


def _replaces(change: Mapping[str, Any]) -> bool:
    return _OVERWRITE in (*change, change.get("type"))


def _plain(name: str, value: Any) -> Any:
    if name != TODOS:
        if isinstance(value, Snapshot):
            raise NotPlain("a channel is of another kind")
        return value
    whole = value.value if isinstance(value, Snapshot) else value
    if not isinstance(whole, dict):
        raise NotPlain("the TODOs are of another kind")
    return whole
