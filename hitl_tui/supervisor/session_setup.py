"""What a session is opened with, and the teams and planner that its workspace declares."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING

from hitl_tui.config.declared_commands import CommandDeclaration
from hitl_tui.config.declared_graphs import GraphDeclaration, GraphSettings
from hitl_tui.config.declared_tools import ToolDeclaration
from hitl_tui.config.workspace import WorkspaceConfig
from hitl_tui.core.board import Rules
from hitl_tui.core.events import utc_now
from hitl_tui.core.messages import Message
from hitl_tui.core.policy import Mode
from hitl_tui.core.safe_text import mask
from hitl_tui.ledger.protocols import Ledger
from hitl_tui.planning.agent import PlanningAgent
from hitl_tui.policy.accounts import account_name
from hitl_tui.policy.approvers import Approvers
from hitl_tui.policy.executable_files import Bindings
from hitl_tui.policy.policy_source import PolicySource
from hitl_tui.policy.workspace_trust import WorkspaceTrust, needs_trust
from hitl_tui.supervisor.storage import SessionFolder, SessionInfo
from hitl_tui.teams.contract import Team, nobody_trusts
from hitl_tui.teams.registry import TeamRegistry
from hitl_tui.teams.withheld import WithheldTeam

if TYPE_CHECKING:
    from hitl_tui.planning.agent import Planner
    from hitl_tui.supervisor.session_model import SessionModel


async def _never_renewed() -> str:
    """Return that nothing is left to take in: what was declared by nobody is never trusted anew."""
    return ""


@dataclass(frozen=True, slots=True)
class SessionSetup:
    """What a session is opened with.

    Args:
        info: the session.
        folder: its folder.
        ledger: the record of all sessions.
        planner: makes and changes plans.
        team: gives a team by name.
        policy: the workspace's rules, and how many TODOs may run at once.
        mode: mode of a session that begins now.
        secrets: declared secrets, by name.
        now: the clock.
        read_only: this account can't write where it lies: it can only be followed.
        broken: what of its record isn't as it was written, so that it is only looked at; empty for nothing.
        approvers: says who counts where several people or a level are demanded, now.
        commands: the declared commands that may be used, by name.
        renew: takes in what the workspace declares where it was trusted since then; see `SessionView.renew`.
        model: its chat model; None where it can't have one.
        planned: when it was planned, from and until, ISO 8601; None for a session that was there before.
    """

    info: SessionInfo
    folder: SessionFolder
    ledger: Ledger
    planner: PlanningAgent
    team: Callable[[str], Team]
    policy: PolicySource
    mode: Mode
    secrets: Mapping[str, str]
    now: Callable[[], str] = utc_now
    read_only: bool = False
    broken: str = ""
    approvers: Callable[[], Approvers] = lambda: Approvers(account_name())
    commands: Mapping[str, CommandDeclaration] = field(default_factory=dict)
    renew: Callable[[], Awaitable[str]] = _never_renewed
    model: SessionModel | None = None
    planned: tuple[str, str] | None = None

    def make_teams(self) -> None:
        """Make its teams and what plans for them now, where nobody wanted them yet; it takes a while.

        Raises:
            HitlError: they can't be made as the workspace declares them.
        """
        self.planner.make()

    @property
    def rules(self) -> Rules:
        return self.policy.rules

    async def shown_questions(self, most: int) -> frozenset[str]:
        """Return the ids of the session's open questions that were shown before now; of so many at most."""
        found = await self.ledger.requests(self.now(), session=self.info.id, limit=most)
        return frozenset(view.request.id for view in found if view.request.first_shown)

    async def mark_shown(self, request_ids: Sequence[str], by: str, channel: str) -> None:
        """Put on record that questions were shown."""
        await self.ledger.mark_shown(request_ids, mask(by, self.secrets), channel, self.now())


class DeclaredTeams:
    """The teams of an open session, made when they are first wanted: others where its workspace was trusted meanwhile.

    Args:
        make: makes them.
    """

    def __init__(self, make: Callable[[], TeamRegistry]) -> None:
        self._make = make
        self._made: TeamRegistry | None = None
        self._making = Lock()

    @property
    def registry(self) -> TeamRegistry:
        """What they are now."""
        with self._making:
            if self._made is None:
                self._made = self._make()
            return self._made

    def take(self, registry: TeamRegistry) -> None:
        """Have other teams from now on."""
        with self._making:
            self._made = registry

    def get(self, name: str) -> Team:
        """Return a team, disabled or not. Raises UnknownName: there is none of that name."""
        return self.registry.get(name)


