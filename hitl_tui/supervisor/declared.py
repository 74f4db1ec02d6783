"""The teams and the planner that come of what a workspace declares and of what is trusted of it (I1, T4)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from hitl_tui.config.declared_graphs import GraphDeclaration
from hitl_tui.config.workspace import WorkspaceConfig
from hitl_tui.policy.programs import Bindings
from hitl_tui.policy.trust import WorkspaceTrust, needs_trust
from hitl_tui.teams.contract import Team
from hitl_tui.teams.registry import TeamRegistry
from hitl_tui.teams.withheld import WithheldTeam

if TYPE_CHECKING:
    from hitl_tui.planning.agent import Planner, PlanningAgent


class DeclaredTeams:
    """The teams of an open session: others where its workspace was trusted meanwhile.

    Args:
        registry: what they are now.
    """

    def __init__(self, registry: TeamRegistry) -> None:
        self.registry = registry

    def get(self, name: str) -> Team:
        """Return a team, disabled or not. Raises UnknownName: there is none of that name."""
        return self.registry.get(name)


def registry_of(
    config: WorkspaceConfig,
    graphs: Sequence[GraphDeclaration],
    workspace: Path,
    withheld: Iterable[Team] = (),
    bindings: Bindings | None = None,
) -> TeamRegistry:
    """Return the workspace's teams, and those of the graphs that are attached to a session.

    Args:
        config: what is obeyed of the workspace.
        graphs: attached to the session.
        workspace: the folder.
        withheld: what stands in the place of teams that nobody trusts.
        bindings: finds what steps may execute; made unless given.
    """
    attached = {graph.name: graph for graph in graphs}
    declared = {**config.graphs, **attached}
    pinned = {name: replace(g, pins=tuple(dict.fromkeys((*config.pins, *g.pins)))) for name, g in declared.items()}
    config = replace(config, graphs=pinned)
    instead = {team.name: team for team in withheld}
    return TeamRegistry.from_config(config, workspace=str(workspace), withheld=instead, bindings=bindings)


def withheld_teams(trust: WorkspaceTrust, attached: Iterable[str] = ()) -> list[Team]:
    """Return what stands in the place of a workspace's declared teams while nobody trusts it; none where one does.

    Args:
        trust: the workspace as it is now.
        attached: names of graphs that were named by the person who attached them.
    """
    if trust.trusted:
        return []
    declared, named = trust.declared, set(attached)
    found: list[Team] = []
    if declared.commands:
        names = ", ".join(sorted(declared.commands))
        about = f"Runs commands declared in hitl.toml, once the folder is trusted: {names}."
        found.append(WithheldTeam("command_team", about, partial(needs_trust, "command_team", trust.folder)))
    for name, graph in declared.graphs.items():
        if name not in named:
            found.append(WithheldTeam(name, graph.description, partial(needs_trust, name, trust.folder)))
    return found


def planner_of(
    registry: TeamRegistry,
    trust: WorkspaceTrust,
    graphs: Sequence[GraphDeclaration],
    now: Callable[[], str],
    secrets: Mapping[str, str],
) -> PlanningAgent:
    """Return what plans: for the first attached graph where there is one, else by the rules.

    Args:
        registry: the teams.
        trust: the workspace as it is now.
        graphs: the attached graphs.
        now: the clock.
        secrets: declared secrets, by name: no step that is planned holds one.
    """
    # Looking at what there is needs no planner, and its rules take a while to load.
    from hitl_tui.planning.agent import PlanningAgent
    from hitl_tui.planning.graph_input import AttachedPlanner
    from hitl_tui.planning.rule_planner.command_requests import command_facts
    from hitl_tui.planning.rule_planner.planner import RulePlanner
    from hitl_tui.planning.untrusted_planner import UntrustedPlanner

    commands = command_facts(trust.declared.commands)
    planner: Planner = RulePlanner(commands) if trust.trusted else UntrustedPlanner(commands)
    if graphs:
        planner = AttachedPlanner(graphs[0].name)
    return PlanningAgent(registry.agents(secrets), planner, now)
