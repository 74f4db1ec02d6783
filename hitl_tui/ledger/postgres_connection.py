"""Connecting to the PostgreSQL database that sessions and their record are kept in, and what failures of it mean.

Nothing of PostgreSQL is imported before an address is given.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from hitl_tui.config.extras import install_help
from hitl_tui.config.postgres_address import server_words, shown_address
from hitl_tui.core.errors import BadInput, HitlError, ServerAway, StorageError
from hitl_tui.core.messages import Message

if TYPE_CHECKING:
    import psycopg

SCHEMA = "hitl_tui"
"""Where all tables are, apart from what else is in the database."""

PATIENCE = 10.0
"""Seconds in which a transaction is tried again that others were faster than, or that the connection was lost in."""

_OLDEST = 130000
"""The first version of PostgreSQL that tells a transaction's number and what became of it."""

OPTIONS: Mapping[str, str | int] = MappingProxyType(
    {
        "application_name": "hitl-tui",
        "connect_timeout": 5,
        "keepalives": 1,
        "keepalives_idle": 10,
        "keepalives_interval": 5,
        "keepalives_count": 3,
        "tcp_user_timeout": 20_000,
    }
)
"""What each connection is made with."""

# A commit counts once it is on the disk, whatever the server's default is; what others hold isn't waited for for ever.
# The server, too, looks whether the other side is there: a machine without power says no farewell, and may hold locks.
_SESSION = f"""SELECT set_config('search_path', '{SCHEMA}', false), set_config('lock_timeout', '10s', false),
    set_config('idle_in_transaction_session_timeout', '60s', false), set_config('jit', 'off', false),
    set_config('tcp_keepalives_idle', '{OPTIONS["keepalives_idle"]}', false),
    set_config('tcp_keepalives_interval', '{OPTIONS["keepalives_interval"]}', false),
    set_config('tcp_keepalives_count', '{OPTIONS["keepalives_count"]}', false),
    set_config('tcp_user_timeout', '{OPTIONS["tcp_user_timeout"]}', false),
    CASE WHEN current_setting('synchronous_commit') = 'off' THEN set_config('synchronous_commit', 'on', false) END"""

_ABOUT = """SELECT pg_backend_pid(), pg_is_in_recovery(), current_setting('default_transaction_read_only'),
    current_setting('server_version_num')::int"""


def driver() -> Any:
    """Return psycopg.

    Raises:
        BadInput: it isn't installed.
    """
    try:
        import psycopg
    except ImportError as error:
        raise BadInput(
            Message("PostgreSQL needs a driver that isn't installed."), help=install_help("postgres")
        ) from error
    return psycopg


def connect(address: str) -> psycopg.Connection[Any]:
    """Return a connection in autocommit mode whose statements mean our tables.

    Raises:
        BadInput: the driver is missing, or the address isn't one.
        StorageError: the server can't be reached, refuses, or can't be used.
    """
    pg = driver()
    try:
        connection: psycopg.Connection[Any] = pg.connect(address, autocommit=True, **OPTIONS)
    except pg.Error as error:
        raise explained(error, address) from None
    try:
        connection.execute(_SESSION)
        row = connection.execute(_ABOUT).fetchone()
        assert row is not None
        check_server(row, address)
        if row[0] != connection.info.backend_pid:
            _check_pooler(connection, address)
    except pg.Error as error:
        connection.close()
        raise explained(error, address) from None
    except BaseException:
        connection.close()
        raise
    return connection


async def prepare_connection(connection: psycopg.AsyncConnection[Any]) -> None:
    """Let the statements of a connection that somebody else made mean our tables."""
    await connection.execute(_SESSION)
    await connection.commit()


async def connect_alone(address: str) -> psycopg.AsyncConnection[Any]:
    """Return a connection as `connect` does, for the event loop; it was looked at by `connect` before.

    Raises:
        StorageError: the server can't be reached, or refuses.
    """
    pg = driver()
    try:
        connection: psycopg.AsyncConnection[Any] = await pg.AsyncConnection.connect(
            address, autocommit=True, row_factory=pg.rows.dict_row, **OPTIONS
        )
        await connection.execute(_SESSION)
    except pg.Error as error:
        raise explained(error, address) from None
    return connection


