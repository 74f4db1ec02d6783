"""What runs report: only the current run of a TODO is listened to."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from hitl_tui.core.board import Draft
from hitl_tui.core.errors import Refused
from hitl_tui.core.events import Event, seconds_between
from hitl_tui.core.reactions.operators import target
from hitl_tui.core.requests import Kind
from hitl_tui.core.todos import SYSTEM, Status, SupervisorTodo


def _running(draft: Draft, event: Event) -> SupervisorTodo:
    todo = target(draft, event)
    if todo.status is not Status.IN_PROGRESS or todo.run_id != event.data["run_id"]:
        raise Refused(f"The run {event.data['run_id']} isn't the current one of {todo.id}.", reason="late")
    return todo


def _ended(draft: Draft, event: Event) -> SupervisorTodo:
    """Return the TODO whose run is over: a step of its team to go back to was meant for this run alone."""
    todo = _running(draft, event)
    if "rewind" not in todo.metadata:
        return todo
    metadata = {k: v for k, v in todo.metadata.items() if k != "rewind"}
    metadata["threads"] = {todo.run_id: todo.metadata["rewind"]["thread"]}
    return replace(todo, metadata=metadata)


def finished(draft: Draft, event: Event) -> None:
    """A run ended well: `todo_id`, `run_id`, `result` (a reference), optionally `proposal`."""
    todo = _ended(draft, event)
    draft.put(
        todo.move(
            Status.COMPLETED,
            result=dict(event.data["result"]),
            question=None,
            error="",
            completed_at=event.at,
            duration=seconds_between(todo.started_at, event.at),
        )
    )
    proposal = event.data.get("proposal")
    if proposal:
        draft.control = replace(
            draft.control, proposals={**draft.control.proposals, str(proposal["id"]): dict(proposal)}
        )


def failed(draft: Draft, event: Event) -> None:
    """A run failed: `todo_id`, `run_id`, `error`, `final` (a retry can't help)."""
    todo = _ended(draft, event)
    error = str(event.data.get("error", ""))[:2000]
    times: dict[str, Any] = {
        "completed_at": event.at,
        "duration": seconds_between(todo.started_at, event.at),
    }
    if todo.retry_count < todo.max_retries and not event.data.get("final"):
        draft.put(todo.move(Status.PENDING, error=error, retry_count=todo.retry_count + 1, question=None))
    elif todo.optional:
        metadata = {**todo.metadata, "skip_reason": f"failed: {error}", "skipped_by": SYSTEM}
        draft.put(todo.move(Status.SKIPPED, error=error, metadata=metadata, question=None, **times))
    else:
        draft.put(todo.move(Status.FAILED, error=error, question={"kind": "failure"}, **times))


def interrupted(draft: Draft, event: Event) -> None:
    """A run ended at an interrupt: `todo_id`, `run_id`, `interrupt` {`id`, `path`, `index`, `value`}."""
    todo = _running(draft, event)
    interrupt = dict(event.data["interrupt"])
    if not isinstance(interrupt["id"], str) or not isinstance(interrupt.get("path", ()), list | tuple):
        raise TypeError("an interrupt has a text as id and a list as path")
    question = {"kind": Kind.INTERRUPT.value, "interrupt": interrupt}
    draft.put(todo.move(Status.WAITING_APPROVAL, question=question, asked=todo.asked + 1))


def doubt(draft: Draft, event: Event) -> None:
    """A run met an effect that may have happened: `todo_id`, `run_id`, `effect` {`key`, `name`, `subject`, `why`}."""
    todo = _running(draft, event)
    effect = dict(event.data["effect"])
    if not isinstance(effect["key"], str):
        raise TypeError("an effect has a text as key")
    question = {"kind": Kind.EFFECT.value, "effect": effect}
    draft.put(todo.move(Status.WAITING_APPROVAL, question=question, asked=todo.asked + 1))
