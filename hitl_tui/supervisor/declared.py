"""What a workspace declares, and the teams and the planner that come of it (I1)."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from hitl_tui.config.graphs import LANGGRAPH_FILE, GraphDeclaration, langgraph_file
from hitl_tui.config.load import load_config
from hitl_tui.config.workspace import TEAMS, WorkspaceConfig
from hitl_tui.core.errors import ConfigError
from hitl_tui.teams.registry import TeamRegistry

if TYPE_CHECKING:
    from hitl_tui.planning.agent import Planner, PlanningAgent

log = logging.getLogger(__name__)


def declared(workspace: Path, config: WorkspaceConfig | None = None) -> WorkspaceConfig:
    """Return what a workspace declares: its hitl.toml, and the graphs of a langgraph.json that is there already (I1).

    Args:
        workspace: the folder.
        config: what its hitl.toml says; None to read it.

    Raises:
        ConfigError: hitl.toml can't be used.
    """
    config = load_config(workspace) if config is None else config
    found: tuple[GraphDeclaration, ...] = ()
    if (workspace / LANGGRAPH_FILE).is_file():
        try:
            found = langgraph_file(workspace / LANGGRAPH_FILE)
        except ConfigError as error:  # it isn't ours: what else is in the workspace works without it
            log.warning("%s", error.message)
    graphs = {graph.name: graph for graph in found if graph.name not in TEAMS}
    graphs |= {name: replace(graph, folder=str(workspace)) for name, graph in config.graphs.items()}
    commands = {name: replace(command, folder=str(workspace)) for name, command in config.commands.items()}
    return replace(config, graphs=graphs, commands=commands)


def registry_of(config: WorkspaceConfig, graphs: Sequence[GraphDeclaration], workspace: Path) -> TeamRegistry:
    """Return the workspace's teams, and those of the graphs that are attached to a session."""
    attached = {graph.name: graph for graph in graphs}
    config = replace(config, graphs={**config.graphs, **attached})
    return TeamRegistry.from_config(config, workspace=str(workspace))


def planner_of(
    registry: TeamRegistry, config: WorkspaceConfig, graphs: Sequence[GraphDeclaration], now: Callable[[], str]
) -> PlanningAgent:
    """Return what plans: for the first attached graph where there is one, else by the rules."""
    # Looking at what there is needs no planner, and its rules take a while to load.
    from hitl_tui.planning.agent import PlanningAgent
    from hitl_tui.planning.attached import AttachedPlanner
    from hitl_tui.planning.commands import command_facts
    from hitl_tui.planning.rules import RulePlanner

    planner: Planner = RulePlanner(command_facts(config.commands))
    if graphs:
        planner = AttachedPlanner(graphs[0].name)
    return PlanningAgent(registry.agents(), planner, now)
