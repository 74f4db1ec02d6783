"""What a reviewer says of a plan that hasn't begun, worked into it: changes, and the order of its steps."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

from hitl_tui.core.errors import BadInput, PlanError
from hitl_tui.core.messages import Message
from hitl_tui.core.names import step_name
from hitl_tui.core.plan import ExecutionPlanConverter, Strategy
from hitl_tui.core.todos import SupervisorTodo
from hitl_tui.planning.proposals import AddStep, NoChange, RemoveTodo, Reworked, SetArguments, SetPriority, carried_out
from hitl_tui.planning.rule_planner.continuation import changed_inputs
from hitl_tui.planning.rule_planner.edits import RELATIONS, Edit, Operation, edits_in
from hitl_tui.planning.rule_planner.plan_revision import HELP, revise_text, steps_named, words_of
from hitl_tui.planning.rule_planner.query_reader import cut, shown, terms_of
from hitl_tui.planning.rule_planner.rule_file import Need
from hitl_tui.planning.rule_planner.scene import Scene
from hitl_tui.planning.rule_planner.step_order import StepOrder
from hitl_tui.planning.rule_planner.values import blanked

_ADDS = (Operation.ADD,)
_PLACED = (None, Operation.ASK, Operation.ORDER, Operation.KEEP)
_ENDS = ("first", "last")
_LOOKING = (Need.FIND, Need.COMPUTE)


def work_in(scene: Scene, converter: ExecutionPlanConverter, taken: Iterable[str]) -> Reworked:
    """Return the plan with what is said of it worked in, sentence by sentence.

    Args:
        scene: what is said, and the plan.
        converter: turns steps into TODOs.
        taken: ids used before by TODOs that are not in the plan any more.

    Raises:
        BadInput: nothing of it can be worked in.
        PlanError: nothing of the plan is left, or a step that is wanted can't be planned.
    """
    rules = scene.rules
    text = shown(scene.text[: rules.limits.revise], rules.limits)
    if not text.strip():
        raise BadInput(Message("The text is empty; say what is to change in the plan."), help=HELP)
    used = [todo.id for todo in scene.todos] + list(taken)
    reworked, refusals, unread = Reworked(tuple(scene.todos)), list[BadInput](), list[str]()
    for sentence in filter(str.strip, rules.revise.sentence.split(text)):
        now = replace(scene, text=sentence, todos=reworked.todos)
        try:
            found = _worked_in(now, converter, [*used, *(todo.id for todo in reworked.todos)])
        except NoChange:
            unread += [sentence] if terms_of(sentence, rules) else []
        except PlanError:
            raise
        except BadInput as refusal:
            refusals.append(refusal)
        else:
            reworked = replace(reworked, todos=found.todos, strategy=found.strategy or reworked.strategy)
    if not reworked.todos:
        raise PlanError(Message("This feedback leaves nothing of the plan; add a step or reject the plan."))
    if reworked.todos == tuple(scene.todos) and reworked.strategy is None:
        raise refusals[0] if refusals else _no_change(scene)
    notes = [refusal.message for refusal in refusals]
    notes += [Message("Not taken up: {}", repr(cut(sentence, 100))) for sentence in unread]
    return replace(reworked, notes=tuple(notes))


def _no_change(scene: Scene) -> NoChange:
    return NoChange(Message('No change to the plan found in "{}".', cut(scene.text, 60)), help=HELP)


def _worked_in(scene: Scene, converter: ExecutionPlanConverter, taken: Sequence[str]) -> Reworked:
    """Return the plan with one sentence worked in."""
    rules, sentence = scene.rules, scene.text
    strategy = next((Strategy(name) for name, e in rules.strategy.items() if e.search(sentence)), None)
    if strategy is not None:
        scene = replace(scene, text=rules.strategy[strategy].sub(" ", sentence))
    edits = edits_in(scene.text, words_of(scene), rules)
    if not edits and len(scene.todos) == 1 and (changed := _other_input(scene)) is not None:
        return Reworked(tuple(carried_out([changed], scene.todos, converter)))
    named = [todo.id for edit in edits if _places(edit) for todo in _of_plan(edit, scene)]
    if rules.revise.reverse.search(sentence):
        left = [edit for edit in edits if edit.operation in (Operation.REMOVE, Operation.SKIP)]
        if left:
            text = rules.revise.reverse.sub(" ", scene.text)
            todos, _ = _changed(replace(scene, text=text), left, converter, taken)
            scene = replace(scene, todos=todos)
        kept = [todo.id for edit in edits if edit not in left for todo in _of_plan(edit, scene)]
        everything = [todo.id for todo in scene.todos]
        return _ordered(scene, lambda order: order.reverse(kept if len(kept) > 1 else everything))
    row = _row(edits, scene)
    if row:
        return _ordered(scene, lambda order: order.row(row))
    todos, added = _changed(scene, edits, converter, taken)
    stays = {todo.id for todo in todos}
    placed = added or [todo_id for todo_id in dict.fromkeys(named) if todo_id in stays]
    order = _order_of(replace(scene, todos=todos))
    _place(order, scene, edits, placed, fresh=bool(added))
    if strategy is Strategy.PARALLEL:
        order.apart([todo.id for todo in todos])
    found = order.todos
    replaced = _replaced(edits, scene) if placed else []
    if replaced:
        found = carried_out([RemoveTodo(todo_id) for todo_id in replaced], found, converter)
    if found == list(scene.todos) and strategy is None:
        raise _no_change(scene) if not placed else _as_it_is(placed)
    return Reworked(tuple(found), strategy)


def _other_input(scene: Scene) -> SetArguments | None:
    """Return the input that the only step of a plan is to have; None where nothing of it takes what is said."""
    change = next((a for a in scene.rules.revise.actions if a.kind == Operation.CHANGE), None)
    if change is None or not change.found_in(scene.text):
        return None
    said = " ".join(e.sub(" ", scene.text) for e in (change.before, change.after) if e and e.search(scene.text))
    inputs = changed_inputs(said, scene.todos[0], scene)
    return None if inputs is None else SetArguments(scene.todos[0].id, inputs)


def _as_it_is(placed: Sequence[str]) -> BadInput:
    return BadInput(Message("The plan has {} there already.", ", ".join(map(step_name, placed))))


def _of_plan(edit: Edit, scene: Scene) -> list[SupervisorTodo]:
    """Return the steps of the plan that an edit names, each by itself."""
    return steps_named([step for step in edit.steps if not step.everything], scene)


def _places(edit: Edit) -> bool:
    """Return whether an edit may be about the place of steps that there are; one more about something else isn't."""
    more = edit.subject and edit.operation is Operation.ASK and any(step.need in _LOOKING for step in edit.steps)
    return edit.operation in _PLACED and not more


