"""What an operator's command does to a board."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import replace
from math import inf
from typing import Any

from hitl_tui.core import board as b
from hitl_tui.core.board import Draft
from hitl_tui.core.errors import BadInput, HitlError
from hitl_tui.core.events import Event
from hitl_tui.core.given_values import given_values
from hitl_tui.core.json_text import canonical
from hitl_tui.core.json_types import (
    Breakpoints,
    EarlierStep,
    Interrupt,
    Json,
    JsonObject,
    ResultReference,
    StateChange,
    TodoMetadata,
    TodoQuestion,
)
from hitl_tui.core.messages import Message
from hitl_tui.core.names import command_step_name, step_name, titled
from hitl_tui.core.plan import in_order, next_ids, refuse_cycles
from hitl_tui.core.policy import Risk
from hitl_tui.core.requests import Kind
from hitl_tui.core.todos import OPERATOR, Status, SupervisorTodo, parse_priority, parse_status, without

_MOST_RETRIES = 1000
_MOST_REMOVED = 10
"""Removed steps that can be put back: each checkpoint holds them whole."""
_LONGEST_KEPT = 200
"""Characters of an argument that is kept as it was planned."""
DEFAULT_SKIP_REASON = Message("User skipped")


def target(draft: Draft, event: Event) -> SupervisorTodo:
    """Return the TODO an event is about.

    Raises:
        UnknownName: there is none.
    """
    return draft.get(str(event.data["todo_id"]))


def by_whom(event: Event) -> str:
    """Return who did it: the deciders of a decision, else the sender."""
    return str(event.data.get("by") or event.by)


def rejected(todo: SupervisorTodo, event: Event) -> SupervisorTodo:
    """Return a TODO that was refused: it failed for good, and what depends on it is blocked without more questions."""
    why = str(event.data.get("reason") or "")
    if event.data.get("outcome") == "expired":
        error = Message("expired: {}", why) if why else Message("expired")
    else:
        error = Message("rejected by {}: {}", by_whom(event), why) if why else Message("rejected by {}", by_whom(event))
    under_way = todo.status is Status.IN_PROGRESS or bool(todo.waiting_since)
    return todo.goes_on(event.at).with_status(
        Status.FAILED,
        error=error,
        approval=None,
        question=None,
        completed_at=event.at,
        duration=todo.ran(event.at) if under_way else todo.duration,
        metadata={**todo.metadata, "rejected": True},
    )


def skip(draft: Draft, event: Event) -> None:
    """`todo_id`, `reason`."""
    todo = target(draft, event)
    metadata: TodoMetadata = {
        **todo.metadata,
        "skip_reason": event.data.get("reason") or DEFAULT_SKIP_REASON,
        "skipped_by": event.by or "operator",
    }
    draft.put(
        todo.goes_on(event.at).with_status(
            Status.SKIPPED, OPERATOR, metadata=metadata, approval=None, question=None, completed_at=event.at
        )
    )


def add(draft: Draft, event: Event) -> None:
    """`todo`: a TODO dict; an id that is taken gives way to the next number. Dependencies must exist."""
    add_todo(draft, event, new_todo(event.data["todo"]))


def add_todo(draft: Draft, event: Event, todo: SupervisorTodo) -> str:
    """Add a TODO at the end; return the id it got.

    `metadata.feeds` may name TODOs that have not started and shall use its result: they come to depend on it.

    Raises:
        BadInput: the plan isn't accepted; UnknownName: a dependency doesn't exist.
    """
    _refuse_unplanned(draft)
    for dependency in todo.dependencies:
        draft.get(dependency)
    if not _is_next(draft, todo.id):
        todo = replace(todo, id=_next_id(draft))
    rank = max(draft.ranks().values(), default=0.0) + 1.0
    feeds = [str(f) for f in todo.metadata.get("feeds", ())]
    todo = replace(
        todo,
        rank=rank,
        created_at=todo.created_at or event.at,
        metadata={**without(todo.metadata, "feeds"), "event": event.id},
    )
    draft.put(todo)
    highest = int(todo.id.removeprefix("todo_"))
    draft.control = replace(draft.control, highest=highest)
    for fed in feeds:
        _feed(draft, todo, fed)
    return todo.id


def _refuse_unplanned(draft: Draft) -> None:
    """Check that there is a plan that something can be added to.

    Raises:
        BadInput: it is being made anew, or was rejected.
    """
    if draft.control.plan in (b.PLAN_REVISE, b.PLAN_REJECTED):
        raise BadInput(Message("The plan isn't approved, so nothing can be added to it."))


def _next_id(draft: Draft) -> str:
    """Return the id after the highest that was ever used."""
    (todo_id,) = next_ids([f"todo_{draft.control.highest}"], 1)
    # A board that doesn't say what the highest was: all there are have to be looked at.
    return todo_id if todo_id not in draft else next_ids(draft, 1)[0]


def _is_next(draft: Draft, todo_id: str) -> bool:
    """Return whether an id is a fresh one, not far beyond those there are: numbers are to last."""
    number = todo_id.removeprefix("todo_")
    usable = todo_id not in draft and number.isascii() and number.isdigit() and len(number) < 10
    return usable and draft.control.highest < int(number) <= draft.control.highest + 1000


_TEXTS = ("id", "name", "description", "agent_name", "agent_purpose", "expected_output", "created_at")
_PLANNED = (
    *_TEXTS,
    *("priority", "dependencies", "metadata", "max_retries", "arguments", "risk", "optional", "timeout"),
)


def new_todo(data: Mapping[str, object]) -> SupervisorTodo:
    """Return a TODO that has not begun, from data that anybody may have written.

    Raises:
        BadInput: a field can't be what it is; the message names it.
    """
    todo = SupervisorTodo.from_dict(data)
    wrong = [name for name in _TEXTS if not isinstance(getattr(todo, name), str)]
    wrong += [name for name in ("arguments", "metadata") if not isinstance(getattr(todo, name), Mapping)]
    if not all(isinstance(d, str) for d in todo.dependencies):
        wrong.append("dependencies")
    if not isinstance(todo.max_retries, int) or not 0 <= todo.max_retries <= _MOST_RETRIES:
        wrong.append("max_retries")
    if not isinstance(todo.timeout, int | float) or not 0 <= todo.timeout < inf:
        wrong.append("timeout")
    if wrong:
        raise BadInput(Message("A new step can't have this {}.", ", ".join(wrong)))
    canonical([dict(todo.arguments), dict(todo.metadata)])
    todo = replace(todo, optional=bool(todo.optional), timeout=float(todo.timeout))
    return SupervisorTodo(**{name: getattr(todo, name) for name in _PLANNED})


def _feed(draft: Draft, todo: SupervisorTodo, fed: str) -> None:
    user = draft.get(fed) if fed in draft else None
    if user is None or user.status not in (Status.PENDING, Status.WAITING_APPROVAL, Status.FAILED) or _asks(user):
        return
    _waits_for(draft, user, (*user.dependencies, todo.id))
    refuse_cycles({t: draft.dependencies(t) for t in draft})


def _asks(todo: SupervisorTodo) -> bool:
    """Return whether its team waits for an answer. What failed asks whether it is to run again, which may be later."""
    return todo.question is not None and todo.status is not Status.FAILED


def _waits_for(draft: Draft, todo: SupervisorTodo, dependencies: Iterable[str]) -> None:
    if todo.status is Status.WAITING_APPROVAL:
        todo = todo.with_status(Status.PENDING)
    draft.put(replace(todo, dependencies=tuple(dict.fromkeys(dependencies)), approval=None, asked=todo.asked + 1))


def come_after(draft: Draft, event: Event) -> None:
    """`todo_id`, `after`: ids of all steps that it waits for from now on; only what is still to come can."""
    todo, after = target(draft, event), [str(d) for d in event.data["after"]]
    if why := todo.why_fixed:
        raise BadInput(why)
    if _asks(todo):
        raise BadInput(Message("{} waits for an answer; its place can't be changed now.", step_name(todo.id)))
    for dependency in after:
        draft.get(dependency)
    _waits_for(draft, todo, after)


def rank_by_dependencies(draft: Draft) -> None:
    """Let each step stand after what it waits for, otherwise in the order they have.

    Raises:
        PlanError: they wait for each other.
    """
    todos = [draft.get(todo_id) for todo_id in sorted(draft, key=draft.rank)]
    for rank, todo in zip([todo.rank for todo in todos], in_order(todos), strict=True):
        if todo.rank != rank:
            draft.put(replace(todo, rank=rank))


def remove(draft: Draft, event: Event) -> None:
    """`todo_id`; refused once started or while others depend on it."""
    todo = target(draft, event)
    if todo.attempt or todo.status not in (Status.PENDING, Status.WAITING_APPROVAL, Status.BLOCKED):
        raise BadInput(
            Message(
                "{} is {} and can't be removed; only a step that never started can.", step_name(todo.id), todo.status
            )
        )
    may = sorted((t for t in draft.users_of([todo.id]) if t in draft), key=draft.rank)
    users = [t for t in may if todo.id in draft.dependencies(t)]
    if users:
        raise BadInput(
            Message(
                "{} can't be removed because {} depends on it.",
                step_name(todo.id),
                ", ".join(map(step_name, users[:5])),
            )
        )
    draft.drop(todo.id)
    removed = {**draft.control.removed, todo.id: todo.to_state()}
    draft.control = replace(draft.control, removed=dict(list(removed.items())[-_MOST_REMOVED:]))


def put_back(draft: Draft, event: Event) -> None:
    """`todo_id`: what was removed is in the plan again at its place, and asks anew; refused where nobody knows it."""
    todo_id = str(event.data["todo_id"])
    known = draft.control.removed.get(todo_id)
    if known is None or todo_id in draft:
        raise BadInput(Message("{} isn't one of the steps that were removed last.", step_name(todo_id)))
    _refuse_unplanned(draft)
    todo = SupervisorTodo.from_state(known)
    if todo.status is Status.WAITING_APPROVAL:
        todo = todo.with_status(Status.PENDING)
    if needed := [step_name(d) for d in todo.dependencies if d in draft.control.removed]:
        first = f"/todo putback {needed[0]}"
        raise BadInput(Message("{} waits for {}, removed too; first: {}", step_name(todo_id), needed[0], first))
    dependencies = tuple(d for d in todo.dependencies if d in draft)
    draft.put(replace(todo, dependencies=dependencies, approval=None, asked=todo.asked + 1))
    removed = {name: state for name, state in draft.control.removed.items() if name != todo_id}
    draft.control = replace(draft.control, removed=removed)


def update(draft: Draft, event: Event) -> None:
    """`todo_id`, `status`; by the operator's part of the transition table."""
    todo, status = target(draft, event), parse_status(str(event.data["status"]))
    if todo.status is Status.BLOCKED and status is Status.PENDING:
        stuck = [d for d in todo.dependencies if draft.status(d) in ("failed", "blocked")]
        if stuck:
            raise BadInput(
                Message("{} is blocked by {}; resolve that first.", step_name(todo.id), ", ".join(stuck[:5]))
            )
    if status is Status.SKIPPED:
        skip(draft, event)
    elif status is Status.FAILED:
        todo.with_status(status, OPERATOR)
        draft.put(rejected(todo, replace(event, data={**event.data, "by": event.by})))
    elif status is Status.BLOCKED:
        metadata: TodoMetadata = {**todo.metadata, "held": True}
        draft.put(todo.with_status(status, OPERATOR, metadata=metadata, approval=None, question=None))
    elif status is Status.COMPLETED:
        result: ResultReference = {
            "digest": "",
            "summary": Message("done by hand by {}", event.by or "operator"),
            "found": False,
            "files": [],
        }
        draft.put(
            todo.with_status(
                status, OPERATOR, result=result, approval=None, question=None, error="", completed_at=event.at
            )
        )
    else:
        draft.put(_again(todo, status))


