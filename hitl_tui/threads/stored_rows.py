"""Checkpoints and writes made of a store's rows. Pure."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from hitl_tui.core.json_types import GraphState
from hitl_tui.core.messages import Message
from hitl_tui.threads import value_decoder
from hitl_tui.threads.channel_values import (
    ERROR,
    INTERRUPT,
    START,
    TASKS,
    ChannelWrite,
    asked_words,
    next_nodes,
    old_edges,
    title_of,
)
from hitl_tui.threads.store_tables import Row, StoreDatabase, StoreStatements
from hitl_tui.threads.thread_model import CheckpointInfo, Namespace, time_of

_MOST_STEPS = 10**9
_YEARS = (1900, 3000)
_LONGEST = 400


def metadata_of(raw: Any) -> dict[str, Any]:
    """Return a checkpoint's metadata as plain JSON; empty when it can't be read."""
    if isinstance(raw, Mapping):
        raw = json.dumps(raw)
    try:
        found = value_decoder.load(None, raw)
    except value_decoder.Unreadable:
        return {}
    return dict(found) if isinstance(found, Mapping) else {}


def loaded(kind: str | None, data: Any) -> Any:
    """Return a value for a list; None when it was left out or can't be read."""
    try:
        return value_decoder.load(kind, data)
    except value_decoder.Unreadable:
        return None


def channels_of(checkpoint: object) -> GraphState:
    """Return the channels that have a value within a checkpoint."""
    found = checkpoint.get("channel_values") if isinstance(checkpoint, Mapping) else None
    return found if isinstance(found, Mapping) else {}


def carrying(channels: GraphState) -> GraphState:
    """Return the channels whose values, not only their being there, say what is next."""
    return {k: v for k, v in channels.items() if k == TASKS or k.startswith("join:")}


def info_of(
    row: Row, checkpoint: object, beside: GraphState, routed: Sequence[str] | None, signal: ChannelWrite | None
) -> CheckpointInfo:
    """Return what is known of a checkpoint in a list.

    Args:
        row: its id, its parent's, metadata, and what else was selected.
        checkpoint: what could be read of it; None for nothing.
        beside: values of it that lie elsewhere.
        routed: the nodes that run next, where that is known better; None where its channels tell.
        signal: an interrupt or an error of a task that ran from it.
    """
    checkpoint_id, parent, raw, *_ = row
    details = metadata_of(raw)
    known = isinstance(checkpoint, Mapping) or routed is not None
    channels = {**channels_of(checkpoint), **beside}
    following = next_nodes(channels) if routed is None else routed
    before = () if following or not isinstance(checkpoint, Mapping) else old_edges(checkpoint, channels)
    source = str(details.get("source", ""))
    asks = signal is not None and signal.channel == INTERRUPT
    return CheckpointInfo(
        checkpoint_id=str(checkpoint_id),
        parent_id=str(parent or ""),
        timestamp=timestamp_of(str(checkpoint_id), checkpoint),
        node=Message("after {}", before[0]) if before else node_words(following, known=known),
        todos_completed=0,
        step=_number(details.get("step")),
        branch=0,
        source=source,
        waiting=asks,
        message=Message("waiting: {}", _brief(asked_words(_value(signal)))) if asks and signal is not None else "",
        outcome="" if asks else _outcome(source, following, signal, known=known and not before),
    )


def node_words(following: Sequence[str], *, known: bool = True) -> str:
    """Return where a graph stands: the nodes that run next, or that none does."""
    if not following:
        return "end" if known else "?"
    names = ["input" if name == "__start__" else name for name in following]
    return names[0] if len(names) == 1 else f"{names[0]} +{len(names) - 1}"


def _outcome(source: str, following: Sequence[str], signal: ChannelWrite | None, *, known: bool) -> str:
    if signal is not None and signal.channel == ERROR:
        return Message("failed: {}", _brief(str(signal.value)))
    if source == "update":
        return Message("state edited")
    return "" if following or source == "fork" or not known else "ended"


def _value(signal: ChannelWrite | None) -> Any:
    value = signal.value if signal is not None else None
    first = value[0] if isinstance(value, list) and value else value
    return first["value"] if isinstance(first, Mapping) and value_decoder.TYPE in first and "value" in first else first


def _brief(text: str) -> str:
    return " ".join(text.split())[:_LONGEST]


def timestamp_of(checkpoint_id: str, checkpoint: Any) -> str:
    """Return when a checkpoint was written, ISO 8601; empty when neither it nor its id tells."""
    told = checkpoint.get("ts") if isinstance(checkpoint, Mapping) else None
    try:
        at = datetime.fromisoformat(told) if isinstance(told, str) else None
    except ValueError:
        at = None
    # What lies at the ends of the calendar can't be told in another zone.
    if at is None or not _YEARS[0] <= at.year <= _YEARS[1]:
        return time_of(checkpoint_id)
    return str(told) if at.tzinfo is not None else at.replace(tzinfo=UTC).isoformat()


def _number(value: Any) -> int:
    return value if isinstance(value, int) and abs(value) < _MOST_STEPS else 0


def write_of(row: Row) -> ChannelWrite:
    """Return a write of one task; what can't be read says why."""
    checkpoint_id, task_id, path, idx, channel, kind, data = row
    try:
        value = value_decoder.load(kind, data)
    except value_decoder.Unreadable as error:
        value = {value_decoder.TYPE: "unreadable", "why": error.args[0]}
    if isinstance(value, value_decoder.Snapshot):
        value = value.value
    return ChannelWrite(
        str(checkpoint_id), str(task_id or ""), str(path or ""), _number(idx), str(channel or ""), value
    )


def namespace_of(row: Row) -> Namespace:
    """Return what is known of a namespace."""
    ns, count, head, raw = row
    parents = metadata_of(raw).get("parents")
    around = str(ns).rpartition("|")[0]
    parent = parents.get(around) if isinstance(parents, Mapping) else None
    return Namespace(str(ns), int(count), str(head or ""), time_of(str(head or "")), str(parent or "") if ns else "")


_FIRST = 1024 * 1024
"""Bytes of a thread's first checkpoint that are read for its title."""
_LONGEST_TITLE = 400


class ThreadTitles:
    """Reads titles and keeps them: a thread's first checkpoint stays what it is.

    Args:
        database: where the threads lie.
        sql: how it is read.
    """

    def __init__(self, database: StoreDatabase, sql: StoreStatements) -> None:
        self._database = database
        self._sql = sql
        self._known: dict[str, str] = {}

    async def of(self, threads: Sequence[str]) -> Mapping[str, str]:
        """Return titles by thread, at least those of these threads; empty where nothing tells.

        Raises:
            StorageError: the store can't be read.
        """
        missing = [t for t in threads if t not in self._known]
        if missing:
            values = {"ids": self._database.ids(missing), "most": _FIRST}
            rows = await self._database.rows(self._sql.firsts, values)
            found = {str(row[0]): channels_of(loaded(row[2], row[3])) for row in rows}
            elsewhere = [(str(r[0]), str(r[1])) for r in rows if START in found[str(r[0])]]
            for thread, stored in (await self._database.inputs(elsewhere)).items():
                found[thread] = {START: loaded(stored.kind, stored.data)}
            for thread in missing:
                self._known[thread] = " ".join(title_of(found.get(thread, {})).split())[:_LONGEST_TITLE]
        return self._known
