"""Copies of checkpoints: under another session's id, and of an earlier one at the end for a restore."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from langgraph.checkpoint.serde.types import _DeltaSnapshot

from hitl_tui.core.board import Board, run_digest
from hitl_tui.core.errors import BadInput, Refused, StorageError
from hitl_tui.core.interrupts.numbers import highest_number
from hitl_tui.core.json_types import RunBefore
from hitl_tui.core.messages import Message
from hitl_tui.core.policy import Mode
from hitl_tui.core.todos import SYSTEM, Status
from hitl_tui.ledger.records import Branch
from hitl_tui.ledger.sqlite_readonly import read_connection
from hitl_tui.supervisor.checkpoint_file import check_file
from hitl_tui.supervisor.checkpoint_saver import create_checkpointer
from hitl_tui.supervisor.graph import TeamSupervisor, config_of
from hitl_tui.supervisor.serializer import serializer
from hitl_tui.supervisor.session_setup import SessionSetup
from hitl_tui.threads import row_checksums
from hitl_tui.threads.packed_values import packed
from hitl_tui.threads.row_checksums import CHECKPOINT_COLUMNS, COLUMN, WRITE_COLUMNS, check_of, checksum
from hitl_tui.threads.session_history import SessionHistory, thread_of
from hitl_tui.threads.store_tables import Row

_UNREADABLE = (ValueError, TypeError, LookupError, AttributeError, RuntimeError)
"""What a checkpoint that isn't one of ours makes of its reader."""

_WRITE_CHECKPOINT = f"INSERT INTO checkpoints ({CHECKPOINT_COLUMNS}, {COLUMN}) VALUES (?, ?, ?, ?, ?, ?, ?, ?)"  # noqa: S608 - constants
_WRITE_WRITE = f"INSERT INTO writes ({WRITE_COLUMNS}, {COLUMN}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"  # noqa: S608 - constants


_OF_SESSION = ("session_id", "todos", "response", "results", "planning")
"""Channels of the supervisor that name the session, or results of it."""


@dataclass(frozen=True, slots=True)
class CheckpointExtent:
    """How far the checkpoints of a session got.

    Args:
        head: id of the checkpoint written last; empty when there is none.
        branch, cursor: the highest branch and inbox event number in any of them.
        results: digests of the results that any of them refers to.
    """

    head: str = ""
    branch: int = 0
    cursor: int = 0
    results: frozenset[str] = frozenset()


def copy_checkpoints(source: Path, target: Path) -> None:
    """Write the checkpoints as they are now into a file of their own, also while their owner goes on.

    Raises:
        StorageError: they can't be read, or there is no room.
    """
    check_file(source)
    try:
        with closing(read_connection(source)) as db:
            row_checksums.check_rows(db)
            db.execute("VACUUM INTO ?", (str(target),))
    except sqlite3.Error as error:
        raise StorageError(
            Message("The checkpoints {} can't be copied: {}. Nothing was changed.", source, error)
        ) from error


def check_rows(source: Path) -> None:
    """Check that a file from elsewhere holds the tables of checkpoints and nothing that acts.

    Raises:
        BadInput: it doesn't.
    """
    try:
        with closing(read_connection(source)) as db:
            found = set(db.execute("SELECT type, name FROM sqlite_master WHERE sql <> ''"))
    except (OSError, sqlite3.Error) as error:
        raise BadInput(Message("The checkpoints in it can't be read: they aren't a checkpoint database.")) from error
    if found - {("index", row_checksums.INDEX)} != {("table", "checkpoints"), ("table", "writes")}:
        raise BadInput(Message("The checkpoints in it aren't what a session keeps."))
    try:
        check_file(source)
        with closing(read_connection(source)) as db:
            row_checksums.check_rows(db)
    except (StorageError, sqlite3.Error) as error:
        raise BadInput(Message("The checkpoints in it are damaged.")) from error


async def copy_under_new_id(
    source: Path, target: Path, old: str, new: str, *, mode: Mode | None = None, imported: bool = False
) -> CheckpointExtent:
    """Write a session's checkpoints into a new file, under another session id.

    Args:
        source: a file that nobody writes.
        target: the new file.
        old, new: session ids.
        mode: the mode that every checkpoint is to have; None keeps theirs.
        imported: they come from elsewhere: what was decided in them is marked as such, in every one.

    Returns:
        how far they got.

    Raises:
        StorageError: they can't be read or written.
    """
    async with create_checkpointer(target):
        pass
    return await asyncio.to_thread(_copy_rows, source, target, _RenamedRows(old, new, mode, imported))


