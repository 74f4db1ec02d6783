"""The form of hitl.toml: its tables, their values, and what has to fit together in them.

Only this module knows pydantic: what leaves it is plain data. Checks between values collect all they find, so that the
one which stands first in the file can be reported.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from inspect import isclass
from typing import Annotated, Any, Literal, Self, get_args

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    PlainValidator,
    ValidationError,
    ValidationInfo,
    model_validator,
)
from pydantic_core import PydanticCustomError

from hitl_tui.config.declared_agents import DEFAULT_TIMEOUT as AGENT_TIMEOUT
from hitl_tui.config.declared_agents import MOST_CALLS, PYTHON, AgentDeclaration
from hitl_tui.config.declared_commands import (
    CommandDeclaration,
    Parameter,
    argument_problem,
    command_problems,
    is_number,
    is_parameter_name,
    parameter_problems,
    path_problem,
)
from hitl_tui.config.declared_graphs import GraphDeclaration, holds_password, is_header, server_problem
from hitl_tui.config.declared_tools import DEFAULT_TIMEOUT, ToolDeclaration, server_problems, target_problems
from hitl_tui.config.figure_limits import FigureLimit, figure_name_problem, parse_limit
from hitl_tui.config.model_settings import ModelSettings, Prices, name_problem
from hitl_tui.config.model_settings import address_problem as server_address_problem
from hitl_tui.config.notify_settings import NotifySettings, address_problem
from hitl_tui.config.pins import pattern_problem
from hitl_tui.config.problems import Problem, described, quoted
from hitl_tui.config.quick_reader import COMMAND_NAME, ENVIRONMENT_NAME
from hitl_tui.config.review_settings import runtime_problem
from hitl_tui.config.team_entry_points import packaged_teams
from hitl_tui.config.workspace import (
    LONGEST_DURATION,
    TEAMS,
    DocumentSettings,
    SearchSettings,
    WorkspaceConfig,
    parse_duration,
)
from hitl_tui.core.json_types import Json
from hitl_tui.core.messages import Message
from hitl_tui.core.names import nearest
from hitl_tui.core.policy import Mode, Policy, Risk, Rule, Ruling, Terms


@dataclass(frozen=True, slots=True)
class Declared:
    """Names that a file declares, which values elsewhere in it refer to: the context of a validation."""

    commands: tuple[str, ...] = ()
    teams: tuple[str, ...] = ()


def declared(info: ValidationInfo) -> Declared:
    """Return what the file that is being checked declares."""
    return info.context or Declared()


def wrong(*problems: Problem) -> PydanticCustomError:
    """Return what a check raises; paths begin where the check stands."""
    return PydanticCustomError("hitl", "{problems}", {"problems": problems})


def _duration(value: object) -> float:
    if isinstance(value, str):
        try:
            seconds = parse_duration(value)
        except ValueError as error:
            raise wrong(Problem((), Message("{}, but it is {}", error, quoted(value)))) from error
    elif is_number(value):
        seconds = float(value)
    else:
        raise wrong(
            Problem((), Message('must be a duration such as "10m", or seconds, but it is {}', described(value)))
        )
    if not 0 < seconds <= LONGEST_DURATION:
        raise wrong(Problem((), Message("must be more than 0 and at most 365 days, but it is {}", described(value))))
    return seconds


def _number(value: object) -> int | float:
    if not is_number(value):
        raise wrong(Problem((), Message("must be a number, but it is {}", described(value))))
    return value


def _without(problem_of: Callable[[str], str]) -> AfterValidator:
    """Return a check of a text by what says why it can't be used; the text isn't repeated: it may hold a secret."""

    def check(value: str) -> str:
        if problem := problem_of(value):
            raise wrong(Problem((), problem))
        return value

    return AfterValidator(check)


def _argument_without(problem_of: Callable[[str], str]) -> AfterValidator:
    """Return a check of a part of an argument by what says why it can't be used otherwise."""

    def check(value: str) -> str:
        if problem := argument_problem(value) or problem_of(value):
            raise wrong(Problem((), Message("{}, but it is {}", problem, quoted(value))))
        return value

    return AfterValidator(check)


def _runtimes(value: object) -> tuple[str, ...]:
    places = value if isinstance(value, list) else [value]
    for place in places:
        if problem := runtime_problem(place if isinstance(place, str) else ""):
            raise wrong(Problem((), problem))
    return tuple(places)


def _not_negative(value: float) -> float:
    if value < 0:
        raise wrong(Problem((), Message("must be at least {}, but it is {}", 0, value)))
    return value


