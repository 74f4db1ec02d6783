"""A settings file in which nothing is wrong, read without pydantic: that takes longer to import than all the rest.

Here stands only what is certainly right. Whatever else a file says, `config.schema` judges it and says what is wrong.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

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
from hitl_tui.config.figure_limits import figure_name_problem, parse_limit
from hitl_tui.config.pins import pattern_problem
from hitl_tui.config.workspace import (
    LONGEST_DURATION,
    TEAMS,
    DocumentSettings,
    SearchSettings,
    WorkspaceConfig,
    parse_duration,
)
from hitl_tui.core.json_types import Json
from hitl_tui.core.policy import Mode, Policy, Risk, Rule, Ruling, Terms

COMMAND_NAME = re.compile(r"[a-z0-9][a-z0-9_-]*")
ENVIRONMENT_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")

_LONGEST_NAME = 80

T = TypeVar("T")
Reader = Callable[[Any], T]
"""Takes what a file says and returns it as it counts. Raises ValueError where that isn't certainly right."""


def read_quickly(data: Mapping[str, Json]) -> WorkspaceConfig | None:
    """Return the settings that a parsed file holds; None where the schema has to judge them."""
    try:
        return _settings(_FILE(data))
    except (ValueError, TypeError):
        return None


def _settings(file: Mapping[str, Any]) -> WorkspaceConfig:
    teams: Mapping[str, Any] = file.get("teams", {})
    pins = file.get("pins", {}).get("exclude", [])
    declared = teams.get("command_team", {}).get("commands", {})
    defaults = file.get("defaults", {})
    return WorkspaceConfig(
        mode=Mode(defaults.get("mode", "step")),
        concurrency=defaults.get("concurrency", 4),
        policy=Policy(tuple(_rule(rule, declared) for rule in file.get("policy", ()))),
        search=SearchSettings(documents=tuple(teams.get("search_team", {}).get("documents", ["."]))),
        document=DocumentSettings(folder=teams.get("document_team", {}).get("folder", "reports")),
        commands={name: _command(name, command, pins) for name, command in declared.items()},
        disabled=frozenset(name for name in TEAMS if not teams.get(name, {}).get("enabled", True)),
        secret_names=tuple(dict.fromkeys(file.get("secrets", {}).get("names", ()))),
        pins=tuple(dict.fromkeys(pins)),
    )


def _command(name: str, said: Mapping[str, Any], pins: list[str]) -> CommandDeclaration:
    run, preview, parameters = said["run"], said.get("preview"), said.get("parameters", {})
    _none(command_problems(run, preview, parameters))
    return CommandDeclaration(
        name=name,
        run=tuple(run),
        preview=None if preview is None else tuple(preview),
        parameters=parameters,
        risk=Risk(said.get("risk", "high")),
        timeout=said.get("timeout", 600.0),
        exit_codes=tuple(said.get("exit_codes", [0])),
        description=said.get("description", ""),
        titles={language: title for language, title in said.get("titles", {}).items() if title.strip()},
        expect=said.get("expect", {}),
        pins=tuple(dict.fromkeys((*pins, *said.get("pins", {}).get("exclude", ())))),
    )


def _rule(said: Mapping[str, Any], commands: Mapping[str, object]) -> Rule:
    command, team = said.get("command"), said.get("team")
    if command is not None and (team not in (None, "command_team") or command not in commands):
        raise ValueError(command)
    if "on_deadline" in said and "deadline" not in said:
        raise ValueError(said)
    outside = {key: said[key] for key in ("agent", "action") if key in said}
    _none((outside and (team or command)) or ("arguments" in said and not (outside or team or command)))
    return Rule(
        decision=Ruling(said["decision"]),
        team=team or "",
        risk=said.get("risk", ""),
        command=command or "",
        arguments=said.get("arguments", {}),
        agent=said.get("agent", ""),
        action=said.get("action", ""),
        name=said.get("name", ""),
        terms=Terms(
            quorum=said.get("quorum", 1),
            level=said.get("level", 0),
            deadline=said.get("deadline", 0.0),
            on_deadline=said.get("on_deadline", "reject"),
            veto=said.get("veto", True),
        ),
    )


def _none(problems: object) -> None:
    if problems:
        raise ValueError(problems)


def _of(kind: type[T]) -> Reader[T]:
    """Return a reader of values of exactly this type: a boolean is no number here."""

    def read(value: object) -> T:
        if type(value) is not kind:
            raise ValueError(value)
        return value

    return read


_TEXT, _FLAG = _of(str), _of(bool)


def _fit(*problems: Callable[[str], object]) -> Reader[str]:
    """Return a reader of texts with which nothing is wrong."""

    def read(value: object) -> str:
        text = _TEXT(value)
        for problem in problems:
            _none(problem(text))
        return text

    return read


