"""Requests and decisions in tables: functions that run inside one transaction."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime

from hitl_tui.core.errors import BadInput, Refused, StorageError
from hitl_tui.core.events import after_seconds
from hitl_tui.core.json_text import digest
from hitl_tui.core.messages import Message
from hitl_tui.core.policy import Risk
from hitl_tui.core.requests import (
    EVERYTHING,
    Decision,
    Kind,
    Outcome,
    Request,
    Verdict,
    check_decision,
    check_ending,
    closed_words,
    ended_with,
    name_of,
    was_since,
)
from hitl_tui.core.supersession import Cause, Supersession
from hitl_tui.ledger.records import Branch, Closing, RecordFigures, RequestView, decided_event, normalised_json
from hitl_tui.ledger.sql_transaction import Row, Transaction
from hitl_tui.ledger.stored_request import StoredRequest
from hitl_tui.ledger.stream_tables import branch_number, highest_seq, write_entry, write_event
from hitl_tui.ledger.stream_tables import post_event as post_checked_event
from hitl_tui.ledger.view_tables import data_of, supersession_of

_MOST = 100_000
_NEVER = "9999"
_AT_ONCE = 900
"""Values of one statement: SQLite takes a thousand."""
_ENDING = {Kind.PLAN: Cause.PLAN, Kind.PROPOSAL: Cause.PROPOSAL}

_SELECT = """SELECT r.id, r.session, r.deadline, r.first_shown, r.settled_at, r.verdict, r.outcome, r.superseded,
        e.n, e.data, v.n, v.data
    FROM requests r JOIN entries e ON e.id = r.entry LEFT JOIN entries v ON v.id = r.evidence"""

_SAID = "SELECT d.request, e.data, e.n FROM decisions d JOIN entries e ON e.id = d.entry"


def open_requests(db: Transaction, requests: Sequence[Request]) -> list[str]:
    """Write those requests that aren't there."""
    new: list[str] = []
    for request in requests:
        if db.execute("SELECT 1 FROM requests WHERE id = ?", (request.id,)).fetchone():
            continue
        data = replace(request, first_shown="").to_dict()
        if digest(normalised_json(data["subject"])[0]) != request.digest:
            raise BadInput(Message("The digest of request {} isn't the digest of its subject.", request.id))
        write_entry(db, request.session, "request_opened", {"request": data}, request.opened_at)
        if request.branch != branch_number(db, request.session) and not request.superseded:
            _supersede(db, request.session, request.id, Supersession(Cause.RESTORED, at=request.opened_at))
        new.append(request.id)
    return new


def unshown(db: Transaction, request_ids: Sequence[str]) -> list[str]:
    """Return those of these requests that are open and were never shown."""
    statement = "SELECT 1 FROM requests WHERE id = ? AND state = 'open' AND first_shown = ''"
    return [i for i in request_ids if db.execute(statement, (i,)).fetchone()]


def mark_shown(db: Transaction, request_ids: Sequence[str], by: str, channel: str, now: str) -> list[str]:
    """Write that open requests were shown, once for each."""
    fresh = unshown(db, request_ids)
    for request_id in fresh:
        stored = find_request(db, request_id)
        assert stored is not None
        request, seconds = stored.request, stored.request.terms.deadline
        deadline = after_seconds(now, seconds) if request.ends_in_approval and seconds else ""
        data = {"request_id": request_id, "by": by, "channel": channel, "deadline": deadline}
        write_entry(db, request.session, "request_shown", data, now)
    return fresh


def find_request(db: Transaction, request_id: str) -> StoredRequest | None:
    """Return one request."""
    row = db.execute(f"{_SELECT} WHERE r.id = ?", (request_id,)).fetchone()
    return _stored(db, [row])[0] if row else None


def list_requests(
    db: Transaction, now: str, session: str | None, todo_id: str | None, pending: bool, limit: int
) -> list[RequestView]:
    """Return requests in the order they were opened."""
    conditions, values = list[str](), list[str]()
    if pending:
        conditions.append("r.state = 'open' AND (r.deadline = '' OR r.deadline > ?)")
        values.append(now)
    if session is not None:
        conditions.append("r.session = ?")
        values.append(session)
    if todo_id is not None:
        conditions.append("r.todo_id = ?")
        values.append(todo_id)
    where = f" WHERE {' AND '.join(conditions)}" if conditions else ""
    rows = db.execute(f"{_SELECT}{where} ORDER BY r.entry LIMIT ?", (*values, max(0, limit))).fetchall()
    return [stored.view(now) for stored in _stored(db, rows)]