def _again(todo: SupervisorTodo, status: Status) -> SupervisorTodo:
    return todo.with_status(
        status,
        OPERATOR,
        metadata=without(todo.metadata, *_FORGOTTEN),
        approval=None,
        question=None,
        result=None,
        error="",
        retry_count=0,
        started_at="",
        completed_at="",
        duration=None,
        waited=0.0,
        waiting_since="",
        idle=0.0,
        asked=todo.asked + 1,
        missing=(),
    )


_FORGOTTEN = frozenset(
    {"held", "skip_reason", "skipped_by", "rejected", "denied", "resolutions", "rewind", "stopped_on", "changed"}
    | {"imported"}
)


def priority(draft: Draft, event: Event) -> None:
    """`todo_id`, `priority`."""
    draft.put(replace(target(draft, event), priority=parse_priority(str(event.data["priority"]))))


def move(draft: Draft, event: Event) -> None:
    """`todo_id`, `where`, `anchor` as for `place`; refused past what it waits for or what waits for it.

    There it would run neither earlier nor later than before.
    """
    todo, anchor, where = _placing(draft, event)
    others = sorted((one for one in draft if one != todo.id), key=draft.rank)
    now, then = sum(draft.rank(one) < todo.rank for one in others), others.index(anchor.id) + (where == "after")
    passed = {*others[then:now], *others[now:then]}
    needed = _connected(draft, todo, draft.dependencies) & passed
    if needed:
        nearest = max(needed, key=lambda one: (one in todo.dependencies, draft.rank(one)))
        raise BadInput(
            Message(
                "{0} waits for {1}, so it can't run before it. To turn that round, write: move {0} before {1}",
                step_name(todo.id),
                step_name(nearest),
            )
        )
    users = _connected(draft, todo, lambda one: draft.users_of([one])) & passed
    if users:
        nearest = min(users, key=lambda one: (todo.id not in draft.dependencies(one), draft.rank(one)))
        raise BadInput(
            Message(
                "{1} waits for {0}, so {0} can't run after it. To turn that round, write: move {0} after {1}",
                step_name(todo.id),
                step_name(nearest),
            )
        )
    place(draft, event)


