"""A planner for sessions with one attached graph: what is asked is its input (I1)."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from hitl_tui.core.errors import BadInput, PlanError
from hitl_tui.core.plan import AgentFacts, ExecutionPlan, ExecutionStep, Intent
from hitl_tui.core.todos import Status, SupervisorTodo
from hitl_tui.planning.inputs import in_words
from hitl_tui.planning.proposals import AddStep, Planned, Proposed
from hitl_tui.planning.reading import language_of
from hitl_tui.planning.rulefile import load_rules


@dataclass(frozen=True, slots=True)
class AttachedPlanner:
    """Plans one step: the graph, with the query as its input; plain text later goes on with its thread.

    Args:
        agent: the graph's team.
    """

    agent: str

    async def plan(self, query: str, agents: Mapping[str, AgentFacts], feedback: str = "") -> Planned:
        """Return the plan of one step.

        Raises:
            BadInput: the query can't be the graph's input, or there was feedback: nothing can be planned otherwise.
            PlanError: the graph is disabled.
        """
        if feedback:
            raise BadInput(f"The plan is to run {self.agent}; there is nothing else to plan.")
        step = await asyncio.to_thread(self._step, query, agents, {})
        return Planned(Intent("graph", 1.0, language=language_of(query, load_rules().words)), ExecutionPlan((step,)))

    def _step(self, text: str, agents: Mapping[str, AgentFacts], more: Mapping[str, Any]) -> ExecutionStep:
        facts = agents.get(self.agent)
        if facts is None or not facts.enabled:
            raise PlanError(f"The graph {self.agent} is disabled, and nothing else can take this.")
        bound = facts.bind(text, {})
        return ExecutionStep(
            agent=self.agent,
            task=text,
            name=in_words(text),
            input_mapping={"input": bound["input"], **more},
            purpose=facts.description,
            dependencies=tuple(more.values()),
        )

    async def revise(
        self, text: str, query: str, todos: Sequence[SupervisorTodo], agents: Mapping[str, AgentFacts]
    ) -> Proposed:
        """Return a further step: this text as the graph's next input, on the thread it is on.

        Raises:
            BadInput: the text can't be the graph's input, or it is still at the one before.
        """
        mine = [todo for todo in todos if todo.agent_name == self.agent]
        busy = [t for t in mine if t.status not in (Status.COMPLETED, Status.FAILED, Status.SKIPPED)]
        if busy:
            raise BadInput(
                f"{self.agent} is still at {busy[-1].id} ({busy[-1].status}).",
                help=f"Answer what it asks, or skip it: /todo skip {busy[-1].id}",
            )
        done = [todo for todo in mine if todo.status is Status.COMPLETED]
        more = {"thread": done[-1].id} if done else {}
        step = await asyncio.to_thread(self._step, text, agents, more)
        return Proposed(f"Goes on with {self.agent}.", (AddStep(step),))

    async def follow_up(
        self,
        query: str,
        todo: SupervisorTodo,
        result: Mapping[str, Any],
        todos: Sequence[SupervisorTodo],
        agents: Mapping[str, AgentFacts],
    ) -> Proposed | None:
        """Return None: what a graph says isn't for us to act upon."""
        return None
