"""`RulePlanner`: plans without a model, by the rules of rules.toml, and takes feedback on a plan."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from hitl_tui.core.errors import BadInput, PlanError
from hitl_tui.core.json_types import JsonObject
from hitl_tui.core.messages import Message
from hitl_tui.core.plan import AgentFacts, ExecutionPlan, ExecutionPlanConverter, ExecutionStep, Strategy
from hitl_tui.core.todos import Priority, SupervisorTodo
from hitl_tui.planning.proposals import AddStep, PlanChange, Planned, Proposed, SetArguments, SetPriority
from hitl_tui.planning.rule_planner.broader_search import follow_up_search
from hitl_tui.planning.rule_planner.calls import asked_in, in_order
from hitl_tui.planning.rule_planner.command_facts import CommandFacts, team_facts
from hitl_tui.planning.rule_planner.plan_revision import revise_text
from hitl_tui.planning.rule_planner.plan_steps import (
    build_plan,
    decide,
    finished,
    intent_of,
    usable,
)
from hitl_tui.planning.rule_planner.query_reader import read, shown
from hitl_tui.planning.rule_planner.remarks import remarks
from hitl_tui.planning.rule_planner.rule_file import Need, Rules, load_rules
from hitl_tui.planning.rule_planner.scene import Scene


@dataclass(frozen=True, slots=True)
class RulePlanner:
    """Plans by words and patterns, in Korean and English.

    What it recognises and plans is in rules.toml.

    Args:
        commands: declared commands by name (see `command_facts`).
        withheld: names of the teams of a folder that nobody trusts yet; None for a trusted one. Of such a folder no
            team is planned, and a command only where the person calls it, or asks for what no search does: what it
            says of its commands makes no step out of a query that asks for something else.
    """

    commands: Mapping[str, CommandFacts] = field(default_factory=dict)
    withheld: tuple[str, ...] | None = None

    async def plan(self, query: str, agents: Mapping[str, AgentFacts], feedback: str = "") -> Planned:
        """Return intent and plan of a query, with the feedback worked in, line by line.

        Args:
            query: what a person wrote.
            agents: all agents; a disabled one is never planned.
            feedback: all feedback so far, one remark a line; understood in the same terms as `revise`.

        Raises:
            BadInput: query or feedback asks for nothing, or for something impossible.
            PlanError: everything it needs is disabled, or a command lacks a parameter.
        """
        rules = await asyncio.to_thread(load_rules)
        reading = read(query, rules)
        reading = replace(reading, text=in_order(reading.text, rules))
        known = await asyncio.to_thread(self._known, agents)
        asked = asked_in(reading.text, known, rules, trusted=self.withheld is None)
        wanted = decide(query, reading, asked, agents, rules)
        intent = intent_of(wanted, rules)
        needs, missing = usable(wanted.needs, agents, rules)
        plan = build_plan(wanted, needs, rules)
        if feedback:
            scene = Scene(feedback, query, (), agents, known, rules, trusted=self.withheld is None)
            plan = await asyncio.to_thread(apply_feedback, plan, feedback, scene)
        return Planned(intent, plan, tuple(remarks(reading.text, asked, wanted, missing, rules, self.withheld or ())))

    async def revise(
        self, text: str, query: str, todos: Sequence[SupervisorTodo], agents: Mapping[str, AgentFacts]
    ) -> Proposed:
        """Return the changes that plain text asks for.

        Args:
            text: what a person wrote during the session.
            query: the session's query.
            todos: the plan as it is.
            agents: all agents.

        Raises:
            BadInput: it asks for no change, or for an impossible one.
            PlanError: it needs a disabled agent, or a command lacks a parameter.
        """
        # In a thread: a plan of ten thousand takes a while, and whoever waits has keys to answer meanwhile. What it
        # is made from is never changed.
        known = await asyncio.to_thread(self._known, agents)
        scene = Scene(text, query, todos, agents, known, load_rules(), trusted=self.withheld is None)
        return await asyncio.to_thread(revise_text, scene)

    def _known(self, agents: Mapping[str, AgentFacts]) -> Mapping[str, CommandFacts]:
        """Return what can be called: the declared commands, and the teams that people brought."""
        return {**(team_facts(agents) if self.withheld is None else {}), **self.commands}

    async def follow_up(
        self,
        query: str,
        todo: SupervisorTodo,
        result: JsonObject,
        todos: Sequence[SupervisorTodo],
        agents: Mapping[str, AgentFacts],
    ) -> Proposed | None:
        """Return what follows from a result: a broader search after one with too few hits, else nothing."""
        return follow_up_search(Scene(query, query, todos, agents, self.commands, load_rules()), todo, result)


_NUMBERS = {Priority.CRITICAL: 0, Priority.HIGH: 0, Priority.MEDIUM: 1, Priority.LOW: 2}


def apply_feedback(plan: ExecutionPlan, feedback: str, scene: Scene) -> ExecutionPlan:
    """Return the plan with every line of feedback worked in, one after the other.

    Args:
        plan: the plan.
        feedback: the remarks, one a line.
        scene: the query, the agents and what can be called.

    Raises:
        BadInput: a line asks for no change of the plan.
        PlanError: nothing of the plan is left, or a change isn't possible.
    """
    lines = [line for line in shown(feedback, scene.rules.limits).splitlines() if line.strip()]
    if len(lines) > scene.rules.limits.clauses:
        most = scene.rules.limits.clauses
        raise BadInput(Message("The feedback has {} lines; at most {} are used.", len(lines), most))
    for line in lines:
        plan = _apply_line(plan, line, scene)
    return plan


def _apply_line(plan: ExecutionPlan, line: str, scene: Scene) -> ExecutionPlan:
    rules = scene.rules
    ordered = next((s for s, e in rules.strategy.items() if e.search(line)), "")
    if ordered:
        line = rules.strategy[ordered].sub(" ", line)
        plan = finished(plan.steps, Strategy(ordered), rules)
    # Plain dependencies are what the steps say; one at a time is the strategy's business.
    converter = ExecutionPlanConverter(scene.agents, forms=True)
    todos = converter.convert_with_strategy(replace(plan, strategy=Strategy.PIPELINE))
    names = {todo.id: step.id for todo, step in zip(todos, plan.steps, strict=True)}
    try:
        proposed = revise_text(replace(scene, text=line, todos=todos))
    except PlanError:
        raise
    except BadInput:
        if ordered:
            return plan
        raise
    steps = list(plan.steps)
    for change in proposed.changes:
        steps = _changed(steps, change, names, rules)
    if not steps:
        raise PlanError(Message("This feedback leaves nothing of the plan; add a step or reject the plan."))
    return finished(_sorted(steps), plan.strategy, rules)


def _changed(
    steps: Sequence[ExecutionStep], change: PlanChange, names: Mapping[str, str], rules: Rules
) -> list[ExecutionStep]:
    """Return the steps with one change; what depended on one that goes depends on what that depended on."""
    if isinstance(change, AddStep):
        fed = [names[todo_id] for todo_id in change.feeds]
        after = tuple(names.get(d, d) for d in change.step.dependencies)
        new = replace(change.step, dependencies=after)
        return [*(replace(s, dependencies=(*s.dependencies, new.id)) if s.id in fed else s for s in steps), new]
    one = next(step for step in steps if step.id == names[change.todo_id])
    if isinstance(change, SetArguments):
        return [replace(s, input_mapping=change.inputs) if s is one else s for s in steps]
    if isinstance(change, SetPriority):
        reads = one.agent in (rules.steps[Need.COMPUTE].agent, rules.steps[Need.WRITE].agent)
        if change.priority.weight > Priority.HIGH.weight or reads:
            return [replace(s, priority=_NUMBERS[change.priority]) if s is one else s for s in steps]
        # What is to come first comes before what it stood behind, too.
        first = replace(one, priority=_NUMBERS[change.priority], dependencies=())
        behind = {d for d in _before(one, steps) if not any(s.id == d and s.dependencies for s in steps)}
        rest = [replace(s, dependencies=(one.id,)) if s.id in behind else s for s in _passed_on(one, steps)]
        return [first, *rest]
    return _passed_on(one, steps)


def _before(one: ExecutionStep, steps: Sequence[ExecutionStep]) -> set[str]:
    """Return the ids of all steps that a step stands behind."""
    direct = [step for step in steps if step.id in one.dependencies]
    return {step.id for step in direct}.union(*(_before(step, steps) for step in direct))


def _passed_on(gone: ExecutionStep, steps: Sequence[ExecutionStep]) -> list[ExecutionStep]:
    """Return the steps without one; what depended on it depends on what that depended on."""
    heirs = {gone.id: gone.dependencies}
    return [
        replace(s, dependencies=tuple(dict.fromkeys(i for d in s.dependencies for i in heirs.get(d, (d,)))))
        for s in steps
        if s is not gone
    ]


def _sorted(steps: Sequence[ExecutionStep]) -> list[ExecutionStep]:
    """Return the steps so that each stands after what it depends on, otherwise in the order they have."""
    waiting, done = list(steps), list[ExecutionStep]()
    while waiting:
        names = {step.id for step in done}
        done.append(next((s for s in waiting if names.issuperset(s.dependencies)), waiting[0]))
        waiting.remove(done[-1])
    return done
