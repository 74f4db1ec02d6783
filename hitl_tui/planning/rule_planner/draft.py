"""An editable copy of a plan, on which steps are added, moved and taken out; compared with the plan at the end."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace

from hitl_tui.core.errors import BadInput
from hitl_tui.core.json_types import JsonObject, ProposedChange, TodoMetadata
from hitl_tui.core.messages import Message
from hitl_tui.core.names import step_name
from hitl_tui.core.plan import Change, ExecutionStep, in_order
from hitl_tui.core.todos import MAY_BEGIN, Status, SupervisorTodo
from hitl_tui.planning.proposals import AddStep, PlanChange, inherited
from hitl_tui.planning.rule_planner.plan_steps import StepList
from hitl_tui.planning.rule_planner.rule_file import Need, lexicon
from hitl_tui.planning.rule_planner.scene import Scene, ancestors


class Draft:
    """A plan as it is to be.

    A step that works from what others find keeps them before it, what has begun keeps its place, and what checks
    others comes after what is done besides. What can't be is refused as `BadInput`.

    Attributes:
        todos: its steps and the new ones, by id.
        after: what each of those that come yet waits for.
        new: the steps that were added.
        gone: those that leave, and how.
    """

    def __init__(self, scene: Scene) -> None:
        self._scene = scene
        self.todos = {todo.id: todo for todo in scene.todos}
        self.after = {t.id: t.dependencies for t in scene.todos if t.status in (*MAY_BEGIN, Status.IN_PROGRESS)}
        self.new: dict[str, AddStep] = {}
        self.gone: dict[str, Change] = {}
        self._was = {todo.id: todo.dependencies for todo in scene.todos}
        self._inputs: dict[str, JsonObject] = {}
        self._places: dict[str, tuple[str, str]] = {}
        self._readers = {todo.id for todo in scene.todos if scene.reads(todo)}

    @property
    def staying(self) -> list[SupervisorTodo]:
        """The steps of which something can be expected: neither lost nor leaving."""
        lost = (Status.SKIPPED, Status.FAILED)
        return [t for t in self.todos.values() if t.status not in lost and t.id not in self.gone]

    @property
    def state(self) -> tuple[object, ...]:
        """All that was changed so far."""
        return ({**self.after}, {**self._places}, {**self.gone}, {**self._inputs}, {**self.new})

    @contextmanager
    def attempt(self, added: Collection[str]) -> Iterator[None]:
        """Take back what is changed here, and some steps added before, where it's refused or moves what has begun."""
        after, places, gone = {**self.after}, {**self._places}, {**self.gone}
        try:
            yield
            self._check_fixed(after)
        except BadInput:
            self.after, self._places, self.gone = after, places, gone
            self.release(added)
            for key in added:
                del self.after[key], self.new[key], self.todos[key]
            raise

    def _check_fixed(self, before: Mapping[str, tuple[str, ...]]) -> None:
        for key, todo in self.todos.items():
            if before.get(key) != self.after.get(key) and (why := todo.why_fixed):
                raise BadInput(why)

    # What is in it ----------------------------------------------------------------------------------------------------

    def add(self, step: ExecutionStep, sources: Iterable[str], metadata: TodoMetadata) -> str:
        """Add a step that waits for others, let those wait for it that had better do so, and return its id."""
        scene, kept = self._scene, [one for one in sources if one not in self.gone]
        step = StepList([*scene.step_ids, *self.new]).add(step, kept)
        todo = SupervisorTodo(
            step.id, step.name, agent_name=scene.agents[step.agent].team, arguments=step.input_mapping
        )
        facts = scene.facts_of(todo)
        does = facts is not None and lexicon().deeds(facts) - lexicon().looking
        checks = [one for one in scene.last_checks if one not in self.gone] if does else []
        for user in dict.fromkeys((*scene.users(scene.kind_of(todo), step.dependencies, self.gone), *checks)):
            self.after[user] = (*self.after[user], step.id)
        self.new[step.id], self.todos[step.id] = AddStep(step, metadata=metadata), todo
        self.after[step.id] = step.dependencies
        self._readers |= {step.id} if scene.reads(todo) else set()
        return step.id

    def give(self, todo_id: str, arguments: JsonObject) -> None:
        """Give a step another input."""
        self._inputs[todo_id] = arguments

    def leave(self, todo_id: str, how: Change) -> None:
        """Take a step out; where nothing has begun, what waits for it waits for what that waits for."""
        self.gone[todo_id] = how
        if self._scene.reviewed:
            for waits in (self._was, self.after):
                waits |= {key: inherited(after, todo_id, waits[todo_id]) for key, after in waits.items()}
        self.after.pop(todo_id, None)

    def stand_in(self, todo_id: str) -> None:
        """Take a step out in whose place others came: what waits for it waits for what it waits for."""
        self._take_out(todo_id)
        self.leave(todo_id, Change.REMOVE)

    # The order --------------------------------------------------------------------------------------------------------

    def release(self, ids: Collection[str]) -> None:
        """Let nothing wait for these."""
        self.after = {key: _but(after, ids) for key, after in self.after.items()}

    def before(self, moved: str, *anchors: str) -> None:
        """Let a step come right before others; refused where it works from what they find, or steps between do."""
        anchors = tuple(one for one in _but(anchors, (moved,)) if moved not in self._before(one))
        if not anchors:
            return
        self._take_out(moved, self._readers)
        for anchor in anchors if moved in self._readers else ():
            self.after[moved] = self._sources(moved, anchor)
        if moved not in self._readers and not self._scene.is_of(self.todos[moved], Need.FIND):
            self.after[moved] = _but((one for anchor in anchors for one in self.after[anchor]), (moved,))
        for anchor in anchors:
            waits = () if {moved, anchor}.isdisjoint(self._readers) else self.after[anchor]
            self.after[anchor] = (*_but(waits, (moved,)), moved)
        self._place(moved, "before", anchors[0])

    def follow(self, moved: str, *anchors: str) -> None:
        """Let a step come after others, and what only waited for those after it; refused where they work from it."""
        anchors = _but(anchors, (moved,))
        if {*anchors} <= self._before(moved):
            return
        self._take_out(moved, self._readers)
        for anchor in anchors:
            if moved in self.after.get(anchor, ()):
                self.after[anchor] = self._sources(anchor, moved)
        ahead = self.after.keys() & {*anchors}
        for key, after in self.after.items():
            if key not in self._readers and key != moved:
                self.after[key] = tuple(dict.fromkeys(moved if d in ahead else d for d in after))
        kept = self.after[moved] if moved in self._readers else ()
        self.after[moved] = tuple(dict.fromkeys((*kept, *anchors)))
        self._place(moved, "after", anchors[-1])

    def first(self, moved: str) -> None:
        """Let all others come after a step, but those that it works from; refused where that leaves none."""
        needed = self._before(moved) if moved in self._readers else ()
        others = [key for key in self.after if key != moved and not self.todos[key].why_fixed]
        roots = [key for key in others if {*others, moved}.isdisjoint(self.after[key]) or self.after[key] == (moved,)]
        self.before(moved, *(_but(roots, needed) or roots))

    def last(self, moved: str) -> None:
        """Let a step come after all others; refused where one of them works from what it finds."""
        self._take_out(moved, self._readers)
        if using := next((key for key, after in self.after.items() if moved in after), ""):
            raise _impossible(using, moved)
        needed = {one for key, after in self.after.items() if key != moved for one in after}
        if leaves := _but(self.after, (*needed, moved)):
            self.follow(moved, *leaves)

    def apart(self) -> None:
        """Let steps that only wait for others wait for none."""
        self.after |= {k: () for k in self.after if k not in self._readers and not self.todos[k].why_fixed}

    def _before(self, key: str) -> set[str]:
        return ancestors((key,), self.after) - {key}

    def _take_out(self, moved: str, kept: Collection[str] = ()) -> None:
        """Let all but some that wait for a step wait for what that waits for."""
        for key, after in self.after.items():
            if moved in after and key not in kept:
                self.after[key] = inherited(after, moved, self.after[moved])

    def _sources(self, reader: str, without: str) -> tuple[str, ...]:
        """Return what a step works from where it doesn't from another, nor from what rests on that: what that does."""
        heirs = inherited(self.after[reader], without, self.after[without])
        kept = tuple(d for d in heirs if d != without and without not in self._before(d))
        if self.after[reader] and not kept:
            raise _impossible(reader, without)
        return kept

    def _place(self, moved: str, where: str, anchor: str) -> None:
        if any(moved in self._before(key) for key in self.after[moved]):
            raise _impossible(anchor, moved)
        self._places[moved] = where, anchor

    # The comparison ---------------------------------------------------------------------------------------------------

    def changes(self, why: str) -> list[PlanChange]:
        """Return what makes the plan like this, in an order in which it can be done.

        What others depend on is skipped, not removed; why is kept of it.
        """
        plan, feeds, moved = self._scene.todos, dict[str, list[str]](), list[PlanChange]()
        for todo in plan:
            now, was = self.after.get(todo.id, ()), self._was[todo.id]
            if todo.id not in self._places and {*was} <= {*now} <= {*was, *self.new}:
                for step_id in self.new.keys() & {*now}:
                    feeds.setdefault(step_id, []).append(todo.id)
            elif todo.id in self.after and now != was:
                where, anchor = self._places.get(todo.id, ("", ""))
                place: ProposedChange = {"kind": Change.AFTER, "todo_id": todo.id, "after": now, "where": where}
                moved.append({**place, "anchor": anchor})
        removed = {todo_id for todo_id, how in self.gone.items() if how is Change.REMOVE}
        waits = {t.id: self.after.get(t.id, t.dependencies) for t in plan}
        kept = ancestors((t.id for t in plan if t.id not in removed), waits) & removed
        skipped = [t.id for t in plan if t.id in self.gone.keys() - removed | kept]
        changes: list[PlanChange] = [{"kind": Change.SKIP, "todo_id": one, "reason": why} for one in skipped]
        changes += [{"kind": Change.EDIT, "todo_id": key, "arguments": given} for key, given in self._inputs.items()]
        for key, added in sorted(self.new.items(), key=lambda one: len(ancestors((one[0],), self.after))):
            step = replace(added.step, dependencies=self.after[key])
            changes.append(replace(added, step=step, feeds=tuple(feeds.get(key, ()))))
        # What waited for a step that goes waits for others first.
        last_first = [t.id for t in reversed(in_order(plan)) if t.id in removed - kept]
        removals: list[PlanChange] = [{"kind": Change.REMOVE, "todo_id": one} for one in last_first]
        return [*changes, *moved, *removals]


def _but(after: Iterable[str], gone: Collection[str]) -> tuple[str, ...]:
    return tuple(key for key in after if key not in gone)


def _impossible(reader: str, source: str) -> BadInput:
    return BadInput(
        Message("{} works from what {} finds, so it can't come before it.", step_name(reader), step_name(source))
    )
