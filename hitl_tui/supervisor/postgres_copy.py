"""Checkpoints between PostgreSQL and a file of ours: both ways, byte for byte, and nothing that they name is built.

A file keeps a checkpoint whole; LangGraph's tables keep each channel's value by the version it has. In a file versions
are numbers, which two branches of a session share; in the tables each gets what its value hashes to behind it.
"""

from __future__ import annotations

import json
import shutil
import sqlite3
from collections.abc import Mapping
from contextlib import closing
from hashlib import sha256
from pathlib import Path
from typing import Any

import ormsgpack

from hitl_tui.core.errors import StorageError
from hitl_tui.core.messages import Message
from hitl_tui.ledger.postgres_connection import connect, driver, explained
from hitl_tui.ledger.postgres_database import PostgresTransaction
from hitl_tui.ledger.sql_transaction import Row, Transaction
from hitl_tui.ledger.sqlite_readonly import read_connection
from hitl_tui.supervisor.postgres_sessions import DatabaseFolder, DatabaseSession
from hitl_tui.supervisor.storage import SessionFolder, SessionInfo
from hitl_tui.threads.packed_values import PLAIN, packed, unpacked
from hitl_tui.threads.row_checksums import CHECKPOINT_COLUMNS, COLUMN, WRITE_COLUMNS, checksum
from hitl_tui.threads.session_history import thread_of

_SNAPSHOT = 7
"""Code of the msgpack extension that holds a delta channel's whole value."""

_OPTIONS = ormsgpack.OPT_NON_STR_KEYS

_OF_SESSION = "(thread_id = ?1 OR substr(thread_id, 1, ?2) = ?3)"

_CHECKPOINTS = f"""SELECT thread_id, checkpoint_ns, checkpoint_id, parent_checkpoint_id, checkpoint, metadata
    FROM checkpoints WHERE {_OF_SESSION} ORDER BY checkpoint_id, thread_id, checkpoint_ns"""  # noqa: S608 - constants
_BLOBS = """SELECT b.channel, b.type, b.blob FROM jsonb_each_text(CAST(? AS jsonb)) v
    JOIN checkpoint_blobs b ON b.channel = v.key AND b.version = v.value
    WHERE b.thread_id = ? AND b.checkpoint_ns = ? AND b.type <> 'empty'"""
_WRITES = f"""SELECT thread_id, checkpoint_ns, checkpoint_id, task_id, task_path, idx, channel, type, blob
    FROM checkpoint_writes WHERE {_OF_SESSION}"""  # noqa: S608 - constants