def _team(value: str, info: ValidationInfo) -> str:
    known = (*TEAMS, *declared(info).teams)
    if value not in known and value not in (known := (*known, *packaged_teams())):
        hint = nearest(value, known)
        rest = Message("did you mean {}?", quoted(hint)) if hint else Message("known teams are {}", ", ".join(known))
        raise wrong(Problem((), Message("names no known team, but {}; {}", quoted(value), rest)))
    return value


def _store(value: str) -> str:
    if holds_password(value):
        raise wrong(Problem((), Message("holds a password, which would be shown: give it in PGPASSWORD or ~/.pgpass")))
    return value


def _server(value: object) -> tuple[str, ...]:
    parts = [value] if isinstance(value, str) else value
    if not isinstance(parts, list) or not all(isinstance(part, str) for part in parts):
        said = Message(
            "must be an address (https://…) or a list of program and arguments, but it is {}", described(value)
        )
        raise wrong(Problem((), said))
    if problems := list(server_problems(value if isinstance(value, str) else parts)):
        raise wrong(*problems)
    return tuple(parts)


def _command_name(value: str) -> str:
    if not COMMAND_NAME.fullmatch(value):
        raise wrong(Problem((), Message("isn't a command name: use lower-case letters, digits, - and _")))
    return value


def _parameter_name(value: str) -> str:
    if not is_parameter_name(value):
        raise wrong(
            Problem(
                (), Message("isn't a parameter name: begin with a lower-case letter, then use letters, digits, - and _")
            )
        )
    return value


def _figure_limit(value: object) -> FigureLimit:
    try:
        return parse_limit(value)
    except ValueError as error:
        raise wrong(Problem((), error.args[0])) from error


def _environment_name(value: str) -> str:
    if not ENVIRONMENT_NAME.fullmatch(value):
        raise wrong(Problem((), Message("must be the name of an environment variable, but it is {}", quoted(value))))
    return value


Duration = Annotated[float, PlainValidator(_duration)]
"""Seconds, also written as `10m`."""
Number = Annotated[int | float, PlainValidator(_number)]
WorkspacePath = Annotated[str, _argument_without(path_problem)]
PinPattern = Annotated[str, _argument_without(pattern_problem)]
RiskName = Literal["low", "medium", "high"]
LanguageCode = Literal["en", "ko"]
TeamName = Annotated[str, AfterValidator(_team)]
StoreAddress = Annotated[str, AfterValidator(_store)]
Server = Annotated[tuple[str, ...], PlainValidator(_server)]
CommandName = Annotated[str, AfterValidator(_command_name)]
ParameterName = Annotated[str, AfterValidator(_parameter_name)]
FigureName = Annotated[str, _without(figure_name_problem)]
Limit = Annotated[FigureLimit, PlainValidator(_figure_limit)]
EnvironmentName = Annotated[str, AfterValidator(_environment_name)]


def problems_in(error: ValidationError, form: type[BaseModel], others: type[BaseModel]) -> Iterator[Problem]:
    """Yield what is wrong, in no order; a key that is needed and misspelt is only misspelt.

    Args:
        error: what the form raised.
        form: the form of the whole file.
        others: the form of the tables whose names aren't fixed.
    """
    errors = error.errors(include_url=False)
    strange = [found["loc"] for found in errors if found["type"] == "extra_forbidden"]
    meant = {(*path[:-1], nearest(str(path[-1]), _known_keys(path[:-1], form, others))) for path in strange}
    for found in errors:
        path = found["loc"]
        kind, context, value = found["type"], found.get("ctx", {}), found["input"]
        if path and path[-1] == "[key]":
            path = path[:-1]
        if kind == "hitl":
            for problem in context["problems"]:
                yield Problem((*path, *problem.path), problem.says, problem.unknown_among)
        elif kind == "extra_forbidden":
            yield Problem(path, "", unknown_among=_known_keys(path[:-1], form, others))
        elif kind == "missing":
            if path not in meant:
                yield Problem(path[:-1], Message("needs {}", quoted(str(path[-1]))))
        elif path == ("policy",) and isinstance(value, dict):
            yield Problem(path, Message("must be written as [[policy]], in double brackets"))
        else:
            yield Problem(path, _expectation(kind, context, found["msg"], value))