def _rows(db: sqlite3.Connection, table: str, columns: str) -> Iterator[Row]:
    """Yield a table's rows in the order they were written, each as it was written.

    Raises:
        StorageError: one isn't.
    """
    column, fits = check_of(db)
    for *row, kept in db.execute(f"SELECT {columns}, {column} FROM {table} ORDER BY rowid"):  # noqa: S608 - constants
        fits(row, kept)
        yield row


def _copy_rows(source: Path, target: Path, renaming: _RenamedRows) -> CheckpointExtent:
    try:
        with closing(read_connection(source)) as read, closing(sqlite3.connect(target, isolation_level=None)) as write:
            write.execute("PRAGMA synchronous=FULL")
            write.execute("BEGIN IMMEDIATE")
            write.executemany(_WRITE_CHECKPOINT, renaming.checkpoints(read))
            write.executemany(_WRITE_WRITE, renaming.writes(read))
            write.execute("COMMIT")
            write.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
    except sqlite3.Error as error:
        raise StorageError(Message("The copy can't be written: {}. Nothing was changed.", error)) from error
    except _UNREADABLE as error:
        raise StorageError(Message("The checkpoints of {} can't be read: {}.", renaming.old, error)) from error
    return renaming.place


class _RenamedRows:
    """Gives rows as they are under the new id, and learns how far they got."""

    def __init__(self, old: str, new: str, mode: Mode | None, imported: bool) -> None:
        self.old = old
        self._new, self._mode, self._imported = new, mode, imported
        self._serde = serializer()
        self._place = CheckpointExtent()
        self._results: set[str] = set()

    @property
    def place(self) -> CheckpointExtent:
        return replace(self._place, results=frozenset(self._results))

    def checkpoints(self, db: sqlite3.Connection) -> Iterator[Row]:
        for thread, ns, checkpoint_id, parent, kind, blob, metadata in _rows(db, "checkpoints", CHECKPOINT_COLUMNS):
            if thread == thread_of(self.old) and not ns:
                checkpoint = self._serde.loads_typed((kind, blob))
                checkpoint["channel_values"] = self._state(checkpoint["channel_values"])
                kind, blob = packed(*self._serde.dumps_typed(checkpoint))
                self._learn(str(checkpoint_id), checkpoint["channel_values"].get("control") or {})
            row = (self._thread(thread), ns, checkpoint_id, parent, kind, blob, metadata)
            yield *row, checksum(row)

    def writes(self, db: sqlite3.Connection) -> Iterator[Row]:
        for thread, ns, *place, channel, kind, value in _rows(db, "writes", WRITE_COLUMNS):
            if thread == thread_of(self.old) and channel in _OF_SESSION:
                renamed = self._state({channel: self._serde.loads_typed((kind, value))})
                kind, value = packed(*self._serde.dumps_typed(renamed[channel]))
            row = (self._thread(thread), ns, *place, channel, kind, value)
            yield *row, checksum(row)

    def _learn(self, checkpoint_id: str, control: Mapping[str, Any]) -> None:
        self._place = CheckpointExtent(
            checkpoint_id,
            max(self._place.branch, int(control.get("branch", 0))),
            max(self._place.cursor, int(control.get("cursor", 0))),
        )

    def _refers(self, digest: object) -> None:
        if digest:
            self._results.add(str(digest))

    def _thread(self, thread: str) -> str:
        if thread == thread_of(self.old):
            return thread_of(self._new)
        return self._run(thread)

    def _run(self, run_id: str) -> str:
        prefix = f"{self.old}/"
        return f"{self._new}/{run_id.removeprefix(prefix)}" if run_id.startswith(prefix) else run_id

    def _state(self, values: Mapping[str, Any]) -> dict[str, Any]:
        found = dict(values)
        for channel, key in (("response", "digest"), ("results", "digest"), ("planning", "plan")):
            self._refers((found.get(channel) or {}).get(key))
        if found.get("session_id") == self.old:
            found["session_id"] = self._new
        if isinstance(found.get("__start__"), dict):
            found["__start__"] = self._state(found["__start__"])
        todos = found.get("todos")
        if isinstance(todos, _DeltaSnapshot):
            found["todos"] = _DeltaSnapshot(self._todos(todos.value))
        elif isinstance(todos, dict):
            found["todos"] = self._todos(todos)
        if self._mode is not None and isinstance(found.get("control"), dict):
            found["control"] = {**found["control"], "mode": self._mode.value}
        control = found.get("control")
        if self._imported and isinstance(control, dict) and isinstance(control.get("reviewed"), dict):
            reviewed = control["reviewed"]
            found["control"] = {**control, "reviewed": {**reviewed, "imported": True} if reviewed else reviewed}
        return found

    def _todos(self, todos: Mapping[str, Any]) -> dict[str, Any]:
        return {todo_id: None if todo is None else self._todo(todo) for todo_id, todo in todos.items()}

    def _todo(self, todo: Mapping[str, Any]) -> dict[str, Any]:
        found = dict(todo)
        self._refers((found.get("result") or {}).get("digest"))
        if found.get("run_id"):
            found["run_id"] = self._run(found["run_id"])
        metadata = dict(found.get("metadata") or {})
        if "threads" in metadata:
            metadata["threads"] = {self._run(run): self._run(thread) for run, thread in metadata["threads"].items()}
        if "rewind" in metadata:
            metadata["rewind"] = {**metadata["rewind"], "thread": self._run(metadata["rewind"]["thread"])}
        if self._imported:
            if found.get("approval"):
                found["approval"] = {**found["approval"], "imported": True}
            if metadata.get("rejected") or metadata.get("skipped_by") not in (None, SYSTEM):
                metadata["imported"] = True
        if metadata:
            found["metadata"] = metadata
        return found


