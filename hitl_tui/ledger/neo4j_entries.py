"""Entries as nodes of a Neo4j database, and beside them, in the same transaction, views of them for others to query.

`stream#n` is a unique key, so of two writers of one number one succeeds. Every value is a parameter of a statement
that is written here or in a projection.
"""

from __future__ import annotations

import asyncio
import atexit
import json
import logging
import random
import re
import secrets
import threading
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, LiteralString, NoReturn, Protocol, TypeVar
from urllib.parse import urlsplit

from hitl_tui.config.extras import install_help
from hitl_tui.core.errors import BadInput, StorageError
from hitl_tui.core.messages import Message
from hitl_tui.core.safe_text import one_line
from hitl_tui.ledger.records import Entry
from hitl_tui.ledger.stream_ledger import Kept, StreamLedger

if TYPE_CHECKING:
    from neo4j import AsyncDriver, AsyncManagedTransaction, AsyncSession

T = TypeVar("T")
Row = Mapping[str, Any]

_TIMEOUT = 5.0
"""Seconds for a connection."""
_BUSY = 15.0
"""Seconds for trying again what failed for a passing reason, as where many write at once."""
_MIGRATIONS = 8
"""Tries to bring a database to this version while other processes do the same."""
_CHUNK = 1_000
"""Rows of a statement when views are built anew."""
_STORE = "hitl-tui"
_SCHEME = re.compile(r"(bolt|neo4j)(\+s|\+ssc)?")
_NO_URI = Message("NEO4J_URI can't be used: it is to be like {}.", "bolt://localhost:7687")

_SCHEMA: tuple[LiteralString, ...] = (
    "CREATE CONSTRAINT checkpoint_store_id IF NOT EXISTS FOR (s:CheckpointStore) REQUIRE s.id IS UNIQUE",
    "CREATE CONSTRAINT checkpoint_entry_key IF NOT EXISTS FOR (e:CheckpointEntry) REQUIRE e.key IS UNIQUE",
    "CREATE INDEX checkpoint_entry_stream IF NOT EXISTS FOR (e:CheckpointEntry) ON (e.stream, e.n)",
    "CREATE INDEX checkpoint_entry_order IF NOT EXISTS FOR (e:CheckpointEntry) ON (e.order)",
)
_VERSION: LiteralString = "MATCH (s:CheckpointStore {id: $id}) RETURN s.schema AS schema"
_BEGIN: LiteralString = "MERGE (s:CheckpointStore {id: $id}) SET s.entries = coalesce(s.entries, 0)"
# Writing to the node takes its lock, so that no entry comes between what is read and the views that are made of it.
_LOCK: LiteralString = "MATCH (s:CheckpointStore {id: $id}) SET s.builds = coalesce(s.builds, 0) + 1"
_DONE: LiteralString = "MATCH (s:CheckpointStore {id: $id}) SET s.schema = $schema"
# Counting takes the lock of one node until the transaction ends, so nobody sees a number before all lower ones.
_ADD: LiteralString = """
MATCH (s:CheckpointStore {id: $id, schema: $schema})
SET s.entries = s.entries + 1
WITH s
CREATE (e:CheckpointEntry {key: $key, stream: $stream, n: $n, kind: $kind, at: $at, text: $text, order: s.entries,
                           writer: $writer})
RETURN e.order AS order
"""
_FIELDS: LiteralString = "RETURN e.stream AS stream, e.n AS n, e.text AS text, e.order AS order"
_WRITER: LiteralString = "MATCH (e:CheckpointEntry {key: $key}) RETURN e.writer AS writer"
_STREAM: LiteralString = "MATCH (e:CheckpointEntry) WHERE e.stream = $stream AND e.n > $after " + _FIELDS
_NEW: LiteralString = "MATCH (e:CheckpointEntry) WHERE e.order > $order " + _FIELDS
_NAMES: LiteralString = "MATCH (e:CheckpointEntry) RETURN DISTINCT e.stream AS stream"