def _expectation(kind: str, context: Mapping[str, object], message: str, value: object) -> str:
    if kind == "too_short":
        return Message("must not be empty")
    if kind == "too_long":
        most, count = context.get("max_length"), context.get("actual_length")
        return Message("must have at most {} entries, but it has {}", most, count)
    expected = {
        "int_type": Message("a whole number"),
        "bool_type": Message("true or false"),
        "string_type": Message("text"),
        "list_type": Message("a list"),
        "dict_type": Message("a table"),
        "model_type": Message("a table"),
        "literal_error": Message(
            "one of {}", [quoted(one) for one in re.findall("'(.*?)'", str(context.get("expected")))]
        ),
        "greater_than_equal": Message("at least {}", context.get("ge")),
        "less_than_equal": Message("at most {}", context.get("le")),
    }.get(kind, "")
    if not expected:
        return Message("can't be used ({})", message)
    return Message("must be {}, but it is {}", expected, described(value))


def _known_keys(path: Sequence[str | int], form: type[BaseModel], others: type[BaseModel]) -> tuple[str, ...]:
    """Return the keys that the table at a path may have."""
    kind: Any = form
    for step in path:
        if isclass(kind) and issubclass(kind, BaseModel):
            kind = kind.model_fields[str(step)].annotation if step in kind.model_fields else others
        else:
            kind = get_args(kind)[-1]
    return tuple(kind.model_fields)


_TEAM_NAME = re.compile(r"[a-z][a-z0-9_]{0,63}")


def read(data: dict[str, Json]) -> WorkspaceConfig | list[Problem]:
    """Return the settings that a parsed file holds, or everything that is wrong with them, in no order."""
    try:
        return _File.model_validate(data, context=_declarations(data)).settings()
    except ValidationError as error:
        return list(problems_in(error, _File, _OwnTeam))


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
    descriptions: dict[LanguageCode, str] = {}

    @model_validator(mode="after")
    def _agrees(self) -> Self:
        if problems := parameter_problems(self.declaration(), self.choices):
            raise wrong(*problems)
        return self

    def declaration(self) -> Parameter:
        return Parameter(
            type=self.type,
            default=self.default,
            minimum=self.minimum,
            maximum=self.maximum,
            choices=tuple(self.choices or ()),
            description=self.description,
            descriptions=dict[str, str](self.descriptions.items()),
        )


class _Pins(_Section):
    exclude: list[PinPattern] = []

    def and_those_of(self, other: _Pins) -> tuple[str, ...]:
        return tuple(dict.fromkeys((*self.exclude, *other.exclude)))


class _Command(_Section):
    run: list[str]
    preview: list[str] | None = None
    description: str = ""
    titles: dict[LanguageCode, str] = {}
    parameters: dict[ParameterName, _Parameter] = {}
    risk: RiskName = "high"
    timeout: Duration = 600.0
    retries: Annotated[int, Field(ge=0, le=10)] = 0
    idempotent: bool = False
    optional: bool = False
    exit_codes: Annotated[list[Annotated[int, Field(ge=0, le=255)]], Field(min_length=1)] = [0]
    expect: dict[FigureName, Limit] = {}
    pins: _Pins = _Pins()

    @model_validator(mode="after")
    def _agrees(self) -> Self:
        problems = command_problems(self.run, self.preview, self.parameters)
        if self.retries and self.risk != "low" and not self.idempotent:
            problems = [*problems, Problem(("retries",), Message('needs risk = "low" or idempotent = true'))]
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
            retries=self.retries,
            optional=self.optional,
            description=self.description,
            titles={language: title for language, title in self.titles.items() if title.strip()},
            expect=self.expect,
            pins=pins.and_those_of(self.pins),
        )


class _CommandTeam(_Team):
    commands: dict[CommandName, _Command] = {}


_PACKAGED = "packaged"
"""Kind of a team that an installed package brings, and of which a file only says whether it is there."""
_MADE_FROM: Mapping[str, tuple[str, ...]] = {
    "function": ("function",),
    "tool": ("tool",),
    "mcp": ("server", "tool"),
    "graph": ("graph",),
    "remote": ("url",),
    "agent": ("prompt", "tools"),
    _PACKAGED: (),
}
"""What a team of each kind is made from."""
_TOOLS = ("function", "tool", "mcp")
_OTHERS: Mapping[str, tuple[str, ...]] = {
    **dict.fromkeys(_TOOLS, ("retries", "idempotent")),
    "graph": ("config", "context", "state_types", "saver"),
    "remote": ("config", "context", "assistant", "header_env", "inbox"),
    "agent": ("most_calls",),
    _PACKAGED: (),
}
"""What else has a meaning for some kinds only."""