def decided_since(db: Transaction, since: str, now: str) -> list[RequestView]:
    """Return requests that were decided about or superseded from a time on, in the order they were opened."""
    said = "SELECT d.request FROM decisions d JOIN entries a ON a.id = d.entry WHERE a.at >= ?1"
    ended = "r.ended_at <> '' AND r.ended_at >= ?1"
    rows = db.execute(f"{_SELECT} WHERE r.id IN ({said}) OR ({ended}) ORDER BY r.entry", (since,)).fetchall()
    return [stored.view(now) for stored in _stored(db, rows)]


_WAITS = "r.state = 'open' AND (r.deadline = '' OR r.deadline > ?)"


def most_urgent(db: Transaction, now: str, limit: int) -> list[RequestView]:
    """Return what waits for a person and expires first, then what waits longest; at most `limit`."""
    wanted = max(0, limit)
    rows = db.execute(
        "SELECT r.id FROM requests r WHERE r.state = 'open' AND r.deadline <> '' AND r.deadline > ?"
        " ORDER BY r.deadline, r.entry LIMIT ?",
        (now, wanted),
    ).fetchall()
    # By themselves these are read in the order of an index, however many there are.
    rows += db.execute(
        "SELECT r.id FROM requests r WHERE r.state = 'open' AND r.deadline = '' ORDER BY r.entry LIMIT ?",
        (wanted - len(rows),),
    ).fetchall()
    return _views_of(db, [row[0] for row in rows], now)


def waiting_counts(db: Transaction, now: str) -> dict[str, int]:
    """Return by session how many of its requests wait for a person; sessions with none are left out."""
    return dict(db.execute(f"SELECT r.session, count(*) FROM requests r WHERE {_WAITS} GROUP BY r.session", (now,)))  # noqa: S608 - constants


def figures(db: Transaction, now: str) -> RecordFigures:
    """Return how much is on record."""
    waiting = sum(waiting_counts(db, now).values())
    oldest = db.execute(
        f"SELECT e.at FROM requests r JOIN entries e ON e.id = r.entry WHERE {_WAITS} ORDER BY r.entry LIMIT 1",  # noqa: S608 - constants
        (now,),
    ).fetchone()
    ended = db.execute(
        "SELECT CASE WHEN state = 'settled' THEN outcome ELSE state END, count(*) FROM requests"
        " WHERE state <> 'open' GROUP BY 1"
    )
    settled = {str(outcome) or "unknown": int(count) for outcome, count in ended}
    (decisions,) = db.execute("SELECT count(*) FROM decisions").fetchone()
    effects = {str(s): int(n) for s, n in db.execute("SELECT status, count(*) FROM effects GROUP BY status")}
    return RecordFigures(waiting, oldest[0] if oldest else "", int(decisions), settled, effects)


class WaitingList:
    """Everything that waits for a person, read anew only when the file was written or a deadline has passed.

    A request is parsed again only when its row or its decisions changed: entries never do.
    """

    _ROWS = """SELECT r.id, r.deadline, r.first_shown, r.superseded, r.evidence,
            (SELECT max(d.entry) FROM decisions d WHERE d.request = r.id)
        FROM requests r WHERE r.state = 'open' AND (r.deadline = '' OR r.deadline > ?) ORDER BY r.entry"""

    def __init__(self) -> None:
        self._views: dict[Row, RequestView] = {}
        self._read: object = None
        self._since = self._until = ""

    def look(self, db: Transaction, version: object, now: str) -> list[RequestView]:
        """Return it in the order of opening. Within a transaction, whose version is `TableDatabase.version`."""
        if version != self._read or not self._since <= now < self._until:
            rows = db.execute(self._ROWS, (now,)).fetchall()
            new = [row for row in rows if row not in self._views]
            read = dict(zip(new, _views_of(db, [row[0] for row in new], now), strict=True))
            self._views = {row: read.get(row) or self._views[row] for row in rows}
            deadlines = (view.request.deadline for view in self._views.values() if view.request.deadline)
            self._read, self._since, self._until = version, now, min(deadlines, default=_NEVER)
        return list(self._views.values())


def _views_of(db: Transaction, ids: Sequence[str], now: str) -> list[RequestView]:
    """Return requests that were listed in this transaction, in the order of their ids."""
    found: dict[str, RequestView] = {}
    for page in _pages(ids):
        rows = db.execute(f"{_SELECT} WHERE r.id IN ({_places(page)})", page).fetchall()
        found.update((stored.request.id, stored.view(now)) for stored in _stored(db, rows))
    return [found[request_id] for request_id in ids]