class Projection(Protocol):
    """What others may query, made of entries.

    Attributes:
        version: another number makes all views anew.
        schema: statements that make constraints and indexes, each harmless when repeated.
        statements: what writes views from `$rows`, in the order in which they build on each other.
    """

    version: int
    schema: Sequence[LiteralString]
    statements: Sequence[LiteralString]

    def rows(self, entry: Entry) -> Iterable[tuple[LiteralString, Row]]:
        """Return what an entry changes: statements and a row for each."""
        ...


@dataclass(frozen=True, slots=True)
class Neo4jServer:
    """Where a database is, and who asks.

    Args:
        uri: `bolt://…` or `neo4j://…`.
        user, password: both empty for a server that asks for none.
        database: its name; empty for the user's own.
    """

    uri: str
    user: str = ""
    password: str = ""
    database: str = ""

    def check(self) -> None:
        """Refuse what no driver can use.

        Raises:
            BadInput: it can't be an address, or a name or password isn't text.
        """
        try:
            parts = urlsplit(self.uri)
            usable = _SCHEME.fullmatch(parts.scheme) and (parts.hostname or "").encode("idna") and parts.port != 0
        except ValueError as error:
            raise BadInput(_NO_URI) from error
        if not usable:
            raise BadInput(_NO_URI)
        if not all(map(_encodable, (self.user, self.password, self.database))):
            raise BadInput(Message("NEO4J_USER, NEO4J_PASSWORD and NEO4J_DATABASE have to be UTF-8."))

    def __str__(self) -> str:
        """Return the address alone, with no name or password that somebody wrote into it."""
        try:
            parts = urlsplit(self.uri)
            port = f":{parts.port}" if parts.port else ""
        except ValueError:
            return "NEO4J_URI"
        return one_line(f"{parts.scheme}://{parts.hostname or ''}{port}", 120)


