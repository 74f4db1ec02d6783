"""`RulePlanner`: plans without a model, by the rules of rules.toml, and takes feedback on a plan."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from hitl_tui.core.errors import BadInput, PlanError
from hitl_tui.core.json_types import JsonObject
from hitl_tui.core.messages import Message
from hitl_tui.core.plan import AgentFacts, ExecutionPlan, ExecutionPlanConverter, ExecutionStep
from hitl_tui.core.todos import Priority, SupervisorTodo
from hitl_tui.planning.proposals import AddStep, Planned, Proposed, SetArguments, SetPriority
from hitl_tui.planning.rule_planner.broader_search import follow_up_search
from hitl_tui.planning.rule_planner.calls import asked_in, in_order
from hitl_tui.planning.rule_planner.command_facts import CommandFacts, team_facts
from hitl_tui.planning.rule_planner.plan_revision import revise_text
from hitl_tui.planning.rule_planner.plan_steps import build_plan, decide, finished, intent_of, reference, usable
from hitl_tui.planning.rule_planner.query_reader import read, shown
from hitl_tui.planning.rule_planner.remarks import remarks
from hitl_tui.planning.rule_planner.rule_file import Rules, load_rules
from hitl_tui.planning.rule_planner.scene import Scene


@dataclass(frozen=True, slots=True)
class RulePlanner:
    """Plans by words and patterns, in Korean and English.

    What it recognises and plans is in rules.toml.

    Args:
        commands: declared commands by name (see `command_facts`).
        teams: plans the teams that people brought, too.
        untrusted: names of what the folder declares and nobody trusts yet, so that nothing of it is planned.
    """

    commands: Mapping[str, CommandFacts] = field(default_factory=dict)
    teams: bool = True
    untrusted: tuple[str, ...] = ()

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
        asked = asked_in(reading.text, known, rules)
        wanted = decide(query, reading, asked, rules)
        intent = intent_of(wanted, rules)
        needs, missing = usable(wanted.needs, agents, rules)
        plan = build_plan(wanted, needs, rules)
        if feedback:
            plan = await asyncio.to_thread(apply_feedback, plan, feedback, query, agents, known, rules)
        return Planned(intent, plan, tuple(remarks(reading.text, asked, wanted, missing, rules, self.untrusted)))

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
        return await asyncio.to_thread(revise_text, Scene(text, query, todos, agents, known, load_rules()))

    def _known(self, agents: Mapping[str, AgentFacts]) -> Mapping[str, CommandFacts]:
        """Return what can be called: the declared commands, and the teams that people brought."""
        return {**(team_facts(agents) if self.teams else {}), **self.commands}

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


@dataclass(frozen=True, slots=True)
class _Entry:
    """A step under a key of its own; dependencies are keys."""

    key: str
    step: ExecutionStep
    dependencies: tuple[str, ...]


def apply_feedback(
    plan: ExecutionPlan,
    feedback: str,
    query: str,
    agents: Mapping[str, AgentFacts],
    commands: Mapping[str, CommandFacts],
    rules: Rules,
) -> ExecutionPlan:
    """Return the plan with every line of feedback worked in, one after the other.

    Raises:
        BadInput: a line asks for no change of the plan.
        PlanError: nothing of the plan is left, or a change isn't possible.
    """
    lines = [line for line in shown(feedback, rules.limits).splitlines() if line.strip()]
    if len(lines) > rules.limits.clauses:
        raise BadInput(Message("The feedback has {} lines; at most {} are used.", len(lines), rules.limits.clauses))
    for line in lines:
        plan = _apply_line(plan, line, query, agents, commands, rules)
    return plan


def _apply_line(
    plan: ExecutionPlan,
    line: str,
    query: str,
    agents: Mapping[str, AgentFacts],
    commands: Mapping[str, CommandFacts],
    rules: Rules,
) -> ExecutionPlan:
    ordered = next((s for s, e in rules.strategy.items() if e.search(line)), "")
    if ordered:
        line = rules.strategy[ordered].sub(" ", line)
        plan = finished(plan.steps, type(plan.strategy)(ordered), rules)
    # Plain dependencies are what the steps say; one at a time is the strategy's business.
    todos = ExecutionPlanConverter(agents).convert_with_strategy(replace(plan, strategy=type(plan.strategy).PIPELINE))
    try:
        proposed = revise_text(Scene(line, query, todos, agents, commands, rules))
    except PlanError:
        raise
    except BadInput:
        if ordered:
            return plan
        raise
    entries = [_Entry(todo.id, step, todo.dependencies) for todo, step in zip(todos, plan.steps, strict=True)]
    entries = _changed(entries, proposed)
    if not entries:
        raise PlanError(Message("This feedback leaves nothing of the plan; add a step or reject the plan."))
    return finished(_steps(_sorted(entries)), plan.strategy, rules)


def _changed(entries: list[_Entry], proposed: Proposed) -> list[_Entry]:
    keys = {entry.key: entry.key for entry in entries}
    for number, change in enumerate(proposed.changes):
        if isinstance(change, AddStep):
            key = f"new_{number}"
            known = tuple(keys[d] for d in change.step.dependencies if d in keys)
            keys[reference(change.step)] = key
            entries = [replace(e, dependencies=(*e.dependencies, key)) if e.key in change.feeds else e for e in entries]
            entries.append(_Entry(key, replace(change.step, id=""), known))
        elif isinstance(change, SetPriority):
            priority = _NUMBERS[change.priority]
            entries = [
                replace(e, step=replace(e.step, priority=priority)) if e.key == change.todo_id else e for e in entries
            ]
        elif isinstance(change, SetArguments):
            entries = [
                replace(e, step=replace(e.step, input_mapping=change.inputs)) if e.key == change.todo_id else e
                for e in entries
            ]
        else:
            entries = _without(entries, change.todo_id)
    return entries


def _without(entries: Sequence[_Entry], key: str) -> list[_Entry]:
    """Take a step out; what depended on it depends on what it depended on."""
    inherited = next((e.dependencies for e in entries if e.key == key), ())
    kept = []
    for entry in entries:
        if entry.key != key:
            dependencies = [i for d in entry.dependencies for i in (inherited if d == key else (d,))]
            kept.append(replace(entry, dependencies=tuple(dict.fromkeys(dependencies))))
    return kept


def _sorted(entries: Iterable[_Entry]) -> list[_Entry]:
    """Return the entries so that each stands after what it depends on, otherwise in the order they have."""
    waiting = list(entries)
    done: list[_Entry] = []
    while waiting:
        names = {e.key for e in done}
        ready = next((e for e in waiting if names.issuperset(e.dependencies)), waiting[0])
        done.append(ready)
        waiting.remove(ready)
    return done


def _steps(entries: Sequence[_Entry]) -> list[ExecutionStep]:
    agents = [e.step.agent for e in entries]
    names: dict[str, str] = {}
    counts: dict[str, int] = {}
    for entry in entries:
        agent = entry.step.agent
        counts[agent] = counts.get(agent, 0) + 1
        several = agents.count(agent) > 1
        names[entry.key] = f"{agent.removesuffix('_team')}_{counts[agent]}" if several else ""
    agent_of = {e.key: e.step.agent for e in entries}
    return [
        replace(
            e.step,
            id=names[e.key],
            dependencies=tuple(names[d] or agent_of[d] for d in e.dependencies),
        )
        for e in entries
    ]
