"""Differences between two checkpoints of a session, and the consequences of a restore. Pure.

A moment is the supervisor's state as a checkpoint holds it: `todos` are TODO dicts by id, the rest is plain JSON.
"""

from __future__ import annotations

import difflib
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, TypedDict

from hitl_tui.core.json_types import GraphState, Json, JsonObject, TodoState
from hitl_tui.core.todos import Status, SupervisorTodo
from hitl_tui.threads.state_diff import ValueChange, values_that_differ

if TYPE_CHECKING:
    from hitl_tui.ledger.records import Effect

MOST_LINES = 2_000
"""Lines a text may have to be compared line by line: what is longer takes too long to be worth it."""

_INPUT = ("description", "arguments", "agent_name", "timeout")
_READ = "programs"
"""The argument that a team reads from the disk by itself: no person's edit changes it."""
_ORDER = ("rank", "priority", "dependencies")


@dataclass(frozen=True, slots=True)
class TodoChange:
    """A TODO that was added, removed or changed.

    Args:
        before, after: the TODO; None where it isn't in the plan.
        values: what differs in one that is in both plans.
    """

    before: SupervisorTodo | None
    after: SupervisorTodo | None
    values: tuple[ValueChange, ...] = ()

    @property
    def todo(self) -> SupervisorTodo:
        """It, as it is afterwards if it is there."""
        found = self.after or self.before
        assert found is not None
        return found

    @property
    def edited(self) -> tuple[ValueChange, ...]:
        """What differs in the input its team gets."""
        return tuple(v for v in self.values if v.path[0] in _INPUT)

    @property
    def moved(self) -> tuple[ValueChange, ...]:
        """What differs in its order, priority and dependencies."""
        return tuple(v for v in self.values if v.path[0] in _ORDER)

    @property
    def approved(self) -> ValueChange | None:
        """Its approval, when that was given, taken back or given anew."""
        return next((v for v in self.values if v.path == ("approval",)), None)


@dataclass(frozen=True, slots=True)
class ResultChange:
    """A result that came, went or is another one.

    Args:
        todo_id: whose it is; empty for the session's final answer.
        before, after: references as the state holds them (`digest`, `summary`, …); None for none.
    """

    todo_id: str
    before: GraphState | None
    after: Mapping[str, object] | None


@dataclass(frozen=True, slots=True)
class Difference:
    """What differs between two moments.

    Args:
        todos: in plan order, removed ones last.
        state: everything that is neither a TODO nor a result.
        results: results of TODOs in plan order, the final answer last.
    """

    todos: tuple[TodoChange, ...] = ()
    state: tuple[ValueChange, ...] = ()
    results: tuple[ResultChange, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.todos or self.state or self.results)


def compare(before: JsonObject, after: JsonObject) -> Difference:
    """Return what differs between two states; the same state twice gives a difference that is false."""
    old, new = _differing(before, after)
    changes = [TodoChange(old.get(i), todo, _todo_values(old[i], todo) if i in old else ()) for i, todo in new.items()]
    found = [c for c in changes if c.before is None or c.values]
    found += [TodoChange(todo, None) for i, todo in old.items() if i not in new]
    return Difference(tuple(found), tuple(_state_values(before, after)), tuple(_results(before, after, old, new)))


@dataclass(frozen=True, slots=True)
class Given:
    """A decision as the state tells it: what was recorded elsewhere may be out of reach (in a fork, an import).

    Args:
        todo_id: what it is about.
        verdict: `approve`, `skip` or `reject`.
        by: who gave it.
        channel: how; `policy` when a rule or the mode gave it.
        at: when, ISO 8601, UTC.
        reason: why; empty when nobody said.
        imported: it came with an import.
    """

    todo_id: str
    verdict: str
    by: str
    channel: str
    at: str
    reason: str = ""
    imported: bool = False