def _row(edits: Sequence[Edit], scene: Scene) -> list[str]:
    """Return the steps that are to come one after the other as they are named; none where something else is said."""
    if not scene.rules.revise.sequence.search(scene.text):
        return []
    if any(edit.operation not in (*_PLACED, Operation.AFTER) for edit in edits):
        return []
    found = [todo.id for edit in edits for step in edit.steps for todo in steps_named([step], scene)]
    whole = all(steps_named([step], scene) for edit in edits for step in edit.steps)
    row = list(dict.fromkeys(found))
    return row if whole and len(row) > 1 and not any(edit.again for edit in edits) else []


def _changed(
    scene: Scene, edits: Sequence[Edit], converter: ExecutionPlanConverter, taken: Sequence[str]
) -> tuple[list[SupervisorTodo], list[str]]:
    """Return the plan with all changes but those of its order, and the ids of what is new."""
    moved = [edit for edit in edits if _places(edit) and _of_plan(edit, scene)]
    ends = [edit for edit in moved if edit.level in _ENDS]
    relations = [edit for edit in edits if edit.operation in RELATIONS]
    apart = [*relations, *(ends if not relations else ()), *(moved if relations else ())]
    text = blanked(scene.text, [edit.place for edit in apart if edit not in relations or _anchors(edit, scene)])
    level = _level(scene)
    if relations or level:
        cues = (e for a in scene.rules.revise.actions if a.level == level != "" for e in (a.before, a.after) if e)
        text = blanked(text, [match.span() for cue in cues for match in cue.finditer(text)])
        text = scene.rules.revise.around.sub("", text)
    if not any(map(str.isalnum, text)):
        return list(scene.todos), []
    try:
        proposed = revise_text(replace(scene, text=text), further=False)
    except NoChange:
        return list(scene.todos), []
    there = {step.command for edit in moved for step in edit.steps if step.command and not edit.again}
    changes = [
        change
        for change in proposed.changes
        if not (isinstance(change, SetPriority) and apart)
        and not (isinstance(change, AddStep) and there & {change.step.agent, change.step.input_mapping.get("command")})
    ]
    todos = carried_out(changes, scene.todos, converter, taken)
    before = {todo.id for todo in scene.todos}
    return todos, [todo.id for todo in todos if todo.id not in before]


