"""Plain text becomes changes of a plan (D10): the orders of the grammar, carried out on the TODOs there are."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from hitl_tui.core.errors import BadInput
from hitl_tui.core.todos import OPERATOR, TRANSITIONS, Priority, Status, SupervisorTodo
from hitl_tui.planning.adding import add_all, additions
from hitl_tui.planning.commands import Call, calls_in, without_call
from hitl_tui.planning.grammar import ADDING, OUT, Order, names_step, orders_in
from hitl_tui.planning.proposals import PlanChange, Proposed, RemoveTodo, SetPriority, SkipTodo
from hitl_tui.planning.reading import cut, shown
from hitl_tui.planning.ruleset import Rules
from hitl_tui.planning.scene import HELP, IDLE, Draft, NoChange, Scene, named_todos, spoken


def revise_text(scene: Scene) -> Proposed:
    """Return the changes a text asks for.

    Raises:
        NoChange: it asks for none.
        BadInput: it asks for one that isn't possible.
        PlanError: it needs an agent that is disabled, or a command lacks a parameter.
    """
    text = shown(scene.text[: scene.rules.limits.revise], scene.rules.limits)
    if not text.strip():
        raise BadInput("The text is empty; say what is to change in the plan.", help=HELP)
    calls = calls_in(text, scene.commands, scene.rules, lambda clause: names_step(clause, scene.rules))
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
        raise NoChange(f'No change of the plan was recognised in "{cut(scene.text, 60)}".', help=HELP)
    return Proposed(_reason(changes, draft, scene), tuple(changes))


def _without(text: str, calls: Iterable[Call], rules: Rules) -> str:
    """Blank the commands that are called; what their clause says of other steps stays ("… after the search")."""
    for call in calls:
        clause = text[call.start : call.end]
        rest = without_call(clause, call.command) if names_step(clause, rules) else " " * len(clause)
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
            draft.gone.append(todo.id)
            # Only what never started can be removed; anything else can at most be skipped.
            removable = "remove" in order.kinds and todo.status in IDLE and not todo.attempt
            (draft.removed if removable else draft.skipped).append(todo.id)


def _can_leave(todo: SupervisorTodo) -> bool:
    return OPERATOR in TRANSITIONS.get((todo.status, Status.SKIPPED), frozenset())


def _cannot_leave(order: Order, scene: Scene) -> BadInput:
    named = named_todos(order, scene)
    if not named:
        return BadInput(f"The plan has no {spoken(order)} TODO that could be taken out.", help=HELP)
    states = ", ".join(f"{t.id} is {t.status}" for t in named[:4])
    return BadInput(f"Nothing can be skipped or removed: {states}.")


# ---------------------------------------------------------------------------------------------------------- priorities


def _prioritise(orders: Sequence[Order], scene: Scene, draft: Draft) -> None:
    for order in orders:
        if "priority" not in order.kinds or order.everything or order.kinds & OUT:
            continue
        named = [t for t in named_todos(order, scene) if t.status in IDLE and t.id not in draft.gone]
        if not named or ("add" in order.kinds and not order.number):
            if not order.kinds & ADDING:
                draft.refusals.append(BadInput(f"The plan has no {spoken(order)} TODO that still waits.", help=HELP))
            continue
        for todo in named:
            level = _level(order.level, [t for t in scene.todos if t.status in IDLE and t not in named])
            if todo.priority is level:
                draft.refusals.append(BadInput(f"{todo.id} has the priority {level} already."))
            else:
                draft.priorities[todo.id] = level


def _level(said: str, others: Sequence[SupervisorTodo]) -> Priority:
    """`first` is high, or critical where something else that waits is high."""
    if said != "first":
        return Priority(said)
    return Priority.CRITICAL if any(t.priority.weight <= Priority.HIGH.weight for t in others) else Priority.HIGH


# --------------------------------------------------------------------------------------------------------- the outcome


def _changes(scene: Scene, draft: Draft) -> list[PlanChange]:
    users = {t.id: [u.id for u in scene.todos if t.id in u.dependencies] for t in scene.todos}
    removed = list(draft.removed)
    while True:
        kept = [r for r in removed if any(u not in removed for u in users[r])]
        if not kept:
            break
        draft.kept.extend(kept)
        removed = [r for r in removed if r not in kept]
    skipped = [t.id for t in scene.todos if t.id in draft.skipped or t.id in draft.kept]
    changes: list[PlanChange] = [SkipTodo(s, reason=cut(scene.text, 200)) for s in skipped]
    while removed:
        # What uses a TODO goes first: one that others depend on can't be removed.
        free = [r for r in removed if not any(u in removed for u in users[r])] or removed
        changes += [RemoveTodo(r) for r in free]
        removed = [r for r in removed if r not in free]
    changes += [SetPriority(t, p) for t, p in draft.priorities.items() if t not in draft.gone]
    return [*changes, *additions(draft.added, scene)]


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
