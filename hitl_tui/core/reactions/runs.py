"""What runs report: only the current run of a TODO is listened to."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from hitl_tui.core.board import Draft
from hitl_tui.core.errors import Refused
from hitl_tui.core.events import Event
from hitl_tui.core.interrupts import HIGHEST_NUMBER, highest_number, interrupts_of
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


def _entering(todo: SupervisorTodo, event: Event) -> SupervisorTodo:
    """Keep how often each node was entered, all in all (I7): `entered` {path: times}."""
    entered = event.data.get("entered")
    if not entered:
        return todo
    before = todo.metadata.get("entered", {})
    counted = {**before, **{str(k): int(before.get(k, 0)) + int(n) for k, n in entered.items()}}
    return replace(todo, metadata={**todo.metadata, "entered": counted})


def finished(draft: Draft, event: Event) -> None:
    """A run ended well: `todo_id`, `run_id`, `result` (a reference).

    Optionally `proposal`, `entered`, and `thread`: the one it was on, of a graph of others.
    """
    todo = _entering(_ended(draft, event), event)
    if event.data.get("thread"):
        metadata = {k: v for k, v in todo.metadata.items() if k != "stopped_on"}
        todo = replace(todo, metadata={**metadata, "threads": {todo.run_id: str(event.data["thread"])}})
    draft.put(
        todo.move(
            Status.COMPLETED,
            result=dict(event.data["result"]),
            question=None,
            error="",
            completed_at=event.at,
            duration=todo.ran(event.at),
        )
    )
    proposal = event.data.get("proposal")
    if proposal:
        draft.control = replace(
            draft.control, proposals={**draft.control.proposals, str(proposal["id"]): dict(proposal)}
        )


def failed(draft: Draft, event: Event) -> None:
    """A run failed: `todo_id`, `run_id`, `error`, `final` (it isn't tried again by itself).

    Optionally `thread`, which a retry goes on with, `wedged` (the answer it was given is what made it fail), `entered`.
    """
    todo = _entering(_ended(draft, event), event)
    if event.data.get("thread"):
        todo = replace(todo, metadata={**todo.metadata, "rewind": {"thread": str(event.data["thread"])}})
    error = str(event.data.get("error", ""))[:2000]
    times: dict[str, Any] = {
        "completed_at": event.at,
        "duration": todo.ran(event.at),
    }
    if todo.retry_count < todo.max_retries and not event.data.get("final"):
        draft.put(todo.move(Status.PENDING, error=error, retry_count=todo.retry_count + 1, question=None))
    elif todo.optional:
        metadata = {**todo.metadata, "skip_reason": f"failed: {error}", "skipped_by": SYSTEM}
        draft.put(todo.move(Status.SKIPPED, error=error, metadata=metadata, question=None, **times))
    else:
        question = {"kind": "failure", **({"wedged": True} if event.data.get("wedged") else {})}
        draft.put(todo.move(Status.FAILED, error=error, question=question, **times))


def interrupted(draft: Draft, event: Event) -> None:
    """A run ended at interrupts: `todo_id`, `run_id`, `interrupts`, `delivered` (ids it was given answers for).

    Each interrupt has `id`, `path`, `index`, `value`; optionally `schema`, `at` (where its thread stood), `again` (what
    runs again), `programs` (what answering lets run, as it was when it was asked) and `changed` (the files of it that
    aren't what they were when something about the step was said last). One that is asked as before keeps its question,
    and its answer if there is one meanwhile.

    Each gets a number, which people call it by and no other of this TODO ever gets (T1).
    """
    todo = _entering(_running(draft, event), event)
    delivered, asked = set(event.data.get("delivered", ())), todo.asked + 1
    known = {i["id"]: i for i in interrupts_of(todo.question) if i["id"] not in delivered}
    highest = highest_number(todo.to_state())
    interrupts = []
    for interrupt in event.data["interrupts"]:
        found = _asked(dict(interrupt), known.get(interrupt["id"]), asked)
        if "number" not in found:
            highest += 1
            found["number"] = highest
        interrupts.append(found)
    if not interrupts:
        raise TypeError("a run that ended at interrupts names them")
    todo = replace(todo, metadata={**todo.metadata, HIGHEST_NUMBER: highest})
    question = {"kind": Kind.INTERRUPT.value, "interrupts": interrupts}
    if any("answer" in i for i in interrupts):
        draft.put(replace(todo, question=question, asked=asked))
    else:
        draft.put(todo.waits(event.at).move(Status.WAITING_APPROVAL, question=question, asked=asked))


def _asked(interrupt: dict[str, Any], known: Mapping[str, Any] | None, asked: int) -> dict[str, Any]:
    if not isinstance(interrupt["id"], str) or not isinstance(interrupt.get("path", ()), list | tuple):
        raise TypeError("an interrupt has a text as id and a list as path")
    interrupt.pop("number", None)
    if known is None or any(known.get(k) != interrupt.get(k) for k in ("value", "schema")):
        return {**interrupt, "asked": asked}
    if all(known.get(k) == interrupt.get(k) for k in ("at", "programs")):
        return dict(known)
    return {**interrupt, "asked": asked, "number": known["number"]}


def doubt(draft: Draft, event: Event) -> None:
    """A run met an effect that may have happened: `todo_id`, `run_id`, `effect` {`key`, `name`, `subject`, `why`}.

    Optionally `programs`, what it would execute now, and `changed`, the files of it that aren't what they were.
    """
    todo = _running(draft, event)
    effect = dict(event.data["effect"])
    if not isinstance(effect["key"], str):
        raise TypeError("an effect has a text as key")
    if "programs" in event.data:
        todo = replace(
            todo,
            arguments={**todo.arguments, "programs": dict(event.data["programs"])},
            metadata={**todo.metadata, "changed": [str(name) for name in event.data.get("changed", ())]},
        )
    # What it asked and was answered stays: it goes on with that once the doubt is settled.
    kept = interrupts_of(todo.question)
    programs = todo.arguments.get("programs")
    bound = {"programs": dict(programs)} if programs else {}
    question = {"kind": Kind.EFFECT.value, "effect": effect, **bound, **({"interrupts": kept} if kept else {})}
    draft.put(todo.waits(event.at).move(Status.WAITING_APPROVAL, question=question, asked=todo.asked + 1))


def changed(draft: Draft, event: Event) -> None:
    """What a run would execute next isn't what was approved, so it stopped: `todo_id`, `run_id`, `programs`, `changed`.

    The step is asked about anew, with what is there now. Optionally `thread`: it goes on there.
    """
    todo = _running(draft, event)
    metadata = {**todo.metadata, "changed": [str(name) for name in event.data["changed"]]}
    if event.data.get("thread"):
        metadata["rewind"] = {"thread": str(event.data["thread"])}
    draft.put(
        todo.move(
            Status.PENDING,
            arguments={**todo.arguments, "programs": dict(event.data["programs"])},
            metadata=metadata,
            approval=None,
            question=None,
            asked=todo.asked + 1,
        )
    )
