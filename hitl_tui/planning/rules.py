"""A planner that needs no model: rules from rules.toml (D6, D10, D14)."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from hitl_tui.core.plan import AgentFacts
from hitl_tui.core.todos import SupervisorTodo
from hitl_tui.planning.commands import CommandFacts, asked_in
from hitl_tui.planning.feedback import apply_feedback
from hitl_tui.planning.following import follow_up_search
from hitl_tui.planning.proposals import Planned, Proposed
from hitl_tui.planning.reading import read
from hitl_tui.planning.remarks import remarks
from hitl_tui.planning.revising import revise_text
from hitl_tui.planning.rulefile import load_rules
from hitl_tui.planning.scene import Scene
from hitl_tui.planning.steps import build_plan, decide, intent_of, usable


@dataclass(frozen=True, slots=True)
class RulePlanner:
    """Plans by words and patterns, in Korean and English.

    What it recognises and plans is in rules.toml.

    Args:
        commands: declared commands by name (see `commands.command_facts`).
    """

    commands: Mapping[str, CommandFacts] = field(default_factory=dict)

    async def plan(self, query: str, agents: Mapping[str, AgentFacts], feedback: str = "") -> Planned:
        """Return intent and plan of a query, with the feedback worked in, line by line (P1).

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
        asked = asked_in(reading.text, self.commands, rules)
        wanted = decide(query, reading, asked.calls, rules)
        intent = intent_of(wanted, rules)
        needs, missing = usable(wanted.needs, agents, rules)
        plan = build_plan(wanted, needs, rules)
        if feedback:
            plan = await asyncio.to_thread(apply_feedback, plan, feedback, query, agents, self.commands, rules)
        return Planned(intent, plan, tuple(remarks(reading.text, asked, wanted, missing, rules)))

    async def revise(
        self, text: str, query: str, todos: Sequence[SupervisorTodo], agents: Mapping[str, AgentFacts]
    ) -> Proposed:
        """Return the changes that plain text asks for (D10).

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
        return await asyncio.to_thread(revise_text, Scene(text, query, todos, agents, self.commands, load_rules()))

    async def follow_up(
        self,
        query: str,
        todo: SupervisorTodo,
        result: Mapping[str, Any],
        todos: Sequence[SupervisorTodo],
        agents: Mapping[str, AgentFacts],
    ) -> Proposed | None:
        """Return what follows from a result (D14): a broader search after one with too few hits, else nothing."""
        return follow_up_search(Scene(query, query, todos, agents, self.commands, load_rules()), todo, result)
