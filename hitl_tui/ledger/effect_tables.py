"""Effects in tables: functions that run inside one transaction."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from operator import itemgetter

from hitl_tui.core.errors import BadInput, Refused
from hitl_tui.core.json_types import JsonObject
from hitl_tui.core.messages import Message
from hitl_tui.ledger.records import Effect, EffectClaim, normalised_json
from hitl_tui.ledger.sql_transaction import Row, Transaction
from hitl_tui.ledger.stream_tables import is_stopped, restoring, write_entry
from hitl_tui.ledger.view_tables import data_of

USE_AS_DONE, DO_AGAIN, REPEATABLE = "use_as_done", "do_again", "repeatable"

_SELECT = """SELECT f.key, f.session, f.todo_id, f.branch, f.run_id, f.status,
        CASE WHEN f.ended > f.started THEN f.ended ELSE f.started END,
        s.at, s.stream, s.n, s.data, e.stream, e.n, e.data, f.first
    FROM effects f JOIN entries s ON s.id = f.started LEFT JOIN entries e ON e.id = f.ended"""


def begin(db: Transaction, wanted: Effect, now: str, resolution: str, answer_to: str) -> EffectClaim:
    """Claim an effect; see `Effects.begin_effect`."""
    if resolution not in ("", USE_AS_DONE, DO_AGAIN, REPEATABLE):
        raise BadInput(Message('"{}" says nothing about an effect; say {} or {}.', resolution, USE_AS_DONE, DO_AGAIN))
    found = _find(db, wanted.key)
    there, last = found if found else (None, 0)
    number, intent = restoring(db, wanted.session)
    if number != wanted.branch or intent is not None or is_stopped(db, wanted.session, wanted.run_id):
        return EffectClaim("stale", there)
    if there is None or resolution == REPEATABLE:
        return EffectClaim("go", _start(db, wanted, now, answer_to if resolution == REPEATABLE else ""))
    if resolution == DO_AGAIN and _was_said(db, wanted, resolution, answer_to, last):
        return EffectClaim("go", _start(db, wanted, now, answer_to))
    if there.status == "failed":
        if (there.session, there.run_id) == (wanted.session, wanted.run_id) and "error" in there.outcome:
            return EffectClaim("failed", there)
        if not there.outcome.get("partial") or (there.session, there.branch) == (wanted.session, wanted.branch):
            return EffectClaim("go", _start(db, wanted, now, ""))
    if there.status == "done" and (there.session, there.branch) == (wanted.session, wanted.branch):
        return EffectClaim("done", there)
    if resolution == USE_AS_DONE and _was_said(db, wanted, resolution, answer_to, last):
        outcome = there.outcome if there.status == "done" else {"declared_done": True}
        return EffectClaim("done", _end(db, _taken_over(there, wanted), "done", outcome, now))
    return EffectClaim("doubt", _as_done_there(db, there))


def _was_said(db: Transaction, wanted: Effect, verdict: str, request_id: str, last: int) -> bool:
    """Return whether people said this of an effect as it stands: asked and answered after entry `last`, its newest.

    So an answer is good for one start, whatever became of it: the start itself is newer than the answer.
    """
    row = db.execute(
        "SELECT e.stream, e.n, e.data, d.stream, d.n, d.data FROM requests r JOIN entries e ON e.id = r.entry"
        " JOIN inbox i ON i.session = r.session AND i.event_id = 'decided:' || r.id JOIN entries d ON d.id = i.entry"
        " WHERE r.id = ? AND r.session = ? AND r.entry > ? AND i.branch = ?",
        (request_id, wanted.session, last, wanted.branch),
    ).fetchone()
    if row is None:
        return False
    request, event = data_of(row[2], *row[:2])["request"], data_of(row[5], *row[3:5])["event"]
    asked = request["subject"].get("effect") if request["kind"] == "effect" else None
    return asked is not None and asked["key"] == wanted.key and event["verdict"] == verdict


def end(db: Transaction, key: str, run_id: str, status: str, outcome: JsonObject, now: str) -> None:
    """Write how an effect ended; see `Effects.end_effect`."""
    if status not in ("done", "failed"):
        raise BadInput(Message('An effect can\'t end as "{}"; it ends as done or failed.', status))
    found = _find(db, key)
    if found is None:
        raise Refused(Message("No effect {} was begun.", key), reason="unknown")
    there = found[0]
    if there.run_id != run_id:
        raise Refused(Message("The effect {} was taken over by {}.", there.name, there.run_id), reason="stale")
    if there.status == "started":
        _end(db, there, status, outcome, now)
    elif there.status != status or there.outcome != normalised_json(outcome)[0]:
        raise Refused(Message("The effect {} ended already, as {}.", there.name, there.status), reason="late")


def list_effects(db: Transaction, sessions: Sequence[str], status: str) -> list[Effect]:
    """Return the effects of sessions in the order they were first started."""
    found: list[Row] = []
    for session in sessions:
        found += db.execute(
            f"{_SELECT} WHERE f.session = ?1 AND (CAST(?2 AS TEXT) = '' OR f.status = ?2) ORDER BY f.first",
            (session, status),
        ).fetchall()
    return [_effect(row[:-1]) for row in sorted(found, key=itemgetter(-1))]


def _find(db: Transaction, key: str) -> tuple[Effect, int] | None:
    row = db.execute(f"{_SELECT} WHERE f.key = ?", (key,)).fetchone()
    return (_effect(row[:-1]), row[6]) if row else None


def _as_done_there(db: Transaction, effect: Effect) -> Effect:
    """Return an effect that a copy only knows of as the session did it that the copy comes from."""
    row = db.execute(
        "SELECT e.data, e.stream, e.n FROM effects f JOIN entries e ON e.id = f.started"
        " WHERE f.key = ? AND e.kind = 'effect_known'",
        (effect.key,),
    ).fetchone()
    if row is None:
        return effect
    known = data_of(*row)
    return replace(effect, session=known["session"], branch=known["branch"])


def _effect(row: Row) -> Effect:
    key, session, todo_id, branch, run_id, status, _last, at, *entries = row
    start_in, start_n, start, end_in, end_n, end = entries
    started = data_of(start, start_in, start_n)
    outcome = data_of(end, end_in, end_n)["outcome"] if end is not None else {}
    began = "" if "status" in started else at  # a copy knows of it, and not when
    place, name, subject = str(started.get("place", "")), started["name"], started["subject"]
    return Effect(key, session, todo_id, branch, run_id, name, subject, status, outcome, place, began)


def _start(db: Transaction, effect: Effect, now: str, answer_to: str) -> Effect:
    data = {
        "key": effect.key,
        "todo_id": effect.todo_id,
        "branch": effect.branch,
        "run_id": effect.run_id,
        "name": effect.name,
        "subject": effect.subject,
        "answer_to": answer_to,
        **({"place": effect.place} if effect.place else {}),
    }
    written = write_entry(db, effect.session, "effect_started", data, now)
    return replace(effect, subject=written.data["subject"], status="started", outcome={})


def _end(db: Transaction, effect: Effect, status: str, outcome: JsonObject, now: str) -> Effect:
    data = {
        "key": effect.key,
        "todo_id": effect.todo_id,
        "branch": effect.branch,
        "run_id": effect.run_id,
        "status": status,
        "outcome": outcome,
    }
    written = write_entry(db, effect.session, "effect_ended", data, now)
    return replace(effect, status=status, outcome=written.data["outcome"])


def _taken_over(there: Effect, by: Effect) -> Effect:
    return replace(there, session=by.session, todo_id=by.todo_id, branch=by.branch, run_id=by.run_id)