def unload_checkpoints(session: DatabaseSession, target: Path) -> None:
    """Write a session's checkpoints as they are now into a file of ours that has the tables, and no rows yet.

    Raises:
        StorageError: they can't be read.
    """
    try:
        with closing(connect(session.address)) as connection, closing(sqlite3.connect(target)) as write:
            connection.execute("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
            db, of = PostgresTransaction(connection), _values(session.path.name)
            for row in db.execute(_CHECKPOINTS, of).fetchall():
                _insert(write, "checkpoints", CHECKPOINT_COLUMNS, _packed_checkpoint(db, row))
            for *place, channel, kind, blob in db.execute(_WRITES, of).fetchall():
                _insert(write, "writes", WRITE_COLUMNS, (*place, channel, *packed(kind, bytes(blob))))
            write.commit()
    except driver().Error as error:
        raise explained(error, session.address) from error
    except (sqlite3.Error, ValueError, TypeError, LookupError) as error:
        raise StorageError(
            Message("The checkpoints {} can't be copied: {}. Nothing was changed.", session.place, error)
        ) from error


def load_checkpoints(data: DatabaseFolder, session_id: str, source: Path) -> None:
    """Write the checkpoints of a file of ours into the database; all of it may be repeated.

    Raises:
        StorageError: they can't be read or written.
    """
    try:
        with closing(connect(data.address)) as connection, closing(read_connection(source)) as read:
            connection.execute("BEGIN")
            db = PostgresTransaction(connection)
            for row in read.execute(f"SELECT {CHECKPOINT_COLUMNS} FROM checkpoints ORDER BY rowid"):  # noqa: S608
                _put_checkpoint(db, row)
            for *place, kind, blob in read.execute(f"SELECT {WRITE_COLUMNS} FROM writes"):  # noqa: S608 - constants
                db.execute(
                    "INSERT INTO checkpoint_writes (thread_id, checkpoint_ns, checkpoint_id, task_id, task_path, idx,"
                    " channel, type, blob) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING",
                    (*place, *unpacked(kind, blob)),
                )
            connection.execute("COMMIT")
    except driver().Error as error:
        raise explained(error, data.address) from error
    except (sqlite3.Error, ValueError, TypeError, LookupError) as error:
        raise StorageError(Message("The checkpoints of {} can't be read: {}.", session_id, error)) from error


def _values(session_id: str) -> tuple[str, int, str]:
    runs = f"{session_id}/"
    return thread_of(session_id), len(runs), runs


def _insert(write: sqlite3.Connection, table: str, columns: str, row: Row) -> None:
    marks = ", ".join("?" * (len(row) + 1))
    write.execute(f"INSERT INTO {table} ({columns}, {COLUMN}) VALUES ({marks})", (*row, checksum(row)))  # noqa: S608


def _packed_checkpoint(db: Transaction, row: Row) -> Row:
    thread, ns, checkpoint_id, parent, checkpoint, metadata = row
    values = dict(checkpoint.get("channel_values") or {})
    versions = json.dumps(checkpoint.get("channel_versions") or {})
    for channel, kind, blob in db.execute(_BLOBS, (versions, thread, ns)).fetchall():
        values[channel] = _opened(kind, bytes(blob or b""))
    whole = ormsgpack.packb({**checkpoint, "channel_values": values}, option=_OPTIONS)
    details = json.dumps(metadata, ensure_ascii=False).encode("utf-8", "ignore")
    return (thread, ns, checkpoint_id, parent, *packed(PLAIN, whole), details)


def _opened(kind: str, blob: bytes) -> Any:
    """Return a value in which everything that isn't plain stays the bytes that it is."""
    match kind:
        case "null":
            return None
        case "bytes":
            return blob
        case "bytearray":
            return bytearray(blob)
        case "msgpack":
            return ormsgpack.unpackb(blob, ext_hook=ormsgpack.Ext, option=_OPTIONS)
    raise ValueError(Message("a value is kept as {}", kind))


def _put_checkpoint(db: Transaction, row: Row) -> None:
    thread, ns, checkpoint_id, parent, kind, blob, metadata = row
    kind, raw = unpacked(kind, blob)
    if kind != PLAIN:
        raise ValueError(Message("a value is kept as {}", kind))
    snapshots: list[object] = []

    def kept(code: int, data: bytes) -> ormsgpack.Ext:
        found = ormsgpack.Ext(code, data)
        if code == _SNAPSHOT:
            snapshots.append(found)
        return found

    whole: dict[str, Any] = ormsgpack.unpackb(raw, ext_hook=kept, option=_OPTIONS)
    values, versions = dict(whole.get("channel_values") or {}), dict(whole.get("channel_versions") or {})
    seen = {node: dict(of) for node, of in (whole.get("versions_seen") or {}).items()}
    for channel, value in list(values.items()):
        if value is None or isinstance(value, str | int | float | bool) or channel not in versions:
            continue
        packed_value = value if isinstance(value, bytes) else ormsgpack.packb(value, option=_OPTIONS)
        number = str(versions[channel])
        version = number if "." in number else f"{number}.{sha256(packed_value).hexdigest()[:16]}"
        for of in seen.values():
            if of.get(channel) == versions[channel]:
                of[channel] = version
        versions[channel] = version
        db.execute(
            "INSERT INTO checkpoint_blobs VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING",
            (thread, ns, channel, version, "bytes" if isinstance(value, bytes) else PLAIN, packed_value),
        )
        if any(value is found for found in snapshots):
            values[channel] = True
        else:
            del values[channel]
    stored = {**whole, "channel_values": values, "channel_versions": versions, "versions_seen": seen}
    db.execute(
        "INSERT INTO checkpoints (thread_id, checkpoint_ns, checkpoint_id, parent_checkpoint_id, checkpoint, metadata)"
        " VALUES (?, ?, ?, ?, CAST(? AS jsonb), CAST(? AS jsonb)) ON CONFLICT DO NOTHING",
        (thread, ns, checkpoint_id, parent, json.dumps(_plain(stored)), bytes(metadata or b"{}").decode()),
    )


def _plain(value: Any) -> Any:
    """Return what JSON can hold; a checkpoint outside its values is nothing else, but for tuples.

    Raises:
        ValueError: something else is in it.
    """
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    if value is None or isinstance(value, str | int | float | bool):
        return value
    raise ValueError(Message("a checkpoint holds a {}", type(value).__name__))


def load_session(data: DatabaseFolder, folder: Path, info: SessionInfo) -> None:
    """Make a session of a folder that has all of it; whoever opens it finds it whole.

    Raises:
        BadInput: there is one already; StorageError: it can't be read or written.
    """
    made = SessionFolder(folder)
    graphs, settings = made.graphs(), made.graph_settings()
    target = DatabaseSession(data, info.id)
    results = target.artifacts()
    for digest, path in made.artifacts().files().items():
        results.keep_bytes(digest, path.read_bytes())
    if made.has_checkpoints():
        load_checkpoints(data, info.id, made.checkpoints)
    folder.rename(target.path)  # what belongs to this machine: ancestors' streams, what its teams said
    for name in ("checkpoints.db", "session.json", "graphs.json"):
        (target.path / name).unlink(missing_ok=True)
    shutil.rmtree(target.path / "artifacts", ignore_errors=True)
    data.begin(info, graphs, settings)
