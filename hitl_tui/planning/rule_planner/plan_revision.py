"""A plan that is to change, which is empty before a first question, and an editable copy of it, compared with it."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from itertools import count
from typing import Final

from hitl_tui.core.errors import BadInput
from hitl_tui.core.json_types import JsonObject, ProposedChange, TodoMetadata
from hitl_tui.core.messages import Message
from hitl_tui.core.names import step_name
from hitl_tui.core.plan import AgentFacts, Change, ExecutionStep, in_order, inherited
from hitl_tui.core.todos import MAY_BEGIN, Status, SupervisorTodo
from hitl_tui.core.written_language import language_of
from hitl_tui.planning.proposals import AddStep, PlanChange
from hitl_tui.planning.rule_planner.command_facts import CommandFacts
from hitl_tui.planning.rule_planner.edits import Named
from hitl_tui.planning.rule_planner.query_reader import shown
from hitl_tui.planning.rule_planner.rule_file import Need, lexicon, rules
from hitl_tui.planning.rule_planner.table_questions import TABLE, TABLES, TEXT, Tables

FOLLOW_UP_OF: Final = "follow_up_of"
IDLE = (Status.PENDING, Status.WAITING_APPROVAL, Status.BLOCKED)
USERS = {Need.FIND: (Need.COMPUTE, Need.WRITE), Need.COMPUTE: (Need.WRITE,), Need.RUN: (Need.WRITE,)}
"""Kinds of steps that use what one of a kind finds."""


@dataclass(frozen=True, slots=True)
class Scene:
    """What a change is made on.

    Args:
        trusted: what can be called may say by itself what it does.
        reviewed: the plan is under review, nothing of it has begun.
        tables: the tables that can be asked.
    """

    text: str
    query: str
    todos: Sequence[SupervisorTodo]
    agents: Mapping[str, AgentFacts]
    commands: Mapping[str, CommandFacts]
    trusted: bool = True
    reviewed: bool = False
    tables: Tables = field(default_factory=Tables)

    @property
    def language(self) -> str:
        """`ko` or `en`: what the text is written in."""
        return language_of(shown(self.text))

    def agent_for(self, need: Need) -> AgentFacts | None:
        """Return the agent that meets a need; None where it is disabled."""
        facts = self.agents.get(rules().steps[need].agent)
        return facts if facts and facts.enabled else None

    def is_of(self, todo: SupervisorTodo, need: Need) -> bool:
        """Whether a TODO is of a kind."""
        agent = rules().steps[need].agent
        team = self.agents[agent].team if agent in self.agents else agent
        return todo.agent_name == team and todo.metadata.get("agent", agent) == agent

    def kind_of(self, todo: SupervisorTodo) -> Need:
        """The kind of a TODO; that of a brought team is `RUN`."""
        return next((need for need in Need if self.is_of(todo, need)), Need.RUN)

    def of(self, need: Need) -> list[SupervisorTodo]:
        return [todo for todo in self.todos if self.is_of(todo, need)]

    def called(self, name: str) -> list[SupervisorTodo]:
        """Return the TODOs that call a command or a team."""
        return [t for t in self.todos if name in (t.arguments.get("command"), t.agent_name)]

    def named(self, steps: Iterable[Named]) -> list[SupervisorTodo]:
        found: dict[str, SupervisorTodo] = {}
        for step in steps:
            if step.one:
                by_place = list(self.todos[step.nth - 1 : step.nth]) if step.nth else []
                todos = by_place or [t for t in self.todos if t.id == f"todo_{step.number:03d}"]
                if not todos:
                    known = ", ".join(step_name(t.id) for t in self.todos[:6]) or "none"
                    raise BadInput(Message("No step {}; known: {}.", f"{step.number or step.nth:03d}", known))
            elif step.command:
                todos = self.called(step.command)
            else:
                todos = self.of(step.need) if step.need else list(self.todos)
            found |= {todo.id: todo for todo in todos}
        return list(found.values())

    def reads(self, todo: SupervisorTodo) -> bool:
        """Whether a TODO works from what those before it find; another one only waits for those."""
        facts = self.facts_of(todo)
        return self.kind_of(todo) in (Need.COMPUTE, Need.WRITE) or (facts is not None and facts.reads_results)

    @property
    def last_checks(self) -> list[str]:
        """Ids of the steps not begun that check what others did: what is done besides comes before them."""
        facts = {todo.id: found for todo in self.todos if (found := self.facts_of(todo)) and todo.status in IDLE}
        deeds = {todo_id: lexicon().deeds(one) for todo_id, one in facts.items()}
        waits = {todo.id: todo.dependencies for todo in self.todos}
        needed = ancestors((d for i, done in deeds.items() if "verify" not in done for d in waits[i]), waits)
        return [
            todo_id for todo_id, done in deeds.items() if "verify" in done and waits[todo_id] and todo_id not in needed
        ]

    @property
    def table_asked(self) -> SupervisorTodo | None:
        """The step that asks a table, where that is what was asked last; a report or a broader search asks nothing."""
        asked = [t for t in self.todos if not self.is_of(t, Need.WRITE) and t.status is not Status.SKIPPED]
        asked = [t for t in asked if FOLLOW_UP_OF not in t.metadata]
        last = max(asked, key=lambda todo: todo.rank, default=None)
        return last if last is not None and is_of_table(last) else None

    def of_tables(self, question: str) -> tuple[str, tuple[str, ...]]:
        """Return what a question is about (see `Tables`), and the step that asks the table which it goes on from."""
        if self.reviewed or self.agent_for(Need.COMPUTE) is None:
            return TEXT, ()
        asked = [str(t.arguments["query"]) for t in self.todos if is_of_table(t)]
        if (last := self.table_asked) is not None and self.tables.go_on(question, asked):
            return TABLE, (last.id,)
        return self.tables.about(question), ()

    def facts_of(self, todo: SupervisorTodo) -> CommandFacts | None:
        """Return the facts of what a TODO calls; None for a built-in team's."""
        return self.commands.get(str(todo.arguments.get("command") or todo.agent_name))


