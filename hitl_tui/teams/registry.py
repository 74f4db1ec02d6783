"""`TeamRegistry`: the teams there are, and the facts that planning needs of them."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from types import MappingProxyType
from typing import TYPE_CHECKING

from hitl_tui.core.errors import BadInput
from hitl_tui.core.json_types import Json, JsonObject
from hitl_tui.core.messages import Message
from hitl_tui.core.plan import AgentFacts
from hitl_tui.core.safe_text import mask, mask_json
from hitl_tui.core.secret_names import check_stored
from hitl_tui.policy.executable_files import Bindings, Surroundings
from hitl_tui.teams.contract import Team, TeamSources, nobody_trusts, unknown_name
from hitl_tui.teams.installed_teams import installed_teams

if TYPE_CHECKING:
    from pathlib import Path

    from hitl_tui.config.declared_tools import ToolDeclaration
    from hitl_tui.config.workspace import WorkspaceConfig


@dataclass(frozen=True, slots=True)
class TeamRegistry:
    """The teams of a workspace; each is also the agent of its name.

    Args:
        teams: by name, disabled ones included.
        disabled: names of teams that are never planned.
    """

    teams: Mapping[str, Team]
    disabled: frozenset[str] = frozenset()

    @classmethod
    def from_config(
        cls,
        config: WorkspaceConfig,
        extra: Sequence[Team] = (),
        workspace: str = "",
        withheld: Mapping[str, Team] = MappingProxyType({}),
        bindings: Bindings | None = None,
        cache: Path | None = None,
        why_no_secrets: Callable[[ToolDeclaration], str] = nobody_trusts,
    ) -> TeamRegistry:
        """Return the installed teams as a workspace declares them, and further ones.

        Args:
            config: the workspace's declarations.
            extra: teams of the embedding program.
            workspace: its absolute path; empty where that isn't known.
            withheld: what stands in the place of declared teams that nobody trusts, by name.
            bindings: finds what steps may execute; made unless given.
            cache: absolute path of a folder for things that can be rebuilt; None for nowhere.
            why_no_secrets: see `TeamSources`.

        Raises:
            BadInput: two teams have one name.
        """
        around = Surroundings.of(config)
        sources = TeamSources(config, workspace, bindings or Bindings(), around, cache, why_no_secrets)
        installed = installed_teams(sources, {*withheld, *(team.name for team in extra)})
        kept = (team for team in installed if team.name not in withheld)
        teams = _by_name((*kept, *extra, *withheld.values()))
        for team in teams.values():
            team.meet(teams)
        return cls(
            teams=MappingProxyType(teams),
            disabled=frozenset(name for name in teams if not config.enabled(name)),
        )

    def get(self, name: str) -> Team:
        """Return a team, disabled or not.

        Raises:
            UnknownName: there is none of that name; the message names the nearest and all.
        """
        team = self.teams.get(name)
        if team is None:
            raise unknown_name(Message("team"), name, self.teams)
        return team

    def planned(self) -> list[Team]:
        """Return the teams that may be planned."""
        return [team for name, team in self.teams.items() if name not in self.disabled]

    def enabled(self, name: str) -> bool:
        """Whether a team exists and may be planned."""
        return name in self.teams and name not in self.disabled

    def look(self, names: Collection[str] = ()) -> None:
        """Let teams find out what only their own code says of them; see `Team.look`.

        Args:
            names: which; empty for all that may be planned.
        """
        for team in self.planned():
            if not names or team.name in names:
                team.look()

    def agents(self, secrets: Mapping[str, str] = MappingProxyType({})) -> dict[str, AgentFacts]:
        """Return what planning must know of every agent, disabled ones included, by name; nothing is executed.

        Args:
            secrets: declared secrets, by name: what is bound holds their names instead, whatever it was read from.
        """
        for team in self.planned():
            team.recall()
        return {
            name: AgentFacts(
                name=name,
                team=name,
                description=team.description,
                enabled=self.enabled(name),
                max_retries=team.max_retries,
                timeout=team.timeout,
                optional=team.optional,
                bind=partial(_bind, team, secrets) if secrets else team.bind,
                risk_of=team.risk_of,
                reads_results=team.reads_results,
                needs_results=team.needs_results,
                takes_question=team.takes_question,
                concern=team.concern,
                parameters=team.parameters,
                schema=team.call_schema,
                call_argument=team.call_argument,
                problem=team.problem,
                input_schema=partial(getattr, team, "input_schema"),
                retries_of=team.retries_of,
                optional_for=team.optional_for,
                guide=team.guide(),
                programs=team.programs if team.bindings is not None else None,
                changed=team.changed if team.bindings is not None else None,
            )
            for name, team in self.teams.items()
        }


def _bind(team: Team, secrets: Mapping[str, str], text: str, arguments: JsonObject) -> dict[str, Json]:
    """Return the exact arguments for a team with the names of secrets; see `Team.bind`.

    Raises:
        BadInput: the team can't use them, or it would store a secret.
    """
    bound = team.bind(mask(text, secrets), mask_json(dict(arguments), secrets))
    if team.keeps_input:
        check_stored("The input", bound, secrets)
    masked: dict[str, Json] = mask_json(bound, secrets)
    return masked


def _by_name(teams: Iterable[Team]) -> dict[str, Team]:
    found: dict[str, Team] = {}
    for team in teams:
        if team.name in found:
            raise BadInput(Message('Two teams are named "{}"; rename one of them.', team.name))
        found[team.name] = team
    return found
