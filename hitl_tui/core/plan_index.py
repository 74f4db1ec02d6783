"""What is asked of a whole plan at every event: who runs, who asks, who depends on whom.

It follows the plan from one board to the next, and looks only at the TODOs that became others: boards share the rest.
"""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from itertools import chain
from operator import attrgetter, itemgetter

from hitl_tui.core.interrupts.numbers import interrupts_of
from hitl_tui.core.json_types import TodoState
from hitl_tui.core.requests import Kind
from hitl_tui.core.todos import Priority, SupervisorTodo

OPEN, RUNNING, APPROVED, MANUAL = "open", "running", "approved", "manual"
"""Groups of TODOs: not at rest; in progress; approved and not begun; written by a person and not begun, or failed."""
MEASURED, MISSED = "measured", "missed"
"""Completed with a result that something was expected of; and those of which that didn't come true."""
FROZEN = "frozen"
"""Asks, and gets the results of TODOs that it doesn't depend on."""
_ALL = (OPEN, RUNNING, APPROVED, MANUAL, MEASURED, MISSED, FROZEN)

_RESTING = frozenset({"completed", "failed", "skipped", "blocked"})
_ID, _NAMES = itemgetter(3), itemgetter(4)
_WEIGHTS = {priority.value: priority.weight for priority in Priority}

Turn = tuple[int, float, int, str, tuple[str, ...]]
"""A TODO that asks: priority, rank and place in the plan, which give the order; its id; the names of its questions."""


_PART = 64
"""TODOs of two plans that are compared at once."""


def changed_between(before: Mapping[str, TodoState], now: Mapping[str, TodoState]) -> list[str]:
    """Return the ids of the TODOs that aren't equal in two plans, those that only one of them has included.

    Plans that follow each other share what stayed, so that only what is another object is compared.
    """
    if before is now:
        return []
    ids = list(now)
    if ids[: len(before)] != list(before):
        found = [todo_id for todo_id, todo in now.items() if before.get(todo_id) is not todo]
        gone = [todo_id for todo_id in before if todo_id not in now]
        return [*gone, *(todo_id for todo_id in found if before.get(todo_id) != now[todo_id])]
    found, old, new = list[str](), list(before.values()), list(now.values())
    for start in range(0, len(old), _PART):
        part = slice(start, start + _PART)
        if old[part] != new[part]:  # what is the same object is quickly equal
            found += [i for i, was, todo in zip(ids[part], old[part], new[part], strict=False) if was != todo]
    return [*found, *ids[len(old) :]]


