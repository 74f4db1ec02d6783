"""A session's checkpoints, listed by SQL: a page costs the same however long the history is."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Mapping, Sequence
from typing import Any, NamedTuple, Protocol, cast

from hitl_tui.core.errors import StorageError, UnknownName
from hitl_tui.core.json_types import GraphState, PlanReviewed
from hitl_tui.core.messages import Message
from hitl_tui.core.names import clip
from hitl_tui.core.tally import read_tally
from hitl_tui.threads import value_decoder
from hitl_tui.threads.store_tables import Dialect, Row, ThreadQueries, statements
from hitl_tui.threads.thread_model import CheckpointInfo as CheckpointInfo

LAST_NODE = "generate_response"
"""The node that a session ends with."""

_TRIGGER, _JOIN = "branch:to:", "join:"
_START = "__start__"


class Deserializer(Protocol):
    def loads_typed(self, data: tuple[str, bytes], /) -> Any:
        """Return a value from its format and bytes."""
        ...


class WholeCheckpoint(NamedTuple):
    """A checkpoint with the values of all its channels.

    Args:
        id, parent: its own id and its parent's, None for none.
        checkpoint: as the saver makes it.
        metadata: JSON, None where there is none.
    """

    id: str
    parent: str | None
    checkpoint: Any
    metadata: Any


class CheckpointRows(Protocol):
    """The checkpoints of a session, open for reading."""

    @property
    def dialect(self) -> Dialect:
        """How statements are written for them."""
        ...

    async def rows(self, sql: str, values: Sequence[object] | Mapping[str, object] = (), /) -> list[Any]: ...

    async def whole(self, rows: Sequence[Row], *, plain: bool = False) -> list[WholeCheckpoint]:
        """Return the checkpoints of rows, each as it was written.

        Args:
            rows: what a statement of `dialect` returned.
            plain: nothing that they name is imported or built.

        Raises:
            StorageError: one isn't as it was written.
            Unreadable: a value can't be read plainly.
        """
        ...


def file_dialect(checksum: str) -> Dialect:
    """Return how statements are written for our own files, where a checkpoint is checked against its checksum."""
    head = f"c.thread_id, c.checkpoint_ns, c.type, c.checkpoint, {checksum}"
    return Dialect("checkpoints", "writes", head, "(SELECT value AS id FROM json_each(:ids))", ordered=True)


def thread_of(session_id: str) -> str:
    """Return the LangGraph thread of a session."""
    return f"session_{session_id}"


class SessionHistory:
    """Reads the checkpoints of one session.

    Args:
        saver: the session's saver, or one that is open for reading.
        session_id: the session.
        thread: a run's thread instead of the session's own.
    """

    def __init__(self, saver: CheckpointRows, session_id: str, thread: str = "") -> None:
        self._saver = saver
        self._session = session_id
        self._thread = thread or thread_of(session_id)
        self._sql = statements(saver.dialect)
        self._queries = ThreadQueries(saver.rows, self._sql)

    def of_thread(self, thread: str) -> SessionHistory:
        """Return the history of a run's thread in the same place."""
        return SessionHistory(self._saver, self._session, thread)

    async def values(self, checkpoint_id: str) -> dict[str, Any]:
        """Return a checkpoint's state as plain JSON: nothing that it names is imported or built.

        Raises:
            UnknownName: there is no such checkpoint; StorageError: it can't be read.
        """
        values = {"thread": self._thread, "ns": "", "id": checkpoint_id}
        rows = await self._saver.rows(self._sql.one, values)
        if not rows:
            raise UnknownName(Message('No checkpoint "{}"; /checkpoint list shows them.', clip(checkpoint_id)))
        try:
            stored = (await self._saver.whole(rows, plain=True))[0].checkpoint
        except value_decoder.Unreadable as error:
            raise StorageError(Message("Checkpoint {} can't be read: {}.", clip(checkpoint_id), error)) from error
        channels = stored.get("channel_values", {}) if isinstance(stored, dict) else {}
        values = {k: v.value if isinstance(v, value_decoder.Snapshot) else v for k, v in channels.items()}
        return {k: v for k, v in values.items() if not k.startswith((_TRIGGER, "__"))}

    async def page(self, limit: int = 20, before: str = "") -> list[CheckpointInfo]:
        """Return checkpoints, newest first.

        Args:
            limit: at most so many.
            before: only ones written before this one; empty for the newest.

        Raises:
            StorageError: one of them can't be read.
        """
        return await self._infos(await self._queries.rows_before(self._thread, "", limit, before))

    async def page_after(self, limit: int = 20, after: str = "") -> list[CheckpointInfo]:
        """Return the checkpoints that follow one, newest first like `page`.

        Args:
            limit: at most so many, those nearest to `after`.
            after: only ones written after this one; empty for the very first.

        Raises:
            StorageError: one of them can't be read.
        """
        return await self._infos(await self._queries.rows_after(self._thread, "", limit, after))

    async def one(self, checkpoint_id: str) -> CheckpointInfo | None:
        """Return a checkpoint; None when it isn't there. Raises StorageError when it can't be read."""
        values = {"thread": self._thread, "ns": "", "id": checkpoint_id}
        found = await self._infos(await self._saver.rows(self._sql.one, values)) if checkpoint_id else []
        return found[0] if found else None

    async def place(self, checkpoint_id: str) -> int:
        """Return which one a checkpoint is, counted from the first as 1."""
        return await self._queries.place(self._thread, "", checkpoint_id)

    async def turns(self) -> list[tuple[str, str]]:
        """Return id and parent of each checkpoint that doesn't come from the one before it, oldest first."""
        return await self._queries.turns(self._thread)

    async def head(self) -> str:
        """Return the id of the newest checkpoint, empty when there is none."""
        return await self._queries.head(self._thread)

    async def count(self) -> int:
        """Return how many checkpoints there are."""
        return await self._queries.count(self._thread)

    async def _infos(self, rows: Sequence[Row]) -> list[CheckpointInfo]:
        try:
            return [self._info(found) for found in await self._saver.whole(rows)]
        except (ValueError, TypeError, AttributeError) as error:
            raise StorageError(
                Message("The checkpoints of session {} can't be read: {}.", self._session, error)
            ) from error

    async def find(self, text: str) -> str:
        """Return the id that a text names: its number in the list, the id, or a unique prefix or ending of it.

        Raises:
            UnknownName: none or several match.
        """
        if _NUMBER.fullmatch(text) and (found := await self._queries.nth(self._thread, "", int(text))):
            return found
        if found := await self._queries.matching(self._thread, "", text, f'"{clip(text)}"'):
            return found
        raise UnknownName(Message('No checkpoint "{}"; /checkpoint list shows them.', clip(text)))

    async def find_step(self, text: str) -> tuple[str, str]:
        """Return thread and checkpoint id of a team's own step; empty texts when none or several match."""
        if _NUMBER.fullmatch(text) and await self._queries.nth(self._thread, "", int(text)):
            return "", ""  # a number counts the session's own
        prefix = f"{self._session}/"
        rows = await self._saver.rows(
            "SELECT thread_id, checkpoint_id FROM checkpoints WHERE checkpoint_ns = '' "
            "AND substr(thread_id, 1, :begins) = :prefix AND (substr(checkpoint_id, 1, :long) = :text "
            "OR substr(checkpoint_id, length(checkpoint_id) - :long + 1) = :text) LIMIT 2",
            {"prefix": prefix, "begins": len(prefix), "text": text, "long": len(text)},
        )
        return (str(rows[0][0]), str(rows[0][1])) if len(rows) == 1 and text else ("", "")

    def _info(self, found: WholeCheckpoint) -> CheckpointInfo:
        checkpoint_id, parent, checkpoint, metadata = found
        details = _metadata(metadata)
        values = checkpoint.get("channel_values", {})
        control = values.get("control") or {}
        own, waiting = self._thread == thread_of(self._session), _next_nodes(values)
        node = ", ".join(waiting[:1] if own else waiting)
        if not node:
            ended = str(values.get("current_phase", LAST_NODE)) if own else "ended"
            node = ("coordinator" if own else "start") if _START in values else ended
        return CheckpointInfo(
            checkpoint_id=str(checkpoint_id),
            parent_id=str(parent or ""),
            timestamp=str(checkpoint.get("ts", "")),
            node=node,
            todos_completed=int(control.get("completed", 0)),
            step=int(details.get("step", 0)),
            branch=int(control.get("branch", 0)),
            source=str(details.get("source", "")),
            waiting=node in ("approval", "plan_review") and values.get("approval_status") == "waiting",
            message=str(values.get("approval_message", "")),
            outcome=_outcome(values, control),
            cursor=int(control.get("cursor", 0)),
            tally=_tally(values, control),
            refused=tuple(str(r["event"]) for r in control.get("refused") or ()),
            reviewed=cast(PlanReviewed, control.get("reviewed") or {}),
        )