class _OwnTeam(_Team):
    kind: Literal["function", "tool", "mcp", "graph", "remote", "agent", "packaged"]
    function: str = ""
    tool: str = ""
    server: Server = ()
    graph: str = ""
    url: str = ""
    assistant: str = ""
    header_env: dict[str, EnvironmentName] = {}
    inbox: bool = False
    description: str = ""
    risk: RiskName = "high"
    timeout: Duration | None = None
    retries: Annotated[int, Field(ge=0, le=10)] = 0
    idempotent: bool = False
    optional: bool = False
    config: dict[str, Any] = {}
    context: dict[str, Any] | None = None
    state_types: list[str] = []
    saver: StoreAddress = ""
    prompt: str = ""
    tools: list[str] = []
    most_calls: Annotated[int, Field(ge=1, le=1000)] = MOST_CALLS
    pins: _Pins = _Pins()

    @model_validator(mode="after")
    def _agrees(self, info: ValidationInfo) -> Self:
        takes = _MADE_FROM[self.kind]
        known = {key for keys in (*_MADE_FROM.values(), *_OTHERS.values()) for key in keys}
        if self.kind == _PACKAGED:
            known = type(self).model_fields.keys() - {"kind", "enabled"}
        problems = [
            Problem((key,), Message('has no meaning for a team of kind "{}"', self.kind))
            for key in sorted((known & self.model_fields_set).difference(takes, _OTHERS[self.kind]))
        ]
        needed = (key for key in takes if key != "tools" and not getattr(self, key))
        problems += [Problem((), Message("needs {}", quoted(key))) for key in needed]
        problems += _tool_problems(self.tools, declared(info))
        problems += [
            Problem(("header_env", header), Message("names no header that can be sent"))
            for header in self.header_env
            if not is_header(header)
        ]
        if self.url and (said := server_problem(self.url)):
            problems.append(Problem(("url",), said))
        if self.kind in ("function", "tool") and (target := getattr(self, self.kind)):
            problems += target_problems(self.kind, target)
        if self.retries and self.risk != "low" and not self.idempotent:
            problems.append(Problem(("retries",), Message('needs risk = "low" or idempotent = true')))
        if problems:
            raise wrong(*problems)
        return self

    def graph_declaration(self, name: str, pins: _Pins) -> GraphDeclaration:
        return GraphDeclaration(
            name=name,
            target=self.graph or self.url.rstrip("/"),
            folder="",
            description=self.description,
            risk=self.risk,
            timeout=self.timeout or 0.0,
            config=self.config,
            context=self.context,
            state_types=tuple(self.state_types),
            saver=self.saver,
            assistant=self.assistant,
            header_env=self.header_env,
            inbox=self.inbox,
            pins=pins.and_those_of(self.pins),
            optional=self.optional,
        )

    def agent_declaration(self, name: str) -> AgentDeclaration:
        return AgentDeclaration(
            name=name,
            prompt=self.prompt,
            tools=tuple(dict.fromkeys(self.tools)),
            description=self.description,
            risk=Risk(self.risk) if "risk" in self.model_fields_set else None,
            timeout=self.timeout or AGENT_TIMEOUT,
            optional=self.optional,
            most_calls=self.most_calls,
        )

    def tool_declaration(self, name: str, pins: _Pins) -> ToolDeclaration:
        mcp = self.kind == "mcp"
        return ToolDeclaration(
            name=name,
            kind=self.kind,
            target="" if mcp else getattr(self, self.kind),
            server=self.server,
            tool=self.tool if mcp else "",
            description=self.description,
            risk=Risk(self.risk),
            retries=self.retries,
            idempotent=self.idempotent,
            timeout=self.timeout or DEFAULT_TIMEOUT,
            optional=self.optional,
            pins=pins.and_those_of(self.pins),
        )


def _tool_problems(tools: Sequence[str], known: Declared) -> Iterator[Problem]:
    """Yield what is wrong with the tools of an agent."""
    usable = (*(team for team in TEAMS if team != "command_team"), *known.commands, *known.teams, PYTHON)
    for number, tool in enumerate(tools):
        if tool not in usable and tool not in (usable := (*usable, *packaged_teams())):
            hint = nearest(tool, usable)
            rest = Message("; did you mean {}?", quoted(hint)) if hint else ""
            yield Problem(
                ("tools", number), Message("names no team and no declared command, but {}{}", quoted(tool), rest)
            )