def _connected(draft: Draft, todo: SupervisorTodo, nexts: Callable[[str], Iterable[str]]) -> set[str]:
    """Return the TODOs that one waits for, or that wait for it, directly or through others: none that has ended."""
    found, left = set[str](), [] if todo.status is Status.SKIPPED else [todo.id]
    while left:
        fresh = {one for one in nexts(left.pop()) if draft.status(one) not in ("completed", "skipped")} - found
        found |= fresh
        left += fresh
    return found


def place(draft: Draft, event: Event) -> None:
    """`todo_id`, `where` (`before` or `after`), `anchor` (a TODO id): another place for what is still to come."""
    todo, anchor, where = _placing(draft, event)
    others = sorted(rank for todo_id, rank in draft.ranks().items() if todo_id != todo.id)
    index = others.index(anchor.rank)
    low, high = (index - 1, index) if where == "before" else (index, index + 1)
    below = others[low] if low >= 0 else others[0] - 2.0
    above = others[high] if high < len(others) else others[-1] + 2.0
    middle = (below + above) / 2
    if middle in (below, above):
        _renumber(draft)
        place(draft, event)
        return
    draft.put(replace(todo, rank=middle))


def _placing(draft: Draft, event: Event) -> tuple[SupervisorTodo, SupervisorTodo, str]:
    """Return which TODO shall stand where beside which other one.

    Raises:
        BadInput: it can't have another place, or that says none.
    """
    todo, anchor = target(draft, event), draft.get(str(event.data["anchor"]))
    if why := todo.why_fixed:
        raise BadInput(why)
    where = str(event.data["where"])
    if where not in ("before", "after") or todo.id == anchor.id:
        raise BadInput(Message('A step moves "before" or "after" another one.'))
    return todo, anchor, where


