"""`ToolTeam`: a function, a LangChain tool or a tool of an MCP server as a team."""

from __future__ import annotations

import asyncio
import json
import logging
import os
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Required, TypedDict, cast

from hitl_tui.config.declared_commands import CommandDeclaration, command_environment
from hitl_tui.config.declared_graphs import GraphDeclaration
from hitl_tui.config.declared_tools import ToolDeclaration
from hitl_tui.core.errors import BadInput, MissingInput
from hitl_tui.core.interrupts.json_schema import expects
from hitl_tui.core.interrupts.schema_fields import fields_schema
from hitl_tui.core.json_types import Json, JsonObject, JsonSchema
from hitl_tui.core.messages import Message
from hitl_tui.core.policy import Risk
from hitl_tui.core.safe_markdown import fenced
from hitl_tui.core.secret_names import with_values
from hitl_tui.graphs.graph_source import Imports, source_of
from hitl_tui.policy.executable_files import WHOLE, Bindings, Surroundings
from hitl_tui.teams.arguments import exact_arguments, fields_of, given_in
from hitl_tui.teams.bounded_output import NOTES
from hitl_tui.teams.contract import (
    PROGRAMS,
    Team,
    TeamContext,
    TeamGraph,
    TeamResult,
    TeamSources,
    in_steps,
    nobody_trusts,
    one,
)
from hitl_tui.teams.tool.calls import Described, Descriptions, call

if TYPE_CHECKING:
    from langgraph.runtime import Runtime

STOP_MARGIN = 15.0
"""Seconds that stopping a call may take."""
_SUMMARY = 160
_WORDS: Mapping[str, Mapping[str, str]] = MappingProxyType(
    {
        "en": {
            "nothing": "It ended and returned nothing.",
            "declared_done": "A person said that it was done; what it returned is not known.",
        },
        "ko": {
            "nothing": "반환한 값 없이 끝났습니다.",
            "declared_done": "완료되었다고 사람이 확인했습니다. 반환한 값은 알 수 없습니다.",
        },
    }
)

log = logging.getLogger(__name__)


class ToolState(TypedDict, total=False):
    """State of the team's graph: the task, what was returned, the result."""

    task: str
    returned: dict[str, Any]
    result: dict[str, Any]


class ToolArguments(TypedDict, total=False):
    """The exact input of one call."""

    input: Required[dict[str, Json]]
    calls: Required[str]
    programs: Mapping[str, str]