def check_server(about: tuple[int, bool, str, int], address: str) -> None:
    """Refuse a server that can't keep what is written.

    Raises:
        StorageError: it is a replica, read-only, or too old.
    """
    _, replica, read_only, version = about
    where = shown_address(address)
    if replica or read_only == "on":
        raise _read_only(where)
    if version < _OLDEST:
        raise StorageError(Message("{} runs PostgreSQL {}; version 13 or newer is needed.", where, version // 10_000))


def _read_only(where: str) -> StorageError:
    return StorageError(Message("{} is read-only, as a replica is: nothing can be recorded there.", where))


def _check_pooler(first: psycopg.Connection[Any], address: str) -> None:
    """Refuse a pooler that gives a connection's server to others between transactions.

    Who holds a lock there isn't who writes: the lock stays with the server, and somebody else writes through it.

    Raises:
        StorageError: it does.
    """
    where = shown_address(address)
    refusal = StorageError(
        Message(
            "{} is a pooler in transaction mode: a lock that is held through it doesn't keep others from writing. "
            "Name the server itself, or use the pooler's session mode.",
            where,
        )
    )
    try:
        with driver().connect(address, autocommit=True, **OPTIONS) as second:
            for _ in range(4):
                before = _pid(first)
                second.execute("BEGIN")
                other = _pid(second)
                after = _pid(first)
                second.execute("ROLLBACK")
                if other == before or before != after:
                    raise refusal
    except driver().OperationalError as error:
        raise explained(error, address) from None


def _pid(connection: psycopg.Connection[Any]) -> int:
    row = connection.execute("SELECT pg_backend_pid()").fetchone()
    assert row is not None
    return int(row[0])


def lock_number(name: str) -> int:
    """Return the number of the lock that has a name: such as the server takes, and hardly ever another's."""
    return int.from_bytes(hashlib.sha256(f"hitl-tui {name}".encode()).digest()[:8], "big", signed=True)


def holder_name(pid: int, holder: str) -> str:
    """Return what a connection that owns a session is called on the server, where whoever looks sees who holds it.

    Args:
        pid: the process.
        holder: what people call it, such as `w1@host`.
    """
    return f"{OPTIONS['application_name']} {pid} {holder}".encode("ascii", "replace").decode()[:63]


def is_lost(error: Exception) -> bool:
    """Tell whether a failure is one of the connection or of the server as a whole, which may be back soon."""
    pg = driver()
    lost = (
        pg.errors.AdminShutdown,
        pg.errors.CrashShutdown,
        pg.errors.CannotConnectNow,
        pg.errors.ConnectionException,
        pg.errors.IdleInTransactionSessionTimeout,
    )
    if isinstance(error, lost):
        return True
    # What the server itself refused has a code.
    return isinstance(error, pg.OperationalError | pg.InterfaceError) and error.sqlstate is None


def explained(error: Exception, address: str) -> HitlError:
    """Return the one sentence for a failure of the server or of the way to it."""
    pg = driver()
    where, said = shown_address(address), server_words(error, address)
    if isinstance(error, pg.errors.ReadOnlySqlTransaction):
        return _read_only(where)
    if isinstance(error, pg.errors.InsufficientPrivilege | pg.errors.InvalidSchemaName):
        if isinstance(error, pg.errors.InvalidSchemaName):
            said = Message("the schema {} is somebody else's", SCHEMA)
        return StorageError(
            Message("The user of {} may not do what is needed: {}.", where, said),
            help=Message('An administrator of the database can let it: CREATE SCHEMA {} AUTHORIZATION "USER"', SCHEMA),
        )
    if isinstance(error, pg.errors.DiskFull):
        return StorageError(Message("Disk full: the server {} can't write. Make room there, then look first.", where))
    if isinstance(error, pg.errors.QueryCanceled | pg.errors.LockNotAvailable):
        return StorageError(Message("{} took too long: nothing was written; try again.", where))
    if isinstance(error, pg.errors.InvalidAuthorizationSpecification) or "password" in said:
        return StorageError(
            Message("{} refuses: {}.", where, said),
            help=Message("The password comes from PGPASSWORD, ~/.pgpass or a service file."),
        )
    if is_lost(error):
        return ServerAway(Message("{} can't be reached: {}.", where, said))
    return StorageError(Message("{} can't be used: {}.", where, said))
