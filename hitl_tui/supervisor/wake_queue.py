"""`WakeQueue`: jobs of procrastinate that wake sessions of a database, and the workers that take them.

A job says which session somebody should look at, and nothing else: what is to be done is read from the record and the
checkpoints. One that is lost, late or repeated changes nothing.
"""

from __future__ import annotations

import json
import logging
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any

from hitl_tui.config.extras import install_help
from hitl_tui.config.postgres_address import shown_address
from hitl_tui.config.workspace_copy import WorkspaceCopy, workspace_label
from hitl_tui.core.errors import BadInput, HitlError, StorageError
from hitl_tui.core.messages import Message
from hitl_tui.ledger.postgres_connection import holder_name, lock_number
from hitl_tui.supervisor.storage import QueueFigures, Whereabouts

if TYPE_CHECKING:
    import psycopg

    from hitl_tui.supervisor.session_tables import SessionTables

log = logging.getLogger(__name__)

WAKE, UPKEEP, PRUNE = "wake", "upkeep", "prune"
"""The tasks."""
UPKEEP_QUEUE = "hitl-tui-upkeep"
HEARTBEAT, STALLED = 3.0, 12.0
"""Seconds between a worker's signs of life, and after which one without any counts as dead."""
_KNOWN = 3.0
"""Seconds that it is remembered whether there are workers."""
_FORGOTTEN = "7 days"
"""How long a database is one that workers carry after the last of them was seen."""

_LIVE = """SELECT w.id, w.name, w.host, w.pid, w.queues, w.about, w.since FROM workers w
    JOIN procrastinate_workers p ON p.id = w.id AND p.last_heartbeat > now() - make_interval(secs => ?)
    ORDER BY w.id"""

_SILENT = 60.0
"""Seconds without a sign of life after which it is said that who holds a session gives none."""

_HOLDERS = """SELECT CAST(CAST(l.classid AS TEXT) AS BIGINT), CAST(CAST(l.objid AS TEXT) AS BIGINT), l.pid,
        a.application_name, w.pid, w.name, w.host, CAST(extract(epoch FROM w.seen) AS FLOAT),
        w.seen < now() - make_interval(secs => ?)
    FROM pg_locks l LEFT JOIN pg_stat_activity a ON a.pid = l.pid
    LEFT JOIN workers w ON CAST(w.pid AS TEXT) = split_part(a.application_name, ' ', 2)
    WHERE l.locktype = 'advisory' AND l.granted AND l.objsubid = 1
    AND l.database = (SELECT oid FROM pg_database WHERE datname = current_database()) ORDER BY w.seen"""

_WHERE = """SELECT r.id, r.workspace, r.digest, r.queue, j.status = 'doing', w.name, w.host, j.id IS NOT NULL,
        EXISTS (SELECT 1 FROM workers o JOIN procrastinate_workers p ON p.id = o.id
            AND p.last_heartbeat > now() - make_interval(secs => ?1) WHERE r.queue = ANY(o.queues))
    FROM session_records r
    LEFT JOIN LATERAL (SELECT * FROM procrastinate_jobs j WHERE j.lock = r.id AND j.status IN ('todo', 'doing')
        ORDER BY j.status = 'doing' DESC LIMIT 1) j ON true
    LEFT JOIN workers w ON w.id = j.worker_id
    WHERE r.id = ANY(?2)"""

# What was at rest has something to do once an event is above what it went through; what wasn't was left in the middle.
_LEFT = """SELECT r.id FROM session_records r
    LEFT JOIN sessions s ON s.session = r.id
    WHERE (r.rested IS NULL OR s.restoring <> 0 OR (s.last_seq > r.rested AND EXISTS (SELECT 1 FROM inbox i
            WHERE i.session = r.id AND i.branch = s.branch AND i.seq > r.rested)))
        AND NOT EXISTS (SELECT 1 FROM procrastinate_jobs j
            WHERE j.lock = r.id AND j.status IN ('todo', 'doing') AND j.queue_name = r.queue)
    LIMIT ?"""


