"""`SessionOverview`: what a list says of all sessions of a database, by a few questions however many there are."""

from __future__ import annotations

import json
import logging
import threading
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

from hitl_tui.config.postgres_address import shown_address
from hitl_tui.core.errors import BadInput, HitlError, StorageError
from hitl_tui.core.messages import Message
from hitl_tui.ledger.postgres_connection import lock_number
from hitl_tui.ledger.sql_transaction import Row
from hitl_tui.supervisor.storage import SessionFacts, SessionInfo, Whereabouts
from hitl_tui.threads import value_decoder
from hitl_tui.threads.session_history import how_ended, thread_of

if TYPE_CHECKING:
    from hitl_tui.supervisor.session_tables import SessionTables
    from hitl_tui.supervisor.wake_queue import WakeQueue

log = logging.getLogger(__name__)

_RECORDS = "SELECT id, info, workspace, digest FROM session_records ORDER BY n DESC LIMIT ?"

_INFOS = "SELECT id, info FROM session_records WHERE id = ANY(?)"

# Ids have an order of their own, for which the key of checkpoints isn't sorted.
_NEWEST = """SELECT r.id, c.checkpoint_id FROM unnest(CAST(? AS TEXT[])) AS r (id) CROSS JOIN LATERAL (
    SELECT checkpoint_id FROM checkpoints
    WHERE thread_id = CAST('session_' || r.id AS TEXT) COLLATE "default" AND checkpoint_ns = ''
    ORDER BY checkpoint_id DESC LIMIT 1) c"""

_STATES = """SELECT c.thread_id, c.checkpoint ->> 'ts', b.channel, b.type, b.blob
    FROM unnest(CAST(? AS TEXT[]), CAST(? AS TEXT[])) AS u (thread, id)
    JOIN checkpoints c ON c.thread_id = u.thread AND c.checkpoint_ns = '' AND c.checkpoint_id = u.id
    LEFT JOIN checkpoint_blobs b ON b.thread_id = c.thread_id AND b.checkpoint_ns = ''
        AND b.channel IN ('control', 'response') AND b.version = c.checkpoint -> 'channel_versions' ->> b.channel"""

# As in _NEWEST: each thread is looked up by its own key.
_WRITTEN = """SELECT u.thread, w.channel, w.type, w.blob FROM unnest(CAST(? AS TEXT[])) AS u (thread)
    JOIN checkpoint_writes w ON w.thread_id = u.thread AND w.checkpoint_ns = '' AND w.channel = ANY(?)
    ORDER BY u.thread, w.checkpoint_id, w.idx"""


class _End(NamedTuple):
    outcome: str
    updated: str
    tally: Mapping[str, int]


class SessionOverview:
    """All sessions of a database; may be used from any thread.

    Args:
        tables: where they are.
        queue: who carries them.
        root_here: see `DatabaseFolder.root_of`.
    """

    def __init__(self, tables: SessionTables, queue: WakeQueue, root_here: Callable[[str, str, str], str]) -> None:
        self._tables = tables
        self._queue = queue
        self._root_here = root_here
        self._ends: dict[str, _End | StorageError] = {}
        self._read: dict[str, str] = {}
        self._infos: dict[str, tuple[str, SessionInfo]] = {}
        self._lock = threading.Lock()

    def facts(self, *, carried: bool, newest: int | None = None) -> dict[str, SessionFacts | HitlError]:
        """Return what there is to say of each session, or why it can't be read, in the order they were made.

        Args:
            carried: by workers.
            newest: only so many of those that were made last; None for all.

        Raises:
            StorageError: the database can't be read.
        """
        with self._lock:
            return self._facts(newest, carried=carried)

    def _facts(self, newest: int | None, *, carried: bool) -> dict[str, SessionFacts | HitlError]:
        records = self._tables.rows(_RECORDS, (newest,))[::-1]
        names = [row[0] for row in records]
        holders = self._queue.holders()
        self._look(names)
        if newest is None:
            self._forget(names)
        where = self._queue.whereabouts(names, holders) if carried else {}
        found: dict[str, SessionFacts | HitlError] = {}
        for name, written, workspace, digest in records:
            end = self._ends.get(name, _End("", "", {}))
            try:
                info = self._info(name, written)
                if isinstance(end, StorageError):
                    raise end
            except (BadInput, ValueError, KeyError, TypeError, AttributeError) as error:
                what = Message("session {} of {}", name, shown_address(self._tables.address))
                found[name] = StorageError(Message("{} can't be read: it isn't what this program wrote there.", what))
                log.info("%s: %r", name, error)
                continue
            except StorageError as error:
                found[name] = error
                continue
            info = replace(info, workspace=self._root_here(workspace, digest, info.workspace))
            owned = lock_number(name) & 0xFFFF_FFFF_FFFF_FFFF in holders
            found[name] = SessionFacts(
                info, owned, end.outcome, end.updated, end.tally, where.get(name, Whereabouts()) if carried else None
            )
        return found

    def titles(self, sessions: Collection[str]) -> dict[str, str]:
        """Return what some sessions are called; those that can't be read are left out."""
        found: dict[str, str] = {}
        for name, written in self._tables.rows(_INFOS, (list(sessions),)):
            with suppress(BadInput, ValueError, KeyError, TypeError, AttributeError):
                found[name] = SessionInfo.from_dict(json.loads(written)).called
        return found

    def written(self, sessions: Sequence[str], channels: Sequence[str]) -> Mapping[str, Sequence[Row]]:
        """Return what was written to some channels of some sessions; see `DataFolder.written_texts`."""
        names = {thread_of(name): name for name in sessions}
        found: dict[str, list[Row]] = {}
        for thread, *row in self._tables.rows(_WRITTEN, (list(names), list(channels))):
            found.setdefault(names[thread], []).append(tuple(row))
        return found

    def _info(self, name: str, written: str) -> SessionInfo:
        known = self._infos.get(name)
        if known is None or known[0] != written:
            known = self._infos[name] = written, SessionInfo.from_dict(json.loads(written))
        return known[1]

    def _look(self, sessions: Sequence[str]) -> None:
        """Read the newest checkpoint of each of some sessions that has another one than before."""
        newest: dict[str, str] = dict(self._tables.rows(_NEWEST, (sessions,)))
        other = {name: at for name, at in newest.items() if self._read.get(name) != at}
        names = {thread_of(name): name for name in other}
        stamps: dict[str, str] = {}
        values: dict[str, dict[str, Any]] = {name: {} for name in other}
        broken: dict[str, StorageError] = {}
        rows = self._tables.rows(_STATES, (list(names), list(other.values()))) if other else []
        for thread, stamp, channel, kind, blob in rows:
            name = names[thread]
            stamps[name] = stamp or ""
            try:
                if channel is not None:
                    values[name][channel] = value_decoder.load(kind, blob)
            except value_decoder.Unreadable as error:
                broken[name] = StorageError(Message("The checkpoints of session {} can't be read: {}.", name, error))
        for name, at in other.items():
            self._read[name] = at
            outcome, tally = how_ended(values[name])
            self._ends[name] = broken.get(name) or _End(outcome, stamps.get(name, ""), tally)

    def _forget(self, there: Sequence[str]) -> None:
        """Forget all sessions but those that are there."""
        for known in (self._infos, self._read, self._ends):
            for gone in known.keys() - set(there):
                del known[gone]