def _renumber(draft: Draft) -> None:
    for number, todo_id in enumerate(sorted(draft, key=draft.rank), start=1):
        draft.put(replace(draft.get(todo_id), rank=float(number)))


def edit(draft: Draft, event: Event) -> None:
    """`todo_id`, `arguments`, `risk`, optionally `description`: another exact input, so it is asked anew.

    `also` lists such inputs of steps that follow from it; one that was begun meanwhile keeps its own.
    """
    before = target(draft, event)
    todo = _with_input(before, event.data)
    planned = {**_short_values(before.arguments), **before.metadata.get("planned", {})}
    metadata: TodoMetadata = {**without(todo.metadata, "lacks", "unplaced", "unread")}
    metadata["edited_by"] = event.by
    now = given_values(todo.arguments)
    metadata["planned"] = {name: was for name, was in planned.items() if now.get(name) != was}
    draft.put(replace(todo, metadata=metadata))
    for also in event.data.get("also", ()):
        with suppress(HitlError):
            other = _with_input(draft.get(str(also["todo_id"])), also)
            draft.put(replace(other, metadata=without(other.metadata, "lacks", "unplaced", "unread")))


def _short_values(arguments: JsonObject) -> dict[str, Json]:
    """Return the values that are kept of an input that is edited: what a line can say."""
    found = given_values(arguments)
    return {n: v for n, v in found.items() if not isinstance(v, dict) and len(str(v)) <= _LONGEST_KEPT}