class ToolTeam(Team):
    """Somebody's function or tool, called in a process of its own.

    What it takes and says of itself is read when it is first needed, in such a process, too: its module is never
    imported here. What its code says is part of what is approved: `programs`, looked up anew whatever stands there.

    Args:
        declaration: which tool, and what it needs.
        workspace: absolute path of the folder it works in; empty for the declaration's own.
        bindings: finds what it may execute.
        around: what of the workspace's settings says which files are code.
        descriptions: what tools say of themselves.
        secret_names: declared secrets; reading it finds them in its environment, as a call does, where nothing speaks
            against that.
        why_no_secrets: says why it is read without them, one sentence; empty when it isn't.
    """

    takes_question = False
    call_argument = "input"

    def __init__(
        self,
        declaration: ToolDeclaration,
        workspace: str = "",
        bindings: Bindings | None = None,
        around: Surroundings | None = None,
        descriptions: Descriptions | None = None,
        secret_names: tuple[str, ...] = (),
        why_no_secrets: Callable[[ToolDeclaration], str] = nobody_trusts,
    ) -> None:
        folder = declaration.folder or workspace or str(Path.cwd())
        self.declaration = replace(declaration, folder=folder)
        self.name = declaration.name
        self.risk = declaration.risk
        self.max_retries = declaration.max_retries
        self.idempotent = declaration.idempotent
        self.optional = declaration.optional
        self.timeout = declaration.timeout + STOP_MARGIN
        self.description = declaration.description or Message("Calls {}", one(declaration.calls, 120))
        self.reads_results = False
        self.bindings: Bindings = bindings or Bindings()
        self._around = around or Surroundings()
        self._descriptions = descriptions or Descriptions(None)
        self._secret_names = secret_names
        self._why_no_secrets = why_no_secrets
        self._imports: dict[str, Imports] = {}
        self._known: tuple[Mapping[str, str], Described | BadInput] | None = None
        self._outdated = False
        """What is known of it may be too old: no file tells when a server at an address changes."""
        self._withheld = False
        """It was read last without the secrets that there are."""

    # What it says of itself --------------------------------------------------------------------------------------

    def look(self) -> None:
        """Find out what it says of itself; its code is run for that where it isn't known from earlier."""
        self._take(self._looked())

    def recall(self) -> None:
        """Take what it said of itself while its files were what they are now; nothing is run."""
        self._take(self._recalled())

    def _take(self, found: Described | BadInput | None) -> None:
        self.problem = found.message if isinstance(found, BadInput) else ""
        if isinstance(found, Described):
            self.description = self.declaration.description or found.description or self.description
            self.reads_results = found.takes_inputs

    @property
    def input_schema(self) -> JsonSchema:
        """JSON Schema of `arguments`, as far as it is known; what follows from the declaration is read-only."""
        found = self._recalled()
        taken: JsonSchema = fields_schema(found.schema) if isinstance(found, Described) else {"type": "object"}
        return {
            "type": "object",
            "properties": {"input": taken, "calls": {"type": "string", "readOnly": True}, "programs": PROGRAMS},
            "required": ["input"],
            "additionalProperties": False,
        }

    def parameters(self) -> Mapping[str, str]:
        """Return its parameters by name: their descriptions, else what they take."""
        found = self._known[1] if self._known is not None else None
        if not isinstance(found, Described):
            return {}
        known = fields_of(found.schema).known
        return {name: str(part.get("description") or expects(part)) for name, part in known.items()}

    def call_schema(self) -> JsonSchema:
        """Return the JSON Schema of what it is called with, as far as it is known."""
        found = self._recalled()
        return fields_schema(found.schema) if isinstance(found, Described) else {}

    def described(self) -> Described:
        """Return what it says of itself, read anew where that failed before.

        Raises:
            BadInput: it can't be found out; the message says why.
        """
        found = self._looked(again=True)
        if isinstance(found, BadInput):
            raise found
        return found

    def _recalled(self) -> Described | BadInput | None:
        """Return what is known of it as its files are now; None for nothing."""
        try:
            return self._known_of(self._code())
        except BadInput as error:
            return error

    def _known_of(self, files: Mapping[str, str]) -> Described | BadInput | None:
        if self._known is None or self._known[0] != files:
            kept = self._descriptions.kept(self.declaration, files)
            self._known = None if kept is None else (files, kept)
            self._outdated = bool(self.declaration.url)
        return None if self._known is None else self._known[1]

    def _looked(self, *, again: bool = False) -> Described | BadInput:
        try:
            files = self._code()
        except BadInput as error:
            return self._undescribed(error)
        found = self._known_of(files)
        if found is None or self._outdated or (isinstance(found, BadInput) and (again or self._withheld)):
            try:
                found = self._read(files)
            except BadInput as error:
                found = self._undescribed(error)
            self._known, self._outdated = (files, found), False
        return found

    def _read(self, files: Mapping[str, str]) -> Described:
        """Return what its code says; it is run for that, with the secrets where nothing speaks against it."""
        secrets = {name: os.environ[name] for name in self._secret_names if name in os.environ}
        why = self._why_no_secrets(self.declaration) if secrets else ""
        self._withheld = bool(why)
        try:
            return self._descriptions.of(self.declaration, files, {} if why else secrets)
        except BadInput as error:
            if not why:
                raise
            raise BadInput(
                Message("{} It was read without secrets: {}", error.message, why), help=error.help
            ) from error

    def _undescribed(self, error: BadInput) -> BadInput:
        log.warning("%s can't be described: %s", self.name, error.message)
        return error

    # What is approved --------------------------------------------------------------------------------------------

    def bind(self, text: str, arguments: JsonObject) -> dict[str, Json]:
        """Return exactly what it is called with.

        Args:
            text: `name=value …`, a JSON object, or words for its only argument; used where none is given otherwise.
            arguments: its arguments by name, or what this returned before.

        Raises:
            BadInput: they don't fit its schema; the message names the first that doesn't. Or it can't be described.
        """
        schema = self.described().schema
        given = {key: value for key, value in arguments.items() if key != "programs"}
        whole = given.get("input")
        if isinstance(whole, Mapping) and ("calls" in given or "input" not in fields_of(schema).known):
            strange = given.keys() - {"input", "calls"}
            if strange:
                raise BadInput(Message('{} takes "input", not "{}" beside it.', self.name, one(min(strange))))
            given = dict(whole)
        elif not given:
            given = given_in(text, schema)
        programs = self.programs({})
        fixed: dict[str, Json] = {"calls": self.declaration.calls}
        if programs:
            fixed["programs"] = dict(programs)
        try:
            return {"input": exact_arguments(self.name, given, schema), **fixed}
        except MissingInput as lacking:
            raise MissingInput(
                lacking.message, missing=lacking.missing, given={"input": lacking.given, **fixed}, help=lacking.help
            ) from lacking

    def programs(self, arguments: JsonObject) -> Mapping[str, str]:
        """Return what a call may execute, as it is now: with high risk all files of the workspace.

        Raises:
            BadInput: there are too many files.
        """
        code = self._code()
        if self.declaration.kind == "mcp" or self.risk is not Risk.HIGH:
            return code
        root = os.path.realpath(self.declaration.folder)
        return {**code, WHOLE: self.bindings.whole(root, self.declaration.pins, self._around)}

    def _code(self) -> Mapping[str, str]:
        """Return the digests of the files that it is made of."""
        declaration = self.declaration
        if declaration.kind != "mcp":
            named = GraphDeclaration(declaration.name, declaration.target, declaration.folder)
            return source_of(named, declaration.folder, self._imports).programs
        if declaration.url:
            return {}
        argv = declaration.server
        literal = tuple(part.replace("{", "{{").replace("}", "}}") for part in argv)
        command = CommandDeclaration(declaration.name, literal, risk=self.risk, pins=declaration.pins)
        path = command_environment({}, os.environ)["PATH"]
        return self.bindings.command(command, [argv], Path(declaration.folder), path, self._around)

    def changes_nothing(self, arguments: JsonObject) -> bool:
        """Return whether it is declared to be of low risk."""
        return self.risk is Risk.LOW

    # What runs ---------------------------------------------------------------------------------------------------

    def build(self) -> TeamGraph:
        """Return the graph call → report."""
        return in_steps(ToolState, ("call", self._call_node), ("report", self._report_node))

    async def _call_node(self, state: ToolState, runtime: Runtime[TeamContext]) -> ToolState:
        context = runtime.context
        arguments = cast(ToolArguments, context.task.arguments)

        async def act() -> dict[str, Json]:
            await asyncio.to_thread(self._check, arguments)
            found = await call(
                self.declaration,
                _valued(arguments["input"], context.secrets),
                {todo_id: _as_input(result) for todo_id, result in context.task.inputs.items()},
                context.secrets,
                on_line=lambda _, line: context.progress(line.expandtabs()),
                lock_fd=context.lock_fd,
                notes=NOTES[context.task.language],
            )
            return {"value": found.value, "text": found.text, "duration": found.duration}

        subject: JsonObject = {"input": dict(arguments["input"]), "calls": arguments["calls"]}
        returned = await context.effects("call", subject, act)
        return {"returned": dict(returned)}

    async def _report_node(self, state: ToolState, runtime: Runtime[TeamContext]) -> ToolState:
        result = result_of(self.name, state["returned"], runtime.context.task.language)
        return {"returned": {}, "result": result.to_dict()}

    def _check(self, arguments: ToolArguments) -> None:
        """Check that what would be called is what was approved.

        Raises:
            BadInput: it isn't.
        """
        if arguments["calls"] != self.declaration.calls:
            raise BadInput(
                Message(
                    'The declaration of "{}" changed since it was approved, so it was not run; ask again.', self.name
                )
            )
        self.refuse_changed(arguments.get("programs") or {}, self.programs({}))


