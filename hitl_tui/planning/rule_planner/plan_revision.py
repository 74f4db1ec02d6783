"""Changes of a plan that plain text asks for: its edits, carried out on the plan as it is."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field, replace
from graphlib import TopologicalSorter
from typing import Concatenate, ParamSpec

from hitl_tui.core.errors import BadInput, PlanError
from hitl_tui.core.messages import Message
from hitl_tui.core.names import step_name
from hitl_tui.core.plan import ExecutionStep
from hitl_tui.core.todos import OPERATOR, TRANSITIONS, Priority, Status, SupervisorTodo
from hitl_tui.planning.proposals import (
    AddStep,
    NoChange,
    PlanChange,
    Proposed,
    RemoveTodo,
    SetArguments,
    SetPriority,
    SkipTodo,
)
from hitl_tui.planning.rule_planner.calls import Asked, Call, asked_in, without_call
from hitl_tui.planning.rule_planner.continuation import changed_inputs, continued
from hitl_tui.planning.rule_planner.edits import Edit, Named, Operation, edits_in, names_step
from hitl_tui.planning.rule_planner.plan_steps import (
    compute_step,
    find_step,
    new_id,
    of_commands,
    run_step,
    title_of,
    write_step,
)
from hitl_tui.planning.rule_planner.query_reader import cut, refers, shown
from hitl_tui.planning.rule_planner.remarks import left_out
from hitl_tui.planning.rule_planner.rule_file import Need
from hitl_tui.planning.rule_planner.scene import IDLE, Scene, ancestors, fed_by

HELP = Message(
    "You can add a search, an analysis, a report or a declared command, and skip, "
    'remove or prioritise steps: for example "add an analysis" or "skip the report".'
)
_NAMES = {Need.FIND: "search", Need.COMPUTE: "analysis", Need.WRITE: "report", Need.RUN: "command"}
_ORDER = (Need.FIND, Need.COMPUTE, Need.WRITE)
P = ParamSpec("P")
_LEVELS = {"medium": 1, "low": 2, "last": 2}


def words_of(scene: Scene) -> dict[str, frozenset[str]]:
    """Return what can be called, with what the words mean that name a step of the plan, too."""
    planned = _planned(scene)
    return {name: scene.rules.lexicon.meant(name) if name in planned else frozenset() for name in scene.commands}


def _planned(scene: Scene) -> set[str]:
    return {facts.name for todo in scene.todos if (facts := scene.facts_of(todo))}


def revise_text(scene: Scene, *, further: bool = True) -> Proposed:
    """Return the changes a text asks for.

    Args:
        scene: the text, and the plan.
        further: what asks for no change may be a further question.

    Raises:
        NoChange: it asks for none.
        BadInput: it asks for one that isn't possible.
        PlanError: it needs an agent that is disabled, or a command lacks a parameter.
    """
    rules = scene.rules
    text = shown(scene.text[: rules.limits.revise], rules.limits)
    if not text.strip():
        raise BadInput(Message("The text is empty; say what is to change in the plan."), help=HELP)
    planned, words = _planned(scene), words_of(scene)
    revision = _Revision(scene)
    edits = edits_in(text, words, rules)
    for edit in edits:
        if edit.operation is Operation.CHANGE:
            revision.change(edit)
    # What the plan calls already isn't called again where only its place is said.
    placed = [step.command for e in edits if e.level or e.operation is Operation.ONLY for step in e.steps]
    ordered = planned.intersection(placed)
    asked = Asked(())
    if not revision.inputs:
        asked = asked_in(text, scene.commands, rules, lambda clause: names_step(clause, rules), trusted=scene.trusted)
        asked = replace(asked, calls=tuple(call for call in asked.calls if call.command not in ordered))
        revision.carry_out(edits_in(_without(text, asked.calls, scene), words, rules), asked.calls)
    if changes := revision.changes():
        return Proposed(" ".join([revision.reason(changes), *_remarks(asked, scene)]), tuple(changes))
    if revision.refusals:
        raise revision.refusals[0]
    if further and (more := continued(scene, asked)) is not None:
        return more
    raise NoChange(Message('No change to the plan found in "{}".', cut(scene.text, 60)), help=HELP)


def _without_steps(added: AddStep, gone: Collection[str]) -> AddStep:
    """Return an addition that waits for no step that the same words take out."""
    dependencies = tuple(d for d in added.step.dependencies if d not in gone)
    return replace(
        added,
        step=replace(added.step, dependencies=dependencies),
        feeds=tuple(f for f in added.feeds if f not in gone),
    )


def _without(text: str, calls: Sequence[Call], scene: Scene) -> str:
    """Blank the clauses that call something; what they say of other steps stays ("… after the search")."""
    for call in calls:
        clause = text[call.start : call.end]
        after = any(a.kind == Operation.AFTER and a.found_in(clause) for a in scene.rules.revise.actions)
        kept = names_step(clause, scene.rules) and (after or not call.facts.own)
        rest = without_call(clause, call.command) if kept else " " * len(clause)
        text = text[: call.start] + rest + text[call.end :]
    return text


def _remarks(asked: Asked, scene: Scene) -> list[str]:
    """Return what was left out of the words about commands, besides those about steps of the plan."""

    def of_plan(part: str) -> bool:
        return names_step(part, scene.rules) or any(a.found_in(part) for a in scene.rules.revise.actions)

    calls = tuple(replace(call, unread=tuple(p for p in call.unread if not of_plan(p))) for call in asked.calls)
    unclear = tuple(one for one in asked.unclear if not of_plan(one[0]))
    return list(left_out(Asked(calls, unclear=unclear), scene.language, scene.rules))


@dataclass(slots=True)
class _Revision:
    """Changes of one plan as they come together.

    Args:
        scene: the plan.
        removed, skipped: TODOs that leave it.
        priorities: new priorities.
        inputs: new inputs.
        added: new steps, each with its kind.
        refusals: why parts of the text could not be done.
    """

    scene: Scene
    removed: list[str] = field(default_factory=list)
    skipped: list[str] = field(default_factory=list)
    priorities: dict[str, Priority] = field(default_factory=dict)
    inputs: list[SetArguments] = field(default_factory=list)
    added: list[tuple[Need, AddStep]] = field(default_factory=list)
    refusals: list[BadInput] = field(default_factory=list)

    def change(self, edit: Edit) -> None:
        """Give the only step that is named and not begun the input that is said now."""
        idle = [t for t in self._named(edit.steps) if t.status in IDLE]
        if len(idle) == 1 and (inputs := changed_inputs(edit.subject, idle[0], self.scene)) is not None:
            self.inputs.append(SetArguments(idle[0].id, inputs))

    def carry_out(self, edits: Sequence[Edit], calls: Sequence[Call]) -> None:
        """Take out, order and add what edits and calls ask for.

        Raises:
            BadInput: a step is named that doesn't exist.
            PlanError: an agent is disabled.
        """
        others = [e for e in edits if e.operation not in (Operation.REMOVE, Operation.SKIP)]
        for edit in edits:
            named = self._named(edit.steps)
            if any(step.everything for step in edit.steps) and self.scene.rules.revise.rest.search(self.scene.text):
                kept = [t for e in others if e is not edit for t in self._named(e.steps)]
                named = [t for t in named if t not in kept]
            if edit.operation in (Operation.REMOVE, Operation.SKIP):
                self._collect(self._take_out, edit, named)
            elif edit.operation is Operation.ONLY:
                self._keep_only(named)
            elif edit.level and edit.operation in (Operation.ORDER, Operation.ASK):
                self._collect(self._order, edit, named)
        after = [t.id for e in edits if e.operation is Operation.AFTER for t in self._named(e.steps)]
        for call in calls:
            self._call(call, after)
        adding = [e for e in edits if e.operation in (Operation.ADD, Operation.ASK, Operation.ONLY)]
        for need in _ORDER:
            for edit in adding:
                for step in edit.steps:
                    if step.need is need:
                        self._collect(self._add, edit, step, need, after)

    # What the plan has ------------------------------------------------------------------------------------------------

    def _named(self, steps: Sequence[Named]) -> list[SupervisorTodo]:
        return steps_named(steps, self.scene)

    def _collect(
        self, change: Callable[Concatenate[Edit, P], None], edit: Edit, *given: P.args, **more: P.kwargs
    ) -> None:
        """Make a change, or keep why it can't be made."""
        try:
            change(edit, *given, **more)
        except PlanError:
            raise
        except BadInput as refusal:
            self.refusals.append(refusal)

    def _take_out(self, edit: Edit, named: Sequence[SupervisorTodo]) -> None:
        able = [
            t for t in named if t.id not in self._gone and OPERATOR in TRANSITIONS.get((t.status, Status.SKIPPED), ())
        ]
        if not named:
            raise BadInput(Message("The plan has no {} step to remove.", _spoken(edit.steps[0])), help=HELP)
        if not able:
            states = ", ".join(f"{step_name(t.id)} is {t.status}" for t in named[:4])
            raise BadInput(Message("Nothing can be skipped or removed: {}.", states))
        for todo in able:
            # Only what never started can be removed; anything else can at most be skipped.
            removable = edit.operation is Operation.REMOVE and todo.status in IDLE and not todo.attempt
            (self.removed if removable else self.skipped).append(todo.id)

    def _keep_only(self, named: Sequence[SupervisorTodo]) -> None:
        """Remove what never started, is not named, and is needed by nothing that is."""
        readers = self.scene.readers  # what a step only waits for isn't needed for it
        needs = [t if t.id in readers else replace(t, dependencies=()) for t in self.scene.todos]
        wanted = {t.id for t in named}
        # What works from a step that is named besides needs no other.
        needs = [replace(t, dependencies=tuple(own)) if (own := wanted & {*t.dependencies}) else t for t in needs]
        if kept := ancestors(wanted, needs):
            idle = [t.id for t in self.scene.todos if t.status in IDLE and not t.attempt]
            self.removed += [todo_id for todo_id in idle if todo_id not in kept and todo_id not in self._gone]

    def _order(self, edit: Edit, named: Sequence[SupervisorTodo]) -> None:
        if any(step.everything for step in edit.steps):
            return
        idle = [t for t in named if t.status in IDLE and t.id not in self._gone]
        if not idle and edit.operation is Operation.ORDER:
            raise BadInput(Message("The plan has no {} step still waiting.", _spoken(edit.steps[0])), help=HELP)
        others = [t for t in self.scene.todos if t.status in IDLE and t not in idle]
        urgent = any(t.priority.weight <= Priority.HIGH.weight for t in others)
        first = Priority.CRITICAL if urgent else Priority.HIGH
        level = {"first": first, "last": Priority.LOW}.get(edit.level) or Priority(edit.level)
        self.priorities.update({t.id: level for t in idle if t.priority is not level})
        if idle and all(t.priority is level for t in idle):
            raise BadInput(Message("{} already has the priority {}.", step_name(idle[0].id), level))

    @property
    def _gone(self) -> set[str]:
        return {*self.removed, *self.skipped}

    def _stays(self) -> list[SupervisorTodo]:
        lost = (Status.SKIPPED, Status.FAILED)
        return [t for t in self.scene.todos if t.status not in lost and t.id not in self._gone]

    # What is new ------------------------------------------------------------------------------------------------------

    def _call(self, call: Call, after: Sequence[str]) -> None:
        if not call.facts.own:
            self._check_agent(Need.RUN)
        drawn = call.facts.own and (call.facts.reads_results or refers(call.words))
        sources = after or ([t.id for t in self._stays()[-1:]] if drawn else [])
        self._append(run_step(call, self.scene.language, self.scene.rules), Need.RUN, sources)

    def _add(self, edit: Edit, step: Named, need: Need, after: Sequence[str]) -> None:
        """Add a step of a kind, where the plan doesn't have it as it is.

        Raises:
            BadInput: it does, or the step isn't said well enough.
            PlanError: its agent is disabled.
        """
        there = self._named([step])
        if need is Need.FIND and there and edit.operation is Operation.ASK and not edit.subject and not edit.again:
            raise BadInput(Message("{} already plans this {}.", step_name(there[0].id), _NAMES[need]))
        said_before = any(kind is need for kind, _ in self.added) and not edit.subject and not edit.again
        if any(t.id in self.priorities for t in there) or (there and edit.operation is Operation.ONLY):
            return
        if said_before:
            return
        self._check_agent(need)
        sources = self._drawn(edit, need, after) if need in (Need.COMPUTE, Need.WRITE) else [*after]
        for todo in there if need is not Need.FIND and not edit.subject and not edit.again else ():
            waiting = todo.status in (*IDLE, Status.IN_PROGRESS) and todo.id not in self._gone
            if waiting and set(sources) <= set(todo.dependencies):
                raise BadInput(Message("{} already plans this {}.", step_name(todo.id), _NAMES[need]))
        new = self._step(edit, need)
        self._append(replace(new, priority=_LEVELS.get(edit.level, 0)) if edit.level else new, need, sources)

    def _check_agent(self, need: Need) -> None:
        agent = self.scene.rules.steps[need].agent
        if agent not in self.scene.agents or not self.scene.agents[agent].enabled:
            raise PlanError(Message("No {} can be added, because {} is disabled.", _NAMES[need], agent))

    def _drawn(self, edit: Edit, need: Need, after: Sequence[str]) -> list[str]:
        """Return the steps that a new one draws on: a report on everything but reports, an analysis on the searches.

        An analysis draws on commands, too, that ran already; on those that wait only where it is about what they do,
        for a rejected command would block it.
        """
        kinds = {todo.id: kind for kind in Need for todo in self.scene.of(kind)}
        about = of_commands(edit.subject, self.scene.rules)

        def tells(kind: Need, ran: bool) -> bool:
            if need is Need.WRITE:
                return kind is not Need.WRITE
            return kind is Need.FIND or (kind is Need.RUN and (ran or about))

        old = [t.id for t in self._stays() if tells(kinds.get(t.id, Need.RUN), t.status is Status.COMPLETED)]
        return [*(after or old), *(added.step.id for kind, added in self.added if tells(kind, False))]

    def _step(self, edit: Edit, need: Need) -> ExecutionStep:
        scene, language, rules = self.scene, self.scene.language, self.scene.rules
        if need is Need.WRITE:
            return write_step(scene.query, language, rules)
        if need is Need.COMPUTE:
            query = f"{scene.query.strip()[: rules.limits.query]}\n{edit.subject}" if edit.subject else scene.query
            return compute_step(query, language, rules, title=title_of(edit.subject, rules) if edit.subject else "")
        query = (edit.subject or scene.query).strip()[: rules.limits.query]
        if any(query == str(t.arguments.get("query", "")).strip() for t in scene.of(Need.FIND)):
            raise BadInput(Message("The plan already has this search; say what else to search for."), help=HELP)
        return find_step(query, language, rules, title_of(query, rules))

    def _append(self, step: ExecutionStep, need: Need, sources: Sequence[str]) -> None:
        kept = tuple(dict.fromkeys(sources))
        used = [*self.scene.step_ids, *(added.step.id for _, added in self.added)]
        new = replace(step, id=new_id(step.agent, used), dependencies=kept)
        self.added.append((need, AddStep(new, feeds=fed_by(need, kept, self.scene, self._gone))))

    # The outcome ------------------------------------------------------------------------------------------------------

    def changes(self) -> list[PlanChange]:
        """Return the changes in the order they can be made: what others depend on is skipped, not removed."""
        removed, kept = set(self.removed), self._kept()
        left = {*self.skipped, *kept}
        users: TopologicalSorter[str] = TopologicalSorter(dict.fromkeys(self.removed, ()))
        for todo in self.scene.todos:
            for dependency in removed.intersection(todo.dependencies) if todo.id in removed else ():
                users.add(dependency, todo.id)
        why = cut(self.scene.text, 200)
        changes: list[PlanChange] = [SkipTodo(t.id, reason=why) for t in self.scene.todos if t.id in left]
        changes += [RemoveTodo(todo_id) for todo_id in users.static_order() if todo_id not in kept]
        changes += [SetPriority(t, p) for t, p in self.priorities.items() if t not in removed | left]
        return [*changes, *self.inputs, *(_without_steps(added, removed - kept) for _, added in self.added)]

    def _kept(self) -> set[str]:
        """Return what was to be removed and something that stays depends on, itself or through others."""
        removed = set(self.removed)
        return ancestors((t.id for t in self.scene.todos if t.id not in removed), self.scene.todos) & removed

    def reason(self, changes: Sequence[PlanChange]) -> str:
        """Return what the changes do, in one sentence."""
        words, kept, said = self.scene.rules.sentences[self.scene.language], self._kept(), []
        for change in changes:
            if isinstance(change, AddStep):
                said.append(words["add"].replace("{name}", change.step.name))
            elif isinstance(change, SetPriority):
                said.append(words["priority"].format(id=change.todo_id, level=change.priority.value))
            elif isinstance(change, SkipTodo):
                said.append(words["skip_kept" if change.todo_id in kept else "skip"].format(id=change.todo_id))
            else:
                said.append(words["remove" if isinstance(change, RemoveTodo) else "change"].format(id=change.todo_id))
        sentence = ", ".join(said)
        return (sentence if sentence.startswith("todo_") else sentence[:1].upper() + sentence[1:]) + "."


def steps_named(steps: Sequence[Named], scene: Scene) -> list[SupervisorTodo]:
    """Return the TODOs that are named.

    Raises:
        BadInput: one is named by an id that doesn't exist.
    """
    found: list[SupervisorTodo] = []
    for step in steps:
        if step.number:
            numbered = [t for t in scene.todos if t.id == f"todo_{step.number:03d}"]
            if not numbered:
                known = ", ".join(step_name(t.id) for t in scene.todos[:6]) or "none"
                raise BadInput(Message("No step {}; known: {}.", f"{step.number:03d}", known))
            found += numbered
        elif step.command:
            found += scene.called(step.command)
        else:
            found += scene.of(step.need) if step.need else scene.todos
    return list({todo.id: todo for todo in found}.values())


def _spoken(step: Named) -> str:
    if step.command:
        return f'"{step.command}"'
    return _NAMES[step.need] if step.need else f"todo_{step.number:03d}"
