"""A PostgreSQL checkpoint store, read in transactions that can't write."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from hitl_tui.config.extras import install_help
from hitl_tui.config.postgres_address import port_of, server_words, shown_address
from hitl_tui.core.errors import BadInput, StorageError
from hitl_tui.core.messages import Message
from hitl_tui.threads.store_tables import Dialect, Row, StoredCheckpoint, Values
from hitl_tui.threads.thread_model import StoreInfo

if TYPE_CHECKING:
    import psycopg

_PATIENCE = 10
"""Seconds that connecting and one statement may take."""
_KNOWN = 9
"""The newest migration of LangGraph's tables that was seen here."""
_PARAMETER = re.compile(r"(?<![:\w]):([a-z_]+)\b")

# LIMIT keeps the server at one look into the key for each channel; a join would read all blobs of the thread each time.
_BLOBS = """FROM jsonb_each_text(c.checkpoint -> 'channel_versions') v CROSS JOIN LATERAL (
    SELECT b.* FROM checkpoint_blobs b WHERE b.thread_id = c.thread_id AND b.checkpoint_ns = c.checkpoint_ns
    AND b.channel = v.key AND b.version = v.value LIMIT 1) b WHERE b.type <> 'empty'"""

_INPUTS = f"""SELECT c.thread_id, b.type, b.blob
    FROM unnest(CAST(:threads AS text[]), CAST(:ids AS text[])) AS p(thread, id)
    JOIN checkpoints c ON c.thread_id = p.thread AND c.checkpoint_ns = '' AND c.checkpoint_id = p.id
    CROSS JOIN LATERAL (SELECT b.type, b.blob {_BLOBS} AND b.channel = '__start__' AND length(b.blob) <= 1000000) b"""  # noqa: S608

_HEAD = f"""'json', CAST(jsonb_build_object('v', c.checkpoint -> 'v', 'ts', c.checkpoint -> 'ts', 'channel_values',
    coalesce((SELECT jsonb_object_agg(k, NULL) FROM jsonb_object_keys(
        CASE jsonb_typeof(c.checkpoint -> 'channel_values') WHEN 'object' THEN c.checkpoint -> 'channel_values'
        ELSE '{{}}' END) k), '{{}}') || coalesce((SELECT jsonb_object_agg(b.channel, NULL) {_BLOBS}), '{{}}')) AS text),
    pg_column_size(c.checkpoint)"""  # noqa: S608