def teams(sources: TeamSources) -> list[Team]:
    """Return a team for each function and tool that a workspace declares."""
    descriptions = Descriptions(sources.cache)
    names = tuple(sources.config.secret_names)
    return [
        ToolTeam(tool, sources.workspace, sources.bindings, sources.around, descriptions, names, sources.why_no_secrets)
        for tool in sources.config.tools.values()
    ]


def result_of(name: str, returned: JsonObject, language: str = "en") -> TeamResult:
    """Return what a person and other teams get of what a tool returned.

    Args:
        name: what the team is called.
        returned: `value`, JSON, and `text`, its own words.
        language: of what a person reads, `ko` or `en`.
    """
    words = _WORDS[language]
    if returned.get("declared_done"):
        said = words["declared_done"]
        return TeamResult(text=f"{said}\n", data={"declared_done": True}, summary=f"{name}: {said}")
    value, text = returned.get("value"), str(returned.get("text") or "")
    data = dict(value) if isinstance(value, Mapping) else {} if value is None else {"value": value}
    if not text:
        text = _as_text(value, words)
    line = text if not isinstance(value, dict | list) or returned.get("text") else json.dumps(value, ensure_ascii=False)
    found = not isinstance(value, str) or bool(value.strip())
    return TeamResult(text=f"{text.rstrip()}\n", data=data, summary=f"{name}: {one(line, _SUMMARY)}", found=found)


def _as_text(value: Json, words: Mapping[str, str]) -> str:
    if value is None or value == "":
        return words["nothing"]
    if isinstance(value, dict | list):
        return fenced(json.dumps(value, ensure_ascii=False, indent=2))
    return json.dumps(value, ensure_ascii=False)


def _as_input(result: TeamResult) -> dict[str, Json]:
    """Return an earlier step's result as a function gets it."""
    return {"text": result.text, "data": result.data, "summary": result.summary, "files": list(result.files)}


def _valued(value: Any, secrets: Mapping[str, str]) -> Any:
    """Return a JSON value with the values of the secrets that its texts name."""
    if isinstance(value, str):
        return with_values(value, secrets)
    if isinstance(value, Mapping):
        return {key: _valued(part, secrets) for key, part in value.items()}
    return [_valued(part, secrets) for part in value] if isinstance(value, list | tuple) else value