def _matching(fits: Callable[[str], object]) -> Reader[str]:
    return _fit(lambda text: not fits(text))


def _one_of(*names: str) -> Reader[str]:
    return _matching(names.__contains__)


def _whole(least: int, most: int) -> Reader[int]:
    def read(value: object) -> int:
        number = _of(int)(value)
        _none(not least <= number <= most)
        return number

    return read


def _number(value: object) -> int | float:
    if not is_number(value):
        raise ValueError(value)
    return value


def _duration(value: object) -> float:
    seconds = parse_duration(value) if isinstance(value, str) else float(_number(value))
    _none(not 0 < seconds <= LONGEST_DURATION)
    return seconds


def _list(item: Reader[T], least: int = 0) -> Reader[list[T]]:
    def read(value: object) -> list[T]:
        items: list[object] = _of(list)(value)
        _none(len(items) < least)
        return [item(one) for one in items]

    return read


def _table(fields: Mapping[str, Reader[Any]], *needed: str) -> Reader[dict[str, Any]]:
    """Return a reader of tables that have no other keys than these."""

    def read(value: object) -> dict[str, Any]:
        table: dict[str, object] = _of(dict)(value)
        _none(not set(needed) <= table.keys() <= fields.keys())
        return {key: fields[key](one) for key, one in table.items()}

    return read


def _named(fits: Callable[[str], object], item: Reader[T]) -> Reader[dict[str, T]]:
    """Return a reader of tables whose keys are names."""
    name = _matching(fits)

    def read(value: object) -> dict[str, T]:
        table: dict[str, object] = _of(dict)(value)
        return {name(key): item(one) for key, one in table.items()}

    return read


def _schema(value: object) -> dict[str, Any]:
    from hitl_tui.core.interrupts.json_schema import why_unusable

    found: dict[str, Any] = _of(dict)(value)
    _none(why_unusable(found))
    return found


def _parameter(value: object) -> Parameter:
    said = _PARAMETER(value)
    choices = said.get("choices")
    parameter = Parameter(**{**said, "choices": tuple(choices or ())})
    _none(parameter_problems(parameter, choices))
    return parameter


_RISK = _one_of("low", "medium", "high")
_PATH = _fit(argument_problem, path_problem)
_PINS = _table({"exclude": _list(_fit(argument_problem, pattern_problem))})
_PARAMETER = _table(
    {
        "type": _one_of("string", "integer", "number", "boolean", "path", "choice"),
        "default": lambda value: value,
        "minimum": _number,
        "maximum": _number,
        "choices": _list(_TEXT),
        "description": _TEXT,
        "descriptions": _named(("en", "ko").__contains__, _TEXT),
    },
    "type",
)
_COMMAND = _table(
    {
        "run": _list(_TEXT),
        "preview": _list(_TEXT),
        "description": _TEXT,
        "titles": _named(("en", "ko").__contains__, _TEXT),
        "parameters": _named(is_parameter_name, _parameter),
        "risk": _RISK,
        "timeout": _duration,
        "exit_codes": _list(_whole(0, 255), least=1),
        "expect": _named(lambda name: not figure_name_problem(name), parse_limit),
        "pins": _PINS,
    },
    "run",
)
_PATTERN = _matching(bool)
_POLICY = _table(
    {
        "name": _matching(lambda text: len(text) <= _LONGEST_NAME),
        "team": _one_of(*TEAMS),
        "command": _TEXT,
        "agent": _PATTERN,
        "action": _PATTERN,
        "arguments": _schema,
        "risk": _RISK,
        "decision": _one_of("allow", "ask", "deny"),
        "quorum": _whole(1, 100),
        "level": _whole(0, 100),
        "deadline": _duration,
        "on_deadline": _one_of("reject", "approve"),
        "veto": _FLAG,
    },
    "decision",
)
_FILE = _table(
    {
        "defaults": _table({"mode": _one_of("step", "plan", "risk"), "concurrency": _whole(1, 64)}),
        "teams": _table(
            {
                "search_team": _table({"enabled": _FLAG, "documents": _list(_PATH, least=1)}),
                "analysis_team": _table({"enabled": _FLAG}),
                "table_team": _table({"enabled": _FLAG}),
                "document_team": _table({"enabled": _FLAG, "folder": _PATH}),
                "command_team": _table({"enabled": _FLAG, "commands": _named(COMMAND_NAME.fullmatch, _COMMAND)}),
            }
        ),
        "policy": _list(_POLICY),
        "secrets": _table({"names": _list(_matching(ENVIRONMENT_NAME.fullmatch))}),
        "pins": _PINS,
    }
)
