"""What is to be known of a database that keeps sessions, and what of it needs somebody; looking changes nothing."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from hitl_tui.config.postgres_address import shown_address
from hitl_tui.config.workspace_copy import workspace_label
from hitl_tui.core.messages import Message, counted_message
from hitl_tui.ledger.postgres_connection import SCHEMA, lock_number
from hitl_tui.ledger.view_schema import VERSION
from hitl_tui.policy.approvers import Approvers
from hitl_tui.supervisor.session_tables import SessionTables
from hitl_tui.supervisor.storage import Whereabouts
from hitl_tui.supervisor.wake_queue import STALLED, UPKEEP_QUEUE, WakeQueue

FEW_LEFT = 0.85
"""The part of the server's connections from which on it is said that they run out."""
_CLOCK = 2.0
"""Seconds that clocks may differ before it is said."""
_WAIT = 5.0
"""Seconds that somebody may wait for a lock before it is said."""
_OLD = 60.0
"""Seconds that a job may wait before it is said."""

_SERVER = """SELECT current_setting('server_version'), pg_database_size(current_database()),
    (SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'client backend'),
    CAST(current_setting('max_connections') AS INT), CAST(extract(epoch FROM clock_timestamp()) AS FLOAT)"""

_WAITING = """SELECT count(*) FROM pg_stat_activity
    WHERE starts_with(application_name, 'hitl-tui') AND wait_event_type = 'Lock'
    AND query_start < now() - make_interval(secs => ?)"""

_JOBS = """SELECT j.queue_name, count(*) FILTER (WHERE j.status = 'todo'), count(*) FILTER (WHERE j.status = 'doing'),
    count(*) FILTER (WHERE j.status = 'todo' AND j.attempts > 0),
    CAST(extract(epoch FROM now() - min(e.at) FILTER (WHERE j.status = 'todo' AND j.scheduled_at IS NULL)) AS FLOAT),
    count(*) FILTER (WHERE j.status = 'doing' AND NOT EXISTS (SELECT 1 FROM procrastinate_workers p
        WHERE p.id = j.worker_id AND p.last_heartbeat > now() - make_interval(secs => ?1)))
    FROM procrastinate_jobs j LEFT JOIN procrastinate_events e ON e.job_id = j.id AND e.type = 'deferred'
    WHERE j.status IN ('todo', 'doing') AND j.queue_name <> ?2 GROUP BY 1 ORDER BY 1"""

_WORKERS = """SELECT w.name, w.host, w.since, w.about, p.id IS NOT NULL, CAST(extract(epoch FROM w.seen) AS FLOAT)
    FROM workers w LEFT JOIN procrastinate_workers p
    ON p.id = w.id AND p.last_heartbeat > now() - make_interval(secs => ?) ORDER BY w.id"""

_NOBODYS = """SELECT r.workspace, r.digest, count(*) FROM session_records r
    WHERE NOT EXISTS (SELECT 1 FROM workers w JOIN procrastinate_workers p ON p.id = w.id
        AND p.last_heartbeat > now() - make_interval(secs => ?) WHERE r.queue = ANY(w.queues))
    AND (r.rested IS NULL OR EXISTS (SELECT 1 FROM requests q WHERE q.session = r.id AND q.state = 'open'))
    GROUP BY 1, 2 ORDER BY 3 DESC LIMIT 20"""