def _with_input(todo: SupervisorTodo, given: Mapping[str, Any]) -> SupervisorTodo:
    """Return a TODO with another input.

    Args:
        todo: the TODO.
        given: `arguments`, and `risk` and `description` where they are others, too.

    Raises:
        BadInput: it was begun, or asks something else.
    """
    if todo.status not in (Status.PENDING, Status.WAITING_APPROVAL, Status.BLOCKED, Status.FAILED):
        raise BadInput(Message("{} is {}; its input can no longer be changed.", step_name(todo.id), todo.status))
    if todo.status is Status.FAILED:
        todo = _again(todo, Status.PENDING)
    if todo.status is Status.WAITING_APPROVAL:
        if todo.question is not None:
            raise BadInput(Message("{} waits for another answer; its input can't be changed now.", step_name(todo.id)))
        todo = todo.with_status(Status.PENDING)
    described = str(given.get("description", todo.description))
    arguments = _json_object(given["arguments"])
    return replace(
        todo,
        name=_edited_name(todo, described, arguments),
        arguments=arguments,
        risk=Risk(given.get("risk", todo.risk)),
        description=described,
        approval=None,
        asked=todo.asked + 1,
        metadata=without(todo.metadata, "changed"),
    )


def _edited_name(todo: SupervisorTodo, described: str, arguments: JsonObject) -> str:
    """Return what a TODO is called once it has other words and arguments."""
    if "argv" in arguments and (command := str(arguments.get("command") or "")):
        if command != todo.command:
            return command
        # A name that says with what the command was to run says it again; another one, such as a title, stays.
        return command_step_name(command, titled(described)) if todo.name.startswith(f"{command} ") else todo.name
    if described == todo.description:
        return _renamed(todo, arguments)
    return titled(f"{todo.agent_name} {described}" if isinstance(arguments.get("calls"), str) else described)


def _renamed(todo: SupervisorTodo, arguments: JsonObject) -> str:
    """Return the name of a TODO; one that says a text of its input says what that became."""
    for name, was in todo.arguments.items():
        now, said = arguments.get(name), titled(was) if isinstance(was, str) else ""
        if said and isinstance(now, str) and (todo.name == said or todo.name.endswith(f": {said}")):
            return todo.name.removesuffix(said) + titled(now)
    return todo.name


def bound(draft: Draft, event: Event) -> None:
    """Files that a step may execute aren't what they were, or what it would do isn't: it is asked with that of now.

    `todo_id`, `arguments` or only the `programs` in them, `changed`: names of files. Optionally `risk`, `description`.
    A step that has begun keeps what it asks and where it stands.
    """
    changed = [str(name) for name in event.data.get("changed") or ()]
    todo = target(draft, event)
    arguments: JsonObject = {**event.data.get("arguments", todo.arguments)}
    if "programs" in event.data:
        arguments = {**arguments, "programs": event.data["programs"]}
    if todo.question is not None:
        draft.put(_asked_with(todo, _programs(arguments.get("programs", {})), changed))
        return
    todo = _with_input(todo, {**event.data, "arguments": arguments})
    draft.put(replace(todo, metadata={**todo.metadata, "changed": changed}) if changed else todo)


def goes_on(todo: SupervisorTodo) -> bool:
    """Return whether a step that is run again goes on where it stood."""
    return not {"rewind", "stopped_on"}.isdisjoint(todo.metadata)


def _asked_with(todo: SupervisorTodo, programs: Mapping[str, str], changed: list[str]) -> SupervisorTodo:
    """Return a step that has begun with everything it asks asked anew, for other programs."""
    question, asked = todo.question, todo.asked + 1
    if question is None:
        return todo
    if "interrupts" in question:
        interrupts: list[Interrupt] = [
            i
            if "answer" in i or i.get("programs") in (None, programs)
            else {**i, "programs": programs, "changed": changed, "asked": max(asked, int(i.get("asked", 0)) + 1)}
            for i in question["interrupts"]
        ]
        question = {**question, "interrupts": interrupts}
    if question["kind"] == Kind.INTERRUPT.value:  # an answer will say what may be executed, this doesn't
        return replace(todo, question=question, asked=asked)
    if "programs" in question:
        question = {**question, "programs": programs}
    return replace(
        todo,
        question=question,
        asked=asked,
        arguments={**todo.arguments, "programs": programs},
        metadata={**todo.metadata, "changed": changed},
    )


def _json_object(value: JsonObject) -> JsonObject:
    canonical(found := dict(value))
    return found


def _state_change(change: StateChange) -> StateChange:
    canonical(found := StateChange(**{**change, "name": str(change["name"])}))
    return found


