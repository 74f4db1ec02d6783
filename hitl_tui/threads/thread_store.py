"""An open checkpoint store: threads, history, state, differences; nothing is written, nothing is run."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from hitl_tui.config.paths import given_path
from hitl_tui.core.errors import BadInput, UnknownName
from hitl_tui.core.json_types import GraphState, JsonObject
from hitl_tui.core.messages import Message
from hitl_tui.core.safe_text import one_line, safe_text
from hitl_tui.threads import value_decoder
from hitl_tui.threads.channel_values import (
    INTERRUPT,
    TASKS,
    ChannelWrite,
    is_internal,
    next_nodes,
    old_edges,
    questions_of,
    sent_to,
    tasks_of,
    told_by,
)
from hitl_tui.threads.delta_channels import DeltaRebuilder, delta_channels
from hitl_tui.threads.store_tables import Row, StoreDatabase, ThreadQueries, statements
from hitl_tui.threads.stored_rows import (
    ThreadTitles,
    carrying,
    channels_of,
    info_of,
    loaded,
    metadata_of,
    namespace_of,
    timestamp_of,
    write_of,
)
from hitl_tui.threads.thread_model import (
    CheckpointInfo,
    FullCheckpoint,
    Namespace,
    Search,
    StoreInfo,
    ThreadInfo,
    time_of,
)

PAGE = 50
_SMALL = 64 * 1024
"""Bytes of a checkpoint that is read for a list: of a larger one the list shows less."""
_MOST_WRITES = 5_000
_MOST_SPACES = 2_000
_SEARCHED = 20_000
"""Threads, those that were written last, whose titles a search reads; ids are looked at in all."""
_NAMED = 5_000
_MOST_THREADS = 10**9
_BATCH = 500


class ThreadStore(ThreadQueries):
    """Reads one store; get it from `open_store`.

    Args:
        database: where it lies.
    """

    def __init__(self, database: StoreDatabase) -> None:
        super().__init__(database.rows, statements(database.dialect))
        self._database = database
        self._titles = ThreadTitles(database, self._sql)
        self._rebuilder = DeltaRebuilder(database, self._sql)

    @property
    def info(self) -> StoreInfo:
        """What it is."""
        return self._database.info

    # Threads -----------------------------------------------------------------------------------------------------

    async def thread_count(self) -> int:
        """Return how many threads there are."""
        ((count,),) = await self._database.rows(self._sql.thread_count, {})
        return int(count)

    async def threads(self, limit: int = PAGE, offset: int = 0) -> list[ThreadInfo]:
        """Return threads, those first that were written last.

        Args:
            limit: at most so many.
            offset: leave out so many before.

        Raises:
            StorageError: the store can't be read.
        """
        rows = await self._database.rows(self._sql.threads, {"limit": limit, "offset": offset})
        return await self._described([(str(r[0]), str(r[1])) for r in rows])

    async def search(self, text: str, limit: int = PAGE, offset: int = 0) -> Search:
        """Return the threads with all words of a text in id or title, those first that were written last.

        Args:
            text: words, separated by spaces; at least one.
            limit: at most so many.
            offset: leave out so many before.

        Raises:
            StorageError: the store can't be read.
        """
        words = text.lower().split()
        total = await self.thread_count()
        rows = await self._database.rows(self._sql.threads, {"limit": _SEARCHED, "offset": 0})
        newest = [(str(r[0]), str(r[1])) for r in rows]
        found: list[tuple[str, str]] = []
        for start in range(0, len(newest), _BATCH):
            page = newest[start : start + _BATCH]
            titles = await self._titles.of([thread for thread, _ in page])
            found += [(t, head) for t, head in page if all(w in f"{t}\n{titles.get(t, '')}".lower() for w in words)]
            if len(found) >= offset + limit:
                break
        if len(found) < offset + limit and total > len(newest):
            found += await self._named(words, len(newest))
        threads = await self._described(found[offset : offset + limit])
        return Search(tuple(threads), total, max(0, total - len(newest)))

    async def _named(self, words: Sequence[str], offset: int) -> list[tuple[str, str]]:
        """Return the threads behind the first `offset` ones with all these words in their ids."""
        word = max(words, key=len)
        values = {"most": _MOST_THREADS, "offset": offset, "word": word, "limit": _NAMED}
        rows = await self._database.rows(self._sql.named, values)
        return [(str(r[0]), str(r[1])) for r in rows if all(w in str(r[0]).lower() for w in words)]

    async def _described(self, page: Sequence[tuple[str, str]]) -> list[ThreadInfo]:
        names = [thread for thread, _ in page]
        if not names:
            return []
        ids = self._database.ids(names)
        counts = {str(r[0]): (int(r[1]), int(r[2])) for r in await self._database.rows(self._sql.counts, {"ids": ids})}
        waiting = {str(r[0]) for r in await self._database.rows(self._sql.waiting, {"ids": ids})}
        titles = await self._titles.of(names)
        return [
            ThreadInfo(
                thread_id=thread,
                head=head,
                at=time_of(head),
                checkpoints=counts.get(thread, (0, 0))[0],
                title=titles.get(thread, ""),
                waiting=thread in waiting,
                subgraphs=counts.get(thread, (0, 0))[1],
            )
            for thread, head in page
        ]

    async def find_thread(self, text: str) -> str:
        """Return the thread that a text names: its id, or a unique beginning of it.

        Raises:
            UnknownName: none or several match.
        """
        if await self._database.rows(self._sql.known, {"thread": text}):
            return text
        rows = await self._database.rows(self._sql.alike, {"text": text, "length": len(text)}) if text else []
        found = [str(r[0]) for r in rows]
        if len(found) == 1:
            return found[0]
        shown = _quoted(text)
        if found:
            raise UnknownName(Message("{} could be {}; write more of it.", shown, ", ".join(map(_quoted, found[:4]))))
        raise UnknownName(Message("No thread {} in {}.", shown, self.info.name))

    async def namespaces(self, thread: str) -> list[Namespace]:
        """Return a thread's graph and the subgraphs that ran in it, in the order in which they began."""
        rows = await self._database.rows(self._sql.namespaces, {"thread": thread, "limit": _MOST_SPACES})
        return [namespace_of(row) for row in rows]

    # History -----------------------------------------------------------------------------------------------------

    async def older(self, thread: str, ns: str, limit: int = PAGE, before: str = "") -> list[CheckpointInfo]:
        """Return the checkpoints before one, newest first; with none named the newest there are."""
        return await self._listed(thread, ns, await self.rows_before(thread, ns, limit, before, _SMALL))

    async def newer(self, thread: str, ns: str, limit: int = PAGE, after: str = "") -> list[CheckpointInfo]:
        """Return the checkpoints that follow one, newest first; with none named the first there are."""
        return await self._listed(thread, ns, await self.rows_after(thread, ns, limit, after, _SMALL))

    async def one(self, thread: str, ns: str, checkpoint_id: str) -> CheckpointInfo | None:
        """Return one checkpoint, None when it isn't there."""
        values = {"thread": thread, "ns": ns, "id": checkpoint_id, "most": _SMALL}
        found = await self._listed(thread, ns, await self._database.rows(self._sql.one, values))
        return found[0] if found else None

    async def written(self, thread: str, ns: str, checkpoint_id: str) -> int:
        """Return how many writes there are from a checkpoint on; it grows while its tasks run and are answered."""
        values = {"thread": thread, "ns": ns, "id": checkpoint_id}
        ((found,),) = await self._database.rows(self._sql.written, values)
        return int(found)

    async def asked(self, thread: str, ns: str, checkpoint_id: str, by: int) -> str:
        """Return the next (1) or previous (-1) checkpoint where something was asked; empty when there is none."""
        sql = self._sql.asked_after if by > 0 else self._sql.asked_before
        ((found,),) = await self._database.rows(sql, {"thread": thread, "ns": ns, "id": checkpoint_id})
        return str(found or "")

    async def find(self, thread: str, ns: str, text: str) -> str:
        """Return the checkpoint that a text names: its id, a unique beginning or a unique ending of it.

        Raises:
            UnknownName: none or several match.
        """
        if found := await self.matching(thread, ns, text, _quoted(text)):
            return found
        raise UnknownName(Message("No checkpoint {} in thread {}.", _quoted(text), _quoted(thread)))

    async def _listed(self, thread: str, ns: str, rows: Sequence[Row]) -> list[CheckpointInfo]:
        if not rows:
            return []
        ids = self._database.ids([str(row[0]) for row in rows])
        place = {"thread": thread, "ns": ns, "most": _SMALL, "ids": ids}
        signals: dict[str, ChannelWrite] = {}
        for row in await self._database.rows(self._sql.signals, place):
            write = write_of(row)
            if write.channel == INTERRUPT or write.checkpoint_id not in signals:
                signals[write.checkpoint_id] = write
        heads = {str(row[0]): loaded(row[3], row[4]) for row in rows}
        lacking = [i for i, h in heads.items() if any(v is None for v in carrying(channels_of(h)).values())]
        beside: Mapping[str, GraphState] = {}
        if lacking:
            stored = await self._database.channels(thread, ns, lacking, [TASKS, "join:"])
            beside = {i: {n: loaded(s.kind, s.data) for n, s in found.items()} for i, found in stored.items()}
        told = {str(row[1]): told_by(metadata_of(row[2])) for row in rows if row[1]}
        routed = await self._routed(thread, ns, [row for row in rows if heads[str(row[0])] is None])
        return [
            info_of(row, heads[i], beside.get(i, {}), told.get(i) or routed.get(i), signals.get(i))
            for row, i in ((row, str(row[0])) for row in rows)
        ]

    async def _routed(self, thread: str, ns: str, rows: Sequence[Row]) -> Mapping[str, Sequence[str]]:
        """Return what is next at checkpoints too large for a list, from what the tasks before them wrote."""
        parents = {str(row[0]): str(row[1]) for row in rows if row[1]}
        if not parents:
            return {}
        place = {"thread": thread, "ns": ns, "ids": self._database.ids(sorted(set(parents.values())))}
        written: dict[str, dict[str, list[Any]]] = {}
        for parent, channel, kind, data in await self._database.rows(self._sql.routes, place):
            value = loaded(kind, data) if channel == TASKS else None
            written.setdefault(str(parent), {}).setdefault(str(channel), []).append(value)
        return {i: next_nodes(written[parent]) for i, parent in parents.items() if parent in written}

    # State -------------------------------------------------------------------------------------------------------

    async def moment(self, thread: str, ns: str, checkpoint_id: str) -> FullCheckpoint:
        """Return a thread as it was at a checkpoint.

        Raises:
            UnknownName: there is no such checkpoint.
            BadInput: it can't be read: encrypted, a pickle, damaged.
            StorageError: the store can't be read.
        """
        found, beside = await self._database.whole(thread, ns, checkpoint_id)
        if found is None:
            raise UnknownName(Message("No checkpoint {} in thread {}.", _quoted(checkpoint_id), _quoted(thread)))
        notes: list[str] = []
        try:
            checkpoint = await asyncio.to_thread(value_decoder.load, found.kind, found.data)
        except value_decoder.Unreadable as error:
            raise BadInput(Message("Checkpoint {} can't be read: {}.", _quoted(checkpoint_id), error)) from error
        values = dict(channels_of(checkpoint))
        for channel, stored in beside.items():
            try:
                values[channel] = await asyncio.to_thread(value_decoder.load, stored.kind, stored.data)
            except value_decoder.Unreadable as error:
                values[channel] = {value_decoder.TYPE: "unreadable", "why": error.args[0]}
                notes.append(Message("{} can't be read: {}.", _quoted(channel), error))
        values_of = {"thread": thread, "ns": ns, "id": checkpoint_id, "most": 0}
        rows = await self._database.rows(self._sql.one, values_of)
        metadata = metadata_of(rows[0][2]) if rows else {}
        ordered = await self._rebuilder.rebuild(
            thread, ns, checkpoint_id, values, delta_channels(values, metadata), notes
        )
        writes = await self._writes(thread, ns, checkpoint_id, notes)
        sends = sent_to(ordered.get(TASKS))
        edges = old_edges(checkpoint, ordered) if isinstance(checkpoint, Mapping) else ()
        control = {k for k in ordered if is_internal(k)} | set(edges)
        return FullCheckpoint(
            checkpoint_id=checkpoint_id,
            values={k: v for k, v in ordered.items() if k not in control},
            internal={k: v for k, v in ordered.items() if k in control},
            next=await self._told(thread, ns, checkpoint_id, metadata) or next_nodes(ordered),
            questions=tuple(questions_of(writes, sends)),
            tasks=tuple(tasks_of(writes, sends)),
            metadata=metadata,
            at=timestamp_of(checkpoint_id, checkpoint),
            notes=tuple(notes),
        )

    async def _told(self, thread: str, ns: str, checkpoint_id: str, metadata: JsonObject) -> tuple[str, ...]:
        """Return what ran from a checkpoint as the one after it tells, in stores from when it did."""
        if "writes" not in metadata:
            return ()
        place = {"thread": thread, "ns": ns, "id": checkpoint_id, "most": 0}
        following = await self._database.rows(self._sql.children, place)
        rows = await self._database.rows(self._sql.one, {**place, "id": str(following[0][0])}) if following else []
        return told_by(metadata_of(rows[0][2])) if rows else ()

    async def _writes(self, thread: str, ns: str, checkpoint_id: str, notes: list[str]) -> list[ChannelWrite]:
        values = {"thread": thread, "ns": ns, "id": checkpoint_id, "limit": _MOST_WRITES + 1}
        rows = await self._database.rows(self._sql.writes, values)
        if len(rows) > _MOST_WRITES:
            notes.append(
                Message("It has more than {} writes of its tasks; the others are left out.", f"{_MOST_WRITES:,}")
            )
        return [write_of(row) for row in rows[:_MOST_WRITES]]

    async def close(self) -> None:
        """Close the store; may be called again."""
        await self._database.close()


