"""Values of delta channels: a checkpoint holds them only now and then, in between there are the changes.

Which reducer puts them together only the graph knows. Our own sessions' TODOs and lists of messages are put together as
their graphs do; of anything else the last whole value is shown with the changes since.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, cast

from hitl_tui.core.board import merge_todos
from hitl_tui.core.json_types import GraphState, Json, JsonObject, TodoState
from hitl_tui.core.messages import Message
from hitl_tui.threads import value_decoder
from hitl_tui.threads.store_tables import StoreDatabase, StoredCheckpoint, StoreStatements

MOST_STEPS = 1_000
"""Checkpoints that are gone back at most to find a whole value."""
MOST_WRITES = 20_000
_STEPS = 50
_SMALL = 64 * 1024
_OVERWRITE = "langgraph.types.Overwrite"
_OURS = ("session_", "todos")
"""How our sessions' threads begin, and their delta channel: see supervisor/state.py."""


def delta_channels(values: JsonObject, metadata: JsonObject) -> list[str]:
    """Return the channels of a checkpoint that are delta channels."""
    counters = metadata.get("counters_since_delta_snapshot")
    named = [str(k) for k in counters] if isinstance(counters, Mapping) else []
    whole = [k for k, v in values.items() if isinstance(v, value_decoder.Snapshot)]
    return list(dict.fromkeys([*named, *whole]))


class DeltaRebuilder:
    """Puts values of delta channels together, at a cost that is bounded.

    Args:
        database: the store.
        sql: its statements.
    """

    def __init__(self, database: StoreDatabase, sql: StoreStatements) -> None:
        self._database = database
        self._sql = sql

    async def rebuild(
        self,
        thread: str,
        ns: str,
        checkpoint_id: str,
        values: GraphState,
        channels: Sequence[str],
        notes: list[str],
    ) -> dict[str, Json]:
        """Return a checkpoint's values with those of delta channels whole.

        Args:
            thread, ns, checkpoint_id: which checkpoint.
            values: what it holds itself.
            channels: its delta channels.
            notes: is told how values were put together.
        """
        found = {k: v.value if isinstance(v, value_decoder.Snapshot) else v for k, v in values.items()}
        for channel in channels:
            if channel not in found:
                found[channel] = await self._rebuilt(thread, ns, checkpoint_id, channel, notes)
        return found

    async def _rebuilt(self, thread: str, ns: str, checkpoint_id: str, channel: str, notes: list[str]) -> Any:
        chain, seed, complete = await self._back(thread, ns, checkpoint_id, channel)
        if not complete:
            notes.append(
                Message(
                    '"{}" has no whole value within {} checkpoints: only changes are shown.', channel, f"{MOST_STEPS:,}"
                )
            )
        values = {
            "thread": thread,
            "ns": ns,
            "channel": channel,
            "ids": self._database.ids(chain),
            "limit": MOST_WRITES + 1,
        }
        rows = await self._database.rows(self._sql.channel_writes, values) if chain else []
        if len(rows) > MOST_WRITES:
            notes.append(
                Message('"{}" has more than {} changes since its last whole value.', channel, f"{MOST_WRITES:,}")
            )
        order = {name: number for number, name in enumerate(reversed(chain))}
        kept = sorted(rows[:MOST_WRITES], key=lambda r: (order.get(str(r[0]), 0), str(r[2] or ""), str(r[1]), r[3]))
        changes: list[Any] = []
        for row in kept:
            value = _value(StoredCheckpoint(row[5], row[6]))
            if isinstance(value, Mapping) and value_decoder.object_name(value) == _OVERWRITE:
                seed, changes = value.get("value"), []
            else:
                changes.append(value)
        return _together(thread, ns, channel, seed, changes, notes)

    async def _back(self, thread: str, ns: str, checkpoint_id: str, channel: str) -> tuple[list[str], Any, bool]:
        """Return the checkpoints since the last whole value, newest first, that value, and whether it was found."""
        chain: list[str] = []
        at, seen = checkpoint_id, {checkpoint_id}
        while len(chain) < MOST_STEPS:
            place = {"thread": thread, "ns": ns, "id": at, "steps": _STEPS, "most": _SMALL}
            rows = await self._database.rows(self._sql.walk, place)
            for row in rows:
                at = str(row[0])
                if at in seen:  # a chain that was made a loop
                    return chain, None, False
                seen.add(at)
                chain.append(at)
                checkpoint = _value(StoredCheckpoint(row[2], row[3]))
                if row[3] is None or channel in _held(checkpoint):
                    found, value = await self._seed(thread, ns, at, channel)
                    if found:
                        return chain, value, True
                if not row[1]:
                    return chain, None, True
            if not rows:
                # The first has none before it; of any other one the store has lost what was.
                return chain, None, at == checkpoint_id
        return chain, None, False

    async def _seed(self, thread: str, ns: str, checkpoint_id: str, channel: str) -> tuple[bool, Any]:
        """Return whether a checkpoint holds a channel's whole value, and that."""
        stored, beside = await self._database.whole(thread, ns, checkpoint_id)
        if channel in beside:
            return True, _value(beside[channel])
        held = _held(_value(stored)) if stored is not None else {}
        value = held.get(channel)
        return channel in held, value.value if isinstance(value, value_decoder.Snapshot) else value


def _held(checkpoint: object) -> Mapping[str, Any]:
    held = checkpoint.get("channel_values") if isinstance(checkpoint, Mapping) else None
    return held if isinstance(held, Mapping) else {}


def _value(stored: StoredCheckpoint) -> Any:
    try:
        value = value_decoder.load(stored.kind, stored.data)
    except value_decoder.Unreadable as error:
        return {value_decoder.TYPE: "unreadable", "why": error.args[0]}
    return value.value if isinstance(value, value_decoder.Snapshot) else value


def _together(thread: str, ns: str, channel: str, seed: Any, changes: Sequence[Json], notes: list[str]) -> Any:
    if not changes and seed is not None:
        return seed
    if thread.startswith(_OURS[0]) and not ns and channel == _OURS[1] and _all_todos(seed, changes):
        return merge_todos(seed or {}, cast("Sequence[Mapping[str, TodoState | None]]", changes))
    listed = [c if isinstance(c, list) else [c] for c in changes]
    if (seed is None or _messages(seed)) and all(_messages(part) for part in listed):
        notes.append(
            Message('"{}" was put together by the ids of its messages; the graph may have its own way.', channel)
        )
        return _merged_messages(seed or [], listed)
    notes.append(Message('"{}" keeps changes only, and just the graph knows how to put them together.', channel))
    return {value_decoder.TYPE: Message("delta channel"), "last whole value": seed, "changes since": list(changes)}


def _all_todos(seed: Json, changes: Sequence[Any]) -> bool:
    return (seed is None or isinstance(seed, Mapping)) and all(isinstance(c, Mapping) for c in changes)


def _messages(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(m, Mapping) and "role" in m and "content" in m for m in value)


def _merged_messages(seed: Sequence[Json], changes: Sequence[Sequence[Any]]) -> list[Any]:
    merged: list[Any] = list(seed)
    for change in changes:
        for message in change:
            ident = message.get("id")
            if message["role"] == "remove":
                merged = [] if ident == "__remove_all__" else [m for m in merged if m.get("id") != ident]
                continue
            place = next((n for n, m in enumerate(merged) if ident and m.get("id") == ident), None)
            if place is None:
                merged.append(message)
            else:
                merged[place] = message
    return merged