_FIGURES = """SELECT count(*) FILTER (WHERE j.status = 'todo'), count(*) FILTER (WHERE j.status = 'doing'),
        count(*) FILTER (WHERE j.status = 'todo' AND j.attempts > 0),
        coalesce(EXTRACT(epoch FROM now() - min(coalesce(j.scheduled_at, (SELECT min(e.at) FROM procrastinate_events e
            WHERE e.job_id = j.id))) FILTER (WHERE j.status = 'todo' AND coalesce(j.scheduled_at, now()) <= now())), 0),
        (SELECT count(*) FROM workers w JOIN procrastinate_workers p ON p.id = w.id
            AND p.last_heartbeat > now() - make_interval(secs => ?))
    FROM procrastinate_jobs j WHERE j.task_name = 'wake'"""

_MISPLACED = "DELETE FROM procrastinate_jobs WHERE queueing_lock = %s AND status = 'todo' AND queue_name <> %s"

_ALONG = """UPDATE session_records SET digest = ?1, queue = ?2 WHERE queue = ?3 AND NOT EXISTS (SELECT 1 FROM workers w
    JOIN procrastinate_workers p ON p.id = w.id AND p.last_heartbeat > now() - make_interval(secs => ?4)
    WHERE w.id <> ?5 AND ?3 = ANY(w.queues))"""

_FOLLOW = "UPDATE session_records SET digest = ?, queue = ? WHERE id = ? AND workspace = ? AND queue <> ?"


@dataclass(frozen=True, slots=True)
class LiveWorker:
    """A worker that gave a sign of life.

    Args:
        id: its number.
        name, host, pid: which process it is.
        queues: the queues that it takes jobs from; not those of workspaces that it leaves to others, see `leaves`.
        workspaces: what it has, by name: the digest of the content.
        teams: the teams that it can carry, by workspace.
        concurrency: how many sessions it carries at once.
        since: when it began, ISO 8601.
    """

    id: int
    name: str
    host: str
    pid: int
    queues: tuple[str, ...]
    workspaces: Mapping[str, str]
    teams: Mapping[str, Sequence[str]]
    concurrency: int
    since: str

    @property
    def shown(self) -> str:
        """What people call it."""
        return f"{self.name}@{self.host}"

    def rank(self, workspace: str) -> tuple[int, list[str]]:
        """Return what orders workers by the teams of a workspace that they carry: who carries most comes first."""
        teams = sorted(self.teams.get(workspace, ()))
        return -len(teams), teams

    def lacks(self, workspace: str, other: LiveWorker) -> frozenset[str]:
        """Return the teams of a workspace that another worker with the same content carries and this one doesn't."""
        if self.workspaces.get(workspace) != other.workspaces.get(workspace):
            return frozenset()
        return frozenset(other.teams.get(workspace, ())) - frozenset(self.teams.get(workspace, ()))


@dataclass(frozen=True, slots=True)
class Holder:
    """Who holds the lock of a session.

    Args:
        server_pid: the process of the database's server that its connection has.
        worker: what people call it; empty for who isn't a worker.
        silent_since: when it gave its last sign of life, too long ago; empty for who lives, and for who gives none.
    """

    server_pid: int
    worker: str = ""
    silent_since: str = ""


def leaves(copy: WorkspaceCopy, here: LiveWorker, workers: Iterable[LiveWorker]) -> LiveWorker | None:
    """Return a worker that a workspace is left to: it carries more teams of it.

    Of several that each lack a team of the others, all agree on one: plans are made of the teams that are carried.

    Args:
        copy: the workspace.
        here: who asks.
        workers: those that live.
    """
    taking = [one for one in workers if one.id != here.id and copy.queue in one.queues]
    best = min([here, *taking], key=lambda one: one.rank(copy.name))
    return best if best.rank(copy.name) < here.rank(copy.name) else None