def _next_nodes(values: GraphState) -> list[str]:
    """Return the nodes that come next, by the channels that lead to them: an edge, or one that waits for several."""
    found = [name.removeprefix(_TRIGGER) for name in values if name.startswith(_TRIGGER)]
    for name, arrived in values.items():
        sources, _, target = name.removeprefix(_JOIN).rpartition(":")
        if name.startswith(_JOIN) and isinstance(arrived, Collection) and {*map(str, arrived)} == {*sources.split("+")}:
            found.append(target)
    return found


_NUMBER = re.compile("[1-9][0-9]{0,5}")


def how_ended(values: GraphState) -> tuple[str, dict[str, int]]:
    """Return how a session ended whose state has these channels, `control` and `response`, and its steps counted.

    Both are empty where it hasn't ended.
    """
    control = values.get("control") or {}
    return _outcome(values, control), _tally(values, control)


def _outcome(values: GraphState, control: GraphState) -> str:
    if not control.get("concluded"):
        return ""
    return "failed" if (values.get("response") or {}).get("outcome") == "failed" else "finished"


def _tally(values: GraphState, control: GraphState) -> dict[str, int]:
    if not control.get("concluded"):
        return {}
    response = values.get("response") or {}
    done = int(control.get("completed", 0))
    return read_tally(response.get("tally"), done, partly=response.get("outcome") != "done")


def _metadata(raw: Any) -> dict[str, Any]:
    try:
        return dict(raw if isinstance(raw, Mapping) else json.loads(raw or b"{}"))
    except (ValueError, TypeError):
        return {}