_MAY_MAKE = """SELECT CASE WHEN EXISTS (SELECT 1 FROM pg_namespace WHERE nspname = ?)
    THEN (SELECT has_schema_privilege(oid, 'CREATE') FROM pg_namespace WHERE nspname = ?)
    ELSE has_database_privilege(current_database(), 'CREATE') END"""


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that was found.

    Args:
        text: one sentence.
        good: nobody has to do anything about it.
    """

    text: str
    good: bool = True


def examine(address: str) -> list[Finding]:
    """Return what there is to know of a database.

    Raises:
        BadInput: the driver is missing.
        StorageError: it can't be reached or used.
    """
    tables = SessionTables(address)
    try:
        return [
            *_server(tables),
            *_held(tables),
            *_formats(tables),
            *_jobs(tables),
            *_workers(tables),
            *_lacking(tables),
            *_nobodys(tables),
        ]
    finally:
        tables.close()


def own_approvers(approvers: Approvers) -> Iterator[Finding]:
    """Yield that a list of approvers is of one data folder alone, where there is one."""
    if approvers.listed or approvers.problem:
        said = Message(
            "The list of approvers is of this data folder alone: who is added or removed here isn't on other machines "
            "that share the database. Change it on each."
        )
        yield Finding(said, good=False)


def _server(tables: SessionTables) -> Iterator[Finding]:
    tables.rows("SELECT 1")  # connecting takes a while, and the clock is read within a round trip
    before = time.time()
    ((version, size, used, most, clock),) = tables.rows(_SERVER)
    after = time.time()
    where, took = shown_address(tables.address), (after - before) * 1000
    yield Finding(Message("{}: PostgreSQL {}, {:,.0f} MB, answers in {:.0f} ms.", where, version, size / 1e6, took))
    yield Finding(Message("{} of {} connections are taken.", used, most), used < most * FEW_LEFT)
    apart = clock - (before + after) / 2
    if abs(apart) - (after - before) / 2 > _CLOCK:
        said = Message("The server's clock is {:.1f} seconds ahead of this machine's.", apart)
        yield Finding(
            said if apart > 0 else Message("The server's clock is {:.1f} seconds behind.", -apart), good=False
        )
    ((waiting,),) = tables.rows(_WAITING, (_WAIT,))
    if waiting:
        yield Finding(
            Message("{} connections wait for a lock for more than {:.0f} seconds.", waiting, _WAIT), good=False
        )


def _held(tables: SessionTables) -> Iterator[Finding]:
    holders = WakeQueue(tables).holders()
    held = len(holders)
    yield Finding(counted_message("{} session is open somewhere.", "{} sessions are open somewhere.", held))
    ids = tables.rows("SELECT id FROM session_records") if any(one.silent_since for one in holders.values()) else []
    names = {lock_number(name) & 0xFFFF_FFFF_FFFF_FFFF: name for (name,) in ids}
    for key, holder in holders.items():
        if holder.silent_since:
            where = Whereabouts(holder.worker, silent_since=holder.silent_since, server_pid=holder.server_pid)
            yield Finding(Message("{}: {}", names.get(key, "?"), where.problem), good=False)


def _formats(tables: SessionTables) -> Iterator[Finding]:
    there = _one(tables, "SELECT max(version) FROM ledger_version")
    if there is None:
        if not _one(tables, _MAY_MAKE, (SCHEMA, SCHEMA)):
            yield Finding(
                Message(
                    "The schema {0} has no tables of ours, and this user may make none there; an administrator can let "
                    'it: CREATE SCHEMA {0} AUTHORIZATION "USER"',
                    SCHEMA,
                ),
                good=False,
            )
            return
        yield Finding(Message("The database has no tables of ours in the schema {}; who opens it makes them.", SCHEMA))
        return
    if there > VERSION:
        yield Finding(
            Message("The record has format {}; this program knows {}: install a newer one.", there, VERSION), False
        )
    elif there < VERSION:
        yield Finding(Message("The record has format {}; who opens it brings it to {}.", there, VERSION))
    else:
        yield Finding(Message("The record has format {}, as this program.", there))
    steps = _one(tables, "SELECT max(v) FROM checkpoint_migrations")
    from hitl_tui.supervisor.postgres_checkpoints import DatabaseSaver

    known = len(DatabaseSaver.MIGRATIONS) - 1
    if steps is not None and steps != known:
        yield Finding(Message("The tables of checkpoints are at step {} of {}.", steps, known), good=steps < known)
    found, last = _one(tables, "SELECT max(step) FROM queue_version"), _newest_step()
    if found is not None and last and found != last:
        yield Finding(Message("The queue's tables are at {}; here it is {}.", found, last), good=found < last)


def _newest_step() -> str:
    try:
        from procrastinate import schema
    except ImportError:
        return ""
    return max(path.name for path in schema.migrations_path.glob("*.sql"))


def _jobs(tables: SessionTables) -> Iterator[Finding]:
    total = 0
    for queue, waiting, doing, again, oldest, stalled in tables.rows(_JOBS, (STALLED, UPKEEP_QUEUE)):
        total += waiting
        good = not (stalled or again or (oldest or 0.0) > _OLD)
        said = Message("Queue {}: {} wait, {} are carried, {} are tried again.", queue, waiting, doing, again)
        if oldest is not None and oldest > _OLD:
            said = Message(
                "Queue {}: {} wait, the first for {:.0f} seconds; {} are carried.", queue, waiting, oldest, doing
            )
        yield Finding(said, good)
        if stalled:
            yield Finding(Message("Queue {}: {} belong to workers that died; others take them soon.", queue, stalled))
    if not total:
        yield Finding(Message("No session waits for a worker."))


def _workers(tables: SessionTables) -> Iterator[Finding]:
    rows = tables.rows(_WORKERS, (STALLED,))
    live = [row for row in rows if row[4]]
    for name, host, since, about, _, seen in live:
        found = json.loads(about)
        carries = ", ".join(workspace_label(*one) for one in found["workspaces"].items())
        said = Message(
            "{} carries {}, {} at once, since {}.", f"{name}@{host}", carries, found["concurrency"], since[:16]
        )
        yield Finding(said)
        if abs(apart := found.get("clock", seen) - seen) > _CLOCK:
            yield Finding(
                Message("The clock of {} is {:+.1f} seconds off the server's.", f"{name}@{host}", apart), good=False
            )
        for workspace, teams in found["teams"].items():
            if not teams:
                yield Finding(
                    Message("{} can carry no team of {}: see what it said.", f"{name}@{host}", workspace), good=False
                )
    if rows and not live:
        yield Finding(Message("No worker lives; start one with hitl-tui worker."), good=False)
    if not rows:
        yield Finding(Message("No worker was ever started here: sessions are carried by who opens them."))


def _lacking(tables: SessionTables) -> Iterator[Finding]:
    live = WakeQueue(tables).workers()
    for worker in live:
        for workspace in worker.workspaces:
            missing = sorted(frozenset[str]().union(*(worker.lacks(workspace, other) for other in live)))
            if missing:
                yield Finding(
                    Message(
                        "{} can't carry {} of {}, as others can: trust the folder there, or install what is missing.",
                        worker.shown,
                        ", ".join(missing),
                        workspace,
                    ),
                    good=False,
                )
    for workspace, digest in sorted({one for worker in live for one in worker.workspaces.items()}):
        carrying = [worker for worker in live if worker.workspaces.get(workspace) == digest]
        best = min(carrying, key=lambda worker: worker.rank(workspace))
        missing = sorted(frozenset[str]().union(*(best.lacks(workspace, other) for other in carrying)))
        if missing:
            yield Finding(
                Message(
                    "No worker carries all teams of {}: its sessions go to {}, which can't carry {}.",
                    workspace,
                    best.shown,
                    ", ".join(missing),
                ),
                good=False,
            )


def _nobodys(tables: SessionTables) -> Iterator[Finding]:
    if not tables.rows("SELECT 1 FROM workers LIMIT 1"):
        return
    for name, content, count in tables.rows(_NOBODYS, (STALLED,)):
        label = workspace_label(name, content)
        yield Finding(
            Message("No worker has the workspace {}; sessions that wait for one: {}.", label, count), good=False
        )


def _one(tables: SessionTables, statement: str, values: Sequence[Any] = ()) -> Any:
    rows = tables.rows(statement, values)
    return rows[0][0] if rows else None