class WakeQueue:
    """The queue of a database; may be used from any thread.

    Args:
        tables: where it is.
    """

    def __init__(self, tables: SessionTables) -> None:
        self._tables = tables
        self._carried = False
        self._looked = float("-inf")

    @property
    def carried(self) -> bool:
        """Workers carry the sessions of this database: who opens one there only follows it.

        Raises:
            StorageError: the database can't be used.
        """
        if time.monotonic() - self._looked > _KNOWN:
            found = self._tables.rows(f"SELECT 1 FROM workers WHERE seen > now() - interval '{_FORGOTTEN}' LIMIT 1")  # noqa: S608 - a constant
            self._carried, self._looked = bool(found), time.monotonic()
        return self._carried

    def wake(self, session: str) -> None:
        """Let a worker look at a session, unless a job waits that does. Where that fails, a sweep finds it later."""
        try:
            if self.carried:
                self._defer(session)
        except HitlError as error:
            log.warning("%s is found by the next sweep: %s", session, error.message)

    def _defer(self, session: str) -> None:
        from procrastinate import App, SyncPsycopgConnector
        from procrastinate.exceptions import AlreadyEnqueued, ConnectorException

        row = self._tables.rows("SELECT queue FROM session_records WHERE id = ?", (session,))
        if not row:
            return

        def work(connection: psycopg.Connection[Any]) -> None:
            app = App(connector=SyncPsycopgConnector())
            task = app.configure_task(WAKE, queue=row[0][0], lock=session, queueing_lock=session, connection=connection)
            # One that waits where its workspace was another is no use.
            connection.execute(_MISPLACED, (session, row[0][0]))
            try:
                task.defer(session=session)
            except AlreadyEnqueued:
                return
            except ConnectorException as error:
                raise (error.__cause__ or error) from error

        self._tables.use(work)

    def left(self, most: int) -> list[str]:
        """Return sessions that have something to do and no job that says so."""
        return [str(row[0]) for row in self._tables.rows(_LEFT, (most,))]

    def held(self, worker: int) -> set[int]:
        """Return the numbers of the jobs that a worker has by the queue."""
        rows = self._tables.rows(
            "SELECT id FROM procrastinate_jobs WHERE worker_id = ? AND status = 'doing'", (worker,)
        )
        return {int(row[0]) for row in rows}

    def note_open(self, session: str) -> None:
        """Note that somebody goes on with a session: until it is at rest again it counts as left in the middle."""
        self._tables.rows("UPDATE session_records SET rested = NULL WHERE id = ? AND rested IS NOT NULL", (session,))

    def note_rest(self, session: str, cursor: int) -> None:
        """Note that a session waits for people or is finished.

        Args:
            session: which.
            cursor: the last event of its inbox that it has gone through.
        """
        self._tables.rows("UPDATE session_records SET rested = ? WHERE id = ?", (cursor, session))

    def enrol(self, worker: LiveWorker) -> None:
        """Put a worker on the list, or say that it is still there."""
        about = {
            "workspaces": dict(worker.workspaces),
            "teams": dict(worker.teams),
            "concurrency": worker.concurrency,
            "clock": time.time(),
        }
        self._tables.rows(
            "INSERT INTO workers (id, name, host, pid, queues, about, since, seen) VALUES (?, ?, ?, ?, ?, ?, ?, now())"
            " ON CONFLICT (id) DO UPDATE SET queues = excluded.queues, about = excluded.about, seen = now()",
            (worker.id, worker.name, worker.host, worker.pid, list(worker.queues), json.dumps(about), worker.since),
        )
        self._tables.rows(f"DELETE FROM workers WHERE seen < now() - interval '{_FORGOTTEN}'")  # noqa: S608 - a constant
        self._looked = float("-inf")

    def workers(self) -> list[LiveWorker]:
        """Return the workers that live."""
        return [_worker(*row) for row in self._tables.rows(_LIVE, (STALLED,))]

    def holders(self) -> dict[int, Holder]:
        """Return who holds the locks of sessions, by the lock's number without its sign."""
        found: dict[int, Holder] = {}
        for high, low, server_pid, name, pid, worker, host, seen, silent in self._tables.rows(_HOLDERS, (_SILENT,)):
            key, shown = high << 32 | low, f"{worker}@{host}"
            found.setdefault(key, Holder(server_pid))
            if worker is not None and name == holder_name(pid, shown):
                since = datetime.fromtimestamp(seen).strftime("%Y-%m-%d %H:%M:%S") if silent else ""
                found[key] = Holder(server_pid, shown, since)
        return found

    def whereabouts(
        self, sessions: Iterable[str], holders: Mapping[int, Holder] | None = None
    ) -> dict[str, Whereabouts]:
        """Return who carries each of some sessions of a database that workers carry.

        Args:
            sessions: which.
            holders: who holds their locks; None to look.
        """
        found: dict[str, Whereabouts] = {}
        holders = self.holders() if holders is None else holders
        for session, name, digest, _queue, runs, worker, host, queued, live in self._tables.rows(
            _WHERE, (STALLED, list(sessions))
        ):
            holder = holders.get(lock_number(session) & 0xFFFF_FFFF_FFFF_FFFF, Holder(0))
            by = holder.worker or (f"{worker}@{host}" if runs and worker and not holder.server_pid else "")
            missing = "" if live else workspace_label(name, digest)
            found[session] = Whereabouts(by, bool(queued), missing, holder.silent_since, holder.server_pid)
        return found

    def figures(self) -> QueueFigures:
        """Return how much is queued now."""
        ((todo, doing, again, oldest, workers),) = self._tables.rows(_FIGURES, (STALLED,)) or [(0, 0, 0, 0.0, 0)]
        return QueueFigures(todo, doing, again, max(0.0, float(oldest)), workers)

    def take_along(self, before: WorkspaceCopy, now: WorkspaceCopy, worker: int) -> None:
        """Let the sessions of a workspace go on with what it declares now, unless a worker has it as it was.

        Args:
            before, now: the same folder.
            worker: the number of the worker whose folder it is.
        """
        self._tables.rows(_ALONG, (now.digest, now.queue, before.queue, STALLED, worker))

    def follow(self, session: str, copy: WorkspaceCopy) -> None:
        """Let a session whose workspace no worker has any more go on with what somebody has who looks at it.

        Args:
            session: the session.
            copy: a folder of the same name; it counts where a worker has the same content.
        """
        if any(copy.queue in worker.queues for worker in self.workers()):
            self._tables.rows(_FOLLOW, (copy.digest, copy.queue, session, copy.name, copy.queue))
            self.wake(session)

    def make(self) -> None:
        """Make procrastinate's tables, or bring them to the version that is installed, one process at a time.

        Raises:
            BadInput: it isn't installed.
            StorageError: they can't be made, or a newer version made them.
        """
        try:
            from procrastinate import schema
        except ImportError as error:
            raise BadInput(
                Message("Workers need a queue that isn't installed."), help=install_help("postgres")
            ) from error
        steps = sorted(path.name for path in schema.migrations_path.glob("*.sql"))

        def work(connection: psycopg.Connection[Any]) -> None:
            connection.execute("SELECT pg_advisory_lock(%s)", (_MAKING,))
            try:
                _migrate(connection, steps, self._tables.address)
            finally:
                connection.execute("SELECT pg_advisory_unlock(%s)", (_MAKING,))

        self._tables.use(work)


