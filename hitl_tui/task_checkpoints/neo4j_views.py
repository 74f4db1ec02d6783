"""Steps of tasks as nodes that others query: `:Checkpoint`, and `:InterruptEvent` for those that ask (M4).

They are made of entries alone and decide nothing: what somebody writes into them is never read here.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import LiteralString

from hitl_tui.core.requests import Verdict
from hitl_tui.ledger.neo4j_entries import Row
from hitl_tui.ledger.records import Entry
from hitl_tui.task_checkpoints.checkpoint import EDITED, STEP, Status, checkpoint_of

_STEPS: LiteralString = """
UNWIND $rows AS row
MERGE (c:Checkpoint {id: row.id})
SET c = row
"""
_ASKED: LiteralString = """
UNWIND $rows AS row
MERGE (e:InterruptEvent {checkpoint_id: row.checkpoint_id})
SET e = row
"""
_EDITED: LiteralString = """
UNWIND $rows AS row
MATCH (c:Checkpoint {task_id: row.task_id, step: row.step})
MATCH (e:InterruptEvent {checkpoint_id: c.id})
SET c.status = row.status, c.request_id = row.request_id, c.interrupt_at = row.at,
    c.rejected_at = null, c.reason = null,
    e.request_id = row.request_id, e.created_at = row.at, e.resolved_at = null, e.resolution = null,
    e.resolved_by = null, e.reason = null
"""
_DECIDED: LiteralString = """
UNWIND $rows AS row
MATCH (c:Checkpoint {request_id: row.request_id})
SET c += row.changes
"""
_RESOLVED: LiteralString = """
UNWIND $rows AS row
MATCH (e:InterruptEvent {request_id: row.request_id})
SET e += row.changes
"""


class CheckpointViews:
    """The projection of `ledger.neo4j_entries` for steps of tasks."""

    version = 1
    schema: Sequence[LiteralString] = (
        "CREATE CONSTRAINT checkpoint_id IF NOT EXISTS FOR (c:Checkpoint) REQUIRE c.id IS UNIQUE",
        "CREATE INDEX checkpoint_request IF NOT EXISTS FOR (c:Checkpoint) ON (c.request_id)",
        "CREATE INDEX checkpoint_status IF NOT EXISTS FOR (c:Checkpoint) ON (c.status)",
        "CREATE CONSTRAINT interrupt_event_checkpoint IF NOT EXISTS FOR (e:InterruptEvent) "
        "REQUIRE e.checkpoint_id IS UNIQUE",
        "CREATE INDEX interrupt_event_request IF NOT EXISTS FOR (e:InterruptEvent) ON (e.request_id)",
    )
    statements: Sequence[LiteralString] = (_STEPS, _ASKED, _EDITED, _DECIDED, _RESOLVED)

    def rows(self, entry: Entry) -> Iterable[tuple[LiteralString, Row]]:
        """Return what an entry changes."""
        data = entry.data
        if entry.kind == STEP:
            yield from _recorded(entry)
        elif entry.kind == EDITED:
            row = {"task_id": entry.stream, "step": int(data["step"]), "status": Status.INTERRUPTED.value}
            yield _EDITED, row | {"request_id": data["request"]["id"], "at": entry.at}
        elif entry.kind == "request_superseded":
            why = data["reason"]
            yield from _settled(data["request_id"], entry.at, False, str(why.get("by", "")), str(why["cause"]), "null")
        elif entry.kind == "decision" and "settled" in data:
            decision = data["decision"]
            approved = data["settled"]["verdict"] == Verdict.APPROVE
            value = json.dumps(decision["value"], ensure_ascii=False)
            yield from _settled(
                decision["request_id"], entry.at, approved, decision["by"], decision["reason"] or "", value
            )
        elif entry.kind == "event" and "settles" in data:
            approved = data["event"]["verdict"] == Verdict.APPROVE
            yield from _settled(data["settles"], entry.at, approved, "", str(data["event"]["outcome"]), "null")


def _recorded(entry: Entry) -> Iterable[tuple[LiteralString, Row]]:
    step = checkpoint_of(entry, None)
    row = {
        "id": step.id,
        "task_id": step.task_id,
        "step": step.step,
        "action": step.action,
        "agent": step.agent,
        "recorded_at": step.recorded_at,
        "status": step.status.value,
    }
    request = entry.data.get("request")
    if not request:
        if step.ruled is not None and step.denied is not None:
            row |= {"rejected_at": entry.at, "reason": step.ruled.name or str(step.denied)}
            row |= {"interrupt_message": step.message} if step.message else {}
        yield _STEPS, row
        return
    asks = {"request_id": request["id"], "interrupt_message": step.message, "interrupt_at": entry.at}
    yield _STEPS, row | asks | {"status": Status.INTERRUPTED.value}
    yield (
        _ASKED,
        {
            "checkpoint_id": step.id,
            "request_id": request["id"],
            "message": step.message,
            "created_at": entry.at,
        },
    )


def _settled(
    request_id: str, at: str, approved: bool, by: str, reason: str, value: str
) -> Iterable[tuple[LiteralString, Row]]:
    if approved:
        changes = {"status": Status.COMPLETED.value, "resume_value": value, "resumed_at": at}
    else:
        changes = {"status": Status.REJECTED.value, "rejected_at": at, "reason": reason}
    yield _DECIDED, {"request_id": request_id, "changes": changes}
    resolved = {
        "resolved_at": at,
        "resolution": "approved" if approved else "rejected",
        "resolved_by": by,
        "reason": reason,
    }
    yield _RESOLVED, {"request_id": request_id, "changes": resolved}