@asynccontextmanager
async def open_store(address: str) -> AsyncIterator[ThreadStore]:
    """Open a checkpoint store for reading.

    Args:
        address: a SQLite file's path, `sqlite://…`, or `postgresql://…`.

    Raises:
        BadInput: there is none there, or it can't be read; nothing was changed.
    """
    store = ThreadStore(await open_database(address))
    try:
        yield store
    finally:
        await store.close()


async def open_database(address: str) -> StoreDatabase:
    """Open the store at an address. Raises as `open_store` does."""
    from hitl_tui.config.postgres_address import SCHEMES
    from hitl_tui.threads.postgres_store import PostgresDatabase

    if address.startswith(SCHEMES):
        return await PostgresDatabase.open(address)
    try:
        from hitl_tui.threads.sqlite_store import SqliteDatabase
    except ImportError as error:
        raise BadInput(Message("This Python was built without SQLite, so no file can be opened.")) from error
    return await SqliteDatabase.open(file_of(address))


def file_of(address: str) -> Path:
    """Return the file that an address names.

    Args:
        address: a path, or `sqlite:///relative/path` and `sqlite:////absolute/path`, as elsewhere.

    Raises:
        BadInput: it names something else.
    """
    if not address.strip():
        raise BadInput(Message("Which database? Give a SQLite file or postgresql://user@host/database."))
    scheme, _, rest = address.partition("://")
    if scheme == "sqlite":
        address = rest.removeprefix("/")
    elif rest and scheme.isalnum():
        shown = one_line(safe_text(scheme, multiline=False), 40)
        raise BadInput(Message('Can\'t read "{}://"; give a SQLite file or postgresql://….', shown))
    return given_path(address)


def _quoted(text: str) -> str:
    return f'"{one_line(safe_text(text, multiline=False), 60)}"'
