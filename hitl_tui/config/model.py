"""The form of hitl.toml: its tables, and what has to fit together in them.

Only this file, `values` and `pydantic_errors` know pydantic: what leaves them is plain data. Checks between values
collect all they find, so that the one which stands first in the file can be reported.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, ValidationError, ValidationInfo, model_validator

from hitl_tui.config.command_checks import holes_in, template_problems
from hitl_tui.config.commands import CommandDeclaration
from hitl_tui.config.graphs import GraphDeclaration
from hitl_tui.config.parameters import Parameter, argument_problem
from hitl_tui.config.problems import Problem
from hitl_tui.config.pydantic_errors import problems_in
from hitl_tui.config.values import (
    CommandName,
    Declared,
    Duration,
    EnvironmentName,
    Number,
    ParameterName,
    PinPattern,
    RiskName,
    StoreAddress,
    TeamName,
    WorkspacePath,
    declared,
    wrong,
)
from hitl_tui.config.words import described, nearest, quoted
from hitl_tui.config.workspace import TEAMS, DocumentSettings, SearchSettings, WorkspaceConfig
from hitl_tui.core.policy import Mode, Policy, Risk, Rule, Ruling, Terms

_TEAM_NAME = re.compile(r"[a-z][a-z0-9_]{0,63}")


def read(data: dict[str, Any]) -> WorkspaceConfig | list[Problem]:
    """Return the settings that a parsed file holds, or everything that is wrong with them, in no order."""
    try:
        return _File.model_validate(data, context=_declarations(data)).settings()
    except ValidationError as error:
        return list(problems_in(error, _File, _GraphTeam))


class _Section(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


class _Defaults(_Section):
    mode: Literal["step", "plan", "risk"] = "step"
    concurrency: Annotated[int, Field(ge=1, le=64)] = 4


class _Team(_Section):
    enabled: bool = True


class _SearchTeam(_Team):
    documents: Annotated[list[WorkspacePath], Field(min_length=1)] = ["."]


class _DocumentTeam(_Team):
    folder: WorkspacePath = "reports"


class _Parameter(_Section):
    type: Literal["string", "integer", "number", "boolean", "path", "choice"]
    default: Any = None
    minimum: Number | None = None
    maximum: Number | None = None
    choices: list[str] | None = None
    description: str = ""

    @model_validator(mode="after")
    def _agrees(self) -> Self:
        problems = [*self._bound_problems(), *self._choice_problems()]
        if not problems and self.default is not None:
            try:
                self.declaration().accept(self.default)
            except ValueError as error:
                problems = [Problem(("default",), str(error))]
            if not problems and self.type != "choice" and type(self.default) not in _TOML_TYPES[self.type]:
                expected = self.declaration().expected
                problems = [Problem(("default",), f"must be {expected}, but it is {described(self.default)}")]
        if problems:
            raise wrong(*problems)
        return self

    def _bound_problems(self) -> Iterator[Problem]:
        for name in ("minimum", "maximum"):
            if getattr(self, name) is not None and self.type not in ("integer", "number"):
                yield Problem((name,), f"has no meaning for a parameter of type {self.type}")
        if self.minimum is not None and self.maximum is not None and self.minimum > self.maximum:
            yield Problem(("maximum",), f"must be at least the minimum, {self.minimum}, but it is {self.maximum}")

    def _choice_problems(self) -> Iterator[Problem]:
        if self.type != "choice":
            if self.choices is not None:
                yield Problem(("choices",), f"has no meaning for a parameter of type {self.type}")
            return
        if not self.choices:
            yield Problem(("choices",), "must list at least one value of a parameter of type choice")
        for number, choice in enumerate(self.choices or ()):
            problem = argument_problem(choice)
            if problem:
                yield Problem(("choices", number), problem)

    def declaration(self) -> Parameter:
        return Parameter(
            type=self.type,
            default=self.default,
            minimum=self.minimum,
            maximum=self.maximum,
            choices=tuple(self.choices or ()),
            description=self.description,
        )


_TOML_TYPES: dict[str, tuple[type, ...]] = {
    "string": (str,),
    "integer": (int,),
    "number": (int, float),
    "boolean": (bool,),
    "path": (str,),
}


class _Pins(_Section):
    exclude: list[PinPattern] = []

    def and_those_of(self, other: _Pins) -> tuple[str, ...]:
        return tuple(dict.fromkeys((*self.exclude, *other.exclude)))


class _Command(_Section):
    run: list[str]
    preview: list[str] | None = None
    description: str = ""
    parameters: dict[ParameterName, _Parameter] = {}
    risk: RiskName = "high"
    timeout: Duration = 600.0
    exit_codes: Annotated[list[Annotated[int, Field(ge=0, le=255)]], Field(min_length=1)] = [0]
    pins: _Pins = _Pins()

    @model_validator(mode="after")
    def _agrees(self) -> Self:
        problems = list(template_problems("run", self.run, self.parameters))
        if self.preview is not None:
            problems += template_problems("preview", self.preview, self.parameters)
        used = holes_in([*self.run, *(self.preview or ())])
        problems += [
            Problem(("parameters", name), "is used neither in run nor in preview")
            for name in self.parameters
            if name not in used
        ]
        if problems:
            raise wrong(*problems)
        return self

    def declaration(self, name: str, pins: _Pins) -> CommandDeclaration:
        return CommandDeclaration(
            name=name,
            run=tuple(self.run),
            preview=None if self.preview is None else tuple(self.preview),
            parameters={key: parameter.declaration() for key, parameter in self.parameters.items()},
            risk=Risk(self.risk),
            timeout=self.timeout,
            exit_codes=tuple(self.exit_codes),
            description=self.description,
            pins=pins.and_those_of(self.pins),
        )


class _CommandTeam(_Team):
    commands: dict[CommandName, _Command] = {}


class _GraphTeam(_Team):
    kind: Literal["graph"]
    graph: str
    description: str = ""
    risk: RiskName = "high"
    timeout: Duration | None = None
    config: dict[str, Any] = {}
    context: dict[str, Any] | None = None
    state_types: list[str] = []
    saver: StoreAddress = ""
    pins: _Pins = _Pins()

    def declaration(self, name: str, pins: _Pins) -> GraphDeclaration:
        return GraphDeclaration(
            name=name,
            target=self.graph,
            folder="",
            description=self.description,
            risk=self.risk,
            timeout=self.timeout or 0.0,
            config=self.config,
            context=self.context,
            state_types=tuple(self.state_types),
            saver=self.saver,
            pins=pins.and_those_of(self.pins),
        )


def _is_graph(value: object) -> bool:
    return isinstance(value, dict) and "kind" in value


class _Teams(_Section):
    model_config = ConfigDict(extra="allow", strict=True, frozen=True)
    __pydantic_extra__: dict[str, _GraphTeam]

    search_team: _SearchTeam = _SearchTeam()
    analysis_team: _Team = _Team()
    document_team: _DocumentTeam = _DocumentTeam()
    command_team: _CommandTeam = _CommandTeam()

    @model_validator(mode="before")
    @classmethod
    def _known(cls, data: object) -> object:
        if isinstance(data, dict):
            problems = [
                Problem((name,), "", unknown_among=TEAMS)
                if not _is_graph(team)
                else Problem((name,), "is no team name: begin with a lower-case letter, then use letters, digits and _")
                for name, team in data.items()
                if name not in TEAMS and not (_is_graph(team) and _TEAM_NAME.fullmatch(name))
            ]
            if problems:
                raise wrong(*problems)
        return data


class _Policy(_Section):
    team: TeamName | None = None
    command: str | None = None
    tool: str | None = None
    arguments: dict[str, Any] | None = None
    risk: RiskName | None = None
    decision: Literal["allow", "ask", "deny"]
    quorum: Annotated[int, Field(ge=1, le=100)] = 1
    level: Annotated[int, Field(ge=0, le=100)] = 0
    deadline: Duration | None = None
    on_deadline: Literal["reject", "approve"] | None = None
    veto: bool = True

    @model_validator(mode="after")
    def _agrees(self, info: ValidationInfo) -> Self:
        problems = [*self._command_problems(declared(info).commands), *self._tool_problems()]
        if self.on_deadline is not None and self.deadline is None:
            problems.append(Problem(("on_deadline",), "says what happens at a deadline, but there is no deadline"))
        if problems:
            raise wrong(*problems)
        return self

    def _tool_problems(self) -> Iterator[Problem]:
        if self.tool == "":
            yield Problem(("tool",), "must not be empty")
        if self.tool is not None and self.command is not None:
            yield Problem(("tool",), "is for what graphs call, so there is no command beside it")
        if self.tool is not None and self.decision == "allow":
            yield Problem(("decision",), 'has to be "ask" or "deny" for a tool: a graph that asks waits for an answer')
        if self.arguments is not None and self.tool is None:
            yield Problem(("arguments",), "are those of a tool, but there is no tool")
        elif self.arguments is not None:
            from hitl_tui.core.interrupts.json_schema import why_unusable

            if why := why_unusable(self.arguments):
                yield Problem(("arguments",), f"has to be a JSON Schema that can be used, but it {why}")

    def _command_problems(self, declared: Sequence[str]) -> Iterator[Problem]:
        if self.command is None:
            return
        if self.team not in (None, "command_team"):
            yield Problem(("command",), f"can only be given for command_team, not for {self.team}")
        elif self.command not in declared:
            hint = nearest(self.command, declared)
            rest = f"; did you mean {quoted(hint)}?" if hint else ""
            yield Problem(("command",), f"names no declared command, but {quoted(self.command)}{rest}")

    def rule(self) -> Rule:
        return Rule(
            decision=Ruling(self.decision),
            team=self.team or "",
            risk=self.risk or "",
            command=self.command or "",
            tool=self.tool or "",
            arguments=self.arguments or {},
            terms=Terms(
                quorum=self.quorum,
                level=self.level,
                deadline=self.deadline or 0.0,
                on_deadline=self.on_deadline or "reject",
                veto=self.veto,
            ),
        )


class _Secrets(_Section):
    names: list[EnvironmentName] = []


class _File(_Section):
    defaults: _Defaults = _Defaults()
    teams: _Teams = _Teams()
    policy: list[_Policy] = []
    secrets: _Secrets = _Secrets()
    pins: _Pins = _Pins()

    @property
    def graphs(self) -> dict[str, _GraphTeam]:
        return self.teams.__pydantic_extra__ or {}

    def settings(self) -> WorkspaceConfig:
        commands = self.teams.command_team.commands
        return WorkspaceConfig(
            mode=Mode(self.defaults.mode),
            concurrency=self.defaults.concurrency,
            policy=Policy(tuple(policy.rule() for policy in self.policy)),
            search=SearchSettings(documents=tuple(self.teams.search_team.documents)),
            document=DocumentSettings(folder=self.teams.document_team.folder),
            commands={name: command.declaration(name, self.pins) for name, command in commands.items()},
            graphs={name: team.declaration(name, self.pins) for name, team in self.graphs.items()},
            disabled=frozenset(team for team in (*TEAMS, *self.graphs) if not getattr(self.teams, team).enabled),
            secret_names=tuple(dict.fromkeys(self.secrets.names)),
            pins=tuple(dict.fromkeys(self.pins.exclude)),
        )


def _declarations(data: dict[str, Any]) -> Declared:
    """Return what a file that has not been checked yet declares."""
    teams = data.get("teams")
    found: Any = teams
    for key in ("command_team", "commands"):
        found = found.get(key) if isinstance(found, dict) else None
    graphs = [name for name, team in teams.items() if _is_graph(team)] if isinstance(teams, dict) else []
    return Declared(tuple(found) if isinstance(found, dict) else (), tuple(graphs))