def _programs(value: Json) -> Mapping[str, str]:
    if not isinstance(value, Mapping):
        raise TypeError(Message("programs are named with their digests"))
    return {name: str(seen) for name, seen in value.items()}


def cancel(draft: Draft, event: Event) -> None:
    """`todo_id`: a running TODO stops; the session's dispatcher sees that its run isn't wanted any more."""
    todo = target(draft, event)
    if todo.status is not Status.IN_PROGRESS:
        raise BadInput(Message("{} is {}; only a running step can be cancelled.", step_name(todo.id), todo.status))
    draft.put(_cancelled(todo, event, {"kind": "failure"}))


def rewind(draft: Draft, event: Event) -> None:
    """Its team goes on from an earlier step of its own, once approved: `todo_id`, `thread`, `checkpoint_id`.

    Optionally `values`: what is changed in the state there first; `changes`: what that makes of it; `next`: the nodes
    that stand there.
    """
    todo = target(draft, event)
    if not todo.attempt:
        raise BadInput(Message("{} never ran, so it has no steps to go back to.", step_name(todo.id)))
    if todo.status is Status.IN_PROGRESS:
        raise BadInput(Message("{} is running; cancel it before going back to one of its steps.", step_name(todo.id)))
    if todo.status is Status.BLOCKED:
        raise BadInput(Message("{} is blocked and can't go back to one of its steps.", step_name(todo.id)))
    if todo.status is Status.PENDING:
        todo = replace(todo, approval=None, asked=todo.asked + 1)
    else:
        todo = _again(todo, Status.PENDING)
    step: EarlierStep = {"thread": str(event.data["thread"]), "checkpoint_id": str(event.data["checkpoint_id"])}
    if "values" in event.data:
        step["values"] = _json_object(event.data["values"])
        step["by"] = by_whom(event)
    if "changes" in event.data:
        step["changes"] = [_state_change(change) for change in event.data["changes"]]
    if event.data.get("next"):
        step["next"] = [str(node) for node in event.data["next"]]
    draft.put(replace(todo, metadata={**todo.metadata, "rewind": step}))


def breaks(draft: Draft, event: Event) -> None:
    """`todo_id`, `before`, `after` (names of nodes, "*" for all): where its graph stops from now on."""
    todo = target(draft, event)
    if todo.status in (Status.COMPLETED, Status.SKIPPED):
        raise BadInput(Message("{} is {}; it has nowhere left to stop.", step_name(todo.id), todo.status))
    stops: Breakpoints = {
        "before": [str(node) for node in event.data["before"]],
        "after": [str(node) for node in event.data["after"]],
    }
    metadata = without(todo.metadata, "breaks")
    draft.put(replace(todo, metadata={**metadata, "breaks": stops} if any(stops.values()) else metadata))


def _cancelled(todo: SupervisorTodo, event: Event, question: TodoQuestion | None) -> SupervisorTodo:
    # What can go on with its thread (a graph of others) does so when it is tried again.
    thread = todo.metadata.get("rewind", {}).get("thread") or todo.metadata.get("stopped_on") or todo.run_id
    return todo.with_status(
        Status.FAILED,
        metadata={**todo.metadata, "stopped_on": thread},
        error=Message("cancelled by {}", by_whom(event) or "operator"),
        question=question,
        completed_at=event.at,
        duration=todo.ran(event.at),
    )


def stop(draft: Draft, event: Event) -> None:
    """Everything that has not ended is stopped."""
    stop_all(draft, event, Message("stopped by {}", event.by or "operator"))


def stop_all(draft: Draft, event: Event, why: str) -> None:
    """Skip what has not started, cancel what runs, ask nothing more."""
    for todo_id in draft.with_status(Status.PENDING, Status.WAITING_APPROVAL, Status.BLOCKED):
        todo = draft.get(todo_id)
        metadata: TodoMetadata = {
            **todo.metadata,
            "skip_reason": why,
            "skipped_by": by_whom(event) or "operator",
        }
        draft.put(todo.goes_on(event.at).with_status(Status.SKIPPED, metadata=metadata, approval=None, question=None))
    for todo_id in draft.with_status(Status.IN_PROGRESS):
        draft.put(_cancelled(draft.get(todo_id), event, None))
    for todo_id in draft.with_status(Status.FAILED):
        todo = draft.get(todo_id)
        if todo.question:
            draft.put(replace(todo, question=None))
    draft.control = replace(draft.control, proposals={})