class Neo4jEntries:
    """The entries of one database.

    A driver belongs to an event loop, and who reads comes from several, or from none: it has one in a thread of its
    own. Where no loop runs, a coroutine waits in its first step.

    Args:
        server: where.
        projection: the views beside the entries.
    """

    poll = 0.2

    def __init__(self, server: Neo4jServer, projection: Projection) -> None:
        self._server, self._projection = server, projection
        self._lock = threading.Lock()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._driver: AsyncDriver | None = None
        self._ready = False
        self._migrating = asyncio.Lock()

    @classmethod
    @asynccontextmanager
    async def open(cls, server: Neo4jServer, projection: Projection) -> AsyncIterator[StreamLedger]:
        """Open the ledger that a database holds."""
        place = cls(server, projection)
        try:
            yield StreamLedger(place)
        finally:
            await asyncio.to_thread(place.close)

    async def read(self, stream: str, after: int) -> Sequence[Kept]:
        if not _encodable(stream):
            return ()
        found = await self._ask(_STREAM, {"stream": stream, "after": after})
        return sorted(found, key=lambda kept: kept.entry.n)

    async def stamp(self) -> int:
        return 0

    async def names(self) -> Sequence[str]:
        async def read(transaction: AsyncManagedTransaction) -> list[str]:
            return [str(record["stream"]) async for record in await transaction.run(_NAMES)]

        return await self._call(lambda session: session.execute_read(read))

    async def read_new(self, heads: Mapping[str, int], order: int) -> Sequence[Kept]:
        found = await self._ask(_NEW, {"order": order})
        found.sort(key=lambda kept: kept.order)
        return [kept for kept in found if kept.entry.n > heads.get(kept.entry.stream, 0)]

    async def add(self, entry: Entry) -> bool:
        if not _encodable(entry.stream):
            raise StorageError(Message("{} can't be kept in Neo4j: it holds half a character.", ascii(entry.stream)))
        return await self._call(lambda session: self._add(session, entry))

    def close(self) -> None:
        """End the connections; the next call opens new ones."""
        with self._lock:
            loop, driver = self._loop, self._driver
            self._loop = self._driver = None
        if loop is None:
            return
        atexit.unregister(self.close)
        if driver is not None:
            with suppress(TimeoutError, OSError):  # nothing waits for an answer, so nothing is lost with it
                asyncio.run_coroutine_threadsafe(driver.close(), loop).result(_TIMEOUT)
        loop.call_soon_threadsafe(loop.stop)

    # -------------------------------------------------------------------------------------------------- of its own

    async def _add(self, session: AsyncSession, entry: Entry) -> bool:
        from neo4j.exceptions import ConstraintError

        key = f"{entry.stream}#{entry.n}"
        values = {
            "id": _STORE,
            "schema": self._projection.version,
            "key": key,
            "stream": entry.stream,
            "n": entry.n,
            "kind": _plain(entry.kind),
            "at": _plain(entry.at),
            "text": json.dumps(entry.to_dict()),
            "writer": secrets.token_hex(8),
        }

        async def write(transaction: AsyncManagedTransaction) -> None:
            if await (await transaction.run(_ADD, values)).single() is None:
                await self._check_version(transaction)
                raise StorageError(
                    Message("{} lost the node that counts its entries; nothing was written.", self._server)
                )
            for statement, row in self._rows(entry):
                await _run(transaction, statement, {"rows": [row]})

        try:
            await session.execute_write(write)
        except ConstraintError:
            # A try whose answer was lost may have been written, and tried again by the driver.
            writer = await session.execute_read(_value, _WRITER, {"key": key})
            if writer is None:
                raise
            return bool(writer == values["writer"])
        return True

    async def _ask(self, statement: LiteralString, values: Row) -> list[Kept]:
        async def read(transaction: AsyncManagedTransaction) -> list[Kept]:
            return [_kept(record) async for record in await transaction.run(statement, dict(values))]

        return await self._call(lambda session: session.execute_read(read))

    async def _call(self, work: Callable[[AsyncSession], Awaitable[T]]) -> T:
        """Do something in the thread of the driver."""
        doing = asyncio.run_coroutine_threadsafe(self._in_session(work), self._running())
        try:
            asyncio.get_running_loop()
        except RuntimeError:
            return doing.result()
        return await asyncio.wrap_future(doing)

    def _running(self) -> asyncio.AbstractEventLoop:
        with self._lock:
            if self._loop is None:
                self._loop, self._migrating = asyncio.new_event_loop(), asyncio.Lock()
                threading.Thread(target=self._loop.run_forever, name="neo4j", daemon=True).start()
                atexit.register(self.close)
            return self._loop

    async def _in_session(self, work: Callable[[AsyncSession], Awaitable[T]]) -> T:
        try:
            from neo4j.exceptions import DriverError, Neo4jError
        except ImportError as error:
            raise StorageError(Message('Neo4j needs the extra "neo4j".'), help=install_help("neo4j")) from error
        if self._driver is None:
            self._driver = self._connected()
        try:
            async with self._driver.session(database=self._server.database or None) as session:
                async with self._migrating:
                    if not self._ready:
                        await self._migrate(session)
                        self._ready = True
                return await work(session)
        except (DriverError, Neo4jError, OSError) as error:
            self._tell(error)

    def _connected(self) -> AsyncDriver:
        from neo4j import AsyncGraphDatabase
        from neo4j.exceptions import DriverError

        logging.getLogger("neo4j").addHandler(logging.NullHandler())  # else it tells of each retry on its own
        server = self._server
        server.check()
        try:
            return AsyncGraphDatabase.driver(
                server.uri,
                auth=(server.user, server.password) if server.user or server.password else None,
                connection_timeout=_TIMEOUT,
                connection_acquisition_timeout=2 * _TIMEOUT,
                max_transaction_retry_time=_BUSY,
                initial_retry_delay=0.02,
                retry_delay_multiplier=1.3,
                retry_delay_jitter_factor=0.8,
                telemetry_disabled=True,
            )
        except (DriverError, ValueError) as error:
            raise BadInput(_NO_URI) from error

    async def _migrate(self, session: AsyncSession) -> None:
        """Bring the database to this version; repeating it changes nothing."""
        from neo4j.exceptions import ConstraintError

        for tries_left in reversed(range(_MIGRATIONS)):
            if await self._check_version(session):  # not tried again: who waits is told at once that there is no server
                return
            try:
                for statement in (*_SCHEMA, *self._projection.schema, _BEGIN):
                    await session.execute_write(_run, statement, {"id": _STORE})
                await self._build(session)
            except ConstraintError:  # another process made the same nodes at the same moment
                if not tries_left:
                    raise
                await asyncio.sleep(random.uniform(0.05, 0.3))  # noqa: S311 - so that they don't meet again

    async def _check_version(self, asked: AsyncSession | AsyncManagedTransaction) -> bool:
        """Return whether the database is at this version.

        Raises:
            StorageError: it is at a newer one, of which nothing is known here.
        """
        version = int(await _value(asked, _VERSION, {"id": _STORE}) or 0)
        if version > self._projection.version:
            raise StorageError(
                Message("The checkpoints at {} were written by a newer version of hitl-tui.", self._server)
            )
        return version == self._projection.version

    async def _build(self, session: AsyncSession) -> None:
        async def build(transaction: AsyncManagedTransaction) -> None:
            await _run(transaction, _LOCK, {"id": _STORE})
            kept = [_kept(record) async for record in await transaction.run(_NEW, {"order": 0})]
            kept.sort(key=lambda one: one.order)
            rows: dict[str, list[Row]] = {}
            for one in kept:
                for statement, row in self._rows(one.entry):
                    rows.setdefault(statement, []).append(row)
            for statement in self._projection.statements:
                wanted = rows.get(statement, [])
                for start in range(0, len(wanted), _CHUNK):
                    await _run(transaction, statement, {"rows": wanted[start : start + _CHUNK]})
            await _run(transaction, _DONE, {"id": _STORE, "schema": self._projection.version})

        await session.execute_write(build)

    def _rows(self, entry: Entry) -> list[tuple[LiteralString, Row]]:
        try:
            return [(statement, _plain(row)) for statement, row in self._projection.rows(entry)]
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise StorageError(
                Message('Entry {} of "{}" isn\'t a proper {}.', entry.n, entry.stream, entry.kind)
            ) from error

    def _tell(self, error: Exception) -> NoReturn:
        """Say in one sentence what the server or the way to it did; what it says itself may repeat a password."""
        from neo4j.exceptions import AuthError, ConstraintError, DriverError, Neo4jError

        server = self._server
        if isinstance(error, AuthError):
            said = Message("Neo4j at {} refuses the name or the password: NEO4J_USER, NEO4J_PASSWORD.", server)
        elif isinstance(error, ConstraintError):
            said = Message("Neo4j at {} holds nodes that a constraint forbids ({}).", server, error.code)
        elif isinstance(error, Neo4jError) and not isinstance(error, DriverError):
            said = Message("Neo4j at {} refused: {}.", server, error.code)
        else:
            said = Message("Neo4j at {} can't be reached ({}).", server, type(error).__name__)
        raise StorageError(said) from error