def secrets_of(config: WorkspaceConfig, environ: Mapping[str, str]) -> dict[str, str]:
    """Return the secrets that a workspace declares and the environment has, by name."""
    return {name: environ[name] for name in config.secret_names if environ.get(name)}


def registry_of(
    config: WorkspaceConfig,
    graphs: Sequence[GraphDeclaration],
    workspace: Path,
    withheld: Iterable[Team] = (),
    bindings: Bindings | None = None,
    cache: Path | None = None,
    settings: GraphSettings | None = None,
    why_no_secrets: Callable[[ToolDeclaration], str] = nobody_trusts,
) -> TeamRegistry:
    """Return the workspace's teams, and those of the graphs that are attached to a session.

    Args:
        config: what is obeyed of the workspace.
        graphs: attached to the session.
        workspace: the folder.
        withheld: what stands in the place of teams that nobody trusts.
        bindings: finds what steps may execute; made unless given.
        cache: absolute path of a folder for things that can be rebuilt; None for nowhere.
        settings: what a person gave to all graphs of the session; None for nothing.
        why_no_secrets: see `TeamSources`.
    """
    attached = {graph.name: graph for graph in graphs}
    declared = {**config.graphs, **attached}
    if settings:
        declared = {name: settings.of_all(graph) for name, graph in declared.items()}
    pinned = {name: replace(g, pins=tuple(dict.fromkeys((*config.pins, *g.pins)))) for name, g in declared.items()}
    config = replace(config, graphs=pinned, tools={n: t for n, t in config.tools.items() if n not in attached})
    instead = {team.name: team for team in withheld}
    return TeamRegistry.from_config(config, (), str(workspace), instead, bindings, cache, why_no_secrets)


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
        about = Message("Runs commands declared in hitl.toml, once the folder is trusted: {}.", names)
        found.append(WithheldTeam("command_team", about, partial(needs_trust, "command_team", trust.folder)))
    for name, team in declared.own_teams.items():
        if name not in named:
            found.append(WithheldTeam(name, team.description, partial(needs_trust, name, trust.folder)))
    return found


def planner_of(
    registry: TeamRegistry,
    trust: WorkspaceTrust,
    graphs: Sequence[GraphDeclaration],
    now: Callable[[], str],
    secrets: Mapping[str, str],
    model: SessionModel | None = None,
    data: Path | None = None,
) -> PlanningAgent:
    """Return what plans: for the first attached graph where there is one, else by the rules.

    Args:
        registry: the teams.
        trust: the workspace as it is now.
        graphs: the attached graphs.
        now: the clock.
        secrets: declared secrets, by name: no step that is planned holds one.
        model: the session's model; None for none.
        data: the data folder, which has templates; None for nowhere.
    """
    return PlanningAgent.later(
        lambda: registry.agents(secrets), lambda: planner_for(trust, graphs, model, data), now, registry.look
    )


def planner_for(
    trust: WorkspaceTrust,
    graphs: Sequence[GraphDeclaration],
    model: SessionModel | None = None,
    data: Path | None = None,
) -> Planner:
    """Return who plans; its rules take a while to load.

    Args:
        trust: the workspace as it is now.
        graphs: the attached graphs.
        model: the session's model; None for none.
        data: the data folder, which has templates; None for nowhere.
    """
    if graphs:
        from hitl_tui.planning.attached_planner import AttachedPlanner

        return AttachedPlanner(graphs[0].name)
    from hitl_tui.planning.plan_templates import TemplatePlanner, TemplateShelf
    from hitl_tui.planning.rule_planner.command_facts import command_facts
    from hitl_tui.planning.rule_planner.planner import RulePlanner

    commands = command_facts(trust.declared.commands)
    withheld = None if trust.trusted else tuple(trust.declared.own_teams)
    rules = RulePlanner(commands, withheld, Path(trust.folder))
    chosen: Planner = rules
    if model is not None:
        from hitl_tui.supervisor.session_model import ChosenPlanner

        def with_model() -> Planner:
            from hitl_tui.planning.model_planner import ModelPlanner

            beyond = frozenset(team.name for team in withheld_teams(trust))
            return ModelPlanner(model, rules, commands if trust.trusted else {}, beyond)

        chosen = ChosenPlanner(rules, model, with_model)
    return chosen if data is None else TemplatePlanner(chosen, TemplateShelf(data))