def _is_own_team(value: object) -> bool:
    made = ("kind", "function", "tool", "server", "graph", "url", "prompt")
    return isinstance(value, dict) and value.get("kind") != _PACKAGED and not value.keys().isdisjoint(made)


class _Teams(_Section):
    model_config = ConfigDict(extra="allow", strict=True, frozen=True)
    __pydantic_extra__: dict[str, _OwnTeam]

    search_team: _SearchTeam = _SearchTeam()
    analysis_team: _Team = _Team()
    document_team: _DocumentTeam = _DocumentTeam()
    command_team: _CommandTeam = _CommandTeam()
    table_team: _Team = _Team()

    @model_validator(mode="before")
    @classmethod
    def _known(cls, data: object) -> object:
        if isinstance(data, dict):
            strange = [n for n, team in data.items() if n not in TEAMS and not _is_own_team(team)]
            packaged = [n for n in packaged_teams() if n in strange and isinstance(data[n], dict)] if strange else []
            problems = [
                Problem((name,), "", unknown_among=TEAMS)
                if not _is_own_team(team)
                else Problem(
                    (name,),
                    Message("isn't a team name: begin with a lower-case letter, then use letters, digits and _"),
                )
                for name, team in data.items()
                if name not in (*TEAMS, *packaged) and not (_is_own_team(team) and _TEAM_NAME.fullmatch(name))
            ]
            if problems:
                raise wrong(*problems)
            return {**data, **{name: {**data[name], "kind": _PACKAGED} for name in packaged}}
        return data