def _anchors(edit: Edit, scene: Scene) -> list[str]:
    return [todo.id for todo in _of_plan(edit, scene)]


def _replaced(edits: Sequence[Edit], scene: Scene) -> list[str]:
    return [i for edit in edits if edit.operation is Operation.INSTEAD for i in _anchors(edit, scene)]


def _level(scene: Scene) -> str:
    """Return whether a sentence says `first` or `last` of something; empty for neither."""
    return next((a.level for a in scene.rules.revise.actions if a.level in _ENDS and a.found_in(scene.text)), "")


def _place(order: StepOrder, scene: Scene, edits: Sequence[Edit], placed: Sequence[str], *, fresh: bool) -> None:
    """Put steps where a sentence says.

    Args:
        order: of the plan.
        scene: the sentence, and the plan before it.
        edits: what it says.
        placed: what it adds, or else what it names.
        fresh: they are added.
    """
    level, related = _level(scene), False
    scene = replace(scene, todos=[todo for todo in scene.todos if todo.id in order])  # others were taken out
    for index, edit in enumerate(edits):
        if edit.operation not in RELATIONS:
            continue
        anchors = _anchors(edit, scene)
        if not anchors and not fresh:
            raise BadInput(Message("The plan has no step like that to go before or after."), help=HELP)
        beside = [*reversed(edits[:index][-1:]), *edits[index + 1 :][:1]]
        named = next((found for one in beside if _places(one) and (found := _anchors(one, scene))), [])
        moved = named or placed if anchors else []
        if not placed and edit.operation is not Operation.INSTEAD:
            placed, level = anchors, "first" if edit.operation is Operation.BEFORE else "last"
            continue
        related = related or (bool(moved) and edit.operation is not Operation.INSTEAD)
        if fresh and moved is placed:
            order.release(moved)
        for anchor in anchors:
            for todo_id in moved if edit.operation is Operation.BEFORE else reversed(moved):
                if edit.operation is Operation.BEFORE:
                    order.before(todo_id, anchor)
                else:
                    order.after(todo_id, anchor, close=bool(scene.rules.revise.close.search(scene.text)))
    if fresh and related:
        searches = {todo.id for todo in replace(scene, todos=order.todos).of(Need.FIND)}
        order.apart([todo_id for todo_id in placed if todo_id in searches and _waits_before(edits)])
    if level and not related:
        if fresh:
            order.release(placed)
        for todo_id in reversed(placed) if level == "first" else placed:
            (order.first if level == "first" else order.last)(todo_id)


def _waits_before(edits: Sequence[Edit]) -> bool:
    """Return whether all that is said of places is what something goes before: a search needs nothing for that."""
    return all(edit.operation is Operation.BEFORE for edit in edits if edit.operation in RELATIONS)


def _ordered(scene: Scene, change: Callable[[StepOrder], None]) -> Reworked:
    order = _order_of(scene)
    change(order)
    found = order.todos
    if found == list(scene.todos):
        raise _as_it_is([todo.id for todo in found])
    return Reworked(tuple(found))


def _order_of(scene: Scene) -> StepOrder:
    return StepOrder(scene.todos, scene.readers)