def decide(db: Transaction, decision: Decision, now: str, machine: str = "") -> RequestView:
    """Check and write a decision, and the event when it settles the request; `machine` is where it was given."""
    stored = find_request(db, decision.request_id)
    if stored is None:
        check_decision(None, (), decision, now)
        raise AssertionError(Message("an unknown request was let through"))
    request = stored.request
    at = max(now, stored.settled_at)
    check_decision(request, stored.decisions, decision, at, stored.resolution(now))
    if request.branch != branch_number(db, request.session):
        raise Refused(
            Message("This question was left behind: {}.", Supersession(Cause.RESTORED).word), reason="superseded"
        )
    where = {"machine": machine} if machine else {}
    written = write_entry(db, request.session, "decision", {"decision": decision.to_dict(), **where}, now)
    taken_as = Decision.from_dict(written.data["decision"])
    view = replace(stored, decisions=(*stored.decisions, taken_as)).view(now)
    if view.resolution.decided:
        _post_decided(db, view, now)
    return view


def post_event(
    db: Transaction,
    session: str,
    branch: int,
    event_id: str,
    event: Mapping[str, object],
    at: str,
    closing: Closing | None,
) -> int:
    """Put somebody's event into the inbox, once, with what it ends."""
    known = db.execute("SELECT 1 FROM inbox WHERE session = ? AND event_id = ?", (session, event_id)).fetchone()
    if closing is not None and known is None and branch == branch_number(db, session):
        expire(db, session, at)
        for todo_id in closing.todo_ids:
            refuse_decided(db, session, todo_id, closing.since, at)
        closed = _close(db, session, closing, at)
        data = event.get("data")
        event = {**event, "data": {**(data if isinstance(data, Mapping) else {}), "closed": closed}}
    return post_checked_event(db, session, branch, event_id, event, at)


def refuse_decided(db: Transaction, session: str, todo_id: str, since: str, now: str) -> None:
    """Refuse what somebody does to a TODO about which something was decided since they began; nothing without `since`.

    Raises:
        Refused: it was; the message says what, by whom and when.
    """
    if not since or todo_id == EVERYTHING:
        return
    rows = db.execute(
        f"{_SELECT} WHERE r.session = ? AND (r.settled_at >= ? OR r.state = 'superseded')"
        " AND r.todo_id = ? ORDER BY r.entry DESC",
        (session, since, todo_id),
    ).fetchall()
    for row, stored in zip(rows, _stored(db, rows), strict=True):
        view = stored.view(now)
        if was_since(row[4], since, now) or was_since(view.request.ended_at, since, now):
            raise Refused(closed_words(view.request, view.resolution, now), reason="late")


def _close(db: Transaction, session: str, closing: Closing, now: str, but: str = "") -> dict[str, str]:
    """Supersede the open requests that something ends; return the TODOs they are about, by request id."""
    closed: dict[str, str] = {}
    for todo_id in dict.fromkeys(closing.todo_ids):
        for view in list_requests(db, now, session, None if todo_id == EVERYTHING else todo_id, True, _MOST):
            request = view.request
            if not request.todo_id or request.id == but or request.id in closed:
                continue
            if closing.verdict and closing.verdict in request.options:
                raise Refused(
                    Message("{} asks now; read the question and decide it.", name_of(request)), reason="stale"
                )
            _check_ending(request, closing)
            _supersede(db, session, request.id, Supersession(closing.cause, closing.by, now, closing.detail))
            closed[request.id] = request.todo_id
    return closed


def _check_ending(request: Request, closing: Closing) -> None:
    """Check that who ends a question may.

    Raises:
        Refused: they may not, or didn't mean this question.
    """
    if not closing.who:
        return
    check_ending(name_of(request), request.terms, closing.who, closing.amounts_to, request.requester)
    if request.risk_class is not Risk.HIGH or closing.met is None:
        return
    unseen = closing.amounts_to is Verdict.APPROVE and not request.first_shown
    if unseen or request.id not in closing.met:
        raise Refused(Message("{} asks now; read the question and decide it.", name_of(request)), reason="stale")


def overdue_sessions(db: Transaction, now: str) -> list[str]:
    """Return the sessions with open requests whose deadline has passed."""
    rows = db.execute(
        "SELECT DISTINCT session FROM requests WHERE state = 'open' AND deadline <> '' AND deadline <= ?", (now,)
    )
    return [row[0] for row in rows]


def expire(db: Transaction, session: str, now: str) -> list[str]:
    """Post the events of open requests whose deadline has passed."""
    rows = db.execute(
        f"{_SELECT} WHERE r.session = ? AND r.state = 'open' AND r.deadline <> '' AND r.deadline <= ? ORDER BY r.entry",
        (session, now),
    ).fetchall()
    views = [stored.view(now) for stored in _stored(db, rows)]
    for view in views:
        _post_decided(db, view, now)
    return [view.request.id for view in views]


def open_ids(db: Transaction, session: str) -> list[str]:
    """Return the ids of a session's open requests."""
    rows = db.execute("SELECT id FROM requests WHERE session = ? AND state = 'open' ORDER BY entry", (session,))
    return [row[0] for row in rows.fetchall()]


