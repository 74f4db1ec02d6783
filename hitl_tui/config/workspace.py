"""The settings that a workspace declared, as plain data."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from hitl_tui.config.declared_agents import AgentDeclaration
from hitl_tui.config.declared_commands import CommandDeclaration
from hitl_tui.config.declared_graphs import GraphDeclaration
from hitl_tui.config.declared_tools import ToolDeclaration
from hitl_tui.config.model_settings import ModelSettings
from hitl_tui.config.notify_settings import NotifySettings
from hitl_tui.core.messages import Message
from hitl_tui.core.policy import Mode, Policy

TEAMS = ("search_team", "analysis_team", "document_team", "command_team", "table_team")
"""The built-in teams, as hitl.toml names them."""

LONGEST_DURATION = 365 * 86400.0
"""Seconds; a longer timeout or deadline is surely a mistake."""

_DURATION = re.compile(r"(?:[0-9]{1,9}(?:\.[0-9]{1,3})?[smhd])+")
_PART = re.compile(r"([0-9.]+)([smhd])")
_SECONDS = {"s": 1, "m": 60, "h": 3600, "d": 86400}


@dataclass(frozen=True, slots=True)
class SearchSettings:
    """`[teams.search_team]`.

    Args:
        documents: workspace-relative files and folders to search.
    """

    documents: tuple[str, ...] = (".",)


@dataclass(frozen=True, slots=True)
class DocumentSettings:
    """`[teams.document_team]`.

    Args:
        folder: workspace-relative folder that reports are written to.
    """

    folder: str = "reports"


@dataclass(frozen=True, slots=True)
class WorkspaceConfig:
    """Everything hitl.toml says; without arguments what holds where there is no such file.

    Args:
        mode: when a person is asked, at the start of a session.
        concurrency: most TODOs that run at the same time.
        policy: the `[[policy]]` rules in their order.
        commands: the declared commands by name.
        graphs: the declared graphs of the user's own by name.
        tools: the declared functions, LangChain tools and MCP tools by name.
        agents: the declared agents by name.
        disabled: teams that may not be planned.
        secret_names: environment variables whose values are masked wherever they would be shown.
        pins: patterns of files that no approval of high risk binds.
        notify: whom to tell of requests.
        model: the chat model that plans and works.
        reviewed: where the runtimes are whose requests stand in the inbox, see `review_settings`.
        plan: what a `.env` beside it sets of the review of plans, see `plan_settings`.
    """

    mode: Mode = Mode.STEP
    concurrency: int = 4
    policy: Policy = field(default_factory=Policy)
    search: SearchSettings = field(default_factory=SearchSettings)
    document: DocumentSettings = field(default_factory=DocumentSettings)
    commands: Mapping[str, CommandDeclaration] = field(default_factory=dict)
    graphs: Mapping[str, GraphDeclaration] = field(default_factory=dict)
    tools: Mapping[str, ToolDeclaration] = field(default_factory=dict)
    agents: Mapping[str, AgentDeclaration] = field(default_factory=dict)
    disabled: frozenset[str] = frozenset()
    secret_names: tuple[str, ...] = ()
    pins: tuple[str, ...] = ()
    notify: NotifySettings = field(default_factory=NotifySettings)
    model: ModelSettings = field(default_factory=ModelSettings)
    reviewed: tuple[str, ...] = ()
    plan: Mapping[str, str] = field(default_factory=dict)

    @property
    def own_teams(self) -> Mapping[str, GraphDeclaration | ToolDeclaration | AgentDeclaration]:
        """The declared teams of the user's own by name."""
        return {**self.graphs, **self.tools, **self.agents}

    def enabled(self, team: str) -> bool:
        """Return whether a team may be planned; teams the file doesn't mention may."""
        return team not in self.disabled


def parse_duration(text: str) -> float:
    """Return the seconds of a duration such as `90s`, `10m`, `1h30m`, `1.5h` or `1d`.

    Raises:
        ValueError: it is none; the message says what was expected.
    """
    if not _DURATION.fullmatch(text):
        raise ValueError(Message('must be a duration such as "90s", "10m", "2h" or "1d"'))
    return sum(float(amount) * _SECONDS[unit] for amount, unit in _PART.findall(text))