def is_of_table(todo: SupervisorTodo) -> bool:
    """Whether a TODO asks a table, which works from nothing that was found."""
    return todo.arguments.get("analysis_type") == TABLES


def ancestors(ids: Iterable[str], dependencies: Mapping[str, Iterable[str]]) -> set[str]:
    """Return these steps and all that they rest on."""
    found: set[str] = set()
    stack = list(ids)
    while stack:
        todo_id = stack.pop()
        if todo_id not in found:
            found.add(todo_id)
            stack.extend(dependencies.get(todo_id, ()))
    return found


class PlanRevision:
    """A plan as it is to be.

    A step that works from what others find keeps them before it, what has begun keeps its place, and what checks
    others comes after what is done besides. What can't be is refused as `BadInput`.

    Attributes:
        todos: its steps and the new ones, by id.
        after: what each of those that come yet waits for.
        new: the steps that were added.
        gone: those that leave, and how.
        inputs: of those that get another one.
    """

    def __init__(self, scene: Scene) -> None:
        self.scene = scene
        self.todos = {todo.id: todo for todo in scene.todos}
        self.after = {t.id: t.dependencies for t in scene.todos if t.status in (*MAY_BEGIN, Status.IN_PROGRESS)}
        self.new: dict[str, AddStep] = {}
        self.gone: dict[str, Change] = {}
        self._was = {todo.id: todo.dependencies for todo in scene.todos}
        self.inputs: dict[str, JsonObject] = {}
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
        return ({**self.after}, {**self._places}, {**self.gone}, {**self.inputs}, {**self.new})

    @contextmanager
    def attempt(self, added: Collection[str]) -> Iterator[None]:
        """Take back what is changed here, and some steps added before, where it is refused."""
        after, places, gone = {**self.after}, {**self._places}, {**self.gone}
        try:
            yield
        except BadInput:
            self.after, self._places, self.gone = after, places, gone
            self.release(added)
            for key in added:
                del self.after[key], self.new[key], self.todos[key]
            raise

    # What is in it ----------------------------------------------------------------------------------------------------

    def add(
        self,
        step: ExecutionStep,
        sources: Iterable[str],
        metadata: TodoMetadata | None = None,
        users: Iterable[str] | None = None,
    ) -> str:
        """Add a step that waits for others, let those wait for it that had better do so, and return its id.

        Args:
            users: the steps that use what it finds; those of the plan that can, unless given.
        """
        scene, kept = self.scene, dict.fromkeys(one for one in sources if one not in self.gone)
        name, taken = step.agent.removesuffix("_team"), {*(t.metadata.get("step", "") for t in scene.todos), *self.new}
        key = next(key for number in count(1) if (key := f"{name}_{number}") not in taken)
        step = replace(step, id=key, dependencies=tuple(kept))
        todo = SupervisorTodo(key, step.name, agent_name=scene.agents[step.agent].team, arguments=step.input_mapping)
        if is_of_table(todo) and not kept:
            metadata = {**(metadata or {}), "alone": True}  # it reads the table, whatever was found before
        users = self._users(todo, kept) if users is None else users
        self.new[key], self.todos[key] = AddStep(step, metadata=metadata or {}), todo
        self.after |= {user: (*self.after[user], key) for user in users} | {key: step.dependencies}
        self._readers |= {key} if scene.reads(todo) else set()
        return key

    def _users(self, todo: SupervisorTodo, sources: Iterable[str]) -> Iterable[str]:
        """Return what hasn't begun and uses a new step: the analyses, or else the reports, and what checks its deed.

        What its sources rest on can't wait for it.
        """
        scene, facts, before = self.scene, self.scene.facts_of(todo), ancestors(sources, self._was)
        waiting = [t for t in scene.todos if t.status in IDLE and t.id not in self.gone and t.id not in before]
        waiting = [t for t in waiting if not is_of_table(t)]
        kinds = USERS.get(scene.kind_of(todo), ())
        using = ([one.id for one in waiting if scene.is_of(one, kind)] for kind in kinds)
        does = facts is not None and lexicon().deeds(facts) - lexicon().looking
        checks = _but(scene.last_checks, self.gone) if does else ()
        return dict.fromkeys((*next(filter(None, using), ()), *checks))

    @property
    def steps(self) -> list[ExecutionStep]:
        """The steps that were added."""
        return [replace(added.step, dependencies=self.after[key]) for key, added in self.new.items()]

    def leave(self, todo_id: str, how: Change) -> None:
        """Take a step out; where nothing has begun, what waits for it waits for what that waits for."""
        self.gone[todo_id] = how
        if self.scene.reviewed:
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
        # A search comes when it came before, and what works from others has them before it anyway.
        timed = (moved,) if self.scene.is_of(self.todos[moved], Need.FIND) else anchors
        waits = [one for key in timed for one in self.after[key]] if moved not in self._readers else []
        if anchors:
            self._put(moved, [one for one in waits if {one, *self._before(one)}.isdisjoint((moved, *anchors))], anchors)
            self._places[moved] = "before", anchors[0]

    def follow(self, moved: str, *anchors: str) -> None:
        """Let a step come after others, and what only waited for those after it; refused where they work from it."""
        anchors = _but(anchors, (moved,))
        to_come = self.after.keys() & {*anchors}
        if not {*anchors} <= self._before(moved):
            others = _but(self.after, {moved, *self._readers, *ancestors(anchors, self.after)})
            self._put(moved, anchors, [key for key in others if to_come.intersection(self.after[key])])
            self._places[moved] = "after", anchors[-1]

    def exchange(self, one: str, other: str) -> None:
        """Let two steps change places: one, which comes first then, waits for what the other did.

        What works from something keeps it; refused where that would come after it.
        """
        places = {one: other, other: one}
        now = {key: tuple(places.get(d, d) for d in self.after[places.get(key, key)]) for key in self.after}
        if now == self.after:  # nothing says yet which of them is first
            self.follow(other, one)
            return
        for key in self._readers & now.keys():
            kept = [d for d in self.after[key] if key not in ancestors((d,), now)]
            if self.after[key] and not kept:
                raise _impossible(key, self.after[key][0])
            now[key] = (*kept, *now[key])
        for key, after in now.items():
            self._wait(key, after)
        self._places[one] = "before", other

    def _put(self, moved: str, ahead: Iterable[str], behind: Iterable[str]) -> None:
        """Let a step come between some and others; what only waits for something waits for it through the step."""
        reads, ahead, behind = moved in self._readers, tuple(ahead), tuple(behind)
        self._take_out(moved, self._readers)
        for one in ahead:
            if moved in self.after.get(one, ()):
                self._wait(one, self._sources(one, moved))
        for one in behind if reads else ():
            self._wait(moved, self._sources(moved, one))
        kept = self.after[moved] if reads else ()
        self._wait(moved, (*kept, *ahead))
        past = self._before(moved)
        for one in behind:
            waits = self.after[one] if one in self._readers else _but(self.after[one], past)
            self._wait(one, (*_but(waits, (moved,)), moved))
        if moved in past:
            raise _impossible((*ahead, *behind)[0], moved)

    def _wait(self, key: str, after: Iterable[str]) -> None:
        """Let a step wait for others; refused where it has begun."""
        after = tuple(dict.fromkeys(after))
        if after != self.after[key] and (why := self.todos[key].why_fixed):
            raise BadInput(why)
        self.after[key] = after

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

    def together(self, ids: Sequence[str]) -> None:
        """Let steps wait for what the first of them waits for, and what waits for one of them for what that did, too.

        Refused where one of them works from what another one finds.
        """
        first, *others = sorted((key for key in ids if key in self.after), key=lambda key: len(self._before(key)))
        for moved in others:
            if moved in self._readers and first in self._before(moved):
                told = Message(
                    "{} works from what {} finds, so it can't run at the same time.", *map(step_name, (moved, first))
                )
                raise BadInput(told)
            for key, after in self.after.items():
                if moved in after:
                    self._wait(key, (*after, *self.after[moved]))
            self._wait(moved, self.after[first])

    def _before(self, key: str) -> set[str]:
        return ancestors(self.after.get(key, ()), self.after)

    def _take_out(self, moved: str, kept: Collection[str] = ()) -> None:
        """Let all but some that wait for a step wait for what that waits for."""
        for key, after in self.after.items():
            if moved in after and key not in kept:
                self._wait(key, inherited(after, moved, self.after[moved]))

    def _sources(self, reader: str, without: str) -> tuple[str, ...]:
        """Return what a step works from where it doesn't from another, nor from what rests on that: what that does."""
        heirs = inherited(self.after[reader], without, self.after[without])
        kept = tuple(d for d in heirs if d != without and without not in self._before(d))
        if self.after[reader] and not kept:
            raise _impossible(reader, without)
        return kept

    # The comparison ---------------------------------------------------------------------------------------------------

    def changes(self, why: str) -> list[PlanChange]:
        """Return what makes the plan like this, in an order in which it can be done.

        What others depend on is skipped, not removed; why is kept of it.
        """
        plan, feeds, moved = self.scene.todos, dict[str, list[str]](), list[PlanChange]()
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
        changes += [{"kind": Change.EDIT, "todo_id": key, "arguments": given} for key, given in self.inputs.items()]
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