class _Policy(_Section):
    name: Annotated[str, Field(max_length=80)] = ""
    team: TeamName | None = None
    command: str | None = None
    tool: str | None = None
    arguments: dict[str, Any] | None = None
    agent: str | None = None
    action: str | None = None
    request: Literal["plan", "proposal"] | None = None
    risk: RiskName | None = None
    decision: Literal["allow", "ask", "deny"]
    quorum: Annotated[int, Field(ge=1, le=100)] = 1
    level: Annotated[int, Field(ge=0, le=100)] = 0
    deadline: Duration | None = None
    on_deadline: Literal["reject", "approve"] | None = None
    veto: bool = True

    @model_validator(mode="after")
    def _agrees(self, info: ValidationInfo) -> Self:
        problems = [*self._command_problems(declared(info).commands), *self._tool_problems(), *self._step_problems()]
        problems += self._request_problems()
        if self.on_deadline is not None and self.deadline is None:
            problems.append(Problem(("on_deadline",), Message("needs a deadline, but none is given")))
        if problems:
            raise wrong(*problems)
        return self

    def _request_problems(self) -> Iterator[Problem]:
        if self.request is None:
            return
        of_steps = ("team", "command", "tool", "arguments", "agent", "action")
        if given := next((key for key in of_steps if getattr(self, key) is not None), ""):
            yield Problem(("request",), Message("is about a whole plan; it can't be combined with {}", given))
        if self.decision == "deny" or (self.request == "proposal" and self.decision == "allow"):
            of_plan, of_proposal = (
                Message('must be "ask" or "allow" for a plan'),
                Message('must be "ask" for a proposal'),
            )
            yield Problem(("decision",), of_plan if self.request == "plan" else of_proposal)

    def _tool_problems(self) -> Iterator[Problem]:
        if self.tool == "":
            yield Problem(("tool",), Message("must not be empty"))
        if self.tool is not None and self.command is not None:
            yield Problem(("tool",), Message("is for tools that graphs call; it can't be combined with a command"))
        if self.tool is not None and self.decision == "allow":
            yield Problem(
                ("decision",), Message('must be "ask" or "deny" for a tool: a graph that asks waits for an answer')
            )
        if self.arguments is not None and not any((self.tool, self.team, self.command, self.agent, self.action)):
            yield Problem(("arguments",), Message("need a tool, team, command, agent or action that has them"))
        elif self.arguments is not None:
            from hitl_tui.core.interrupts.json_schema import why_unusable

            if why := why_unusable(self.arguments):
                yield Problem(("arguments",), Message("must be a usable JSON Schema, but it {}", why))

    def _step_problems(self) -> Iterator[Problem]:
        for key, pattern in (("agent", self.agent), ("action", self.action)):
            if pattern == "":
                yield Problem((key,), Message("must not be empty"))
            elif pattern is not None and (self.team or self.command or self.tool):
                yield Problem(
                    (key,),
                    Message("is for tasks outside of sessions; it can't be combined with a team, command or tool"),
                )

    def _command_problems(self, declared: Sequence[str]) -> Iterator[Problem]:
        if self.command is None:
            return
        if self.team not in (None, "command_team"):
            yield Problem(("command",), Message("can only be given for command_team, not for {}", self.team))
        elif self.command not in declared:
            hint = nearest(self.command, declared)
            rest = Message("; did you mean {}?", quoted(hint)) if hint else ""
            yield Problem(("command",), Message("names no declared command, but {}{}", quoted(self.command), rest))

    def rule(self) -> Rule:
        return Rule(
            decision=Ruling(self.decision),
            team=self.team or "",
            risk=self.risk or "",
            command=self.command or "",
            tool=self.tool or "",
            arguments=self.arguments or {},
            agent=self.agent or "",
            action=self.action or "",
            name=self.name,
            request=self.request or "",
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


class _Notify(_Section):
    targets: list[Annotated[str, _without(address_problem)]] = []
    on: list[Literal["opened", "half_time", "decided"]] = ["opened", "half_time", "decided"]
    arguments: bool = False

    def settings(self) -> NotifySettings:
        return NotifySettings(tuple(dict.fromkeys(self.targets)), tuple(self.on), self.arguments)


class _Review(_Section):
    runtime: Annotated[tuple[str, ...], PlainValidator(_runtimes)] = ()


class _Prices(_Section):
    input: Annotated[Number, AfterValidator(_not_negative)]
    output: Annotated[Number, AfterValidator(_not_negative)]


class _Model(_Section):
    """`model = "provider:name"` stands for a table that has the name alone."""

    name: Annotated[str, _without(name_problem)] = ""
    base_url: Annotated[str, _without(server_address_problem)] = ""
    timeout: Duration = 120.0
    retries: Annotated[int, Field(ge=0, le=10)] = 2
    requests_per_minute: Annotated[int, Field(ge=0, le=100_000)] = 0
    longest_answer: Annotated[int, Field(ge=256, le=1_000_000)] = 8192
    budget: Annotated[Number, AfterValidator(_not_negative)] = 0.0
    token_budget: Annotated[int, Field(ge=0)] = 0
    prices: _Prices | None = None
    proposals: bool = True
    answers: bool = True

    @model_validator(mode="before")
    @classmethod
    def _written(cls, data: object) -> object:
        return {"name": data} if isinstance(data, str) else data

    def settings(self) -> ModelSettings:
        prices = Prices(float(self.prices.input), float(self.prices.output)) if self.prices else None
        return ModelSettings(
            name=self.name,
            base_url=self.base_url,
            timeout=self.timeout,
            retries=self.retries,
            requests_per_minute=self.requests_per_minute,
            longest_answer=self.longest_answer,
            budget=float(self.budget),
            token_budget=self.token_budget,
            prices=prices,
            proposals=self.proposals,
            answers=self.answers,
        )


class _File(_Section):
    defaults: _Defaults = _Defaults()
    teams: _Teams = _Teams()
    policy: list[_Policy] = []
    secrets: _Secrets = _Secrets()
    pins: _Pins = _Pins()
    notify: _Notify = _Notify()
    model: _Model = _Model()
    review: _Review = _Review()

    @property
    def own_teams(self) -> dict[str, _OwnTeam]:
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
            graphs={
                n: t.graph_declaration(n, self.pins) for n, t in self.own_teams.items() if t.kind in ("graph", "remote")
            },
            tools={n: t.tool_declaration(n, self.pins) for n, t in self.own_teams.items() if t.kind in _TOOLS},
            agents={n: t.agent_declaration(n) for n, t in self.own_teams.items() if t.kind == "agent"},
            disabled=frozenset(team for team in (*TEAMS, *self.own_teams) if not getattr(self.teams, team).enabled),
            secret_names=tuple(dict.fromkeys(self.secrets.names)),
            pins=tuple(dict.fromkeys(self.pins.exclude)),
            notify=self.notify.settings(),
            model=self.model.settings(),
            reviewed=self.review.runtime,
        )


def _declarations(data: dict[str, Json]) -> Declared:
    """Return what a file that has not been checked yet declares."""
    teams = data.get("teams")
    found: Any = teams
    for key in ("command_team", "commands"):
        found = found.get(key) if isinstance(found, dict) else None
    own = [name for name, team in teams.items() if _is_own_team(team)] if isinstance(teams, dict) else []
    return Declared(tuple(found) if isinstance(found, dict) else (), tuple(own))
