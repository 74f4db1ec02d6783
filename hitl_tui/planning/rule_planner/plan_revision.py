"""Changes of a plan that plain text asks for, and what a person has to know of a plan before approving it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain

from hitl_tui.core.errors import BadInput
from hitl_tui.core.messages import Message
from hitl_tui.core.names import step_name
from hitl_tui.core.todos import OPERATOR, TRANSITIONS, Priority, Status, SupervisorTodo
from hitl_tui.planning.proposals import NoChange, PlanChange, Proposed, RemoveTodo, SetPriority, SkipTodo
from hitl_tui.planning.rule_planner.calls import (
    Asked,
    Call,
    asked_in,
    asks_for_deed,
    deeds_asked,
    without_call,
)
from hitl_tui.planning.rule_planner.continuation import continued
from hitl_tui.planning.rule_planner.order_grammar import ADDING, OUT, Order, names_step, orders_in
from hitl_tui.planning.rule_planner.plan_additions import add_all, additions
from hitl_tui.planning.rule_planner.plan_edit import HELP, IDLE, Draft, Scene, named_todos, spoken
from hitl_tui.planning.rule_planner.plan_steps import Wanted
from hitl_tui.planning.rule_planner.query_reader import cut, score_of, shown, unread
from hitl_tui.planning.rule_planner.rule_file import Need, Rules

_LONGEST = 100  # characters of what a person wrote that a remark repeats
_NAMED = 3  # clauses that one remark repeats


def remarks(text: str, asked: Asked, wanted: Wanted, missing: Sequence[str], rules: Rules) -> list[str]:
    """Return what a person should know of a plan, a sentence each.

    Args:
        text: the part of the query that was looked at.
        asked: what it asks of the declared commands.
        wanted: what it needs.
        missing: agents that would be needed and are disabled.
        rules: the rules.
    """
    words = rules.sentences[wanted.reading.language]
    found = [words["disabled"].format(agent=agent) for agent in missing]
    found += left_out(asked, wanted.reading.language, rules, wanted.needs)
    if asked.calls:
        found += _beside(asked, wanted, rules)
    elif not asked.unclear and (deeds := deeds_asked(text, rules)):
        found.append(words["only_looks"].format(part='", "'.join(cut(deed, _LONGEST) for deed in deeds[:_NAMED])))
    if Need.FIND in wanted.needs and not asked.calls and rules.words.counts.search(text):
        found.append(words["only_finds"])
    return list(dict.fromkeys(found))


def left_out(asked: Asked, language: str, rules: Rules, needs: frozenset[Need] = frozenset()) -> Iterator[str]:
    """Yield what of the words about commands was left out, a sentence each.

    Args:
        asked: what was understood.
        language: `ko` or `en`.
        rules: the rules.
        needs: what is planned besides; words that ask for it aren't left out, and a search looks for all of them.
    """
    words = rules.sentences[language]
    for call in asked.calls:
        for part in call.unread:
            if not _asks_for(part, needs, rules):
                yield words["without"].format(command=call.command, part=cut(part, _LONGEST))
    for part, command in asked.unclear:
        yield words["unclear_searched" if Need.FIND in needs else "unclear"].format(
            command=command, part=cut(part, _LONGEST)
        )


def _beside(asked: Asked, wanted: Wanted, rules: Rules) -> Iterator[str]:
    """Yield what was made of the clauses that ask for no command."""
    words = rules.sentences[wanted.reading.language]
    searched = bool(wanted.needs & {Need.FIND, Need.COMPUTE})
    for clause in asked.beside:
        part = cut(clause.text, _LONGEST)
        if searched:
            if asks_for_deed(clause.text, rules):
                yield words["searched"].format(part=part)
        elif unread(clause.text, (), rules) and not _asks_for(clause.text, wanted.needs, rules):
            yield words["unplanned"].format(part=part)


def _asks_for(text: str, needs: frozenset[Need], rules: Rules) -> bool:
    return any(score_of(text, need, rules) > 0 for need in needs - {Need.RUN})


def revise_text(scene: Scene) -> Proposed:
    """Return the changes a text asks for.

    Raises:
        NoChange: it asks for none.
        BadInput: it asks for one that isn't possible.
        PlanError: it needs an agent that is disabled, or a command lacks a parameter.
    """
    text = shown(scene.text[: scene.rules.limits.revise], scene.rules.limits)
    if not text.strip():
        raise BadInput(Message("The text is empty; say what is to change in the plan."), help=HELP)
    asked = asked_in(text, scene.commands, scene.rules, lambda clause: names_step(clause, scene.rules))
    calls = asked.calls
    plain = _without(text, calls, scene.rules)
    sentences = orders_in(plain, scene.commands, scene.rules)
    draft = Draft()
    for orders in sentences:
        _take_out(orders, scene, draft)
    for orders in sentences:
        _prioritise(orders, scene, draft)
    add_all(sentences, calls, scene, draft)
    changes = _changes(scene, draft)
    if not changes:
        if draft.refusals:
            raise draft.refusals[0]
        further = continued(scene, asked)
        if further is not None:
            return further
        raise NoChange(Message('No change to the plan found in "{}".', cut(scene.text, 60)), help=HELP)
    said = left_out(_only_of_commands(asked, scene.rules), scene.language, scene.rules)
    return Proposed(" ".join([_reason(changes, draft, scene), *said]), tuple(changes))


def _only_of_commands(asked: Asked, rules: Rules) -> Asked:
    """Return what was asked of commands without the words that say what is to be done with steps."""
    orders = [e for action in rules.revise.actions for e in (action.before, action.after) if e is not None]

    def orders_nothing(part: str) -> bool:
        return not names_step(part, rules) and not any(e.search(part) for e in orders)

    calls = tuple(replace(call, unread=tuple(filter(orders_nothing, call.unread))) for call in asked.calls)
    return Asked(calls, unclear=tuple(one for one in asked.unclear if orders_nothing(one[0])))


def _without(text: str, calls: Iterable[Call], rules: Rules) -> str:
    """Blank the commands that are called; what their clause says of other steps stays ("… after the search")."""
    for call in calls:
        clause = text[call.start : call.end]
        after = [e for a in rules.revise.actions if a.kind == "after" for e in (a.before, a.after) if e is not None]
        kept = names_step(clause, rules) and (not call.facts.own or any(e.search(clause) for e in after))
        rest = without_call(clause, call.command) if kept else " " * len(clause)
        text = text[: call.start] + rest + text[call.end :]
    return text


# -------------------------------------------------------------------------------------------------- removing, skipping


def _take_out(orders: Sequence[Order], scene: Scene, draft: Draft) -> None:
    for order in orders:
        if "keep" in order.kinds or not order.kinds & {"remove", "skip"}:
            continue
        able = [t for t in named_todos(order, scene) if t.id not in draft.gone and _can_leave(t)]
        if not able:
            draft.refusals.append(_cannot_leave(order, scene))
            continue
        for todo in able:
            draft.gone.add(todo.id)
            # Only what never started can be removed; anything else can at most be skipped.
            removable = "remove" in order.kinds and todo.status in IDLE and not todo.attempt
            (draft.removed if removable else draft.skipped).append(todo.id)


def _can_leave(todo: SupervisorTodo) -> bool:
    return OPERATOR in TRANSITIONS.get((todo.status, Status.SKIPPED), frozenset())


def _cannot_leave(order: Order, scene: Scene) -> BadInput:
    named = named_todos(order, scene)
    if not named:
        return BadInput(Message("The plan has no {} step to remove.", spoken(order)), help=HELP)
    states = ", ".join(f"{step_name(t.id)} is {t.status}" for t in named[:4])
    return BadInput(Message("Nothing can be skipped or removed: {}.", states))


# ---------------------------------------------------------------------------------------------------------- priorities


def _prioritise(orders: Sequence[Order], scene: Scene, draft: Draft) -> None:
    for order in orders:
        if "priority" not in order.kinds or order.everything or order.kinds & OUT:
            continue
        named = [t for t in named_todos(order, scene) if t.status in IDLE and t.id not in draft.gone]
        if not named or ("add" in order.kinds and not order.number):
            if not order.kinds & ADDING:
                draft.refusals.append(
                    BadInput(Message("The plan has no {} step still waiting.", spoken(order)), help=HELP)
                )
            continue
        ours = {t.id for t in named}
        others = [t for t in scene.todos if t.status in IDLE and t.id not in ours]
        level = _level(order.level, others)
        for todo in named:
            if todo.priority is level:
                draft.refusals.append(BadInput(Message("{} already has the priority {}.", step_name(todo.id), level)))
            else:
                draft.priorities[todo.id] = level


def _level(said: str, others: Sequence[SupervisorTodo]) -> Priority:
    """`first` is high, or critical where something else that waits is high."""
    if said != "first":
        return Priority(said)
    return Priority.CRITICAL if any(t.priority.weight <= Priority.HIGH.weight for t in others) else Priority.HIGH


# --------------------------------------------------------------------------------------------------------- the outcome


def _changes(scene: Scene, draft: Draft) -> list[PlanChange]:
    used = {t.id: t.dependencies for t in scene.todos}
    draft.kept |= _needed(draft.removed, used)
    left = {*draft.skipped, *draft.kept}
    changes: list[PlanChange] = [SkipTodo(t.id, reason=cut(scene.text, 200)) for t in scene.todos if t.id in left]
    changes += [RemoveTodo(r) for r in _users_first([r for r in draft.removed if r not in draft.kept], used)]
    changes += [SetPriority(t, p) for t, p in draft.priorities.items() if t not in draft.gone]
    return [*changes, *additions(draft.added, scene)]


def _needed(removed: Iterable[str], used: Mapping[str, Sequence[str]]) -> set[str]:
    """Return which of these TODOs something that stays depends on, itself or through others of them.

    Args:
        removed: ids of those that are to leave the plan.
        used: what each TODO depends on.
    """
    leaving, found = set(removed), set[str]()
    stays = [i for i in used if i not in leaving]
    while stays:
        kept = [d for d in used[stays.pop()] if d in leaving]
        leaving.difference_update(kept)
        found.update(kept)
        stays += kept
    return found


def _users_first(removed: Sequence[str], used: Mapping[str, Sequence[str]]) -> list[str]:
    """Return these TODOs so that what uses one goes before it: one that others depend on can't be removed."""
    waits = dict.fromkeys(removed, 0)
    own = {r: [d for d in dict.fromkeys(used[r]) if d in waits] for r in removed}
    for dependency in chain.from_iterable(own.values()):
        waits[dependency] += 1
    place = {r: n for n, r in enumerate(removed)}
    found: list[str] = []
    free = [r for r in removed if not waits[r]]
    while free:
        found += free
        freed = []
        for dependency in chain.from_iterable(own[r] for r in free):
            waits[dependency] -= 1
            if not waits[dependency]:
                freed.append(dependency)
        free = sorted(freed, key=place.__getitem__)
    return [*found, *(r for r in removed if waits[r])]


def _reason(changes: Sequence[PlanChange], draft: Draft, scene: Scene) -> str:
    words = scene.rules.sentences[scene.language]
    said = []
    for change in changes:
        if isinstance(change, SkipTodo):
            said.append(words["skip_kept" if change.todo_id in draft.kept else "skip"].format(id=change.todo_id))
        elif isinstance(change, RemoveTodo):
            said.append(words["remove"].format(id=change.todo_id))
        elif isinstance(change, SetPriority):
            said.append(words["priority"].format(id=change.todo_id, level=change.priority.value))
        else:
            said.append(words["add"].replace("{name}", change.step.name))
    sentence = ", ".join(said)
    return (sentence if sentence.startswith("todo_") else sentence[:1].upper() + sentence[1:]) + "."
