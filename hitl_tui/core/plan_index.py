"""What is asked of a whole plan at every event: who runs, who asks, who depends on whom.

It follows the plan from one board to the next, and looks only at the TODOs that became others: boards share the rest.
"""

from __future__ import annotations

from bisect import insort
from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from itertools import compress
from operator import is_not

from hitl_tui.core.interrupts.numbers import interrupts_of
from hitl_tui.core.json_types import TodoState
from hitl_tui.core.requests import Kind
from hitl_tui.core.todos import Priority, SupervisorTodo

OPEN, RUNNING, APPROVED, MANUAL = "open", "running", "approved", "manual"
"""Groups of TODOs: not at rest; in progress; approved and not begun; written by a person and not begun, or failed."""
MEASURED, MISSED = "measured", "missed"
"""Completed with a result that something was expected of; and those of which that didn't come true."""
_ALL = (OPEN, RUNNING, APPROVED, MANUAL, MEASURED, MISSED)

_RESTING = frozenset({"completed", "failed", "skipped", "blocked"})
_WEIGHTS = {priority.value: priority.weight for priority in Priority}

Turn = tuple[int, float, int, tuple[str, ...]]
"""Where a TODO's questions come in the order they are asked, by priority, rank and place in the plan; their names."""


@dataclass(frozen=True, slots=True)
class PlanIndex:
    """Facts about the TODOs of one board.

    Args:
        todos: TODOs by id, as checkpoints keep them.
        places: number of each in the order of the mapping.
        groups: ids of the TODOs in each group.
        users: ids of the TODOs that depend on one, for those that some do.
        turns: who asks, in the order they are asked.
    """

    todos: Mapping[str, TodoState]
    places: Mapping[str, int]
    groups: Mapping[str, AbstractSet[str]]
    users: Mapping[str, AbstractSet[str]]
    turns: Sequence[Turn]

    @classmethod
    def of(cls, todos: Mapping[str, TodoState]) -> PlanIndex:
        """Return the index of a plan, made from its beginning."""
        places = {todo_id: place for place, todo_id in enumerate(todos)}
        groups: dict[str, set[str]] = {name: set() for name in _ALL}
        users: dict[str, set[str]] = {}
        turns: list[Turn] = []
        for todo_id, todo in todos.items():
            for group in _groups(todo):
                groups[group].add(todo_id)
            for needed in todo.get("dependencies", ()):
                users.setdefault(needed, set()).add(todo_id)
            if turn := _turn(todo_id, todo, places[todo_id]):
                turns.append(turn)
        return cls(todos, places, groups, users, sorted(turns))

    def moved(self, todos: Mapping[str, TodoState]) -> PlanIndex:
        """Return the index of the plan that this one became.

        What stands in both is the same object: nobody changes a TODO in place.
        """
        known = self.todos
        ids, states = list(todos), list(todos.values())
        if ids[: len(known)] != list(known):
            return PlanIndex.of(todos)
        if states == list(known.values()):  # read anew, or nothing happened; those that are the same are quickly equal
            return PlanIndex(todos, self.places, self.groups, self.users, self.turns)
        changed = list(compress(ids, map(is_not, known.values(), states)))
        if len(changed) * 4 > len(known):
            return PlanIndex.of(todos)
        added = ids[len(known) :]
        places = {**self.places, **{i: len(known) + n for n, i in enumerate(added)}} if added else self.places
        other = [*changed, *added]
        return PlanIndex(
            todos, places, self._moved_groups(todos, other), self._moved_users(todos, other),
            self._moved_turns(todos, other, places),
        )  # fmt: skip

    def _moved_groups(self, todos: Mapping[str, TodoState], other: Iterable[str]) -> Mapping[str, AbstractSet[str]]:
        groups, own = dict(self.groups), dict[str, set[str]]()
        for todo_id in other:
            before, now = _groups(self.todos.get(todo_id)), _groups(todos[todo_id])
            for group in before ^ now:
                if group not in own:
                    own[group] = groups[group] = set(groups[group])
                (own[group].add if group in now else own[group].discard)(todo_id)
        return groups

    def _moved_users(self, todos: Mapping[str, TodoState], other: Iterable[str]) -> Mapping[str, AbstractSet[str]]:
        users: dict[str, AbstractSet[str]] | None = None
        for todo_id in other:
            known = self.todos.get(todo_id)
            before = frozenset(known.get("dependencies", ()) if known is not None else ())
            now = frozenset(todos[todo_id].get("dependencies", ()))
            if before == now:
                continue
            users = dict(self.users) if users is None else users
            for needed in before - now:
                users[needed] = users[needed] - {todo_id}
            for needed in now - before:
                users[needed] = users.get(needed, frozenset()) | {todo_id}
        return self.users if users is None else users

    def _moved_turns(
        self, todos: Mapping[str, TodoState], other: Sequence[str], places: Mapping[str, int]
    ) -> Sequence[Turn]:
        fresh = [turn for todo_id in other if (turn := _turn(todo_id, todos[todo_id], places[todo_id]))]
        left = {places[todo_id] for todo_id in other if todo_id in self.todos and _asks(self.todos[todo_id])}
        if not fresh and not left:
            return self.turns
        turns = [turn for turn in self.turns if turn[2] not in left]
        for turn in fresh:
            insort(turns, turn)
        return turns