class PostgresDatabase:
    """An open PostgreSQL store; `open` makes one."""

    def __init__(self, connection: psycopg.AsyncConnection[Row], uri: str, info: StoreInfo, dialect: Dialect) -> None:
        self._connection = connection
        self._uri = uri
        self._info = info
        self._dialect = dialect
        self._lock = asyncio.Lock()

    @property
    def info(self) -> StoreInfo:
        return self._info

    @property
    def dialect(self) -> Dialect:
        return self._dialect

    @classmethod
    async def open(cls, uri: str) -> PostgresDatabase:
        """Connect.

        Args:
            uri: `postgresql://…`; libpq's environment variables and password file count, too.

        Raises:
            BadInput: it can't be reached, refuses, or has no tables of LangGraph's; nothing is changed.
        """
        connection = await _connect(uri)
        found = cls(connection, uri, StoreInfo("PostgreSQL", shown_address(uri)), _dialect(""))
        try:
            notes, path = await found._schema()
        except BaseException:
            await found.close()
            raise
        found._info = StoreInfo("PostgreSQL", shown_address(uri), notes)
        found._dialect = _dialect(path)
        return found

    def ids(self, texts: Sequence[str]) -> Any:
        return list(texts)

    async def rows(self, sql: str, values: Values) -> list[Row]:
        import psycopg

        statement = _PARAMETER.sub(r"%(\1)s", sql.replace("%", "%%"))
        # A text parameter with a NUL can stand in no row.
        if any(isinstance(v, str) and "\0" in v for v in values.values()):
            return []
        async with self._lock:
            try:
                if self._connection.closed:
                    self._connection = await _connect(self._uri)
                async with self._connection.transaction():
                    cursor = await self._connection.execute(statement, dict(values))
                    return list(await cursor.fetchall())
            except psycopg.Error as error:
                raise self._explained(error) from None

    def _explained(self, error: Exception) -> StorageError:
        import psycopg

        where = self._info.name
        if isinstance(error, psycopg.errors.QueryCanceled):
            return StorageError(Message("{} took longer than {} s to answer.", where, _PATIENCE))
        if isinstance(error, psycopg.errors.InsufficientPrivilege):
            return StorageError(
                Message("The user of {} may not read LangGraph's tables: {}.", where, server_words(error, self._uri))
            )
        if isinstance(error, psycopg.OperationalError):
            return StorageError(Message("The connection to {} was lost: {}.", where, server_words(error, self._uri)))
        return StorageError(Message("{} can't be read: {}.", where, server_words(error, self._uri)))

    async def _schema(self) -> tuple[tuple[str, ...], str]:
        try:
            return await self._read_schema()
        except StorageError as error:
            raise BadInput(error.message) from error

    async def _read_schema(self) -> tuple[tuple[str, ...], str]:
        where = self._info.name
        columns: dict[str, set[str]] = {}
        rows = await self.rows(
            "SELECT c.relname, c.relkind, a.attname FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid"
            " WHERE a.attnum > 0 AND NOT a.attisdropped AND pg_table_is_visible(c.oid)"
            " AND c.relname IN ('checkpoints', 'checkpoint_blobs', 'checkpoint_writes', 'checkpoint_migrations')",
            {},
        )
        for name, kind, column in rows:
            if _text(kind) not in ("r", "p"):
                raise BadInput(
                    Message("{} has {} as something else than a table, which could run code.", where, _text(name))
                )
            columns.setdefault(_text(name), set()).add(_text(column))
        if missing := [n for n in ("checkpoints", "checkpoint_blobs", "checkpoint_writes") if n not in columns]:
            raise BadInput(
                Message("{} has no table {}: it isn't a LangGraph checkpoint store.", where, ", ".join(missing))
            )
        if "checkpoint_id" not in columns["checkpoints"]:
            raise BadInput(Message("{} was written by the shallow saver, which keeps no history.", where))
        wanted = {"checkpoint_blobs": {"version", "type", "blob"}, "checkpoint_writes": {"task_id", "channel", "blob"}}
        for table, names in wanted.items():
            if lacking := names - columns[table]:
                raise BadInput(
                    Message("{} has {} in a form that isn't known here: without {}.", where, table, sorted(lacking)[0])
                )
        notes = await self._newer() if "checkpoint_migrations" in columns else ()
        return notes, "task_path" if "task_path" in columns["checkpoint_writes"] else "''"

    async def _newer(self) -> tuple[str, ...]:
        """Return a note when the tables are newer than what is known here."""
        try:
            ((version,),) = await self.rows("SELECT coalesce(max(v), 0) FROM checkpoint_migrations", {})
        except StorageError:  # who may only read the checkpoints may read them
            return ()
        known = version <= _KNOWN
        return (
            ()
            if known
            else (Message("Its tables are newer (version {}) than what is known here ({}).", version, _KNOWN),)
        )

    async def whole(
        self, thread: str, ns: str, checkpoint_id: str
    ) -> tuple[StoredCheckpoint | None, Mapping[str, StoredCheckpoint]]:
        place = {"thread": thread, "ns": ns, "id": checkpoint_id}
        found = await self.rows(
            "SELECT CAST(checkpoint AS text) FROM checkpoints WHERE thread_id = :thread AND checkpoint_ns = :ns"
            " AND checkpoint_id = :id",
            place,
        )
        if not found:
            return None, {}
        beside = await self.channels(thread, ns, [checkpoint_id], [""])
        return StoredCheckpoint("json", found[0][0]), beside.get(checkpoint_id, {})

    async def channels(
        self, thread: str, ns: str, checkpoint_ids: Sequence[str], like: Sequence[str]
    ) -> Mapping[str, Mapping[str, StoredCheckpoint]]:
        rows = await self.rows(
            f"SELECT c.checkpoint_id, b.channel, b.type, b.blob FROM checkpoints c, LATERAL (SELECT b.* {_BLOBS}) b"  # noqa: S608
            " WHERE c.thread_id = :thread AND c.checkpoint_ns = :ns AND c.checkpoint_id = ANY(CAST(:ids AS text[]))"
            " AND b.channel LIKE ANY(CAST(:names AS text[]))",
            {
                "thread": thread,
                "ns": ns,
                "ids": list(checkpoint_ids),
                "names": [name.replace("\\", "\\\\").replace("_", "\\_").replace("%", "\\%") + "%" for name in like],
            },
        )
        found: dict[str, dict[str, StoredCheckpoint]] = {}
        for checkpoint_id, channel, kind, blob in rows:
            found.setdefault(str(checkpoint_id), {})[str(channel)] = StoredCheckpoint(str(kind), blob)
        return found

    async def inputs(self, places: Sequence[tuple[str, str]]) -> Mapping[str, StoredCheckpoint]:
        rows = await self.rows(_INPUTS, {"threads": [t for t, _ in places], "ids": [i for _, i in places]})
        return {str(thread): StoredCheckpoint(str(kind), blob) for thread, kind, blob in rows}

    async def close(self) -> None:
        await self._connection.close()


