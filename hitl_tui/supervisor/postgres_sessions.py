"""Sessions that are kept in a PostgreSQL database: what each is, its results, who owns it.

A folder of this machine stays beside: for settings of its account, what can be rebuilt, and what belongs to processes
that run here (locks that subprocesses inherit, the stream of what teams say).
"""

from __future__ import annotations

import asyncio
import json
import socket
from collections.abc import AsyncIterator, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, closing, contextmanager, suppress
from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hitl_tui.config.atomic_files import make_private
from hitl_tui.config.declared_graphs import GraphDeclaration, GraphSettings
from hitl_tui.config.postgres_address import shown_address
from hitl_tui.config.workspace_copy import WorkspaceCopy, workspace_copy
from hitl_tui.core.errors import BadInput, HitlError, SessionBusy, StorageError, UnknownName
from hitl_tui.core.messages import Message
from hitl_tui.core.names import some_of
from hitl_tui.ledger.postgres_connection import connect, lock_number
from hitl_tui.ledger.sql_transaction import Row
from hitl_tui.supervisor.checkpoint_file import StoredCheckpoints
from hitl_tui.supervisor.large_results import LargeResults
from hitl_tui.supervisor.session_overview import SessionOverview
from hitl_tui.supervisor.session_tables import SessionTables
from hitl_tui.supervisor.storage import (
    ArtifactStore,
    DataFolder,
    QueueFigures,
    SessionFacts,
    SessionFolder,
    SessionInfo,
    Whereabouts,
    check_session_id,
)
from hitl_tui.supervisor.wake_queue import WakeQueue
from hitl_tui.threads.session_history import thread_of

if TYPE_CHECKING:
    import psycopg

    from hitl_tui.supervisor.postgres_checkpoints import DatabaseSaver

LARGEST = 8 * 1024 * 1024
"""Bytes of a result that is kept in the database; larger ones lie in a place that is named."""


_AT_ONCE = 50
"""Threads, and results, of one transaction that removes some."""
_UNUSED = 3_600.0
"""Seconds for which a result that nobody refers to stays."""

_RUNS = "SELECT DISTINCT thread_id FROM checkpoints WHERE split_part(thread_id, '/', 1) = ?"

_HAND_ON = """INSERT INTO session_results
    SELECT other.id, done.digest FROM session_records other JOIN session_results done ON done.session = ?1
    WHERE other.id <> ?1 AND strpos(other.info, ?2) > 0 ON CONFLICT DO NOTHING"""

_GONE = """DELETE FROM results WHERE digest IN (SELECT r.digest FROM results r
        WHERE r.written < now() - make_interval(secs => %s)
        AND NOT EXISTS (SELECT 1 FROM session_results s WHERE s.digest = r.digest) LIMIT %s FOR UPDATE SKIP LOCKED)
    RETURNING digest, content IS NULL"""


