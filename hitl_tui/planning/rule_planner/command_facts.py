"""What planning knows of what can be called: declared commands, and functions and tools that are teams."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from pathlib import PurePosixPath
from typing import Any

from hitl_tui.config.declared_commands import CommandDeclaration
from hitl_tui.core.json_types import Json, JsonSchema
from hitl_tui.core.plan import AgentFacts

COMMANDS = "command_team"
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
        reads_results: it looks at what earlier steps found.
        words: it takes the words themselves.
    """

    name: str
    description: str = ""
    parameters: Mapping[str, ParameterFacts] = field(default_factory=dict)
    titles: Mapping[str, str] = field(default_factory=dict)
    runs: tuple[str, ...] = ()
    agent: str = COMMANDS
    reads_results: bool = False
    words: bool = False

    @property
    def own(self) -> bool:
        """Whether it is a team of its own."""
        return self.agent != COMMANDS


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
    """Return the facts of the enabled teams that people brought, but those whose input takes a guide."""
    found = {}
    for name, agent in agents.items():
        if name not in BUILT_IN and agent.enabled and agent.guide is None:
            schema = agent.schema()
            required = frozenset(schema.get("required", ()))
            found[name] = CommandFacts(
                name=name,
                description=str(agent.description),
                parameters={
                    str(key): _schema_parameter(part, key in required)
                    for key, part in schema.get("properties", {}).items()
                },
                agent=name,
                reads_results=agent.reads_results,
                words=not schema,
            )
    return found


_RUNNERS = frozenset(
    {"uv", "uvx", "poetry", "pipx", "npx", "npm", "pnpm", "yarn", "run", "exec", "env", "sudo", "nice"}
    | {"python", "python3", "node", "bash", "sh", "ruby", "perl"}
)


def _programs(run: Sequence[str]) -> tuple[str, ...]:
    """Return the program of an argument vector: the first word that isn't an option, a hole or what starts programs."""
    words = (PurePosixPath(word).stem for word in run if not word.startswith("-") and "{" not in word)
    return tuple(islice((word for word in words if word not in _RUNNERS), 1))


def _schema_parameter(part: JsonSchema, required: bool) -> ParameterFacts:
    members = [part, *(m for key in ("anyOf", "oneOf", "allOf") for m in part.get(key, ()) if isinstance(m, Mapping))]
    kinds = [kind for member in members for kind in _listed(member.get("type"))]
    formats = " ".join(str(member.get("format", "")) for member in members)
    choices = [c for member in members for c in (*_listed(member.get("enum")), *_listed(member.get("const")))]
    kind = next((k for k in kinds if k in ("number", "integer", "boolean", "array", "string")), "any")
    kind = "choice" if choices else next((k for k in ("date", "path") if k in formats), kind)
    items = next((m["items"] for m in members if isinstance(m.get("items"), Mapping)), None)
    inner = _schema_parameter(items, False) if items else ParameterFacts("")
    said = tuple(str(c) for c in choices if c is not None) or inner.choices
    return ParameterFacts(kind, part.get("default"), said, str(part.get("description", "")), required, inner.type)


def _listed(value: Any) -> Sequence[Any]:
    return value if isinstance(value, list | tuple) else () if value is None else (value,)