def _dialect(task_path: str) -> Dialect:
    return Dialect(
        checkpoints="checkpoints",
        writes="(SELECT thread_id, checkpoint_ns, checkpoint_id, task_id, "  # noqa: S608
        f"{task_path or chr(39) * 2} AS task_path, idx, channel, type, blob AS value FROM checkpoint_writes)",
        head=_HEAD,
        ids="(SELECT unnest(CAST(:ids AS text[])) AS id)",
    )


async def _connect(uri: str) -> psycopg.AsyncConnection[Row]:
    try:
        import psycopg
    except ImportError as error:
        raise BadInput(
            Message("PostgreSQL needs a driver that isn't installed."), help=install_help("postgres")
        ) from error
    where = shown_address(uri)
    try:
        psycopg.conninfo.conninfo_to_dict(uri)
        port_of(uri)
    except (psycopg.Error, ValueError):
        raise BadInput(
            Message("{} isn't the address of a PostgreSQL server.", where),
            help=Message("It looks like postgresql://user@host:5432/database."),
        ) from None
    try:
        async with asyncio.timeout(_PATIENCE):
            connection = await psycopg.AsyncConnection.connect(
                uri, autocommit=False, prepare_threshold=None, connect_timeout=_PATIENCE
            )
    except TimeoutError:
        raise BadInput(Message("{} did not answer within {} s.", where, _PATIENCE)) from None
    except psycopg.OperationalError as error:
        raise BadInput(Message("{} can't be opened: {}.", where, server_words(error, uri))) from None
    try:
        await connection.set_read_only(True)
        await connection.execute("SET default_transaction_read_only = on")
        await connection.execute(f"SET statement_timeout = {_PATIENCE * 1000}")
        await connection.execute("SET idle_in_transaction_session_timeout = 60000")
        # Planning for the largest thread it could be, the server compiles statements for longer than they run.
        await connection.execute("SELECT set_config(name, 'off', false) FROM pg_settings WHERE name = 'jit'")
        await connection.commit()
    except psycopg.Error as error:
        await connection.close()
        raise BadInput(Message("{} can't be opened: {}.", where, server_words(error, uri))) from None
    return connection


def _text(value: Any) -> str:
    return value.decode() if isinstance(value, bytes) else str(value)