class DatabaseArtifacts(ArtifactStore):
    """Results by SHA-256 in the database, large ones where a setting says.

    Args:
        tables: where they are.
        session: whose they are.
        large: where large ones are; None where nobody named a place.
        secrets: values that are never written, by name.
    """

    def __init__(
        self,
        tables: SessionTables,
        session: str,
        large: LargeResults | None,
        secrets: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(Path(), secrets)
        self._tables = tables
        self._session = session
        self._large = large

    def _write(self, digest: str, data: bytes) -> None:
        large = self._large if len(data) > LARGEST else None
        if len(data) > LARGEST and large is None:
            raise StorageError(
                Message(
                    "A result of {:.0f} MB is too large for the database; name a folder that all machines share, or a "
                    "bucket, in HITL_ARTIFACTS.",
                    len(data) / 1_000_000,
                )
            )
        self._tables.rows("INSERT INTO session_results VALUES (?, ?) ON CONFLICT DO NOTHING", (self._session, digest))
        # A row that is there is touched: whoever removes what nobody refers to leaves it then, see `remove_unused`.
        self._tables.rows(
            "INSERT INTO results VALUES (?, ?) ON CONFLICT (digest) DO UPDATE SET written = now()",
            (digest, None if large is not None else data),
        )
        if large is not None:
            large.write(digest, data)

    def _read(self, digest: str) -> bytes:
        found = self._tables.rows("SELECT content FROM results WHERE digest = ?", (digest,))
        if not found:
            raise StorageError(Message("The result {} is missing: {}.", digest[:12], Message("nobody wrote it")))
        if found[0][0] is not None:
            return bytes(found[0][0])
        if self._large is None:
            raise StorageError(
                Message("The result {} is missing: {}.", digest[:12], Message("HITL_ARTIFACTS names no place here"))
            )
        return self._large.read(digest)

    def keep_bytes(self, digest: str, data: bytes) -> None:
        """Keep a result that was kept elsewhere before. Raises StorageError: it can't be written."""
        self._write(digest, data)

    def files(self, into: Path | None = None) -> dict[str, Path]:
        assert into is not None, "what is in a database has a file only where it is copied to"
        rows = self._tables.rows("SELECT digest FROM session_results WHERE session = ? ORDER BY 1", (self._session,))
        found: dict[str, Path] = {}
        for (digest,) in rows:
            into.mkdir(exist_ok=True)
            found[digest] = into / digest
            found[digest].write_bytes(self._read(digest))
        return found


class DatabaseSession(SessionFolder):
    """A session in a database.

    Args:
        folder: all sessions.
        session_id: which.
    """

    def __init__(self, folder: DatabaseFolder, session_id: str) -> None:
        super().__init__(folder.sessions / session_id)
        self._folder = folder
        self._tables = folder.tables

    @property
    def address(self) -> str:
        return self._tables.address

    @property
    def place(self) -> str:
        return shown_address(self.address)

    @property
    def holder(self) -> str:
        return self._folder.holder

    @property
    def stream_place(self) -> str:
        return f"{self.holder}:{self._folder.root}"

    def has_checkpoints(self) -> bool:
        thread = thread_of(self.path.name)
        return bool(self._tables.rows("SELECT 1 FROM checkpoints WHERE thread_id = ? LIMIT 1", (thread,)))

    def begun(self) -> bool:
        return self.has_checkpoints()

    @asynccontextmanager
    async def reading(self, *, checked: bool = False) -> AsyncIterator[StoredCheckpoints]:
        yield await self._folder.reader()

    def make_durable(self) -> None:
        """Do nothing: what was committed is on the server's disk."""

    def written(self) -> tuple[tuple[int, int], ...]:
        name = self.path.name
        ((head, n),) = self._tables.rows(
            "SELECT (SELECT max(checkpoint_id) FROM checkpoints WHERE thread_id = ? AND checkpoint_ns = ''),"
            " (SELECT n FROM streams WHERE stream = ?)",
            (thread_of(name), name),
        ) or [(None, None)]
        return ((0, hash(head)), (0, n or 0), (0, hash(self._row()[0])), (0, hash(self.whereabouts())))

    def artifacts(self, secrets: Mapping[str, str] | None = None) -> DatabaseArtifacts:
        return DatabaseArtifacts(self._tables, self.path.name, self._folder.large, secrets)

    def _row(self) -> Row:
        found = self._tables.rows("SELECT info, graphs FROM session_records WHERE id = ?", (self.path.name,))
        if not found:
            raise StorageError(Message("Session {} was deleted.", self.path.name))
        return found[0]

    @property
    def carried(self) -> bool:
        return self._folder.carried

    def follow(self) -> None:
        self._folder.follow(self.path.name)

    def whereabouts(self) -> Whereabouts | None:
        if not self.carried:
            return None
        return self._folder.queue.whereabouts([self.path.name]).get(self.path.name, Whereabouts())

    @asynccontextmanager
    async def held(self) -> AsyncIterator[None]:
        self._folder.open_here.add(self.path.name)
        await asyncio.to_thread(self._folder.queue.note_open, self.path.name)
        try:
            yield
        finally:
            self._folder.open_here.discard(self.path.name)

    def info(self) -> SessionInfo:
        info = self._written_info()
        return replace(info, workspace=self._folder.root_here(self.path.name, info.workspace))

    def _written_info(self) -> SessionInfo:
        try:
            return SessionInfo.from_dict(json.loads(self._row()[0]))
        except (BadInput, ValueError, KeyError, TypeError, AttributeError) as error:
            what = Message("session {} of {}", self.path.name, self.place)
            raise StorageError(Message("{} can't be read: it isn't what this program wrote there.", what)) from error

    def write_info(self, info: SessionInfo) -> None:
        # Where its workspace is on the machine that began it stays what it was.
        text = json.dumps(replace(info, workspace=self._written_info().workspace).to_dict())
        self._tables.rows("UPDATE session_records SET info = ? WHERE id = ?", (text, self.path.name))

    def _graphs_file(self) -> dict[str, Any]:
        return dict(json.loads(self._row()[1] or '{"graphs": []}'))

    def graphs(self) -> tuple[GraphDeclaration, ...]:
        """See `SessionFolder.graphs`. What lies in the workspace is that of this machine's copy."""
        before = self._written_info().workspace
        here = self._folder.root_here(self.path.name, before)

        def moved(path: str) -> str:
            return here + path[len(before) :] if path == before or path.startswith(f"{before}/") else path

        return tuple(
            replace(graph, target=moved(graph.target), folder=moved(graph.folder), origin=moved(graph.origin))
            for graph in super().graphs()
        )

    def write_graphs(self, graphs: Sequence[GraphDeclaration], settings: GraphSettings | None = None) -> None:
        text = graphs_text(graphs, settings)
        self._tables.rows("UPDATE session_records SET graphs = ? WHERE id = ?", (text, self.path.name))

    @contextmanager
    def own(self) -> Iterator[None]:
        with closing(connect(self.address)) as connection:
            row = connection.execute("SELECT pg_try_advisory_lock(%s)", (lock_number(self.path.name),)).fetchone()
            if row is None or not row[0]:
                raise SessionBusy(Message("Another process has session {} open.", self.path.name))
            yield

    def is_owned(self) -> bool:
        number = lock_number(self.path.name) & 0xFFFF_FFFF_FFFF_FFFF
        return bool(
            self._tables.rows(
                "SELECT 1 FROM pg_locks WHERE locktype = 'advisory' AND granted AND objsubid = 1"
                " AND database = (SELECT oid FROM pg_database WHERE datname = current_database())"
                " AND CAST(CAST(classid AS TEXT) AS BIGINT) = ? AND CAST(CAST(objid AS TEXT) AS BIGINT) = ?",
                (number >> 32, number & 0xFFFF_FFFF),
            )
        )


def graphs_text(graphs: Sequence[GraphDeclaration], settings: GraphSettings | None) -> str:
    """Return what is kept of a session's graphs."""
    more = {"settings": settings.to_dict()} if settings else {}
    return json.dumps({"graphs": [graph.to_dict() for graph in graphs], **more})


class DatabaseFolder(DataFolder):
    """All sessions of a database, and the folder of this account and machine beside it.

    Args:
        root: the folder.
        address: `postgresql://…`.
        large: where large results are; None for nowhere.
        copies: the workspaces that this process has a copy of, wherever they were when a session began.
    """

    def __init__(
        self, root: Path, address: str, large: LargeResults | None = None, copies: Sequence[WorkspaceCopy] = ()
    ) -> None:
        super().__init__(root)
        self.address = address
        self.large = large
        self.tables = SessionTables(address)
        self.queue = WakeQueue(self.tables)
        self.copies = copies
        self.carries = False
        """This process is a worker, or does a worker's part: sessions that it opens are its own."""
        self.holder = socket.gethostname()
        """What people call who owns the sessions that are opened here: a worker and its machine, or the machine."""
        self.open_here: set[str] = set()
        self._overview = SessionOverview(self.tables, self.queue, self._root_of)
        self._reader: DatabaseSaver | None = None
        self._loop: asyncio.AbstractEventLoop | None = None

    @property
    def place(self) -> str:
        return shown_address(self.address)

    @property
    def sessions(self) -> Path:
        return self.root / f"database-{sha256(self.place.encode()).hexdigest()[:12]}"

    @property
    def read_only(self) -> bool:
        return False

    @property
    def full(self) -> bool:
        return False

    def prepare(self) -> None:
        try:
            make_private(self.sessions)
        except OSError as error:
            raise StorageError(
                Message("The data folder {} can't be created: {}.", self.root, error.strerror)
            ) from error

    def ids(self) -> list[str]:
        return [str(row[0]) for row in self.tables.rows("SELECT id FROM session_records ORDER BY n")]

    async def all_facts(self, newest: int | None = None) -> Mapping[str, SessionFacts | HitlError]:
        return await asyncio.to_thread(lambda: self._overview.facts(carried=self.carried, newest=newest))

    def written_texts(self, sessions: Sequence[str], channels: Sequence[str]) -> Mapping[str, Sequence[Row]]:
        return self._overview.written(sessions, channels)

    def tells_for_workspaces(self) -> bool:
        """See `DataFolder`: the machines with a worker are, where workers carry sessions, since all have the file."""
        return not self.queue.carried or any(one.host == socket.gethostname() for one in self.queue.workers())

    def titles(self, sessions: Collection[str]) -> dict[str, str]:
        return self._overview.titles(sessions)

    def queue_figures(self) -> QueueFigures:
        return self.queue.figures()

    def has(self, session_id: str) -> bool:
        return bool(self.tables.rows("SELECT 1 FROM session_records WHERE id = ?", (session_id,)))

    def session(self, session_id: str) -> SessionFolder:
        check_session_id(session_id)
        if not self.has(session_id):
            known = self.ids()
            raise UnknownName(
                Message('No session "{}"; {}.', session_id, some_of(known) if known else Message("none exist yet"))
            )
        found = DatabaseSession(self, session_id)
        if not found.path.exists():
            make_private(found.path)
        return found

    @property
    def carried(self) -> bool:
        return not self.carries and self.queue.carried

    def wake(self, session_id: str) -> None:
        if session_id not in self.open_here:
            self.queue.wake(session_id)

    def follow(self, session_id: str) -> None:
        """Let a session that no worker can carry go on with the workspace as this process has it, where one can."""
        if not self.carried or not self.queue.whereabouts([session_id]).get(session_id, Whereabouts()).missing:
            return
        for copy in self.copies:
            self.queue.follow(session_id, copy)

    def root_here(self, session_id: str, written: str) -> str:
        """Return where a session's workspace is on this machine.

        Args:
            session_id: the session.
            written: where it was when the session began, on the machine that began it.
        """
        if not self.copies or (not self.carries and Path(written).is_dir()):
            return written
        ((name, digest),) = self.tables.rows(
            "SELECT workspace, digest FROM session_records WHERE id = ?", (session_id,)
        ) or [("", "")]
        return self._root_of(name, digest, written)

    def _root_of(self, name: str, digest: str, written: str) -> str:
        """Return where a workspace is on this machine whose name and digest are known."""
        if not self.copies or (not self.carries and Path(written).is_dir()):
            return written
        named = [copy for copy in self.copies if copy.name == name]
        exact = [copy for copy in named if copy.digest == digest]
        return str((exact or named)[0].folder) if named else written

    def fresh_id(self, used: Iterable[str]) -> str:
        return super().fresh_id({*used, *self.ids()})

    def begin(
        self, info: SessionInfo, graphs: Sequence[GraphDeclaration] = (), settings: GraphSettings | None = None
    ) -> SessionFolder:
        """Make a session.

        Raises:
            BadInput: there is one already; StorageError: it can't be written.
        """
        copy = workspace_copy(Path(info.workspace))
        copy = next((one for one in self.copies if one.folder == copy.folder), copy)
        made = self.tables.rows(
            "INSERT INTO session_records (id, info, graphs, workspace, digest, queue) VALUES (?, ?, ?, ?, ?, ?)"
            " ON CONFLICT (id) DO UPDATE SET id = excluded.id WHERE session_records.info = excluded.info RETURNING id",
            (
                info.id,
                json.dumps(info.to_dict()),
                graphs_text(graphs, settings) if graphs or settings else "",
                copy.name,
                copy.digest,
                copy.queue,
            ),
        )
        if not made:
            raise BadInput(Message("Session {} already exists.", info.id))
        return self.session(info.id)

    def remove(self, session_id: str) -> None:
        """Remove what is kept of a session but its record; its results go with `remove_unused`.

        What its copies may be asked to use as done is theirs from now on. Each statement is a transaction of its own:
        what is left of one that a process died in goes when the session is deleted again.
        """
        with suppress(StorageError):  # what can't be read has no copies
            lineage = json.dumps({"lineage": DatabaseSession(self, session_id).info().lineage})[1:-1]
            self.tables.rows(_HAND_ON, (session_id, lineage))
        # Runs have threads of their own. Texts have an order in which a beginning needn't be a range of the key.
        threads = [thread_of(session_id)]
        threads += [row[0] for row in self.tables.rows(_RUNS, (session_id,))]
        for table in ("checkpoint_writes", "checkpoint_blobs", "checkpoints"):
            for begin in range(0, len(threads), _AT_ONCE):
                page = threads[begin : begin + _AT_ONCE]
                self.tables.rows(f"DELETE FROM {table} WHERE thread_id = ANY(?)", (page,))  # noqa: S608 - constants
        self.tables.rows("DELETE FROM session_results WHERE session = ?", (session_id,))
        self.tables.rows("DELETE FROM session_records WHERE id = ?", (session_id,))

    def remove_unused(self, *, unused_for: float = _UNUSED) -> int:
        """Remove results that no session refers to; return how many went.

        They go a few at a time. What was written a moment ago stays, for its session may be about to refer to it.

        Args:
            unused_for: seconds since it was last written.

        Raises:
            StorageError: the database can't be used, or a large one can't be removed where it lies.
        """

        def some(connection: psycopg.Connection[Any]) -> int:
            # Until this is committed, who writes one of them again waits, and then finds it gone.
            with connection.transaction():
                rows = connection.execute(_GONE, (unused_for, _AT_ONCE)).fetchall()
                for digest, lies_elsewhere in rows:
                    if lies_elsewhere and self.large is not None:
                        self.large.remove(digest)
            return len(rows)

        gone = 0
        while found := self.tables.use(some):
            gone += found
        return gone

    async def reader(self) -> DatabaseSaver:
        """Return what reads checkpoints on the running loop; it is closed with this.

        Raises:
            StorageError: the database can't be reached.
        """
        from hitl_tui.ledger.postgres_connection import connect_alone
        from hitl_tui.supervisor.postgres_checkpoints import DatabaseSaver

        loop = asyncio.get_running_loop()
        if self._reader is None or self._loop is not loop or self._reader.conn.closed:
            self._reader, self._loop = DatabaseSaver(await connect_alone(self.address), self.address), loop
        return self._reader

    async def close(self) -> None:
        """Close all connections."""
        reader, self._reader = self._reader, None
        if reader is not None and self._loop is asyncio.get_running_loop():
            await reader.close()
        self.tables.close()
