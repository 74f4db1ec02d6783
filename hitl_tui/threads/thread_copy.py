"""Copying a thread of a store into a SQLite file of our own, where its graph can continue.

Values go over as they were stored, byte for byte, so that the graph finds its own types again. The copy ends at the
checkpoint that is wanted: what came after it, and branches that were left, stay behind.
"""

from __future__ import annotations

import asyncio
import json
import sqlite3
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import ormsgpack

from hitl_tui.config.atomic_files import make_private
from hitl_tui.core.errors import StorageError, UnknownName
from hitl_tui.core.messages import Message
from hitl_tui.core.safe_text import one_line, safe_text
from hitl_tui.threads.row_checksums import CHECKPOINT_COLUMNS, COLUMN, WRITE_COLUMNS, checksum, prepare
from hitl_tui.threads.store_tables import Row, StoreDatabase, StoredCheckpoint, statements
from hitl_tui.threads.stored_rows import metadata_of

MOST = 100_000
"""Checkpoints that are copied at most."""
_BATCH = 50


async def copy_thread(database: StoreDatabase, thread: str, checkpoint_id: str, target: Path) -> int:
    """Copy a thread up to a checkpoint into a new file; return how many checkpoints were copied.

    Where more had happened after the checkpoint, what ran from it is left out: the graph runs that, and asks, again.

    Args:
        database: the store.
        thread: the thread's id.
        checkpoint_id: its last checkpoint in the copy.
        target: a file that isn't there yet.

    Raises:
        UnknownName: there is no such checkpoint.
        StorageError: the store can't be read, or the file not written; then there is no file.
    """
    copier = _Copier(database, thread)
    chain = await copier.chain(checkpoint_id)
    goes_on = await copier.goes_on(checkpoint_id)
    try:
        connection = await asyncio.to_thread(_created, target)
    except (sqlite3.Error, OSError) as error:
        why = error.strerror if isinstance(error, OSError) else error
        raise StorageError(Message("{} can't be created: {}.", _shown(str(target)), why)) from error
    try:
        return await copier.copy(connection, chain, "" if not goes_on else checkpoint_id)
    except sqlite3.Error as error:
        await asyncio.to_thread(_gone, connection, target)
        raise StorageError(Message("{} can't be written: {}.", _shown(str(target)), error)) from error
    except BaseException:
        await asyncio.to_thread(_gone, connection, target)
        raise
    finally:
        await asyncio.to_thread(connection.close)


class _Copier:
    def __init__(self, database: StoreDatabase, thread: str) -> None:
        self._database = database
        self._sql = statements(database.dialect)
        self._thread = thread

    async def chain(self, checkpoint_id: str) -> list[str]:
        """Return a checkpoint and all that it came from, newest first."""
        found = [checkpoint_id]
        place = {"thread": self._thread, "ns": "", "id": checkpoint_id, "most": 0, "steps": _BATCH}
        if not await self._database.rows(self._sql.one, place):
            raise UnknownName(Message("No checkpoint {} in thread {}.", _shown(checkpoint_id), _shown(self._thread)))
        seen = {checkpoint_id}
        while len(found) <= MOST:
            rows = await self._database.rows(self._sql.walk, {**place, "id": found[-1]})
            fresh = [str(row[0]) for row in rows if str(row[0]) not in seen]
            found += fresh
            seen.update(fresh)
            if not fresh:
                return found
        raise StorageError(
            Message("Thread {} has more than {} checkpoints: too many to copy.", _shown(self._thread), f"{MOST:,}")
        )

    async def goes_on(self, checkpoint_id: str) -> bool:
        """Return whether anything came from a checkpoint."""
        place = {"thread": self._thread, "ns": "", "id": checkpoint_id}
        return bool(await self._database.rows(self._sql.children, place))

    async def copy(self, connection: sqlite3.Connection, chain: Sequence[str], again: str) -> int:
        """Copy checkpoints and writes.

        Args:
            connection: the file.
            chain: checkpoints of the graph itself.
            again: the one from which everything runs again; empty for none.
        """
        allowed = set(chain) - {again}
        spaces = await self._database.rows(self._sql.namespaces, {"thread": self._thread, "limit": MOST})
        inside: dict[str, list[tuple[str, str]]] = {}
        for ns in (str(row[0]) for row in spaces if row[0]):
            for root, checkpoint_id in await self._all_in(ns, allowed):
                inside.setdefault(root, []).append((ns, checkpoint_id))
        # In the order they were written, which tells the newest: each with what ran from it in subgraphs.
        count = 0
        for checkpoint_id in reversed(chain):
            for ns, one in (("", checkpoint_id), *inside.get(checkpoint_id, ())):
                await self._copy_one(connection, ns, one, again)
                count += 1
        await asyncio.to_thread(connection.commit)
        return count

    async def _all_in(self, ns: str, allowed: set[str]) -> list[tuple[str, str]]:
        """Return the checkpoints of a subgraph that ran from these checkpoints of the graph: from which, and which."""
        found: list[tuple[str, str]] = []
        last = ""
        while True:
            place = {"thread": self._thread, "ns": ns, "than": last, "limit": 500, "most": 0}
            rows = await self._database.rows(self._sql.newer, place)
            for row in rows:
                parents = metadata_of(row[2]).get("parents")
                root = parents.get("") if isinstance(parents, Mapping) else None
                if root in allowed:
                    found.append((str(root), str(row[0])))
            if len(rows) < 500:
                return found
            last = str(rows[-1][0])

    async def _copy_one(self, connection: sqlite3.Connection, ns: str, checkpoint_id: str, again: str) -> None:
        place = {"thread": self._thread, "ns": ns, "id": checkpoint_id, "most": 0, "limit": MOST}
        (row,) = await self._database.rows(self._sql.one, place)
        stored, beside = await self._database.whole(self._thread, ns, checkpoint_id)
        if stored is None:
            raise StorageError(Message("Checkpoint {} was removed while it was copied.", _shown(checkpoint_id)))
        left = not ns and checkpoint_id == again
        writes = [] if left else await self._database.rows(self._sql.writes, place)
        await asyncio.to_thread(self._put, connection, ns, row, whole_of(stored, beside), writes)

    def _put(
        self, connection: sqlite3.Connection, ns: str, row: Row, stored: StoredCheckpoint, writes: Sequence[Row]
    ) -> None:
        metadata = row[2] if isinstance(row[2], (bytes, str)) or row[2] is None else json.dumps(row[2])
        checkpoint = (self._thread, ns, str(row[0]), row[1], stored.kind, stored.data, _bytes(metadata))
        connection.execute(
            f"INSERT INTO checkpoints ({CHECKPOINT_COLUMNS}, {COLUMN}) VALUES (?, ?, ?, ?, ?, ?, ?, ?)",  # noqa: S608 - constants
            (*checkpoint, checksum(checkpoint)),
        )
        rows = [(self._thread, ns, w[0], w[1], w[2] or "", w[3], w[4], w[5], w[6]) for w in writes]
        connection.executemany(
            f"INSERT INTO writes ({WRITE_COLUMNS}, {COLUMN}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",  # noqa: S608 - constants
            [(*row, checksum(row)) for row in rows],
        )


