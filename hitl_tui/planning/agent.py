"""The planning agent: a query becomes an intent and a plan, words become proposals."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from functools import cache, partial
from typing import Protocol

from hitl_tui.core.errors import PlanError
from hitl_tui.core.events import utc_now
from hitl_tui.core.json_types import JsonObject
from hitl_tui.core.messages import Message
from hitl_tui.core.plan import AgentFacts, ExecutionPlan, ExecutionPlanConverter, Intent, Proposal
from hitl_tui.core.todos import SupervisorTodo
from hitl_tui.planning.proposals import (
    CurrentPlan,
    Planned,
    Proposed,
    Reworked,
    build_proposal,
    leaves_nothing,
    resolved,
)

OPERATOR_ORIGIN = "operator"
_KEPT_TEXT = 4000  # characters of a text that a proposal repeats


class Planner(Protocol):
    """Who plans: by rules, from a template, or with a model."""

    async def plan(self, query: str, agents: Mapping[str, AgentFacts]) -> Planned:
        """Return intent and plan of a query.

        Raises:
            BadInput: it asks for nothing, or for something impossible.
            PlanError: an agent that it needs is disabled, or what is planned can't be used.
        """

    async def revise(self, text: str, plan: CurrentPlan) -> Proposed:
        """Return the changes that plain text asks for, of a plan under review or of one that runs; raises as `plan`."""

    async def follow_up(self, todo: SupervisorTodo, result: JsonObject, plan: CurrentPlan) -> Proposed | None:
        """Return the changes that the result of a TODO suggests, or None."""


@dataclass(frozen=True, slots=True)
class PlannerAround:
    """Plans as another planner does; the base of planners that do a part of it otherwise."""

    planner: Planner

    async def plan(self, query: str, agents: Mapping[str, AgentFacts]) -> Planned:
        return await self.planner.plan(query, agents)

    async def revise(self, text: str, plan: CurrentPlan) -> Proposed:
        return await self.planner.revise(text, plan)

    async def follow_up(self, todo: SupervisorTodo, result: JsonObject, plan: CurrentPlan) -> Proposed | None:
        return await self.planner.follow_up(todo, result, plan)


Watch = Callable[[str, SupervisorTodo | None], AbstractContextManager[None]]
"""A context for one call of a planner: what is asked of it, and the TODO whose result it is about."""


class PlanningAgent:
    """Plans with one planner for one set of agents.

    Args:
        agents: every agent there is, by name; disabled ones are never planned.
        planner: who plans; rules without declared commands unless given.
        now: returns the time, ISO 8601 in UTC.
    """

    def __init__(
        self, agents: Mapping[str, AgentFacts], planner: Planner | None = None, now: Callable[[], str] = utc_now
    ) -> None:
        known: Mapping[str, AgentFacts] = dict(agents)
        self._agents: Callable[[], Mapping[str, AgentFacts]] = lambda: known
        self._planner: Callable[[], Planner] = cache(lambda: planner if planner is not None else _rule_planner())
        self._make: Callable[[], Mapping[str, AgentFacts]] = self._agents
        self._look: Callable[[Collection[str]], None] = _nothing_to_look_at
        self._now = now
        self._watched: Watch = lambda what, todo: nullcontext()

    @classmethod
    def later(
        cls,
        agents: Callable[[], Mapping[str, AgentFacts]],
        planner: Callable[[], Planner],
        now: Callable[[], str],
        look: Callable[[Collection[str]], None] | None = None,
    ) -> PlanningAgent:
        """Return one whose parts are made when they are first wanted: to look at a plan takes neither.

        Args:
            agents: gives every agent, as far as it is known without running anything.
            planner: gives who plans.
            now: the clock.
            look: has the agents of these names, all for none, find out what only their own code says of them.
        """
        agent = cls({}, now=now)
        agent._make, agent._agents, agent._planner = agents, cache(agents), cache(planner)
        agent._look = look or _nothing_to_look_at
        return agent

    def make(self) -> None:
        """Make now what nobody wanted yet."""
        self._agents()
        self._planner()

    def watch(self, watched: Watch) -> None:
        """Let each call of the planner happen within a context from now on."""
        self._watched = watched

    @property
    def agents(self) -> Mapping[str, AgentFacts]:
        """Every agent there is, by name, as far as it is known without running anything."""
        return self._agents()

    async def looked_at(self, *names: str) -> Mapping[str, AgentFacts]:
        """Return every agent, once those of these names, all for none, said what only their own code says of them.

        That may run code of the workspace which nobody was asked about: it is for what is planned, added or edited.
        """
        if self._look is not _nothing_to_look_at:
            await asyncio.to_thread(self._look, names)
            self._agents = cache(self._make)
        return await asyncio.to_thread(self._agents)

    def take(self, other: PlanningAgent) -> None:
        """Plan as another one does from now on."""
        self._agents, self._planner = other._agents, other._planner
        self._make, self._look = other._make, other._look

    async def analyze_intent(self, query: str) -> Intent:
        """Return what a query wants; see `create_execution_plan`."""
        return (await self.create_execution_plan(query)).intent

    async def create_execution_plan(self, query: str) -> Planned:
        """Return intent and plan of a query; see `Planner.plan`."""
        with self._watched("plan", None):
            agents = await self.looked_at()
            planned = await self._planner().plan(query, agents)
        unusable = (agent.problem for agent in agents.values() if agent.enabled and agent.problem)
        notes = tuple(dict.fromkeys((*planned.notes, *unusable)))
        # With the plan and the intent they come to whoever is asked, and to whoever reads the session later.
        return replace(
            planned, notes=notes, intent=replace(planned.intent, notes=notes), plan=replace(planned.plan, notes=notes)
        )

    def convert_with_strategy(self, planned_plan: ExecutionPlan, taken: Iterable[str] = ()) -> list[SupervisorTodo]:
        """Return the TODOs of a plan, with numbers after those that are taken; see `ExecutionPlanConverter`."""
        return self._converter().convert_with_strategy(planned_plan, taken=taken)

    async def rework(
        self, remarks: Sequence[str], query: str, todos: Sequence[SupervisorTodo], taken: Sequence[str] = ()
    ) -> Reworked:
        """Return what is changed of a plan of which nothing has begun by what a reviewer says of it.

        Args:
            remarks: all that was said so far, the one to work in last.
            todos: the plan, in order; what stays of it keeps its ids, and what people changed by hand.

        Raises:
            BadInput, PlanError: nothing of it can be worked in, or nothing of the plan is left.
        """
        with self._watched("plan again", None):
            plan = CurrentPlan(query, todos, await self.looked_at(), remarks)
            found = await self._planner().revise(remarks[-1], plan)
        changes = await asyncio.to_thread(resolved, found.changes, todos, self._converter(), taken)
        if leaves_nothing(changes, todos):
            raise PlanError(Message("This feedback leaves nothing of the plan; add a step or reject the plan."))
        return Reworked(tuple(changes), found.strategy, found.notes)

    async def revise(
        self, text: str, query: str, todos: Sequence[SupervisorTodo], taken: Iterable[str] = ()
    ) -> Proposal:
        """Return the change that plain text asks for, to be shown before it is taken; see `Planner.revise`.

        Args:
            taken: ids of TODOs that were removed meanwhile, so that none is used twice.
        """
        with self._watched("revise", None):
            proposed = await self._planner().revise(text, CurrentPlan(query, todos, await self.looked_at()))
        return await self.propose(proposed, todos, text, taken)

    async def propose(
        self, proposed: Proposed, todos: Sequence[SupervisorTodo], text: str, taken: Iterable[str] = ()
    ) -> Proposal:
        """Return the change that a person asks for, checked as any plan is, to be shown before it is taken."""
        # The same words said again are another proposal: the first one may have been rejected.
        occasion, kept = [self._now()], text[:_KEPT_TEXT]
        build = partial(build_proposal, origin=OPERATOR_ORIGIN, text=kept, taken=taken, occasion=occasion)
        return await asyncio.to_thread(build, proposed, todos, self._converter())

    async def follow_up(
        self,
        query: str,
        todo: SupervisorTodo,
        result: JsonObject,
        todos: Sequence[SupervisorTodo],
        taken: Iterable[str] = (),
    ) -> Proposal | None:
        """Return what the result of a TODO suggests, or None.

        The id depends on the TODO's attempt and not on the time, so that asking again after a crash gives the same one.
        """
        with self._watched("follow up", todo):
            proposed = await self._planner().follow_up(todo, result, CurrentPlan(query, todos, self.agents))
        if proposed is None:
            return None
        build = partial(build_proposal, origin=todo.id, text="", taken=taken, occasion=[todo.attempt])
        return await asyncio.to_thread(build, proposed, todos, self._converter())

    def _converter(self) -> ExecutionPlanConverter:
        return ExecutionPlanConverter(self.agents, self._now(), forms=True)


def _nothing_to_look_at(names: Collection[str]) -> None:
    """All is known of the agents."""


def _rule_planner() -> Planner:
    from hitl_tui.planning.rule_planner.planner import RulePlanner  # its rules take a while to load

    return RulePlanner()