async def restore_checkpoint(
    setup: SessionSetup, supervisor: TeamSupervisor, make_durable: Callable[[], None], branch: Branch, left: Board
) -> bool:
    """Make the checkpoint that a restore goes to the head; all of it may be repeated after a crash.

    Args:
        setup: of the session.
        supervisor: its graph.
        make_durable: brings its checkpoints to where a power cut can't take them.
        branch: the branch that begins there.
        left: what stood on the branch that is left.

    Returns:
        False when there is no such checkpoint any more: the session stays where it is, on the new branch.
    """
    target = config_of(setup.info.id)
    # LangGraph copies a thread's first checkpoint only when the namespace is named.
    target["configurable"] |= {"checkpoint_id": branch.checkpoint_id, "checkpoint_ns": ""}
    there = (await supervisor.graph.aget_state(target)).created_at is not None
    if there:
        await supervisor.graph.aupdate_state(target, None, as_node="__copy__")
    # Once the ledger says that it is done, nobody does it again: the copy has to be on disk by then.
    await asyncio.to_thread(make_durable)
    numbers = {todo_id: number for todo_id, raw in left.todos.items() if (number := highest_number(raw))}
    extra = {"ran": _what_ran(left), "highest": left.control.highest, "numbers": numbers}
    await setup.ledger.finish_restore(setup.info.id, branch.number, setup.now(), extra)
    return there


async def head_before_restore(history: SessionHistory, session: str) -> str:
    """Return the newest checkpoint that isn't a copy: where the branch that is left stood.

    Raises:
        Refused: there is none.
    """
    before = ""
    while page := await history.page(20, before):
        for info in page:
            if info.source != "fork":
                return info.checkpoint_id
        before = page[-1].checkpoint_id
    raise Refused(Message("Session {} has no checkpoint to copy.", session), reason="unknown")


_MAY_DIFFER = (Status.PENDING, Status.WAITING_APPROVAL, Status.BLOCKED)
"""Statuses in which a TODO that ran may have been edited since."""


def _what_ran(board: Board) -> dict[str, RunBefore]:
    """Return which TODOs had begun on the branch that is left, or before it: what they did to the world stays."""
    ran = {todo.id: todo.metadata["ran_before"].copy() for todo in board.all() if "ran_before" in todo.metadata}
    for todo in board.all():
        if todo.attempt:
            subjects = dict(ran.get(todo.id, {}).get("subjects", {}))
            if todo.status not in _MAY_DIFFER or todo.question:
                subjects[run_digest(todo)] = todo.status.value
            ran[todo.id] = {"status": todo.status.value, "branch": board.control.branch, "subjects": subjects}
    return ran