def whole_of(stored: StoredCheckpoint, beside: Mapping[str, StoredCheckpoint]) -> StoredCheckpoint:
    """Return a checkpoint with the values that lay beside it in it, each as it was written.

    Raises:
        StorageError: one of them is in a form that can't stand within a checkpoint.
    """
    if stored.kind != "json" or not isinstance(stored.data, str):
        return stored
    checkpoint = json.loads(stored.data)
    values = {k: _packed(v) for k, v in (checkpoint.get("channel_values") or {}).items()}
    for channel, found in beside.items():
        values[channel] = _raw(channel, found)
    rest = {k: _packed(v) for k, v in checkpoint.items() if k != "channel_values"}
    return StoredCheckpoint("msgpack", _map({**rest, "channel_values": _map(values)}))


def _raw(channel: str, stored: StoredCheckpoint) -> bytes:
    data = _bytes(stored.data) or b""
    if stored.kind == "msgpack":
        return data
    if stored.kind == "null":
        return _packed(None)
    if stored.kind in ("bytes", "bytearray"):
        return _packed(data)
    if stored.kind == "json":
        try:
            return _packed(json.loads(data))
        except ValueError as error:
            raise StorageError(Message("{} can't be copied: {}.", _shown(channel), error)) from error
    raise StorageError(
        Message("{} can't be copied: its format {} is never opened.", _shown(channel), _shown(str(stored.kind)))
    )


def _packed(value: object) -> bytes:
    return ormsgpack.packb(value, option=ormsgpack.OPT_NON_STR_KEYS)


def _map(parts: Mapping[str, bytes]) -> bytes:
    """Return a msgpack map of values that are packed already."""
    head = b"\xdf" + len(parts).to_bytes(4, "big")
    return head + b"".join(_packed(str(key)) + value for key, value in parts.items())


def _bytes(data: Any) -> bytes | None:
    if data is None:
        return None
    return data.encode("utf-8", "surrogatepass") if isinstance(data, str) else bytes(data)


def _created(target: Path) -> sqlite3.Connection:
    make_private(target.parent)
    with target.open("xb"):  # never over a file that is there
        pass
    target.chmod(0o600)
    connection = sqlite3.connect(target, check_same_thread=False)
    prepare(connection)
    return connection


def _gone(connection: sqlite3.Connection, target: Path) -> None:
    connection.close()
    target.unlink(missing_ok=True)


def _shown(text: str) -> str:
    return f'"{one_line(safe_text(text, multiline=False), 80)}"'