def supersede(db: Transaction, session: str, keep: Collection[str], why: Supersession) -> list[str]:
    """Mark a session's open requests as superseded, but those in `keep`."""
    kept = frozenset(keep)
    gone = [request_id for request_id in open_ids(db, session) if request_id not in kept]
    for request_id in gone:
        _supersede(db, session, request_id, why)
    return gone


def attach_evidence(db: Transaction, request_id: str, evidence: Mapping[str, object], now: str) -> None:
    """Replace a request's evidence."""
    row = db.execute("SELECT session FROM requests WHERE id = ?", (request_id,)).fetchone()
    if row is None:
        raise Refused(Message("No request {}.", request_id), reason="unknown")
    write_entry(db, row[0], "evidence", {"request_id": request_id, "evidence": evidence}, now)


def begin_restore(
    db: Transaction, session: str, checkpoint_id: str, by: str, now: str, channel: str, number: int
) -> Branch:
    """Take the next branch and supersede what was asked on the older ones."""
    if not checkpoint_id:
        raise BadInput(Message("A restore needs the checkpoint it goes to."))
    branch = branch_number(db, session) + 1
    # The number of the event that ends the restore is taken now: nothing posted meanwhile comes before it.
    seq = highest_seq(db, session) + 1
    data = {"branch": branch, "checkpoint_id": checkpoint_id, "by": by, "seq": seq}
    write_entry(db, session, "restore_intended", {**data, "channel": channel, "number": number}, now)
    supersede(db, session, (), Supersession(Cause.RESTORED, by, now))
    return Branch(branch, checkpoint_id)


def _supersede(db: Transaction, session: str, request_id: str, why: Supersession) -> None:
    write_entry(db, session, "request_superseded", {"request_id": request_id, "reason": why.to_dict()}, why.at)


def _post_decided(db: Transaction, view: RequestView, now: str) -> None:
    request, resolution = view.request, view.resolution
    event = decided_event(view)
    todo_ids = ended_with(request, resolution)
    if todo_ids:
        last = resolution.decisions[-1] if resolution.decisions else None
        said, by = (last.said, last.by) if last else (Verdict.REJECT.value, "deadline")
        cause = _ENDING.get(request.kind, Cause.DECIDED)
        detail = said if cause is Cause.DECIDED else ""
        # To end everything lets nothing run, so whoever may say it may end what takes others, too.
        who = () if EVERYTHING in todo_ids else tuple(d.identity for d in resolution.decisions)
        closing = Closing(cause, by, todo_ids, detail=detail, who=who, amounts_to=Verdict.REJECT)
        closed = _close(db, request.session, closing, now, request.id)
        event = {**event, "closed": closed} if closed else event
    write_event(db, request.session, request.branch, f"decided:{request.id}", event, now, settles=request.id)


def _stored(db: Transaction, rows: Sequence[Row]) -> list[StoredRequest]:
    """Return the requests in rows of `_SELECT`, with what was decided about them."""
    decided: dict[str, list[Row]] = {}
    for page in _pages([row[0] for row in rows]):
        said = db.execute(f"{_SAID} WHERE d.request IN ({_places(page)}) ORDER BY d.entry", page)
        for request_id, *decision in said:
            decided.setdefault(request_id, []).append(tuple(decision))
    return [_stored_request(row, decided.get(row[0], ())) for row in rows]


def _stored_request(row: Row, decided: Sequence[Row]) -> StoredRequest:
    request_id, session, deadline, first_shown, settled_at, verdict, outcome, superseded = row[:8]
    n, raw, evidence_n, evidence = row[8:]
    try:
        for at in (deadline, first_shown, settled_at):
            _check_time(at)
        request = Request.from_dict(data_of(raw, session, n)["request"])
        request = replace(
            request,
            deadline=deadline or request.deadline,
            first_shown=first_shown,
            superseded=supersession_of(superseded),
        )
        settled = (Outcome(outcome), Verdict(verdict)) if verdict and outcome else None
        shown = data_of(evidence, session, evidence_n)["evidence"] if evidence is not None else {}
        decisions = tuple(Decision.from_dict(data_of(said, session, at)["decision"]) for said, at in decided)
        return StoredRequest(request, settled_at, settled, shown, decisions)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise StorageError(
            Message('Request {} can\'t be read; look at the ledger with "audit verify".', request_id)
        ) from error


def _check_time(at: str) -> None:
    """Check that a column has a time, ISO 8601, or nothing.

    Raises:
        TypeError, ValueError: it has something else, which no ledger writes.
    """
    if at != "":
        datetime.fromisoformat(at)


def _pages(ids: Sequence[str]) -> Iterator[Sequence[str]]:
    return (ids[begin : begin + _AT_ONCE] for begin in range(0, len(ids), _AT_ONCE))


def _places(page: Sequence[str]) -> str:
    return ", ".join("?" * len(page))
