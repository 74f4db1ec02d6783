"""`TodoManager`: a plan's TODOs as a mutable collection."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from hitl_tui.core.errors import BadInput, UnknownName
from hitl_tui.core.messages import Message
from hitl_tui.core.names import step_name
from hitl_tui.core.todos import SYSTEM, Status, SupervisorTodo, summarise


class TodoManager:
    """A plan's TODOs, in order.

    Works on a copy of what it is given; read the result from `todos`.

    Args:
        todos: the TODOs, in any order; `rank` decides.
    """

    def __init__(self, todos: Iterable[SupervisorTodo] = ()) -> None:
        self._todos = {todo.id: todo for todo in todos}

    @property
    def todos(self) -> list[SupervisorTodo]:
        """All TODOs in plan order."""
        return sorted(self._todos.values(), key=lambda todo: todo.rank)

    def add(self, todo: SupervisorTodo) -> SupervisorTodo:
        """Add a TODO at the end unless it brings a rank of its own.

        Raises:
            BadInput: the id is taken, or a dependency doesn't exist.
        """
        if todo.id in self._todos:
            raise BadInput(Message("Step {} already exists.", step_name(todo.id)))
        for dependency in todo.dependencies:
            self.get(dependency)
        if todo.rank == 0.0:
            last = max((t.rank for t in self._todos.values()), default=0.0)
            todo = replace(todo, rank=last + 1.0)
        self._todos[todo.id] = todo
        return todo

    def get(self, todo_id: str) -> SupervisorTodo:
        """Return the TODO with this id.

        Raises:
            UnknownName: there is none.
        """
        try:
            return self._todos[todo_id]
        except KeyError:
            raise UnknownName(Message('No step "{}".', step_name(todo_id))) from None

    def find_next_executable(self) -> SupervisorTodo | None:
        """Return the pending TODO to run next: dependencies met, then priority, then order."""
        ready = [
            todo
            for todo in self._todos.values()
            if todo.status is Status.PENDING
            and all(
                self._todos[d].status in (Status.COMPLETED, Status.SKIPPED)
                for d in todo.dependencies
                if d in self._todos
            )
        ]
        return min(ready, key=lambda todo: (todo.priority.weight, todo.rank), default=None)

    def update_status(self, todo_id: str, status: Status, by: str = SYSTEM) -> SupervisorTodo:
        """Change one status by the transition table.

        Raises:
            UnknownName, IllegalTransition
        """
        todo = self.get(todo_id).with_status(status, by)
        self._todos[todo_id] = todo
        return todo

    def get_summary(self) -> dict[str, int]:
        """Return counts: `total` and one per status; see `summarise`."""
        return summarise(todo.status for todo in self._todos.values())