class PlanFollower:
    """Keeps what was worked out of the plan that a session stands at, for the boards and snapshots that follow it."""

    def __init__(self) -> None:
        self._index: PlanIndex | None = None
        self._read: Mapping[str, tuple[TodoState, SupervisorTodo]] = {}

    def at(self, todos: Mapping[str, TodoState]) -> PlanIndex:
        """Return the index of a plan."""
        known = self._index
        if known is None or known.todos is not todos:
            known = PlanIndex.of(todos) if known is None else known.moved(todos)
            self._index = known
        return known

    def running(self, todos: Mapping[str, TodoState]) -> tuple[str, ...]:
        """Return the ids of a plan's TODOs that are in progress, in the order of the mapping."""
        index = self._index
        if index is None or index.todos is not todos:
            return tuple(todo_id for todo_id, todo in todos.items() if todo["status"] == "in_progress")
        return tuple(sorted(index.groups[RUNNING], key=index.places.__getitem__))

    def read(self, todos: Mapping[str, TodoState]) -> tuple[SupervisorTodo, ...]:
        """Return all TODOs of a plan in their order; one that is as it was isn't read again."""
        known, read = self._read, dict[str, tuple[TodoState, SupervisorTodo]]()
        for todo_id, state in todos.items():
            before = known.get(todo_id)
            same = before is not None and before[0] is state
            read[todo_id] = before if before is not None and same else (state, SupervisorTodo.from_state(state))
        self._read = read
        return tuple(sorted((todo for _, todo in read.values()), key=lambda todo: todo.rank))


def _groups(todo: TodoState | None) -> frozenset[str]:
    if todo is None:
        return frozenset()
    status = todo["status"]
    found = set() if status in _RESTING else {OPEN}
    if status == "in_progress":
        found.add(RUNNING)
    elif status == "pending" and todo.get("approval") is not None:
        found.add(APPROVED)
    if status in ("pending", "waiting_approval", "failed") and "manual" in todo.get("metadata", ()):
        found.add(MANUAL)
    if status == "completed" and (missed := (todo.get("result") or {}).get("missed")) is not None:
        found.update((MEASURED, MISSED) if missed else (MEASURED,))
    return frozenset(found)


def _asks(todo: TodoState) -> bool:
    status = todo["status"]
    return status == "waiting_approval" or (status in ("failed", "in_progress") and bool(todo.get("question")))


def _turn(todo_id: str, todo: TodoState, place: int) -> Turn | None:
    if not _asks(todo):
        return None
    question = todo.get("question")
    inside = tuple(f"{todo_id} {i['id']}" for i in interrupts_of(question) if "answer" not in i)
    alone = todo["status"] != "in_progress" and (question is None or question["kind"] != Kind.INTERRUPT.value)
    names = (todo_id, *inside) if alone else inside
    return _WEIGHTS[todo.get("priority", "medium")], float(todo.get("rank", 0.0)), place, names