async def _run(transaction: AsyncManagedTransaction, statement: LiteralString, values: Row) -> None:
    await (await transaction.run(statement, dict(values))).consume()


async def _value(asked: AsyncSession | AsyncManagedTransaction, statement: LiteralString, values: Row) -> Any:
    """Return the only value that a statement gives; None for none."""
    found = await (await asked.run(statement, dict(values))).single()
    return None if found is None else found[0]


def _kept(record: Row) -> Kept:
    stream, n = str(record["stream"]), record["n"]
    try:
        entry = Entry(**json.loads(record["text"]))
        order = int(record["order"])
    except (ValueError, TypeError, RecursionError) as error:
        raise StorageError(
            Message('Entry {} of "{}" is damaged: it isn\'t an entry.', str(n), one_line(stream, 80))
        ) from error
    if (entry.stream, entry.n) != (stream, n):
        raise StorageError(
            Message('Entry {} of "{}" is damaged: it is an entry of another place.', str(n), one_line(stream, 80))
        )
    return Kept(entry, order)


def _encodable(text: str) -> bool:
    return not any("\ud800" <= letter <= "\udfff" for letter in text)


def _plain(value: Any) -> Any:
    """Return a value as a property can hold it: with no half of a character, which no database stores."""
    if isinstance(value, str):
        return value if _encodable(value) else value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    if isinstance(value, Mapping):
        return {key: _plain(part) for key, part in value.items()}
    return value
