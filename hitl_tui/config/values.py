"""The values of hitl.toml that are more than text, a number or a list: each is checked by itself."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Annotated, Literal

from pydantic import AfterValidator, PlainValidator, ValidationInfo
from pydantic_core import PydanticCustomError

from hitl_tui.config.graphs import holds_password
from hitl_tui.config.parameters import argument_problem, is_number, path_problem
from hitl_tui.config.pins import pattern_problem
from hitl_tui.config.problems import Problem
from hitl_tui.config.templates import is_parameter_name
from hitl_tui.config.words import described, nearest, quoted
from hitl_tui.config.workspace import LONGEST_DURATION, TEAMS, parse_duration

_COMMAND_NAME = re.compile(r"[a-z0-9][a-z0-9_-]*")
_ENVIRONMENT_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


@dataclass(frozen=True, slots=True)
class Declared:
    """Names that a file declares, which values elsewhere in it refer to: the context of a validation."""

    commands: tuple[str, ...] = ()
    graphs: tuple[str, ...] = ()


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
            raise wrong(Problem((), f"{error}, but it is {quoted(value)}")) from error
    elif is_number(value):
        seconds = float(value)
    else:
        raise wrong(Problem((), f'must be a duration such as "10m", or seconds, but it is {described(value)}'))
    if not 0 < seconds <= LONGEST_DURATION:
        raise wrong(Problem((), f"must be more than 0 and at most 365 days, but it is {described(value)}"))
    return seconds


def _number(value: object) -> int | float:
    if not is_number(value):
        raise wrong(Problem((), f"must be a number, but it is {described(value)}"))
    return value


def _workspace_path(value: str) -> str:
    problem = argument_problem(value) or path_problem(value)
    if problem:
        raise wrong(Problem((), f"{problem}, but it is {quoted(value)}"))
    return value


def _pin(value: str) -> str:
    problem = argument_problem(value) or pattern_problem(value)
    if problem:
        raise wrong(Problem((), f"{problem}, but it is {quoted(value)}"))
    return value


def _team(value: str, info: ValidationInfo) -> str:
    known = (*TEAMS, *declared(info).graphs)
    if value not in known:
        hint = nearest(value, known)
        rest = f"did you mean {quoted(hint)}?" if hint else f"known teams are {', '.join(known)}"
        raise wrong(Problem((), f"names no known team, but {quoted(value)}; {rest}"))
    return value


def _store(value: str) -> str:
    if holds_password(value):
        raise wrong(Problem((), "holds a password, which would be shown: give it in PGPASSWORD or ~/.pgpass"))
    return value


def _command_name(value: str) -> str:
    if not _COMMAND_NAME.fullmatch(value):
        raise wrong(Problem((), "is no command name: use lower-case letters, digits, - and _"))
    return value


def _parameter_name(value: str) -> str:
    if not is_parameter_name(value):
        raise wrong(
            Problem((), "is no parameter name: begin with a lower-case letter, then use letters, digits, - and _")
        )
    return value


def _environment_name(value: str) -> str:
    if not _ENVIRONMENT_NAME.fullmatch(value):
        raise wrong(Problem((), f"must be the name of an environment variable, but it is {quoted(value)}"))
    return value


Duration = Annotated[float, PlainValidator(_duration)]
"""Seconds, also written as `10m`."""
Number = Annotated[int | float, PlainValidator(_number)]
WorkspacePath = Annotated[str, AfterValidator(_workspace_path)]
PinPattern = Annotated[str, AfterValidator(_pin)]
RiskName = Literal["low", "medium", "high"]
TeamName = Annotated[str, AfterValidator(_team)]
StoreAddress = Annotated[str, AfterValidator(_store)]
CommandName = Annotated[str, AfterValidator(_command_name)]
ParameterName = Annotated[str, AfterValidator(_parameter_name)]
EnvironmentName = Annotated[str, AfterValidator(_environment_name)]