def decided_in(found: Difference) -> list[Given]:
    """Return the decisions about TODOs that a difference shows."""
    decided = []
    for change in found.todos:
        before, after = change.before, change.after
        if after is None:
            continue
        old = before.metadata if before is not None else {}
        imported = bool(after.metadata.get("imported"))
        approval = after.approval
        if approval is not None and (before is None or approval != before.approval):
            said = {name: str(approval.get(name, "")) for name in ("by", "channel", "at")}
            decided.append(Given(after.id, "approve", **said, imported=bool(approval.get("imported"))))
        elif after.metadata.get("skipped_by") and "skipped_by" not in old:
            why, who = after.metadata.get("skip_reason", ""), str(after.metadata["skipped_by"])
            decided.append(Given(after.id, "skip", who, "", after.completed_at, why, imported))
        elif after.metadata.get("rejected") and not old.get("rejected"):
            decided.append(Given(after.id, "reject", "", "", after.completed_at, after.error, imported))
    return decided


def _todos(state: GraphState) -> dict[str, SupervisorTodo]:
    return _parsed(state.get("todos") or {})


def _parsed(raws: Mapping[str, TodoState], without: Collection[str] = ()) -> dict[str, SupervisorTodo]:
    todos = (SupervisorTodo.from_state(raw) for i, raw in raws.items() if i not in without)
    return {todo.id: todo for todo in sorted(todos, key=lambda t: t.rank)}


def _differing(before: GraphState, after: GraphState) -> tuple[dict[str, SupervisorTodo], dict[str, SupervisorTodo]]:
    """Return the TODOs of both plans without those that are the same in either: few differ in ten thousand."""
    old, new = before.get("todos") or {}, after.get("todos") or {}
    same = {i for i, raw in new.items() if i in old and (old[i] is raw or old[i] == raw)}
    return _parsed(old, same), _parsed(new, same)


def _todo_values(before: SupervisorTodo, after: SupervisorTodo) -> tuple[ValueChange, ...]:
    old, new = before.to_dict(), after.to_dict()
    found: list[ValueChange] = []
    for name in old:
        one, other = old[name], new[name]
        if isinstance(one, Mapping) and isinstance(other, Mapping) and name in ("arguments", "metadata"):
            found += values_that_differ(one, other, (name,))
        elif name not in ("status", "result") and old[name] != new[name]:
            found.append(ValueChange((name,), old[name], new[name]))
    if before.status is not after.status:
        found.insert(0, ValueChange(("status",), before.status.value, after.status.value))
    return tuple(found)


def _state_values(before: JsonObject, after: JsonObject) -> Iterator[ValueChange]:
    kept = ("todos", "response")
    old, new = ({k: v for k, v in state.items() if k not in kept} for state in (before, after))
    return values_that_differ(old, new)


def _results(
    before: GraphState,
    after: GraphState,
    old: Mapping[str, SupervisorTodo],
    new: Mapping[str, SupervisorTodo],
) -> Iterator[ResultChange]:
    for todo_id in (*new, *(i for i in old if i not in new)):
        was = old[todo_id].result if todo_id in old else None
        now = new[todo_id].result if todo_id in new else None
        if _digest(was) != _digest(now):
            yield ResultChange(todo_id, was, now)
    was, now = before.get("response") or None, after.get("response") or None
    if _digest(was) != _digest(now):
        yield ResultChange("", was, now)


def _digest(result: Mapping[str, object] | None) -> object:
    return result.get("digest", result) if result is not None else None


def changed_lines(before: str, after: str) -> list[str]:
    """Return how a text changed, line by line: `- ` taken away, `+ ` put in, two spaces for what stands around it.

    Parts that are left out show as `…`. Texts beyond `MOST_LINES` lines give no lines at all.
    """
    old, new = before.splitlines(), after.splitlines()
    if max(len(old), len(new)) > MOST_LINES:
        return []
    found: list[str] = []
    for group in difflib.SequenceMatcher(None, old, new, autojunk=False).get_grouped_opcodes(1):
        if found:
            found.append("…")
        for tag, a, b, c, d in group:
            if tag == "equal":
                found += [f"  {line}" for line in old[a:b]]
            else:
                found += [f"- {line}" for line in old[a:b]]
                found += [f"+ {line}" for line in new[c:d]]
    return found


