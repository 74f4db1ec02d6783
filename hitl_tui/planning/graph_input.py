"""The planner of a session with one attached graph: the query is the graph's input."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from hitl_tui.core.errors import BadInput, PlanError
from hitl_tui.core.json_types import Json, JsonObject
from hitl_tui.core.messages import Message
from hitl_tui.core.names import step_name
from hitl_tui.core.plan import AgentFacts, ExecutionPlan, ExecutionStep, Intent
from hitl_tui.core.safe_text import one_line
from hitl_tui.core.todos import Status, SupervisorTodo
from hitl_tui.planning.proposals import AddStep, CurrentPlan, Planned, Proposed
from hitl_tui.planning.rule_planner.query_reader import language_of
from hitl_tui.planning.rule_planner.rule_file import load_rules

LONGEST = 80
"""Cells of a name."""
_MESSAGES = "messages"
_PROSE = frozenset({"query", "question", "request", "input", "text", "prompt", "task", "topic", "message", "content"})
"""Fields whose text says by itself what is wanted."""


def in_words(text: str) -> str:
    """Return what an input is called, one safe line of at most `LONGEST` cells.

    `{"messages": [{"role": "user", "content": "Find it"}]}` and `{"query": "Find it"}` are called `Find it`,
    `{"to": "ann@example.com", "n": 3}` is called `to="ann@example.com", n=3`, and words are called what they are.

    Args:
        text: the input as it was given, JSON or not.
    """
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return one_line(_plain(text), LONGEST)
    return one_line(_said(value) or _plain(text), LONGEST)


def _said(value: Json) -> str:
    """Return a JSON value in words; empty for one that says nothing."""
    if isinstance(value, Mapping):
        return _message(value[_MESSAGES]) if _talks(value) else _fields(value)
    if isinstance(value, str):
        return _plain(value)
    return _message(value) or _json(value) if isinstance(value, list) else _json(value)


def _talks(value: JsonObject) -> bool:
    return set(value) == {_MESSAGES} and bool(_message(value[_MESSAGES]))


def _fields(value: JsonObject) -> str:
    prose = [_plain(v) for k, v in value.items() if k in _PROSE and isinstance(v, str)]
    if len(value) == 1 and prose:
        return prose[0]
    return ", ".join(f"{_plain(str(key))}={_json(item)}" for key, item in value.items())


def _message(value: Json) -> str:
    """Return the words of a message, or of the last one of several that has any; empty where there are none.

    Messages are texts, pairs of role and text, or objects with a `content`: a text or a list of parts.
    """
    if isinstance(value, str):
        return _plain(value)
    if isinstance(value, Mapping):
        kept = value.get("content", value.get("text", value.get("data")))
        return _message(kept) if kept is not value else ""
    if isinstance(value, list):
        return next((said for item in reversed(value) if (said := _message(item))), "")
    return ""


def _json(value: Json) -> str:
    return _plain(json.dumps(value, ensure_ascii=False))


def _plain(text: str) -> str:
    return " ".join(text.split())


@dataclass(frozen=True, slots=True)
class AttachedPlanner:
    """Plans one step: the graph, with the query as its input; plain text later goes on with its thread.

    Args:
        agent: the graph's team.
    """

    agent: str

    async def plan(self, query: str, agents: Mapping[str, AgentFacts]) -> Planned:
        """Return the plan of one step.

        Raises:
            BadInput: the query can't be the graph's input.
            PlanError: the graph is disabled.
        """
        step = await asyncio.to_thread(self._step, query, agents, {})
        return Planned(Intent("graph", 1.0, language=language_of(query, load_rules())), ExecutionPlan((step,)))

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
        """Return a further step: this text as the graph's next input, on the thread it is on.

        Raises:
            BadInput: the text can't be the graph's input, it is still at the one before, or the plan is under review:
                nothing can be planned otherwise.
        """
        if plan.remarks:
            raise BadInput(Message("The plan is to run {}; there is nothing else to plan.", self.agent))
        mine = [todo for todo in plan.todos if todo.agent_name == self.agent]
        busy = [t for t in mine if t.status not in (Status.COMPLETED, Status.FAILED, Status.SKIPPED)]
        if busy:
            raise BadInput(
                Message("{} is still at {}.", self.agent, step_name(busy[-1].id)),
                help=Message("Answer what it asks, or skip it: /todo skip {}", step_name(busy[-1].id)),
            )
        done = [todo for todo in mine if todo.status is Status.COMPLETED]
        more = {"thread": done[-1].id} if done else {}
        step = await asyncio.to_thread(self._step, text, plan.agents, more)
        return Proposed(Message("Continues with {}.", self.agent), (AddStep(step),))

    async def follow_up(self, todo: SupervisorTodo, result: JsonObject, plan: CurrentPlan) -> Proposed | None:
        """Return None: what a graph says isn't for us to act upon."""
        return None
