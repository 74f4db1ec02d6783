"""The planner of a session with one attached graph: the query is the graph's input."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from hitl_tui.core.errors import BadInput, PlanError
from hitl_tui.core.input_words import in_words
from hitl_tui.core.json_types import JsonObject
from hitl_tui.core.messages import Message
from hitl_tui.core.names import step_name
from hitl_tui.core.plan import AgentFacts, ExecutionPlan, ExecutionStep, Intent
from hitl_tui.core.todos import Status, SupervisorTodo
from hitl_tui.core.written_language import language_of
from hitl_tui.planning.proposals import AddStep, CurrentPlan, Planned, Proposed


@dataclass(frozen=True, slots=True)
class AttachedPlanner:
    """Plans one step: the graph, with the query as its input; plain text later goes on with its thread."""

    agent: str

    async def plan(self, query: str, agents: Mapping[str, AgentFacts]) -> Planned:
        """Return the plan of one step."""
        step = await asyncio.to_thread(self._step, query, agents, {})
        return Planned(Intent("graph", 1.0, language=language_of(query)), ExecutionPlan((step,)))

    def _step(self, text: str, agents: Mapping[str, AgentFacts], more: Mapping[str, Any]) -> ExecutionStep:
        facts = agents.get(self.agent)
        if facts is None or not facts.enabled:
            raise PlanError(Message("The graph {} is disabled, and nothing else can take this.", self.agent))
        bound = facts.bind(text, {})
        return ExecutionStep(
            agent=self.agent,
            task=text,
            name=in_words(text),
            input_mapping={"input": bound["input"], **more},
            purpose=facts.description,
            dependencies=tuple(more.values()),
        )

    async def revise(self, text: str, plan: CurrentPlan) -> Proposed:
        """Return a further step: this text as the graph's next input, on the thread it is on."""
        if plan.remarks:
            raise BadInput(Message("The plan is to run {}; there is nothing else to plan.", self.agent))
        mine = [todo for todo in plan.todos if todo.agent_name == self.agent]
        busy = [t for t in mine if t.status not in (Status.COMPLETED, Status.FAILED, Status.SKIPPED)]
        if busy:
            name = step_name(busy[-1].id)
            raise BadInput(
                Message("{} is still at {}, and takes no other words until that is done.", self.agent, name),
                help=Message("Edit or answer what it asks there, or skip it: /todo skip {}", name),
            )
        done = [todo for todo in mine if todo.status is Status.COMPLETED]
        more = {"thread": done[-1].id} if done else {}
        step = await asyncio.to_thread(self._step, text, plan.agents, more)
        return Proposed(Message("Continues with {}.", self.agent), (AddStep(step),))

    async def follow_up(self, todo: SupervisorTodo, result: JsonObject, plan: CurrentPlan) -> Proposed | None:
        """Return None: what a graph says isn't for us to act upon."""
        return None
