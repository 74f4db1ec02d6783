"""Changes of a plan that plain text asks for: its edits, carried out on the plan as it is."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from graphlib import TopologicalSorter
from itertools import chain

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
from hitl_tui.planning.rule_planner.calls import Asked, Call, asked_in, call_named, without_call
from hitl_tui.planning.rule_planner.continuation import changed_inputs, continued
from hitl_tui.planning.rule_planner.edits import Edit, Verb, edits_in, names_step
from hitl_tui.planning.rule_planner.plan_steps import (
    compute_step,
    find_step,
    of_commands,
    run_step,
    title_of,
    write_step,
)
from hitl_tui.planning.rule_planner.query_reader import cut, refers, shown
from hitl_tui.planning.rule_planner.remarks import left_out
from hitl_tui.planning.rule_planner.rule_file import Need, Rules
from hitl_tui.planning.rule_planner.scene import IDLE, Scene, ancestors, fed_by, step_key

HELP = Message(
    "You can add a search, an analysis, a report or a declared command, and skip, "
    'remove or prioritise steps: for example "add an analysis" or "skip the report".'
)
_NAMES = {Need.FIND: "search", Need.COMPUTE: "analysis", Need.WRITE: "report", Need.RUN: "command"}
_LOST = (Status.SKIPPED, Status.FAILED)
_ORDER = (Need.RUN, Need.FIND, Need.COMPUTE, Need.WRITE)
_LEVELS = {"medium": 1, "low": 2}


@dataclass(slots=True)
class _Draft:
    """Changes as they come together.

    Args:
        removed, skipped: TODOs that leave the plan.
        priorities: new priorities.
        inputs: new inputs.
        added: new steps, each with its kind.
        refusals: why parts of the text could not be done.
    """

    removed: list[str] = field(default_factory=list)
    skipped: list[str] = field(default_factory=list)
    priorities: dict[str, Priority] = field(default_factory=dict)
    inputs: list[SetArguments] = field(default_factory=list)
    added: list[tuple[Need, AddStep]] = field(default_factory=list)
    refusals: list[BadInput] = field(default_factory=list)

    @property
    def gone(self) -> set[str]:
        return {*self.removed, *self.skipped}

    def refuse(self, message: Message, help: Message | None = None) -> None:
        self.refusals.append(BadInput(message, help=help) if help else BadInput(message))


def revise_text(scene: Scene) -> Proposed:
    """Return the changes a text asks for.

    Raises:
        NoChange: it asks for none.
        BadInput: it asks for one that isn't possible.
        PlanError: it needs an agent that is disabled, or a command lacks a parameter.
    """
    rules, draft, asked = scene.rules, _Draft(), Asked(())
    text = shown(scene.text[: rules.limits.revise], rules.limits)
    if not text.strip():
        raise BadInput(Message("The text is empty; say what is to change in the plan."), help=HELP)
    for edit in chain.from_iterable(edits_in(text, scene.commands, rules)):
        if edit.verb is Verb.CHANGE:
            _change(edit, scene, draft)
    if not draft.inputs:
        asked = asked_in(text, scene.commands, rules, lambda clause: names_step(clause, rules))
        sentences = edits_in(_without(text, asked.calls, rules), scene.commands, rules)
        for edit in chain.from_iterable(sentences):
            if edit.verb in (Verb.REMOVE, Verb.SKIP):
                _take_out(edit, scene, draft)
            elif edit.verb is Verb.ORDER or (edit.verb is Verb.ASK and edit.level):
                _order(edit, scene, draft)
        _add_all(sentences, asked.calls, scene, draft)
    changes = _changes(scene, draft)
    if not changes:
        if draft.refusals:
            raise draft.refusals[0]
        if (further := continued(scene, asked)) is not None:
            return further
        raise NoChange(Message('No change to the plan found in "{}".', cut(scene.text, 60)), help=HELP)
    said = left_out(_of_commands(asked, rules), scene.language, rules)
    return Proposed(" ".join([_reason(changes, draft, scene), *said]), tuple(changes))


def _of_commands(asked: Asked, rules: Rules) -> Asked:
    """Return what was asked of commands without the words that say what is to be done with steps."""
    verbs = [e for action in rules.revise.actions for e in (action.before, action.after) if e is not None]

    def orders_nothing(part: str) -> bool:
        return not names_step(part, rules) and not any(e.search(part) for e in verbs)

    calls = tuple(replace(call, unread=tuple(filter(orders_nothing, call.unread))) for call in asked.calls)
    return Asked(calls, unclear=tuple(one for one in asked.unclear if orders_nothing(one[0])))


def _without(text: str, calls: Iterable[Call], rules: Rules) -> str:
    """Blank the commands that are called; what their clause says of other steps stays ("… after the search")."""
    after = [e for a in rules.revise.actions if a.kind == Verb.AFTER for e in (a.before, a.after) if e is not None]
    for call in calls:
        clause = text[call.start : call.end]
        kept = names_step(clause, rules) and (not call.facts.own or any(e.search(clause) for e in after))
        rest = without_call(clause, call.command) if kept else " " * len(clause)
        text = text[: call.start] + rest + text[call.end :]
    return text


def _named(edit: Edit, scene: Scene) -> list[SupervisorTodo]:
    """Return the TODOs an edit names.

    Raises:
        BadInput: it names one by an id that doesn't exist.
    """
    if edit.number:
        found = [t for t in scene.todos if t.id == f"todo_{edit.number:03d}"]
        if not found:
            known = ", ".join(t.id for t in scene.todos[:6]) or "none"
            raise BadInput(Message("No step {}; known: {}.", f"{edit.number:03d}", known))
        return found
    if edit.command:
        return scene.called(edit.command)
    return scene.of(edit.need) if edit.need else list(scene.todos)


def _spoken(edit: Edit) -> str:
    if edit.command:
        return f'"{edit.command}"'
    return _NAMES[edit.need] if edit.need else f"todo_{edit.number:03d}"


# ----------------------------------------------------------------------------------------- changing, removing, ordering


def _change(edit: Edit, scene: Scene, draft: _Draft) -> None:
    """Give the only step that is named and not begun the input that is said now."""
    idle = [t for t in _named(edit, scene) if t.status in IDLE]
    if len(idle) == 1 and (inputs := changed_inputs(edit.said, idle[0], scene)) is not None:
        draft.inputs.append(SetArguments(idle[0].id, inputs))


def _take_out(edit: Edit, scene: Scene, draft: _Draft) -> None:
    named, gone = _named(edit, scene), draft.gone
    able = [t for t in named if t.id not in gone and OPERATOR in TRANSITIONS.get((t.status, Status.SKIPPED), ())]
    if not named:
        draft.refuse(Message("The plan has no {} step to remove.", _spoken(edit)), HELP)
    elif not able:
        states = ", ".join(f"{step_name(t.id)} is {t.status}" for t in named[:4])
        draft.refuse(Message("Nothing can be skipped or removed: {}.", states))
    for todo in able:
        # Only what never started can be removed; anything else can at most be skipped.
        removable = edit.verb is Verb.REMOVE and todo.status in IDLE and not todo.attempt
        (draft.removed if removable else draft.skipped).append(todo.id)


def _order(edit: Edit, scene: Scene, draft: _Draft) -> None:
    if edit.everything:
        return
    gone = draft.gone
    named = [t for t in _named(edit, scene) if t.status in IDLE and t.id not in gone]
    if not named and edit.verb is Verb.ORDER:
        draft.refuse(Message("The plan has no {} step still waiting.", _spoken(edit)), HELP)
    ours = {t.id for t in named}
    others = [t for t in scene.todos if t.status in IDLE and t.id not in ours]
    urgent = any(t.priority.weight <= Priority.HIGH.weight for t in others)
    first = Priority.CRITICAL if urgent else Priority.HIGH
    level = first if edit.level == "first" else Priority(edit.level)
    for todo in named:
        if todo.priority is level:
            draft.refuse(Message("{} already has the priority {}.", step_name(todo.id), level))
        else:
            draft.priorities[todo.id] = level


# --------------------------------------------------------------------------------------------------------------- adding


def _add_all(sentences: Sequence[Sequence[Edit]], calls: Sequence[Call], scene: Scene, draft: _Draft) -> None:
    """Add what the sentences and the calls ask for, in the order of use: reports last.

    Raises:
        BadInput: something that was plainly to be added can't be.
        PlanError: its agent is disabled.
    """
    stays = [t for t in scene.todos if t.status not in _LOST and t.id not in draft.gone]
    ids = {t.id for t in stays}
    anchored = []
    for edits in sentences:
        after = [t.id for e in edits if e.verb is Verb.AFTER for t in _named(e, scene) if t.id in ids]
        anchored += [(edit, after) for edit in edits]
    if any(not call.facts.own for call in calls):
        _check_agent(Need.RUN, scene)
    for call in calls:
        drawn = call.facts.own and (call.facts.reads_results or refers(call.words))
        sources = [a for _, after in anchored for a in after] or ([t.id for t in stays[-1:]] if drawn else [])
        _append(run_step(call, scene.language, scene.rules), Need.RUN, sources, scene, draft)
    for need in _ORDER:
        for edit, after in anchored:
            if edit.need is need and edit.verb in (Verb.ADD, Verb.ASK):
                try:
                    _add(edit, need, after, stays, scene, draft)
                except BadInput as refusal:
                    if edit.verb is Verb.ADD or isinstance(refusal, PlanError):
                        raise
                    draft.refusals.append(refusal)


def _add(
    edit: Edit, need: Need, after: Sequence[str], stays: Sequence[SupervisorTodo], scene: Scene, draft: _Draft
) -> None:
    plain = not edit.subject and not edit.again
    if edit.verb is Verb.ASK and any(t.id in draft.priorities for t in _named(edit, scene)):
        return
    if need is Need.RUN and not edit.command:
        known = ", ".join(sorted(scene.commands)) or "none"
        draft.refuse(Message("Name the declared command to run; declared are: {}.", known), HELP)
        return
    if need is not Need.RUN and plain and any(n is need for n, _ in draft.added):
        return
    _check_agent(need, scene)
    sources = list(after)
    if need in (Need.COMPUTE, Need.WRITE):
        sources = _drawn(edit, need, after, stays, scene, draft)
        for todo in scene.of(need) if plain else ():
            waiting = todo.status in (*IDLE, Status.IN_PROGRESS) and todo.id not in draft.gone
            if waiting and set(sources) <= set(todo.dependencies):
                raise BadInput(Message("{} already plans this {}.", step_name(todo.id), _NAMES[need]))
    step = _step(edit, need, scene, draft)
    _append(replace(step, priority=_LEVELS.get(edit.level, 0)) if edit.level else step, need, sources, scene, draft)


def _check_agent(need: Need, scene: Scene) -> None:
    agent = scene.rules.steps[need].agent
    if agent not in scene.agents or not scene.agents[agent].enabled:
        raise PlanError(Message("No {} can be added, because {} is disabled.", _NAMES[need], agent))


def _drawn(
    edit: Edit, need: Need, after: Sequence[str], stays: Sequence[SupervisorTodo], scene: Scene, draft: _Draft
) -> list[str]:
    """Return the steps that a new one draws on: a report on everything but reports, an analysis on the searches.

    An analysis draws on commands, too, that ran already; on those that wait only where it is about what they do, for
    a rejected command would block it.
    """
    about = need is Need.WRITE or of_commands(edit.subject, scene.rules)
    kinds = (Need.FIND, Need.COMPUTE, Need.RUN) if need is Need.WRITE else (Need.FIND, *([Need.RUN] if about else []))
    kind_of = {t.id: kind for kind in Need for t in scene.of(kind)}
    old = [t.id for t in stays if kind_of.get(t.id, Need.RUN) in kinds or _ran(t, kind_of.get(t.id))]
    return [*(after or old), *(added.step.id for kind, added in draft.added if kind in kinds)]


def _ran(todo: SupervisorTodo, kind: Need | None) -> bool:
    return kind is Need.RUN and todo.status is Status.COMPLETED


def _step(edit: Edit, need: Need, scene: Scene, draft: _Draft) -> ExecutionStep:
    language, rules = scene.language, scene.rules
    if need is Need.WRITE:
        return write_step(scene.query, language, rules)
    if need is Need.RUN:
        called = call_named(scene.commands[edit.command], scene.text[: rules.limits.revise], rules)
        return run_step(called, language, rules)
    if need is Need.COMPUTE:
        query = f"{scene.query.strip()[: rules.limits.query]}\n{edit.subject}" if edit.subject else scene.query
        return compute_step(query, language, rules, title=title_of(edit.subject, rules) if edit.subject else "")
    query = edit.subject or scene.query
    asked = {str(t.arguments.get("query", "")).strip() for t in scene.of(Need.FIND)}
    asked |= {str(a.step.input_mapping["query"]) for kind, a in draft.added if kind is Need.FIND}
    if query.strip()[: rules.limits.query] in asked:
        raise BadInput(Message("The plan already has this search; say what else to search for."), help=HELP)
    return find_step(query, language, rules)


def _append(step: ExecutionStep, need: Need, sources: Sequence[str], scene: Scene, draft: _Draft) -> None:
    kept = tuple(dict.fromkeys(sources))
    feeds = fed_by(need, kept, scene, draft.gone)
    key = step_key(step, scene, (added for _, added in draft.added))
    draft.added.append((need, AddStep(replace(step, id=key, dependencies=kept), feeds=feeds)))


# --------------------------------------------------------------------------------------------------------- the outcome


def _changes(scene: Scene, draft: _Draft) -> list[PlanChange]:
    """Return the changes in the order they can be made: what others depend on is skipped, not removed."""
    kept = _kept(scene, draft)
    left = {*draft.skipped, *kept}
    users: TopologicalSorter[str] = TopologicalSorter(dict.fromkeys(draft.removed, ()))
    removed = set(draft.removed)
    for todo in scene.todos:
        for dependency in removed.intersection(todo.dependencies) if todo.id in removed else ():
            users.add(dependency, todo.id)
    changes: list[PlanChange] = [SkipTodo(t.id, reason=cut(scene.text, 200)) for t in scene.todos if t.id in left]
    changes += [RemoveTodo(todo_id) for todo_id in users.static_order() if todo_id not in kept]
    changes += [SetPriority(t, p) for t, p in draft.priorities.items() if t not in removed | left]
    return [*changes, *draft.inputs, *(added for _, added in draft.added)]


def _kept(scene: Scene, draft: _Draft) -> set[str]:
    """Return what was to be removed and something that stays depends on, itself or through others."""
    removed = set(draft.removed)
    return ancestors((t.id for t in scene.todos if t.id not in removed), scene.todos) & removed


def _reason(changes: Sequence[PlanChange], draft: _Draft, scene: Scene) -> str:
    words, kept = scene.rules.sentences[scene.language], _kept(scene, draft)
    said = []
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
