"""`AgentTool`: another team, or a declared command, as a tool that a model may call."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from hitl_tui.config.declared_commands import CommandDeclaration
from hitl_tui.core.json_types import Json, JsonObject, JsonSchema
from hitl_tui.core.policy import Risk
from hitl_tui.teams.contract import Team


@dataclass(frozen=True, slots=True)
class AgentTool:
    """What a model may call.

    Args:
        name: what it is called.
        team: carries a call out.
        command: the declared command that is called; empty for the team itself.
    """

    name: str
    team: Team
    command: str = ""

    @property
    def declared(self) -> CommandDeclaration | None:
        return self.team.commands.get(self.command)

    @property
    def description(self) -> str:
        return str(self.declared.description if self.declared is not None else self.team.description)

    def schema(self) -> JsonSchema:
        """Return the JSON Schema of its arguments; what a tool takes may have to be found out in a process."""
        if self.declared is not None:
            return _command_schema(self.declared)
        self.team.look()
        found = self.team.call_schema() or self.team.input_schema
        parts = found.get("properties") or {}
        kept = {name: part for name, part in parts.items() if not (isinstance(part, Mapping) and part.get("readOnly"))}
        required = [name for name in found.get("required", ()) if name in kept]
        more = {key: found[key] for key in ("$defs", "definitions") if key in found}
        return {"type": "object", "properties": kept, "required": required, **more}

    def bind(self, arguments: JsonObject) -> dict[str, Json]:
        """Return the exact input of a call. Raises BadInput: it can't be one."""
        if self.command:
            return self.team.bind("", {"command": self.command, "parameters": dict(arguments)})
        return self.team.bind("", dict(arguments))

    def exact(self, bound: JsonObject, arguments: JsonObject) -> JsonObject:
        """Return the arguments of a bound call as a person may change them, with what was filled in."""
        found = bound.get("parameters" if self.command else self.team.call_argument)
        return found if isinstance(found, Mapping) else arguments

    @property
    def risk(self) -> Risk:
        """The highest risk class that a call can have."""
        return self.declared.risk if self.declared is not None else self.team.risk


_TYPES = {"path": "string", "choice": "string"}


def _command_schema(declared: CommandDeclaration) -> JsonSchema:
    properties: dict[str, Json] = {}
    for name, parameter in declared.parameters.items():
        part: dict[str, Json] = {"type": _TYPES.get(parameter.type, parameter.type)}
        if parameter.choices:
            part["enum"] = list(parameter.choices)
        if parameter.default is not None:
            part["default"] = parameter.default
        if parameter.description:
            part["description"] = parameter.description
        properties[name] = part
    required = [name for name, parameter in declared.parameters.items() if parameter.default is None]
    return {"type": "object", "properties": properties, "required": required, "additionalProperties": False}