@dataclass(frozen=True, slots=True)
class PlanIndex:
    """Facts about the TODOs of one board.

    Args:
        todos: TODOs by id, as checkpoints keep them.
        places: a number for each that grows in the order of the mapping.
        groups: ids of the TODOs in each group.
        users: ids of the TODOs that depend on one, for those that some do.
        line: ranks and ids of the open TODOs, in that order.
        turns: who asks, in the order they are asked.
        asked: how many questions that are.
    """

    todos: Mapping[str, TodoState]
    places: Mapping[str, int]
    groups: Mapping[str, AbstractSet[str]]
    users: Mapping[str, AbstractSet[str]]
    line: Sequence[tuple[float, str]]
    turns: Sequence[Turn]
    asked: int

    @property
    def askers(self) -> Iterable[str]:
        """The ids of the TODOs that ask, in the order they are asked."""
        return map(_ID, self.turns)

    @property
    def asking(self) -> Iterable[str]:
        """The names of what TODOs ask, in the order it is asked."""
        return chain.from_iterable(map(_NAMES, self.turns))

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
            if turn := turn_of(todo_id, todo, places[todo_id]):
                turns.append(turn)
        line = sorted(_in_line(todo_id, todos[todo_id]) for todo_id in groups[OPEN])
        return cls(todos, places, groups, users, line, sorted(turns), sum(map(len, map(_NAMES, turns))))

    def moved(self, todos: Mapping[str, TodoState]) -> PlanIndex:
        """Return the index of the plan that this one became.

        What stands in both is the same object: nobody changes a TODO in place.
        """
        known, other = self.todos, changed_between(self.todos, todos)
        gone = [todo_id for todo_id in other if todo_id not in todos]
        left = [todo_id for todo_id in known if todo_id in todos] if gone else list(known)
        ids = list(todos)
        if len(other) * 4 > len(known) or ids[: len(left)] != left:
            return PlanIndex.of(todos)
        places = self._moved_places(gone, ids[len(left) :])
        turns, asked = self._moved_turns(todos, other, places)
        groups, users = self._moved_groups(todos, other), self._moved_users(todos, other)
        return PlanIndex(todos, places, groups, users, self._moved_line(todos, groups[OPEN], other), turns, asked)

    def _moved_places(self, gone: Sequence[str], added: Sequence[str]) -> Mapping[str, int]:
        if not gone and not added:
            return self.places
        places = dict(self.places)
        end = max(places.values(), default=-1) + 1
        for todo_id in gone:
            del places[todo_id]
        return places | {todo_id: end + n for n, todo_id in enumerate(added)}

    def _moved_groups(self, todos: Mapping[str, TodoState], other: Iterable[str]) -> Mapping[str, AbstractSet[str]]:
        groups, own = dict(self.groups), dict[str, set[str]]()
        for todo_id in other:
            before, now = _groups(self.todos.get(todo_id)), _groups(todos.get(todo_id))
            for group in before ^ now:
                if group not in own:
                    own[group] = groups[group] = set(groups[group])
                (own[group].add if group in now else own[group].discard)(todo_id)
        return groups

    def _moved_users(self, todos: Mapping[str, TodoState], other: Iterable[str]) -> Mapping[str, AbstractSet[str]]:
        users: dict[str, AbstractSet[str]] | None = None
        for todo_id in other:
            before, now = (
                frozenset(todo.get("dependencies", ()) if todo is not None else ())
                for todo in (self.todos.get(todo_id), todos.get(todo_id))
            )
            if before == now:
                continue
            users = dict(self.users) if users is None else users
            for needed in before - now:
                users[needed] = users[needed] - {todo_id}
            for needed in now - before:
                users[needed] = users.get(needed, frozenset()) | {todo_id}
        return self.users if users is None else users

    def _moved_line(
        self, todos: Mapping[str, TodoState], still: AbstractSet[str], other: Iterable[str]
    ) -> Sequence[tuple[float, str]]:
        line = list(self.line)
        for todo_id in other:
            if todo_id in self.groups[OPEN]:
                del line[bisect_left(line, _in_line(todo_id, self.todos[todo_id]))]
            if todo_id in still:
                insort(line, _in_line(todo_id, todos[todo_id]))
        return line

    def _moved_turns(
        self, todos: Mapping[str, TodoState], other: Iterable[str], places: Mapping[str, int]
    ) -> tuple[Sequence[Turn], int]:
        turns, asked = list(self.turns), self.asked
        for todo_id in other:
            before, now = (
                turn_of(todo_id, plan.get(todo_id), numbers.get(todo_id, 0))
                for plan, numbers in ((self.todos, self.places), (todos, places))
            )
            if before == now:
                continue
            if before is not None:
                del turns[bisect_left(turns, before)]
                asked -= len(before[4])
            if now is not None:
                insort(turns, now)
                asked += len(now[4])
        return turns, asked


class PlanFollower:
    """Keeps what was worked out of the plan that a session stands at, for the boards and snapshots that follow it."""

    def __init__(self) -> None:
        self._index: PlanIndex | None = None
        self._seen: Mapping[str, TodoState] = {}
        self._read: Mapping[str, SupervisorTodo] = {}
        self._ordered: tuple[SupervisorTodo, ...] = ()

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
        """Return all TODOs of a plan in their order; one that equals what was read last isn't read again."""
        changed = changed_between(self._seen, todos)
        if changed or [*self._read] != [*todos]:
            read = dict(self._read)
            for todo_id in changed:
                state = todos.get(todo_id)
                if state is None:
                    del read[todo_id]
                else:
                    read[todo_id] = SupervisorTodo.from_state(state)
            if [*read] != [*todos]:
                read = {todo_id: read[todo_id] for todo_id in todos}
            self._read = read
            self._ordered = tuple(sorted(read.values(), key=attrgetter("rank")))
        self._seen = todos
        return self._ordered


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
    if not todo.get("dependencies") and todo.get("metadata", {}).get("inputs") and _asks(todo):
        found.add(FROZEN)
    return frozenset(found)


def _in_line(todo_id: str, todo: TodoState) -> tuple[float, str]:
    return float(todo.get("rank", 0.0)), todo_id


def turn_of(todo_id: str, todo: TodoState | None, place: int = 0) -> Turn | None:
    """Return where a TODO's questions come; None where it asks nothing."""
    if todo is None or not _asks(todo):
        return None
    question = todo.get("question")
    inside = tuple(f"{todo_id} {i['id']}" for i in interrupts_of(question) if "answer" not in i)
    alone = todo["status"] != "in_progress" and (question is None or question["kind"] != Kind.INTERRUPT.value)
    names = (todo_id, *inside) if alone else inside
    return _WEIGHTS[todo.get("priority", "medium")], float(todo.get("rank", 0.0)), place, todo_id, names


def _asks(todo: TodoState) -> bool:
    status = todo["status"]
    return status == "waiting_approval" or (status in ("failed", "in_progress") and bool(todo.get("question")))
