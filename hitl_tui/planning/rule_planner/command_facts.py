"""What planning knows of declared commands and their parameters."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from hitl_tui.core.json_types import Json


@dataclass(frozen=True, slots=True)
class ParameterFacts:
    """A parameter of a declared command.

    Args:
        type: `string`, `integer`, `number`, `boolean`, `path` or `choice`.
        default: what it takes when not given; None makes it required.
        choices: of a choice.
    """

    type: str = "string"
    default: Json = None
    choices: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class CommandFacts:
    """What planning knows of a declared command; `titles` say what its steps are called, by language."""

    name: str
    description: str = ""
    parameters: Mapping[str, ParameterFacts] = field(default_factory=dict)
    titles: Mapping[str, str] = field(default_factory=dict)


class Declared(Protocol):
    """A declaration of a command; its `parameters` have `type`, `default` and `choices`."""

    @property
    def description(self) -> str: ...

    @property
    def titles(self) -> Mapping[str, str]: ...

    @property
    def parameters(self) -> Mapping[str, object]: ...


def command_facts(declarations: Mapping[str, Declared]) -> dict[str, CommandFacts]:
    """Return the facts of declared commands, by name."""
    return {
        name: CommandFacts(
            name=name,
            description=declared.description,
            titles=declared.titles,
            parameters={key: _parameter_facts(parameter) for key, parameter in declared.parameters.items()},
        )
        for name, declared in declarations.items()
    }


def _parameter_facts(parameter: Any) -> ParameterFacts:
    choices = tuple(str(c) for c in getattr(parameter, "choices", None) or ())
    return ParameterFacts(type=str(parameter.type), default=parameter.default, choices=choices)
