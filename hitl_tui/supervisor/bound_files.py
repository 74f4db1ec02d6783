"""What a step may execute, found again when it is asked about and when it starts."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass

from hitl_tui.core.errors import HitlError
from hitl_tui.core.json_types import JsonObject
from hitl_tui.core.plan import AgentFacts
from hitl_tui.core.todos import SupervisorTodo
from hitl_tui.teams.contract import Team

GIVEN = ("command", "parameters", "input", "thread", "context", "config")
"""What the arguments of a command or a graph were made from."""


@dataclass(frozen=True, slots=True)
class BoundFiles:
    """A step's arguments with what it may execute now.

    Args:
        arguments: all of them.
        programs: what of them says so: the files, and their digests.
        changed: names of the files that aren't what they were.
    """

    arguments: JsonObject
    programs: Mapping[str, str]
    changed: tuple[str, ...]


async def bind_again(agents: Mapping[str, AgentFacts], todo: SupervisorTodo) -> BoundFiles | None:
    """Return what a step's arguments would be now; None where they are as they were, or can't be found.

    What can't be found is said by its run, which looks at it once more.
    """
    facts = agents.get(todo.agent_name)
    return None if facts is None else await find_bound_files(facts, todo)


async def find_bound_files(team: Team | AgentFacts, todo: SupervisorTodo) -> BoundFiles | None:
    """Do as `bind_again` does.

    Args:
        team: its team, or what planning knows of that.
        todo: the step.
    """
    programs, changed = team.programs, team.changed
    if programs is None or changed is None or not any(key in todo.arguments for key in GIVEN):
        return None
    try:
        now = dict(await asyncio.to_thread(programs, todo.arguments))
    except HitlError:
        return None
    before = todo.programs
    if before == now:
        return None
    names = await asyncio.to_thread(changed, before, now)
    return BoundFiles({**todo.arguments, "programs": now}, now, tuple(names))