_MAKING = 0x68697470
"""Number of the lock that whoever makes or changes the queue's tables holds."""


def _migrate(connection: psycopg.Connection[Any], steps: Sequence[str], address: str) -> None:
    """Bring the queue's tables to the last of some steps; each is done whole or not at all."""
    from procrastinate import schema

    connection.execute("CREATE TABLE IF NOT EXISTS queue_version (step TEXT NOT NULL)")
    row = connection.execute("SELECT max(step) FROM queue_version").fetchone()
    found = (row and row[0]) or ""
    if found > steps[-1]:
        raise StorageError(
            Message(
                "The queue of {} was made by a newer {}; install that one here.",
                shown_address(address),
                "procrastinate",
            )
        )
    if found == steps[-1]:
        return
    if not found:
        with connection.transaction():
            connection.execute(schema.SchemaManager.get_schema())
            connection.execute("INSERT INTO queue_version VALUES (%s)", (steps[-1],))
        return
    for step in (one for one in steps if one > found):
        with connection.transaction():
            connection.execute((schema.migrations_path / step).read_bytes())
            connection.execute("UPDATE queue_version SET step = %s", (step,))


def _worker(number: int, name: str, host: str, pid: int, queues: list[str], about: str, since: str) -> LiveWorker:
    found = json.loads(about)
    return LiveWorker(
        number, name, host, pid, tuple(queues), found["workspaces"], found["teams"], found["concurrency"], since
    )
