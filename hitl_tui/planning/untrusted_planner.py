"""`UntrustedPlanner`: plans in an untrusted folder, whatever its commands say of themselves."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace

from hitl_tui.core.errors import HitlError
from hitl_tui.core.json_types import JsonObject
from hitl_tui.core.plan import AgentFacts
from hitl_tui.core.todos import SupervisorTodo
from hitl_tui.planning.proposals import Planned, Proposed
from hitl_tui.planning.rule_planner.calls import asks_for_deed
from hitl_tui.planning.rule_planner.command_facts import CommandFacts
from hitl_tui.planning.rule_planner.planner import RulePlanner
from hitl_tui.planning.rule_planner.rule_file import load_rules

_UNDERSTOOD = 0.8
"""Confidence from which on words of a query were recognised; below it a search is only the last resort."""


class UntrustedPlanner:
    """Plans by rules, with a declared command only where the person calls it, or asks for what no search does.

    What such a folder says of its commands makes no step out of a query that asks for something else. A command that
    is called is planned, so that who called it is told what it needs.

    Args:
        commands: declared commands by name.
        teams: names of the declared teams.
    """

    def __init__(self, commands: Mapping[str, CommandFacts], teams: Sequence[str] = ()) -> None:
        self._declared = RulePlanner(commands, untrusted=tuple(teams))
        self._named = RulePlanner({name: replace(facts, description="") for name, facts in commands.items()})
        self._plain = RulePlanner(teams=False, untrusted=tuple(teams))

    async def plan(self, query: str, agents: Mapping[str, AgentFacts], feedback: str = "") -> Planned:
        """Return intent and plan of a query; see `RulePlanner.plan`."""
        if asks_for_deed(query, load_rules()):  # no search does that
            return await self._declared.plan(query, agents, feedback)
        try:
            plain = await self._plain.plan(query, agents, feedback)
        except HitlError:  # it may call a command and nothing else
            return await self._named.plan(query, agents, feedback)
        if plain.intent.confidence >= _UNDERSTOOD:
            return plain
        planners = [self._named]
        if any(re.match(rf"{re.escape(name)}(?![\w-])", query.strip()) for name in self._declared.commands):
            planners.append(self._declared)
        for planner in planners:
            planned = await planner.plan(query, agents, feedback)
            if planned.plan != plain.plan:
                return planned
        return plain

    async def revise(
        self, text: str, query: str, todos: Sequence[SupervisorTodo], agents: Mapping[str, AgentFacts]
    ) -> Proposed:
        """Return the changes that plain text asks for; see `RulePlanner.revise`."""
        return await self._named.revise(text, query, todos, agents)

    async def follow_up(
        self,
        query: str,
        todo: SupervisorTodo,
        result: JsonObject,
        todos: Sequence[SupervisorTodo],
        agents: Mapping[str, AgentFacts],
    ) -> Proposed | None:
        """Return what follows from a result; see `RulePlanner.follow_up`."""
        return await self._plain.follow_up(query, todo, result, todos, agents)
