"""The tables of checkpoint stores, what a database of them offers, and the statements that read them page by page."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from string import Template
from typing import Any, Protocol

from hitl_tui.core.errors import UnknownName
from hitl_tui.core.messages import Message
from hitl_tui.threads.thread_model import StoreInfo

Row = Sequence[Any]
Values = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Dialect:
    """How statements are written for one store; each part is SQL that stands for a fixed set of columns.

    Args:
        checkpoints: relation of thread_id, checkpoint_ns, checkpoint_id, parent_checkpoint_id, metadata.
        writes: relation of thread_id, checkpoint_ns, checkpoint_id, task_id, task_path, idx, channel, type, value.
        head: what else is selected of a row `c` of checkpoints. Of a foreign store these are three columns: format, the
            checkpoint without its larger values (null when it has more than `:most` bytes), its bytes.
        ids: relation of `id`: the texts of parameter `:ids`.
        ordered: rows of `checkpoints` have a `rowid` that tells in what order they were written, as in our own files.
    """

    checkpoints: str
    writes: str
    head: str
    ids: str
    ordered: bool = False


@dataclass(frozen=True, slots=True)
class StoredCheckpoint:
    """One channel's value as it lies in the store.

    Args:
        kind: how it was written; `plain` for a value that is JSON already.
        data: what was written.
    """

    kind: str | None
    data: Any


class StoreDatabase(Protocol):
    """An open store. Everything on it is read-only; each call is a transaction of its own."""

    @property
    def info(self) -> StoreInfo:
        """What it is."""

    @property
    def dialect(self) -> Dialect:
        """How statements are written for it."""

    def ids(self, texts: Sequence[str]) -> Any:
        """Return the value of parameter `:ids`."""

    async def rows(self, sql: str, values: Values) -> list[Row]:
        """Return a statement's rows; parameters are written `:name`.

        Raises:
            StorageError: the store can't be read.
        """

    async def whole(
        self, thread: str, ns: str, checkpoint_id: str
    ) -> tuple[StoredCheckpoint | None, Mapping[str, StoredCheckpoint]]:
        """Return a checkpoint, None when it isn't there, and those of its channels' values that lie beside it."""

    async def channels(
        self, thread: str, ns: str, checkpoint_ids: Sequence[str], like: Sequence[str]
    ) -> Mapping[str, Mapping[str, StoredCheckpoint]]:
        """Return values that lie beside checkpoints, of channels whose names begin so: by checkpoint, by channel."""

    async def inputs(self, places: Sequence[tuple[str, str]]) -> Mapping[str, StoredCheckpoint]:
        """Return inputs that lie beside the first checkpoints of threads, by thread.

        Args:
            places: thread and checkpoint.
        """

    async def close(self) -> None:
        """Close it; may be called again."""


_PLACE = "c.thread_id = :thread AND c.checkpoint_ns = :ns"
_ROW = "SELECT c.checkpoint_id, c.parent_checkpoint_id, c.metadata, $head FROM $c c WHERE $place"
_KEYS = {"id": "i.id", "thread": "threads.id"}
_WROTE = "w.checkpoint_id, w.task_id, w.task_path, w.idx, w.channel, w.type"
_WRITES = "FROM $w w WHERE w.thread_id = :thread AND w.checkpoint_ns = :ns"
_ASKED = (
    "SELECT (SELECT c.checkpoint_id FROM $c c WHERE $place AND $at $beyond $at_id AND EXISTS (SELECT 1 $writes"
    " AND w.channel = '__interrupt__' AND w.checkpoint_id = c.checkpoint_id) ORDER BY $at $way LIMIT 1)"
)
_LAST = "(SELECT c.checkpoint_id FROM $c c WHERE c.thread_id = $of AND c.checkpoint_ns = '' ORDER BY $at DESC LIMIT 1)"
_END = (
    "(SELECT c.checkpoint_id FROM $c c WHERE c.thread_id = $of AND c.checkpoint_ns = $space ORDER BY $at $way LIMIT 1)"
)
_WRITTEN = "(SELECT max(c.rowid) FROM $c c WHERE c.thread_id = id AND c.checkpoint_ns = '')"
_BEGAN = "(SELECT min(c.rowid) FROM $c c WHERE c.thread_id = :thread AND c.checkpoint_ns = l.ns)"
_IN_ORDER = (
    "coalesce((SELECT rowid FROM $c WHERE thread_id = :thread AND checkpoint_ns = :ns AND checkpoint_id = $of), 0)"
)

# From one thread to the next by the key: it takes as long as there are threads, however many checkpoints each has.
_THREADS = """WITH RECURSIVE threads(id) AS (
        SELECT min(thread_id) FROM $c c
        UNION ALL
        SELECT (SELECT min(c.thread_id) FROM $c c WHERE c.thread_id > threads.id)
        FROM threads WHERE threads.id IS NOT NULL)
    """

# The same way from namespace to namespace.
_NAMESPACES = """WITH RECURSIVE spaces(ns) AS (
        SELECT min(c.checkpoint_ns) FROM $c c WHERE c.thread_id = :thread
        UNION ALL
        SELECT (SELECT min(c.checkpoint_ns) FROM $c c WHERE c.thread_id = :thread AND c.checkpoint_ns > spaces.ns)
        FROM spaces WHERE spaces.ns IS NOT NULL)
    SELECT l.ns, (SELECT count(*) FROM $c c WHERE c.thread_id = :thread AND c.checkpoint_ns = l.ns), l.last,
        (SELECT c.metadata FROM $c c
            WHERE c.thread_id = :thread AND c.checkpoint_ns = l.ns AND c.checkpoint_id = l.first)
    FROM (SELECT ns,
        $last_of_space AS last, $first_of_space AS first
        FROM spaces WHERE ns IS NOT NULL LIMIT :limit) l ORDER BY $began"""

_FIRSTS = (
    "SELECT c.thread_id, c.checkpoint_id, $head FROM (SELECT i.id AS id,"
    " $first_of_id AS first FROM $ids i) f"
    " JOIN $c c ON c.thread_id = f.id AND c.checkpoint_ns = '' AND c.checkpoint_id = f.first"
)

_WAITING = (
    "SELECT i.id FROM $ids i WHERE EXISTS (SELECT 1 FROM $w w WHERE w.thread_id = i.id AND w.checkpoint_ns = ''"
    " AND w.checkpoint_id = $last_of_id AND w.channel = '__interrupt__'"
    " AND NOT EXISTS (SELECT 1 FROM $w o WHERE o.thread_id = w.thread_id AND o.checkpoint_ns = w.checkpoint_ns"
    " AND o.checkpoint_id = w.checkpoint_id AND o.task_id = w.task_id"
    " AND o.channel NOT IN ('__interrupt__', '__resume__', '__error__', '__error_source_node__')))"
)

_TURNS = (
    "SELECT id, parent FROM (SELECT c.checkpoint_id AS id, c.parent_checkpoint_id AS parent, $at AS place,"
    " lag(c.checkpoint_id) OVER (ORDER BY $at) AS previous FROM $c c WHERE $place) t"
    " WHERE coalesce(parent, '') <> coalesce(previous, '') ORDER BY place LIMIT :limit"
)

# CROSS JOIN keeps SQLite from reading the whole thread at each step.
_WALK = (
    "WITH RECURSIVE up(id, parent, depth) AS ("
    " SELECT c.checkpoint_id, c.parent_checkpoint_id, 0 FROM $c c WHERE $place AND c.checkpoint_id = :id"
    " UNION ALL SELECT c.checkpoint_id, c.parent_checkpoint_id, up.depth + 1 FROM up CROSS JOIN $c c"
    " WHERE $place AND c.checkpoint_id = up.parent AND up.depth < :steps)"
    " SELECT c.checkpoint_id, up.parent, $head FROM up CROSS JOIN $c c"
    " WHERE $place AND c.checkpoint_id = up.id AND up.depth > 0 ORDER BY up.depth"
)


class StoreStatements:
    """All of them, for one dialect.

    Args:
        dialect: how they are written.
    """

    def __init__(self, dialect: Dialect) -> None:
        self._parts = {"c": dialect.checkpoints, "w": dialect.writes, "ids": dialect.ids, "head": dialect.head}
        self._parts |= {"place": _PLACE, "wrote": _WROTE}
        fill = self._filled
        # The newest is what was written last where the store tells, else what has the largest id.
        self._parts["at"] = "c.rowid" if dialect.ordered else "c.checkpoint_id"
        self._parts["written"] = fill(_WRITTEN) if dialect.ordered else "last"
        self._parts["began"] = fill(_BEGAN) if dialect.ordered else "l.first"
        for name in ("id", "than"):
            self._parts[f"at_{name}"] = fill(_IN_ORDER, of=f":{name}") if dialect.ordered else f":{name}"
        self._parts |= {"threads": fill(_THREADS), "row": fill(_ROW), "writes": fill(_WRITES)}
        self._parts |= {
            "last_of_space": fill(_END, of=":thread", space="spaces.ns", way="DESC"),
            "first_of_space": fill(_END, of=":thread", space="spaces.ns", way="ASC"),
            "first_of_id": fill(_END, of="i.id", space="''", way="ASC"),
        }
        self._parts |= {f"last_of_{name}": fill(_LAST, of=key) for name, key in _KEYS.items()}
        self.thread_count = fill("$threads SELECT count(*) FROM threads WHERE id IS NOT NULL")
        self.threads = fill(
            "$threads SELECT id, coalesce($last_of_thread, '') AS last FROM threads"
            " WHERE id IS NOT NULL ORDER BY $written DESC, id LIMIT :limit OFFSET :offset"
        )
        # SQLite's lower() knows ASCII alone: beyond that a capital in an id is another letter.
        self.named = fill(
            "SELECT id, last FROM ($threads SELECT id, coalesce($last_of_thread, '') AS last FROM threads"
            " WHERE id IS NOT NULL ORDER BY $written DESC, id LIMIT :most OFFSET :offset) n"
            " WHERE replace(lower(id), :word, '') <> lower(id) ORDER BY $written DESC, id LIMIT :limit"
        )
        self.counts = fill(
            "SELECT i.id, (SELECT count(*) FROM $c c WHERE c.thread_id = i.id), (SELECT count(DISTINCT c.checkpoint_ns)"
            " FROM $c c WHERE c.thread_id = i.id AND c.checkpoint_ns > '') FROM $ids i"
        )
        self.firsts = fill(_FIRSTS)
        self.waiting = fill(_WAITING)
        self.known = fill("SELECT c.thread_id FROM $c c WHERE c.thread_id = :thread LIMIT 1")
        self.alike = fill(
            "$threads SELECT id FROM threads WHERE id IS NOT NULL AND substr(id, 1, :length) = :text LIMIT 5"
        )
        self.namespaces = fill(_NAMESPACES)
        self.newest = fill("$row ORDER BY $at DESC LIMIT :limit")
        self.older = fill("$row AND $at < $at_than ORDER BY $at DESC LIMIT :limit")
        self.newer = fill("$row AND $at > $at_than ORDER BY $at LIMIT :limit")
        self.one = fill("$row AND c.checkpoint_id = :id")
        self.head = fill("SELECT (SELECT c.checkpoint_id FROM $c c WHERE $place ORDER BY $at DESC LIMIT 1)")
        self.children = fill(
            "SELECT c.checkpoint_id FROM $c c WHERE $place AND $at > $at_id AND c.parent_checkpoint_id = :id LIMIT 1"
        )
        self.count = fill("SELECT count(*) FROM $c c WHERE $place")
        self.place = fill("SELECT count(*) FROM $c c WHERE $place AND $at <= $at_id")
        self.nth = fill("SELECT c.checkpoint_id FROM $c c WHERE $place ORDER BY $at LIMIT 1 OFFSET :before")
        self.turns = fill(_TURNS)
        self.find = fill(
            "SELECT c.checkpoint_id FROM $c c WHERE $place AND (substr(c.checkpoint_id, 1, :length) = :text"
            " OR substr(c.checkpoint_id, length(c.checkpoint_id) - :length + 1) = :text)"
            " ORDER BY $at DESC LIMIT 5"
        )
        self.signals = fill(
            "SELECT $wrote, CASE WHEN length(w.value) <= :most THEN w.value END $writes"
            " AND w.checkpoint_id IN (SELECT i.id FROM $ids i) AND w.channel IN ('__interrupt__', '__error__')"
        )
        self.routes = fill(
            "SELECT w.checkpoint_id, w.channel, w.type, CASE WHEN w.channel = '__pregel_tasks' THEN w.value END $writes"
            " AND w.checkpoint_id IN (SELECT i.id FROM $ids i)"
        )
        self.written = fill("SELECT count(*) $writes AND w.checkpoint_id = :id")
        self.writes = fill("SELECT $wrote, w.value $writes AND w.checkpoint_id = :id LIMIT :limit")
        self.asked_before = fill(_ASKED, beyond="<", way="DESC")
        self.asked_after = fill(_ASKED, beyond=">", way="ASC")
        self.walk = fill(_WALK)
        self.channel_writes = fill(
            "SELECT $wrote, w.value $writes AND w.channel = :channel"
            " AND w.checkpoint_id IN (SELECT i.id FROM $ids i) LIMIT :limit"
        )

    def _filled(self, statement: str, **more: str) -> str:
        return Template(statement).substitute({**self._parts, **more})


@lru_cache(maxsize=16)
def statements(dialect: Dialect) -> StoreStatements:
    """Return the statements for a dialect; they are made once."""
    return StoreStatements(dialect)


_MOST_TURNS = 100_000


class ThreadQueries:
    """Asks what is the same of every thread, whoever wrote it: its checkpoints in order, its head, where it turns.

    Args:
        rows: runs a statement.
        sql: the statements.
    """

    def __init__(self, rows: Callable[[str, Values], Awaitable[list[Row]]], sql: StoreStatements) -> None:
        self._rows = rows
        self._sql = sql

    async def rows_before(self, thread: str, ns: str, limit: int, before: str = "", most: int = 0) -> list[Row]:
        """Return the rows of the checkpoints before one, newest first; with none named the newest there are."""
        values = {"thread": thread, "ns": ns, "limit": limit, "than": before, "most": most}
        return await self._rows(self._sql.older if before else self._sql.newest, values)

    async def rows_after(self, thread: str, ns: str, limit: int, after: str = "", most: int = 0) -> list[Row]:
        """Return the rows of the checkpoints that follow one, newest first; with none named the first there are."""
        values = {"thread": thread, "ns": ns, "limit": limit, "than": after, "most": most}
        return (await self._rows(self._sql.newer, values))[::-1]

    async def head(self, thread: str, ns: str = "") -> str:
        """Return the id of the newest checkpoint, empty when there is none."""
        ((found,),) = await self._rows(self._sql.head, {"thread": thread, "ns": ns})
        return str(found or "")

    async def count(self, thread: str, ns: str = "") -> int:
        """Return how many checkpoints there are."""
        ((found,),) = await self._rows(self._sql.count, {"thread": thread, "ns": ns})
        return int(found)

    async def place(self, thread: str, ns: str, checkpoint_id: str) -> int:
        """Return which one a checkpoint is, counted from the first as 1."""
        ((found,),) = await self._rows(self._sql.place, {"thread": thread, "ns": ns, "id": checkpoint_id})
        return int(found)

    async def nth(self, thread: str, ns: str, number: int) -> str:
        """Return the checkpoint that `place` counts so; empty where there are fewer."""
        rows = await self._rows(self._sql.nth, {"thread": thread, "ns": ns, "before": number - 1})
        return str(rows[0][0]) if rows else ""

    async def turns(self, thread: str, ns: str = "") -> list[tuple[str, str]]:
        """Return id and parent of each checkpoint that doesn't come from the one before it, oldest first.

        They are where restores went back: with the head they tell what is on the current line, and what was left.
        """
        rows = await self._rows(self._sql.turns, {"thread": thread, "ns": ns, "limit": _MOST_TURNS})
        return [(str(row[0]), str(row[1] or "")) for row in rows]

    async def matching(self, thread: str, ns: str, text: str, shown: str) -> str:
        """Return the checkpoint that a text names: its id, a unique beginning or a unique ending; empty for none.

        Args:
            thread: the thread.
            ns: namespace in it.
            text: what names it.
            shown: the text as a message says it.

        Raises:
            UnknownName: several match.
        """
        values = {"thread": thread, "ns": ns, "text": text, "length": len(text)}
        found = [str(row[0]) for row in await self._rows(self._sql.find, values)] if text else []
        if text in found:
            return text
        if len(found) < 2:
            return found[0] if found else ""
        raise UnknownName(Message("{} could be {}; write more of the id.", shown, ", ".join(found[:4])))
