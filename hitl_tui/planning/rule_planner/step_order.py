"""The order of a plan's steps, changed: before, after, first, last, one after the other, all at once."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace
from itertools import pairwise

from hitl_tui.core.errors import BadInput
from hitl_tui.core.messages import Message
from hitl_tui.core.names import step_name
from hitl_tui.core.todos import SupervisorTodo
from hitl_tui.planning.proposals import in_order
from hitl_tui.planning.rule_planner.scene import ancestors


class StepOrder:
    """Which step comes after which. A step that works from what others find keeps them before it.

    Args:
        todos: the plan, of which nothing has begun.
        readers: see `Scene.readers`.
    """

    def __init__(self, todos: Sequence[SupervisorTodo], readers: Collection[str]) -> None:
        self._todos = {todo.id: todo for todo in todos}
        self._after = {todo.id: todo.dependencies for todo in todos}
        self._order = [todo.id for todo in todos]
        self._readers = readers

    def __contains__(self, todo_id: object) -> bool:
        return todo_id in self._after

    @property
    def todos(self) -> list[SupervisorTodo]:
        """The plan as it is now."""
        return in_order([replace(self._todos[key], dependencies=self._after[key]) for key in self._order])

    def release(self, ids: Collection[str]) -> None:
        """Let nothing wait for these."""
        self._after = {key: _but(after, ids) for key, after in self._after.items()}

    def before(self, moved: str, anchor: str) -> None:
        """Let a step come right before another.

        Raises:
            BadInput: it works from what that finds, or others between them do.
        """
        if moved in self._before(anchor):
            return
        self._take_out(moved)
        if moved in self._readers:
            self._after[moved] = self._sources(moved, anchor)
        else:
            self._after[moved] = _but(self._after[anchor], (moved,))
        waits = () if {moved, anchor}.isdisjoint(self._readers) else self._after[anchor]
        self._after[anchor] = (*_but(waits, (moved,)), moved)
        self._place(moved, self._order.index(anchor), anchor)

    def after(self, moved: str, anchor: str, *, close: bool = False) -> None:
        """Let a step come right after another; what only waited for that other waits for it.

        Args:
            moved, anchor: ids of the steps.
            close: nothing comes between them, even where it comes after that other already.

        Raises:
            BadInput: that works from what it finds, or others between them do.
        """
        if anchor in (self._after[moved] if close else self._before(moved)):
            return
        self._take_out(moved)
        if moved in self._after[anchor]:
            self._after[anchor] = self._sources(anchor, moved)
        for key, after in self._after.items():
            if anchor in after and key not in self._readers and key != moved:
                self._after[key] = tuple(dict.fromkeys(moved if d == anchor else d for d in after))
        kept = self._after[moved] if moved in self._readers else ()
        self._after[moved] = (*kept, anchor)
        self._place(moved, self._order.index(anchor) + 1, anchor)

    def first(self, moved: str) -> None:
        """Let all others come after a step, but those that it works from.

        Raises:
            BadInput: it works from all that could come after it.
        """
        self._take_out(moved)
        if moved not in self._readers:
            self._after[moved] = ()
        roots = [key for key in self._order if not self._after[key] and key not in (*self._before(moved), moved)]
        if moved in self._readers and self._after[moved] and not roots:
            raise _impossible(moved, self._after[moved][0])
        for key in roots:
            self._after[key] = (moved,)
        self._place(moved, 0)

    def last(self, moved: str) -> None:
        """Let a step come after all others.

        Raises:
            BadInput: one of them works from what it finds.
        """
        self._take_out(moved)
        if using := next((key for key, after in self._after.items() if moved in after), ""):
            raise _impossible(using, moved)
        needed = {one for key, after in self._after.items() if key != moved for one in after}
        kept = self._after[moved] if moved in self._readers else ()
        leaves = (key for key in self._order if key not in needed and key != moved)
        self._after[moved] = tuple(dict.fromkeys((*kept, *leaves)))
        self._place(moved, len(self._order))

    def row(self, ids: Sequence[str]) -> None:
        """Let steps come one after the other.

        Raises:
            BadInput: one of them works from what a later one finds.
        """
        for one, other in pairwise(ids):
            self.after(other, one)

    def reverse(self, ids: Iterable[str]) -> None:
        """Let steps come the other way round.

        Raises:
            BadInput: one of them works from what another finds.
        """
        wanted = frozenset(ids)
        self.row([key for key in reversed(self._order) if key in wanted])

    def apart(self, ids: Collection[str]) -> None:
        """Let steps that only wait for others wait for none."""
        self._after = {
            key: after if key in self._readers or key not in ids else () for key, after in self._after.items()
        }

    def _before(self, key: str) -> set[str]:
        return ancestors((key,), self.now) - {key}

    @property
    def now(self) -> list[SupervisorTodo]:
        """The steps with what they come after, in no order."""
        return [replace(todo, dependencies=self._after[key]) for key, todo in self._todos.items()]

    def _take_out(self, moved: str) -> None:
        """Let what only waits for a step wait for what that waits for."""
        heirs = self._after[moved]
        for key, after in self._after.items():
            if moved in after and key not in self._readers:
                self._after[key] = tuple(dict.fromkeys(i for d in after for i in (heirs if d == moved else (d,))))

    def _sources(self, reader: str, without: str) -> tuple[str, ...]:
        """Return what a step works from where it doesn't from another, nor from what rests on that: what that does."""
        heirs = (i for d in self._after[reader] for i in (self._after[without] if d == without else (d,)))
        kept = tuple(dict.fromkeys(d for d in heirs if d != without and without not in self._before(d)))
        if self._after[reader] and not kept:
            raise _impossible(reader, without)
        return kept

    def _place(self, moved: str, index: int, anchor: str = "") -> None:
        if moved in self._before(moved) or any(moved in self._before(key) for key in self._after[moved]):
            raise _impossible(anchor or moved, moved)
        self._order.insert(index, "")
        self._order.remove(moved)
        self._order[self._order.index("")] = moved


def _but(after: tuple[str, ...], gone: Collection[str]) -> tuple[str, ...]:
    return tuple(key for key in after if key not in gone)


def _impossible(reader: str, source: str) -> BadInput:
    return BadInput(
        Message("{} works from what {} finds, so it can't come before it.", step_name(reader), step_name(source))
    )
