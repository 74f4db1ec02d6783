"""Adding steps to an existing plan: what they depend on, and what waits for them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from hitl_tui.core.errors import BadInput, PlanError
from hitl_tui.core.messages import Message
from hitl_tui.core.names import step_name
from hitl_tui.core.plan import ExecutionStep
from hitl_tui.core.todos import Status
from hitl_tui.planning.proposals import AddStep
from hitl_tui.planning.rule_planner.broader_search import broader_query
from hitl_tui.planning.rule_planner.calls import Call, call_named
from hitl_tui.planning.rule_planner.order_grammar import ADDING, OUT, Order
from hitl_tui.planning.rule_planner.plan_edit import HELP, IDLE, NAMES, Added, Draft, Scene, fed_by, named_todos
from hitl_tui.planning.rule_planner.plan_steps import (
    compute_step,
    find_step,
    of_commands,
    run_step,
    title_of,
    write_step,
)
from hitl_tui.planning.rule_planner.query_reader import refers
from hitl_tui.planning.rule_planner.rule_file import Need

_LOST = (Status.SKIPPED, Status.FAILED)
_ORDER = (Need.RUN, Need.FIND, Need.COMPUTE, Need.WRITE)


def add_all(sentences: Sequence[Sequence[Order]], calls: Sequence[Call], scene: Scene, draft: Draft) -> None:
    """Add what the sentences and the commands called for, in the order of use: reports last.

    Raises:
        BadInput: something that was plainly to be added can't be.
        PlanError: its agent is disabled.
    """
    anchored = [(order, _anchors(orders, scene, draft)) for orders in sentences for order in orders]
    everywhere = list(dict.fromkeys(a for _, anchors in anchored for a in anchors))
    if any(not call.facts.own for call in calls):
        _check_agent(Need.RUN, scene)
    for call in calls:
        found = [t.id for t in scene.todos if t.status not in _LOST and t.id not in draft.gone]
        drawn = call.facts.own and (call.facts.reads_results or refers(call.words))
        sources = everywhere or (found[-1:] if drawn else [])
        _append(run_step(call, scene.language, scene.rules), Need.RUN, sources, scene, draft)
    for need in _ORDER:
        for order, anchors in anchored:
            if order.need is need and order.kinds & ADDING and not order.kinds & {*OUT, "after"}:
                _add(order, need, anchors, scene, draft)


def additions(added: Sequence[Added], scene: Scene) -> list[AddStep]:
    """Return the steps with references instead of indices: by agent, or by id where several use one agent."""
    used = {str(t.metadata.get("step", "")) for t in scene.todos}
    names: list[str] = []
    found: list[AddStep] = []
    for one in added:
        step = one.step
        if sum(a.step.agent == step.agent for a in added) > 1:
            base = step.agent.removesuffix("_team")
            number = next(n for n in range(1, len(used) + 2) if f"{base}_{n}" not in used)
            step = replace(step, id=f"{base}_{number}")
            used.add(step.id)
        names.append(step.id or step.agent)
        dependencies = tuple(names[d] if isinstance(d, int) else d for d in one.dependencies)
        found.append(AddStep(replace(step, dependencies=dependencies), feeds=one.feeds))
    return found


def _anchors(orders: Iterable[Order], scene: Scene, draft: Draft) -> list[str]:
    return [
        t.id
        for order in orders
        if "after" in order.kinds
        for t in named_todos(order, scene)
        if t.status not in _LOST and t.id not in draft.gone
    ]


def _add(order: Order, need: Need, anchors: Sequence[str], scene: Scene, draft: Draft) -> None:
    if "priority" in order.kinds and any(t.id in draft.priorities for t in named_todos(order, scene)):
        return
    if need is not Need.RUN and not order.subject and not order.again and any(a.need is need for a in draft.added):
        return
    if need is Need.RUN and not order.command:
        known = ", ".join(sorted(scene.commands)) or "none"
        draft.refusals.append(
            BadInput(Message("Name the declared command to run; declared are: {}.", known), help=HELP)
        )
        return
    try:
        _check_agent(need, scene)
        dependencies = [*anchors] if anchors or need in (Need.FIND, Need.RUN) else _sources(need, order, scene, draft)
        dependencies += [] if need in (Need.FIND, Need.RUN) else _fresh(need, order, scene, draft)
        _refuse_repeated(order, need, dependencies, scene, draft)
        step = _step(order, need, scene, draft)
    except BadInput as refusal:
        if "add" in order.kinds:
            raise
        draft.refusals.append(refusal)
        return
    if order.level:
        step = replace(step, priority={"medium": 1, "low": 2}.get(order.level, 0))
    _append(step, need, dependencies, scene, draft)


def _check_agent(need: Need, scene: Scene) -> None:
    agent = scene.rules.steps[need].agent
    if agent not in scene.agents or not scene.agents[agent].enabled:
        raise PlanError(Message("No {} can be added, because {} is disabled.", NAMES[need], agent))


def _sources(need: Need, order: Order, scene: Scene, draft: Draft) -> list[str | int]:
    """Return the TODOs a new one draws on: a report on everything but reports, an analysis on the searches.

    An analysis draws on commands, too, that ran already; on those that wait only where it is about what they do, for
    a rejected command would block it.
    """
    if need is Need.COMPUTE:
        drawn = {t.id for t in scene.of(Need.FIND)}
        about = of_commands(order.subject, scene.rules)
        drawn |= {t.id for t in scene.of(Need.RUN) if about or t.status is Status.COMPLETED}
    else:
        drawn = {t.id for t in scene.todos} - {t.id for t in scene.of(Need.WRITE)}
    sources = [t for t in scene.todos if t.id in drawn]
    return [t.id for t in sources if t.status not in _LOST and t.id not in draft.gone]


def _fresh(need: Need, order: Order, scene: Scene, draft: Draft) -> list[int]:
    drawn: tuple[Need, ...] = (Need.FIND, Need.COMPUTE, Need.RUN)
    if need is Need.COMPUTE:
        drawn = (Need.FIND, Need.RUN) if of_commands(order.subject, scene.rules) else (Need.FIND,)
    return [index for index, added in enumerate(draft.added) if added.need in drawn]


def _refuse_repeated(order: Order, need: Need, dependencies: Sequence[str | int], scene: Scene, draft: Draft) -> None:
    if order.subject or order.again or need in (Need.FIND, Need.RUN):
        return
    drawn = set(dependencies)
    for todo in scene.of(need):
        waiting = todo.status in (*IDLE, Status.IN_PROGRESS) and todo.id not in draft.gone
        if waiting and drawn <= set(todo.dependencies):
            raise BadInput(Message("{} already plans this {}.", step_name(todo.id), NAMES[need]))


def _step(order: Order, need: Need, scene: Scene, draft: Draft) -> ExecutionStep:
    language, rules = scene.language, scene.rules
    if need is Need.WRITE:
        return write_step(scene.query, language, rules)
    if need is Need.RUN:
        return run_step(
            call_named(scene.commands[order.command], scene.text[: rules.limits.revise], rules),
            language,
            rules,
        )
    if need is Need.FIND:
        return _search(order, scene, draft)
    if not order.subject:
        return compute_step(scene.query, language, rules, title="")
    query = f"{scene.query.strip()[: rules.limits.query]}\n{order.subject}"
    return compute_step(query, language, rules, title=title_of(order.subject, rules))


def _search(order: Order, scene: Scene, draft: Draft) -> ExecutionStep:
    query = order.subject or scene.query
    step = find_step(query, scene.language, scene.rules)
    asked = {str(t.arguments.get("query", "")) for t in scene.of(Need.FIND)}
    asked |= {str(a.step.input_mapping["query"]) for a in draft.added if a.need is Need.FIND}
    if step.input_mapping["query"] not in asked:
        return step
    broader = broader_query(query, scene.rules)
    if not broader or broader in asked:
        raise BadInput(Message("The plan already has this search; say what else to search for."), help=HELP)
    return find_step(broader, scene.language, scene.rules)


def _append(step: ExecutionStep, need: Need, dependencies: Sequence[str | int], scene: Scene, draft: Draft) -> None:
    kept = tuple(dict.fromkeys(dependencies))
    feeds = fed_by(need, [d for d in kept if isinstance(d, str)], scene, draft.gone)
    draft.added.append(Added(need, step, kept, feeds))
