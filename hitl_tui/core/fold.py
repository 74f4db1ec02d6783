"""`fold`: what events do to a board.

It is pure, total and idempotent: the same events on the same board give the same board, an event that is already
in it (by its number) changes nothing, and one that is late, malformed or impossible is recorded as refused and
never raised.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from hitl_tui.core import fold_decisions, fold_operator_events
from hitl_tui.core.board import Board, Draft, Rules
from hitl_tui.core.errors import BadInput, HitlError, Refused
from hitl_tui.core.events import Event, EventKind, refusal
from hitl_tui.core.fold_consequences import ask_closed_anew, settle, withdraw_unbound
from hitl_tui.core.fold_operator_events import target
from hitl_tui.core.interrupts.numbers import HIGHEST_NUMBER, asked_anew, highest_number, interrupts_of
from hitl_tui.core.json_types import (
    DoubtfulEffect,
    Interrupt,
    ProposalState,
    Refusal,
    TodoMetadata,
    TodoQuestion,
    TodoState,
)
from hitl_tui.core.messages import Message
from hitl_tui.core.names import clip, step_name
from hitl_tui.core.plan import Change
from hitl_tui.core.policy import Mode, Risk
from hitl_tui.core.proposal_changes import carry_out
from hitl_tui.core.requests import BY_RULE, Kind, Verdict
from hitl_tui.core.todos import MAY_BEGIN, SYSTEM, Status, SupervisorTodo, without


def _running(draft: Draft, event: Event) -> SupervisorTodo:
    todo = target(draft, event)
    if todo.status is not Status.IN_PROGRESS or todo.run_id != event.data["run_id"]:
        raise Refused(
            Message("The run {} isn't the current one of {}.", event.data["run_id"], step_name(todo.id)), reason="late"
        )
    return todo


def _ended(draft: Draft, event: Event) -> SupervisorTodo:
    """Return the TODO whose run is over: a step of its team to go back to was meant for this run alone."""
    todo = _running(draft, event)
    if "rewind" not in todo.metadata:
        return todo
    threads = {todo.run_id: todo.metadata["rewind"]["thread"]}
    return replace(todo, metadata={**without(todo.metadata, "rewind"), "threads": threads})


def _entering(todo: SupervisorTodo, event: Event) -> SupervisorTodo:
    """Keep how often each node was entered, all in all: `entered` {path: times}."""
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
        threads = {todo.run_id: str(event.data["thread"])}
        todo = replace(todo, metadata={**without(todo.metadata, "stopped_on"), "threads": threads})
    metadata: TodoMetadata = {**without(todo.metadata, "declined")}
    if any(one.get("answer", {}).get("action") == Verdict.REJECT for one in interrupts_of(todo.question)):
        metadata["declined"] = True
    draft.put(
        todo.with_status(
            Status.COMPLETED,
            metadata=metadata,
            result={**event.data["result"]},
            question=None,
            error="",
            completed_at=event.at,
            duration=todo.ran(event.at),
        )
    )
    proposal = event.data.get("proposal")
    if proposal and not _is_open(draft, proposal):
        draft.control = replace(draft.control, proposals={**draft.control.proposals, str(proposal["id"]): {**proposal}})


def failed(draft: Draft, event: Event) -> None:
    """A run failed: `todo_id`, `run_id`, `error`, `final` (it isn't tried again by itself).

    Optionally `result` (a reference to what is known of it), `thread`, which a retry goes on with, `wedged` (the answer
    it was given is what made it fail), `entered`.
    """
    todo = _entering(_ended(draft, event), event)
    if event.data.get("thread"):
        todo = replace(todo, metadata={**todo.metadata, "rewind": {"thread": str(event.data["thread"])}})
    if event.data.get("result"):  # what it printed before it failed, for the steps that go on without it
        todo = replace(todo, result={**event.data["result"]})
    error = clip(event.data.get("error", ""), 2_000)  # not sliced: it may be a message, which is translated
    times: dict[str, Any] = {
        "completed_at": event.at,
        "duration": todo.ran(event.at),
    }
    if todo.retry_count < todo.max_retries and not event.data.get("final"):
        draft.put(todo.with_status(Status.PENDING, error=error, retry_count=todo.retry_count + 1, question=None))
    elif todo.optional:
        metadata: TodoMetadata = {**todo.metadata, "skip_reason": Message("failed: {}", error), "skipped_by": SYSTEM}
        draft.put(todo.with_status(Status.SKIPPED, error=error, metadata=metadata, question=None, **times))
    else:
        question: TodoQuestion = {"kind": "failure"}
        if event.data.get("wedged"):
            question["wedged"] = True
        draft.put(todo.with_status(Status.FAILED, error=error, question=question, **times))


def interrupted(draft: Draft, event: Event) -> None:
    """A run ended at interrupts: `todo_id`, `run_id`, `interrupts`, `delivered` (ids it was given answers for).

    Each interrupt has `id`, `path`, `index`, `value`; optionally `schema`, `at` (where its thread stood), `again` (what
    runs again), `programs` (what answering lets run, as it was when it was asked), `changed` (the files of it that
    aren't what they were when something about the step was said last) and `notes` (what to know before it is answered).
    One that is asked as before keeps its question, and its answer if there is one meanwhile.

    Each gets a number, which people call it by and no other of this TODO ever gets.
    """
    todo = _entering(_running(draft, event), event)
    delivered, asked = set(event.data.get("delivered", ())), todo.asked + 1
    known = {i["id"]: i for i in interrupts_of(todo.question) if i["id"] not in delivered}
    highest = highest_number(todo.to_state())
    interrupts: list[Interrupt] = []
    for interrupt in event.data["interrupts"]:
        found = _asked({**interrupt}, known.get(interrupt["id"]), asked)
        if "number" not in found:
            highest += 1
            found["number"] = highest
        interrupts.append(found)
    if not interrupts:
        raise TypeError(Message("a run that ended at interrupts names them"))
    todo = replace(todo, metadata={**todo.metadata, HIGHEST_NUMBER: highest})
    question: TodoQuestion = {"kind": Kind.INTERRUPT.value, "interrupts": interrupts}
    if any("answer" in i for i in interrupts):
        draft.put(replace(todo, question=question, asked=asked))
    else:
        draft.put(todo.waits(event.at).with_status(Status.WAITING_APPROVAL, question=question, asked=asked))


def _asked(interrupt: Interrupt, known: Interrupt | None, asked: int) -> Interrupt:
    if not isinstance(interrupt["id"], str) or not isinstance(interrupt.get("path", ()), list | tuple):
        raise TypeError(Message("an interrupt has a text as id and a list as path"))
    interrupt.pop("number", None)
    if known is None or any(known.get(k) != interrupt.get(k) for k in ("value", "schema")):
        return {**interrupt, "asked": asked}
    if all(known.get(k) == interrupt.get(k) for k in ("at", "programs")):
        return known
    return {**interrupt, "asked": asked, "number": known["number"]}


def doubt(draft: Draft, event: Event) -> None:
    """A run met an effect that may have happened: `todo_id`, `run_id`, `effect` {`key`, `name`, `subject`, `why`}.

    Optionally `programs`, what it would execute now, and `changed`, the files of it that aren't what they were.
    """
    todo = _running(draft, event)
    effect: DoubtfulEffect = {**event.data["effect"]}
    if not isinstance(effect["key"], str):
        raise TypeError(Message("an effect has a text as key"))
    if "programs" in event.data:
        todo = replace(
            todo,
            arguments={**todo.arguments, "programs": dict(event.data["programs"])},
            metadata={**todo.metadata, "changed": [str(name) for name in event.data.get("changed", ())]},
        )
    # What it asked and was answered stays: it goes on with that once the doubt is settled.
    kept = interrupts_of(todo.question)
    question: TodoQuestion = {"kind": Kind.EFFECT.value, "effect": effect}
    if todo.programs:
        question["programs"] = todo.programs
    if kept:
        question["interrupts"] = kept
    draft.put(todo.waits(event.at).with_status(Status.WAITING_APPROVAL, question=question, asked=todo.asked + 1))


def continued(draft: Draft, event: Event) -> None:
    """Another process goes on with a run: `todo_id`, `run_id`, `since`, the time of the last that is on record of it.

    What had been done after that is done again, so the time until now isn't counted.
    """
    draft.put(_running(draft, event).continued(str(event.data["since"]), event.at))


def changed(draft: Draft, event: Event) -> None:
    """What a run would execute next isn't what was approved, so it stopped: `todo_id`, `run_id`, `programs`, `changed`.

    The step is asked about anew, with what is there now. Optionally `thread`: it goes on there.
    """
    todo = _running(draft, event)
    metadata: TodoMetadata = {**todo.metadata, "changed": [str(name) for name in event.data["changed"]]}
    programs = event.data["programs"]
    if event.data.get("thread"):
        metadata["rewind"] = {"thread": str(event.data["thread"])}
    draft.put(
        todo.with_status(
            Status.PENDING,
            arguments={**todo.arguments, **({"programs": dict(programs)} if programs else {})},
            metadata=metadata,
            approval=None,
            question=None,
            asked=todo.asked + 1,
        )
    )


def mode(draft: Draft, event: Event) -> None:
    """`mode`: what asked only because of the mode is judged again."""
    draft.control = replace(draft.control, mode=Mode(event.data["mode"]))
    _judge_again(draft)


def configured(draft: Draft, event: Event) -> None:
    """`policy_version`, `concurrency`, `risks` {todo id: risk}: the workspace's settings are others than before."""
    _class_anew(draft, event.data.get("risks") or {})
    version = str(event.data["policy_version"])
    if version != draft.control.policy_version:
        for todo_id in draft.with_status(Status.WAITING_APPROVAL, Status.FAILED):
            todo = draft.get(todo_id)
            if todo.status is Status.WAITING_APPROVAL or todo.question is not None:
                draft.put(replace(todo, asked=todo.asked + 1))
        for todo_id in draft.with_status(Status.PENDING):
            todo = draft.get(todo_id)
            if todo.approval is not None:
                withdraw_unbound(draft, todo)
        _ask_inside_anew(draft)
    draft.control = replace(
        draft.control,
        policy_version=version,
        concurrency=max(1, int(event.data["concurrency"])),
        held=False,
    )
    _judge_again(draft)


def _class_anew(draft: Draft, risks: Mapping[str, str]) -> None:
    """Give what hasn't begun the risk that it is of now; what was said of it under another one doesn't count."""
    for todo_id, risk in risks.items():
        todo = draft.get(todo_id) if todo_id in draft else None
        if todo is None or todo.status not in MAY_BEGIN or todo.risk is Risk(risk):
            continue
        if todo.question is None:
            todo = todo.with_status(Status.PENDING) if todo.status is Status.WAITING_APPROVAL else todo
            todo = replace(todo, approval=None)
        draft.put(replace(todo, risk=Risk(risk), asked=todo.asked + 1))


def _ask_inside_anew(draft: Draft) -> None:
    """Ask anew what runs ask from inside and nobody has answered: under other rules it may take more people."""
    for todo_id, raw in draft.board.todos.items():
        if todo_id not in draft or not interrupts_of(raw.get("question")):
            continue
        todo = draft.get(todo_id)
        if todo.question is not None:
            interrupts = [
                i if "answer" in i else asked_anew(i, todo.asked) for i in todo.question.get("interrupts", ())
            ]
            draft.put(replace(todo, question={**todo.question, "interrupts": interrupts}))


def _judge_again(draft: Draft) -> None:
    for todo_id in draft.with_status(Status.WAITING_APPROVAL, Status.PENDING):
        todo = draft.get(todo_id)
        if todo.status is Status.WAITING_APPROVAL and todo.question is None:
            draft.put(todo.with_status(Status.PENDING))
        elif todo.approval is not None and todo.approval.get("channel") == "policy":
            draft.put(replace(todo, approval=None))
        elif todo.approval is not None and todo.approval.get("channel") == BY_RULE and draft.control.mode is Mode.STEP:
            # What a standing rule approved and didn't start is another question now: in mode step everything asks.
            draft.put(replace(todo, approval=None, asked=todo.asked + 1))


def _is_open(draft: Draft, proposal: ProposalState) -> bool:
    """Return whether a proposal is open that would add the same work, whatever result led to it."""
    work = _work_of(proposal)
    return bool(work) and any(_work_of(other) == work for other in draft.control.proposals.values())


def _work_of(proposal: ProposalState) -> list[tuple[object, object]]:
    """Return what the steps do that a proposal adds; nothing for one that changes something else, too."""
    added = [change["todo"] for change in proposal["changes"] if Change(change["kind"]) is Change.ADD]
    whole = len(added) == len(proposal["changes"])
    return [(todo.get("agent_name"), todo.get("arguments")) for todo in added] if whole else []


def proposed(draft: Draft, event: Event) -> None:
    """`proposal`: a `core.plan.Proposal` dict. Optionally `unasked`: carry it out where its steps ask nobody."""
    proposal: ProposalState = {**event.data["proposal"]}
    if not proposal.get("changes"):
        raise BadInput(Message("This proposal changes nothing."))
    for change in proposal["changes"]:
        Change(change["kind"])
    if event.data.get("unasked") and fold_decisions.asks_nobody(draft, proposal):
        carry_out(draft, event, proposal["changes"])
    else:
        draft.control = replace(draft.control, proposals={**draft.control.proposals, str(proposal["id"]): proposal})


def restored(draft: Draft, event: Event) -> None:
    """`branch`, `ran` {todo id: {`status`, `branch`}}: an earlier checkpoint is the head now.

    Optionally `highest` (number of a TODO) and `numbers` (of interrupts, by TODO): those used on the branch that is
    left, which nothing else gets.
    """
    branch = int(event.data["branch"])
    if branch <= draft.control.branch:
        raise Refused(Message("A newer restore has taken place."), reason="superseded")
    ran, numbers = event.data.get("ran") or {}, event.data.get("numbers") or {}
    for todo_id in list(draft):
        todo = draft.get(todo_id)
        if todo.status is Status.IN_PROGRESS or (todo.status is Status.WAITING_APPROVAL and todo.question):
            todo = todo.goes_on(event.at).with_status(Status.PENDING, question=None, approval=None)
        elif todo.status is Status.PENDING:
            todo = replace(todo, approval=None)
        number = max(highest_number(todo.to_state()), int(numbers.get(todo_id, 0)))
        if number:
            todo = replace(todo, metadata={**todo.metadata, HIGHEST_NUMBER: number})
        if todo_id in ran and todo.status is not Status.COMPLETED:
            todo = replace(todo, metadata={**todo.metadata, "ran_before": {**ran[todo_id]}})
        if todo.attempt and todo.status is Status.PENDING:
            todo = replace(todo, attempt=0)
        draft.put(todo)
    highest = max(draft.control.highest, int(event.data.get("highest", 0)))
    draft.control = replace(draft.control, branch=branch, highest=highest)
    _judge_again(draft)


@dataclass(frozen=True, slots=True)
class Folded:
    """What a batch of events came to.

    Args:
        board: the board after it.
        changes: TODOs that changed, as checkpoints keep them; None for removed.
        refused: why, for each event without effect.
    """

    board: Board
    changes: Mapping[str, TodoState | None]
    refused: tuple[Refusal, ...]


def fold(board: Board, events: Sequence[Event], rules: Rules, at: str = "") -> Folded:
    """Apply events in order, then let the plan follow (who is blocked, who asks, who may run).

    Args:
        board: before.
        events: in order.
        rules: what holds from outside.
        at: when it is, ISO 8601, UTC, where no event says so.
    """
    draft = Draft(board, rules)
    refused: list[Refusal] = []
    last = at
    for event in events:
        if event.seq and event.seq <= draft.control.cursor:
            continue
        before = dict(draft.changed), draft.control
        try:
            _HANDLERS[EventKind(event.kind)](draft, event)
            last = event.at or last
        except HitlError as error:
            draft.changed, draft.control = before
            refused.append(refusal(event, error.message, getattr(error, "reason", "not_allowed")))
        except (LookupError, TypeError, ValueError, ArithmeticError, AttributeError, RecursionError) as error:
            draft.changed, draft.control = before
            refused.append(refusal(event, Message("This event can't be understood: {}.", repr(error)), "malformed"))
        closed = event.data.get("closed") if isinstance(event.data, Mapping) else None
        if isinstance(closed, Mapping):
            ask_closed_anew(draft, closed)
        draft.control = replace(draft.control, cursor=max(draft.control.cursor, event.seq))
    if refused:
        draft.control = draft.control.refuse(refused)
    settle(draft, last)
    changes = draft.changes()
    return Folded(draft.result(changes), changes, tuple(refused))


def check_event(draft: Draft, event: Event) -> None:
    """Check that an event would take effect on a board; the draft is changed by that.

    Raises:
        Refused: it wouldn't; the message says why.
    """
    try:
        _HANDLERS[EventKind(event.kind)](draft, event)
    except HitlError as error:
        raise Refused(error.message, reason=getattr(error, "reason", "not_allowed")) from error


_HANDLERS: Mapping[EventKind, Callable[[Draft, Event], None]] = {
    EventKind.DECIDED: fold_decisions.decided,
    EventKind.FINISHED: finished,
    EventKind.FAILED: failed,
    EventKind.INTERRUPTED: interrupted,
    EventKind.DOUBT: doubt,
    EventKind.CONTINUED: continued,
    EventKind.SKIP: fold_operator_events.skip,
    EventKind.ADD: fold_operator_events.add,
    EventKind.REMOVE: fold_operator_events.remove,
    EventKind.PUT_BACK: fold_operator_events.put_back,
    EventKind.UPDATE: fold_operator_events.update,
    EventKind.PRIORITY: fold_operator_events.priority,
    EventKind.MOVE: fold_operator_events.move,
    EventKind.EDIT: fold_operator_events.edit,
    EventKind.CANCEL: fold_operator_events.cancel,
    EventKind.REWIND: fold_operator_events.rewind,
    EventKind.BREAK: fold_operator_events.breaks,
    EventKind.MODE: mode,
    EventKind.STOP: fold_operator_events.stop,
    EventKind.PROPOSED: proposed,
    EventKind.RESTORED: restored,
    EventKind.CONFIGURED: configured,
    EventKind.BOUND: fold_operator_events.bound,
    EventKind.CHANGED: changed,
}