@dataclass(frozen=True, slots=True)
class Consequences:
    """What going back from one moment to an earlier one means. Nothing is executed by it.

    Args:
        asked: TODOs that ask, or whose approval is taken back, so that they ask again when it is their turn.
        ran: TODOs that ran since: what they did to the world stays.
        stopped: of these, the ones that run now and are stopped first.
        gone: TODOs that were added since, and leave the plan.
        back: TODOs that were removed since, and come back into it.
        statuses: the others whose status is another one then: TODO now, TODO then.
        edits: TODOs whose input was edited since, which is lost: TODO now, TODO then.
        proposals: how many proposals are open again.
        answer: there is a final answer now, and there was none or another one then.
    """

    asked: tuple[SupervisorTodo, ...] = ()
    ran: tuple[SupervisorTodo, ...] = ()
    stopped: tuple[SupervisorTodo, ...] = ()
    gone: tuple[SupervisorTodo, ...] = ()
    back: tuple[SupervisorTodo, ...] = ()
    statuses: tuple[tuple[SupervisorTodo, SupervisorTodo], ...] = ()
    edits: tuple[tuple[SupervisorTodo, SupervisorTodo], ...] = ()
    proposals: int = 0
    answer: bool = False


def consequences(then: GraphState, now: GraphState) -> Consequences:
    """Return what restoring `then` would change of `now`."""
    old, new = _todos(then), _todos(now)
    both = [(todo, old[i]) for i, todo in new.items() if i in old]
    return Consequences(
        asked=tuple(t for t in old.values() if _asks_again(t)),
        ran=tuple(t for i, t in new.items() if _ran_since(t, old.get(i))),
        stopped=tuple(t for t in new.values() if t.status is Status.IN_PROGRESS),
        gone=tuple(t for i, t in new.items() if i not in old),
        back=tuple(t for i, t in old.items() if i not in new),
        statuses=tuple((t, was) for t, was in both if t.status is not was.status),
        edits=tuple((t, was) for t, was in both if _given(t) != _given(was)),
        proposals=len((then.get("control") or {}).get("proposals") or {}),
        answer=bool(now.get("response")) and _digest(now.get("response")) != _digest(then.get("response") or None),
    )


class RanSince(TypedDict):
    """A TODO that ran since the moment that a session goes back to.

    Args:
        todo_id, name: which, and what it is called.
        in_plan: it stays in the plan; what was added since leaves it.
        effects: what it did to the world, which stays: `name`, `status` (`started`, `done`) and `subject` of each.
    """

    todo_id: str
    name: str
    in_plan: bool
    effects: Sequence[Mapping[str, Json]]


def ran_since(found: Consequences, effects: Iterable[Effect]) -> list[RanSince]:
    """Return what ran since, each with what of it going back doesn't undo.

    Args:
        found: what going back means.
        effects: what the session did to the world so far.
    """
    gone, listed = {todo.id for todo in found.gone}, list(effects)
    return [
        {
            "todo_id": todo.id,
            "name": todo.name,
            "in_plan": todo.id not in gone,
            "effects": [
                {"name": e.name, "status": e.status, "subject": e.subject}
                for e in listed
                if e.todo_id == todo.id and e.status != "failed" and not e.changed_nothing
            ],
        }
        for todo in found.ran
    ]


def _given(todo: SupervisorTodo) -> list[object]:
    """Return the input of a TODO as people gave it."""
    arguments = {name: value for name, value in todo.arguments.items() if name != _READ}
    return [getattr(replace(todo, arguments=arguments), field) for field in _INPUT]


def _asks_again(todo: SupervisorTodo) -> bool:
    approved = todo.status is Status.PENDING and todo.approval is not None
    return approved or todo.status in (Status.WAITING_APPROVAL, Status.IN_PROGRESS)


def _ran_since(now: SupervisorTodo, then: SupervisorTodo | None) -> bool:
    """It began after that moment or was under way then, on this branch or on one that was left before."""
    if then is None:
        return bool(now.attempt or now.metadata.get("ran_before"))
    if now.attempt and now.run_id != then.run_id:
        return True
    if then.status is Status.COMPLETED:
        return False
    if now.metadata.get("ran_before") != then.metadata.get("ran_before"):
        return True
    under_way = then.status is Status.WAITING_APPROVAL and then.question is not None and now != then
    return then.status is Status.IN_PROGRESS or under_way


def last_two(marks: Sequence[str], mark: str) -> tuple[str, ...]:
    """Return the marks after one was set or, if it was there, taken away: at most two, the oldest gives way."""
    if mark in marks:
        return tuple(m for m in marks if m != mark)
    return (*marks, mark)[-2:]
