"""What planning knows of what can be called: declared commands, and functions and tools that are teams."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from pathlib import PurePosixPath
from typing import Any

from hitl_tui.config.declared_commands import CommandDeclaration
from hitl_tui.core.interrupts.schema_fields import choices, fields_schema, resolved
from hitl_tui.core.json_types import Json, JsonObject, JsonSchema
from hitl_tui.core.plan import AgentFacts

COMMANDS = "command_team"
_TYPES = ("string", "integer", "number", "boolean", "array", "date", "path")
BUILT_IN = frozenset({"search_team", "analysis_team", "document_team", COMMANDS})


@dataclass(frozen=True, slots=True)
class ParameterFacts:
    """A parameter of a command or a team.

    Args:
        type: `string`, `integer`, `number`, `boolean`, `path`, `choice`, `array`, `date`, or `any`.
        choices: of a choice, or of what an array holds.
        required: it has to be given; unless said, where it has no default.
        items: the type of what an array holds.
    """

    type: str = "string"
    default: Json = None
    choices: tuple[str, ...] = ()
    description: str = ""
    required: bool | None = None
    items: str = ""

    @property
    def needed(self) -> bool:
        """Whether nothing can be called without it."""
        return self.default is None if self.required is None else self.required


@dataclass(frozen=True, slots=True)
class CommandFacts:
    """What planning knows of something that can be called.

    Args:
        titles: what its steps are called, by language.
        runs: the programs that it runs, as a person would name them.
        agent: who takes its steps: the team itself, or the team that runs commands.
        argument: the argument of a step that holds what it is called with; empty where all arguments do together.
        reads_results: it looks at what earlier steps found.
    """

    name: str
    description: str = ""
    parameters: Mapping[str, ParameterFacts] = field(default_factory=dict)
    titles: Mapping[str, str] = field(default_factory=dict)
    runs: tuple[str, ...] = ()
    agent: str = COMMANDS
    argument: str = "parameters"
    reads_results: bool = False

    @property
    def own(self) -> bool:
        """Whether it is a team of its own."""
        return self.agent != COMMANDS

    @property
    def spoken(self) -> tuple[str, ...]:
        """What people call it: its name, and what its steps are called."""
        return tuple(dict.fromkeys((self.name, *self.titles.values())))

    @property
    def takes_words(self) -> bool:
        """Whether it is a team that takes what it is told as it is, without parameters."""
        return self.own and not self.parameters

    def inputs(self, given: JsonObject) -> dict[str, Json]:
        """Return the input of a step that calls it with exactly these values."""
        held: dict[str, Json] = {self.argument: dict(given)} if self.argument else dict(given)
        return held if self.own else {"command": self.name, **held}

    def given(self, arguments: JsonObject) -> JsonObject | None:
        """Return the values that a step calls it with, from the step's arguments; None where they aren't there."""
        found = arguments.get(self.argument) if self.argument else arguments
        return found if isinstance(found, Mapping) else None


def command_facts(declarations: Mapping[str, CommandDeclaration]) -> dict[str, CommandFacts]:
    return {
        name: CommandFacts(
            name=name,
            description=declared.description,
            titles=declared.titles,
            parameters={
                key: ParameterFacts(one.type, one.default, one.choices, one.description)
                for key, one in declared.parameters.items()
            },
            runs=_programs(declared.run),
        )
        for name, declared in declarations.items()
    }


def team_facts(agents: Mapping[str, AgentFacts]) -> dict[str, CommandFacts]:
    """Return the facts of the teams that people brought and that can be planned; those with a guide can't."""
    brought = (agent for name, agent in agents.items() if name not in BUILT_IN and agent.enabled)
    usable = (agent for agent in brought if agent.guide is None and not agent.problem)
    return {agent.name: _facts_of(agent, agent.schema()) for agent in usable}


def _facts_of(agent: AgentFacts, schema: JsonSchema) -> CommandFacts:
    fields: Mapping[str, Any] = fields_schema(schema)
    return CommandFacts(
        name=agent.name,
        description=str(agent.description),
        parameters={
            name: _parameter(part, schema, name in fields["required"]) for name, part in fields["properties"].items()
        },
        agent=agent.name,
        argument=agent.call_argument,
        reads_results=agent.reads_results,
    )


_RUNNERS = frozenset(
    {"uv", "uvx", "poetry", "pipx", "npx", "npm", "pnpm", "yarn", "run", "exec", "env", "sudo", "nice"}
    | {"python", "python3", "node", "bash", "sh", "ruby", "perl"}
)


def _programs(run: Sequence[str]) -> tuple[str, ...]:
    """Return the program of an argument vector: the first word that isn't an option, a hole or what starts programs."""
    words = (PurePosixPath(word).stem for word in run if not word.startswith("-") and "{" not in word)
    return tuple(islice((word for word in words if word not in _RUNNERS), 1))


def _parameter(schema: Any, whole: JsonSchema, required: bool) -> ParameterFacts:
    """Return a parameter as its schema describes it; one of several types is of `any`."""
    part: dict[str, Any] = resolved(schema, whole)
    items = _parameter(part["items"], whole, False) if "items" in part else ParameterFacts("")
    listed = tuple(str(choice) for choice in choices(part) or () if choice is not None)
    kind = part["format"] if part.get("format") in ("date", "path") else part.get("type")
    kind = "choice" if listed else kind if kind in _TYPES else "any"
    description = str(part.get("description", ""))
    return ParameterFacts(kind, part.get("default"), listed or items.choices, description, required, items.type)
