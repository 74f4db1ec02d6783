"""`GraphTeam`: a LangGraph graph of the user's own as a team."""

from __future__ import annotations

import asyncio
import glob
import json
import os
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AsyncExitStack
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from hitl_tui.config.declared_graphs import GraphDeclaration
from hitl_tui.core.errors import BadInput
from hitl_tui.core.interrupts.json_schema import problem, why_unusable
from hitl_tui.core.json_text import canonical, strict_json
from hitl_tui.core.json_types import Json, JsonObject, JsonSchema
from hitl_tui.core.messages import Message
from hitl_tui.core.names import nearest
from hitl_tui.core.policy import Risk
from hitl_tui.core.safe_text import one_line
from hitl_tui.core.secret_names import named_in, secret_refused
from hitl_tui.graphs.graph_source import GraphSource, Imports, source_of
from hitl_tui.graphs.graph_target import GraphError, load_target
from hitl_tui.policy.executable_files import WHOLE, Bindings, Surroundings
from hitl_tui.teams.arguments import exact_arguments, pairs_among
from hitl_tui.teams.contract import GO_ON, PROGRAMS, Team, TeamGraph, TeamSources

if TYPE_CHECKING:
    from hitl_tui.graphs.graph_loader import GraphFacts
    from hitl_tui.graphs.served_graph import ServedGraph

_BESIDE = frozenset({"programs", "context", "config"})
"""What stands beside an input and isn't part of it."""
_SQLITE = b"SQLite format 3\0"

_USUAL = ("input", "question", "query", "topic", "task", "text", "prompt", "request", "message", "content")
"""Names of fields that a text may be meant for when several could take it: the first of them in the state's order."""


class GraphTeam(Team):
    """A graph that somebody else wrote, run as it is.

    It is imported when something of it is needed: a text that becomes its input, or a run. Its input is the argument
    `input`, exactly as it will be invoked with; `thread` names an earlier TODO whose thread it goes on with. What
    its code says is part of what is approved: `programs`, looked up anew whatever stands there.

    Args:
        declaration: which graph, and what it needs.
        workspace: absolute path of the folder that sessions with it work in; empty for the declaration's own.
        secret_names: declared secrets; no input may hold one, because a graph stores its input.
        bindings: finds what it may execute.
        around: what of the workspace's settings says which files are code.
    """

    # A failed graph goes on from its last checkpoint when a person says so, never by itself: there are no retries.
    reads_results = False
    keeps_input = True

    def __init__(
        self,
        declaration: GraphDeclaration,
        workspace: str = "",
        secret_names: Sequence[str] = (),
        bindings: Bindings | None = None,
        around: Surroundings | None = None,
    ) -> None:
        self.bindings: Bindings = bindings or Bindings()
        self._around = around or Surroundings()
        self.declaration = declaration
        self.graph = self
        self.name = declaration.name
        self.description = declaration.description or Message("The graph {}", declaration.shown)
        self.risk = Risk(declaration.risk)
        self.timeout = declaration.timeout
        self.optional = declaration.optional
        self._workspace = workspace
        self._secret_names = tuple(secret_names)
        self._imports: dict[str, Imports] = {}
        self._facts: tuple[Mapping[str, str], GraphFacts] | None = None
        self._graph: ServedGraph | None = None

    @property
    def input_schema(self) -> JsonSchema:
        """JSON Schema of `arguments`."""
        shown: dict[str, Any] = dict(self._facts[1].input_schema) if self._facts else {}
        return {
            "type": "object",
            "properties": {
                "input": shown,
                "thread": {"type": "string"},
                "context": {"type": "object"},
                "config": {"type": "object"},
                "programs": PROGRAMS,
            },
            "required": ["input"],
            "additionalProperties": False,
        }

    @property
    def facts(self) -> GraphFacts:
        """What is known of the graph without running it; imports it, anew when its code changed.

        Raises:
            GraphError: it can't be loaded.
        """
        return self._facts_of(self._code())

    def source(self) -> GraphSource:
        """Return the files that running it may run, as they are now: with high risk all files of the workspace.

        Raises:
            BadInput: there are too many.
        """
        return self._with_files(self._code())

    def _code(self) -> GraphSource:
        if self.declaration.is_served:
            return self._served()
        return source_of(self.declaration, self._workspace, self._imports)

    def _served(self) -> GraphSource:
        """Return what a server says of the graph; the graph is the same until that changes."""
        from hitl_tui.graphs.langgraph_server import facts_from
        from hitl_tui.graphs.served_graph import ServedGraph

        facts = facts_from(self.declaration)
        if self._graph is None or self._graph.facts != facts:
            self._graph = ServedGraph(self.declaration, facts)
        return GraphSource((self.declaration.target,), {}, {facts.name: facts.digest}, self._graph)

    def _with_files(self, code: GraphSource) -> GraphSource:
        if self.risk is not Risk.HIGH or code.served is not None:  # no file of the workspace runs on a server
            return code
        return replace(code, programs={**code.programs, **self._whole(code)})

    def _whole(self, code: GraphSource) -> dict[str, str]:
        """Return the digest of all files that it may import or read, of the workspace and of its own folder."""
        folder = os.path.realpath(self.declaration.folder or Path.cwd())
        root = os.path.realpath(self._workspace) if self._workspace else folder
        store = self._store(code)
        found = {WHOLE: self.bindings.whole(root, self._pins(root, store), self._around)}
        if not Path(folder).is_relative_to(root):
            found[folder] = self.bindings.whole(folder, self._pins(folder, store), self._around)
        return found

    def _store(self, code: GraphSource) -> str:
        """Return the SQLite file that its threads are kept in, no links in the path; empty for none.

        It changes whenever the graph goes on, and is data.
        """
        named = self.declaration.saver.removeprefix("sqlite:///")
        if not named:
            try:
                named = self._facts_of(code).store
            except GraphError:  # its run will say so
                return ""
        path = os.path.realpath(Path(named).expanduser()) if named else ""
        return path if path and is_database(path) else ""

    def _pins(self, root: str, store: str) -> tuple[str, ...]:
        """Return the patterns of what isn't bound in a folder."""
        if not store.startswith(f"{root}{os.sep}"):
            return self.declaration.pins
        name = glob.escape(os.path.relpath(store, root).replace(os.sep, "/"))
        return (*self.declaration.pins, *(f"{name}{ending}" for ending in ("", "-wal", "-shm", "-journal")))

    def programs(self, arguments: JsonObject) -> Mapping[str, str]:
        """Return what it may execute, as it is now.

        Raises:
            BadInput: there are too many files.
        """
        return self.source().programs

    def _facts_of(self, code: GraphSource) -> GraphFacts:
        if self._facts is None or self._facts[0] != code.programs:
            try:
                asyncio.get_running_loop()
            except RuntimeError:
                found = asyncio.run(self._look(code))
            else:  # a factory may be a coroutine
                with ThreadPoolExecutor(1) as pool:
                    found = pool.submit(asyncio.run, self._look(code)).result()
            self._facts = (code.programs, found)
        return self._facts[1]

    @property
    def takes(self) -> str:
        """What its input looks like, in short."""
        return _shape(self.facts.input_schema)

    async def _look(self, source: GraphSource) -> GraphFacts:
        from hitl_tui.graphs.graph_loader import facts_of, resolve

        async with AsyncExitStack() as stack:
            return await facts_of(await resolve(self.declaration, load_target(self.declaration, source), stack))

    def bind(self, text: str, arguments: JsonObject) -> dict[str, Json]:
        """Return the exact input for a text: JSON as it is, words put where the graph's input takes them.

        Raises:
            BadInput: the graph takes something else; the message says what. GraphError: it can't be loaded.
        """
        told = named_in([text, dict(arguments)], self._secret_names)
        if told:
            raise BadInput(secret_refused(Message("The input"), min(told)))
        code = self._code()
        source = self._with_files(code)
        programs = {"programs": dict(source.programs)} if source.programs else {}
        more: dict[str, Json] = {**self._settings(arguments if "input" in arguments else {}, code), **programs}
        if "input" in arguments:
            arguments = {key: value for key, value in arguments.items() if key not in _BESIDE}
        goes_on = arguments == {"input": None} or (not arguments and text.strip().lower() == GO_ON)
        if self.declaration.thread and goes_on:
            return {"input": None, **more}
        unknown = arguments.keys() - {"input", "thread"}
        given = arguments["input"] if "input" in arguments else {k: arguments[k] for k in arguments if k in unknown}
        if "input" not in arguments and not given:
            given = input_for(text, self._facts_of(code).input_schema, self.name)
        elif "input" in arguments and unknown:
            raise BadInput(Message('{} takes "input" and "thread", not "{}".', self.name, one_line(min(unknown), 60)))
        check_input(given, self._facts_of(code).input_schema, self.name)
        bound = {"input": given, **({"thread": str(arguments["thread"])} if "thread" in arguments else {})}
        canonical(bound)  # it is JSON; its fields keep their order
        exact: dict[str, Json] = json.loads(json.dumps({**bound, **more}))
        return exact

    def check_settings(self) -> None:
        """Check what is declared as its context and configuration, before anybody gives it an input.

        Raises:
            BadInput: a context can't be made of it. GraphError: it can't be loaded.
        """
        self._settings({}, self._code())

    def _settings(self, arguments: JsonObject, code: GraphSource) -> dict[str, Json]:
        """Return the context and the configuration that a run would have: what was given, and what its schema puts."""
        config = self._mapping("config", arguments.get("config", self.declaration.config))
        context = self._mapping("context", arguments.get("context", self.declaration.context))
        if told := named_in([config, context], self._secret_names):
            raise BadInput(secret_refused(Message("The context"), min(told)))
        form = self._facts_of(code).context
        configurable = self._mapping("configurable", config.get("configurable"))
        if "context" not in arguments:
            offered = self.declaration.offered
            context = {**context, **{k: v for k, v in offered.items() if k in form.fields or not form.fields}}
        filled = form.filled(form.of_settings(context, configurable), self.name, self._secret_names)
        canonical([filled, config])  # they are JSON
        return {**({"context": filled} if filled else {}), **({"config": dict(config)} if config else {})}

    def _mapping(self, name: str, value: object) -> JsonObject:
        if not isinstance(value, Mapping | None):
            raise BadInput(Message("{} takes an object as {}, not {}.", self.name, name, _kind(cast("Json", value))))
        return value or {}

    def store_lacks(self) -> str:
        """Return what the store of its nodes can't do that is declared, in a sentence; empty for nothing."""
        from hitl_tui.graphs.graph_store import index_of

        return index_of(self.declaration, self._code()).lacks if self.declaration.store.get("index") else ""

    def build(self) -> TeamGraph:
        """Not for graphs of others: they may have been compiled with options that a builder knows nothing of."""
        raise GraphError(Message("{} is run as it was compiled.", self.name))


def teams(sources: TeamSources) -> list[Team]:
    """Return a team for each graph that a workspace declares."""
    return [
        GraphTeam(graph, sources.workspace, sources.config.secret_names, sources.bindings, sources.around)
        for graph in sources.config.graphs.values()
    ]


def is_database(path: str) -> bool:
    """Return whether a file is a SQLite database that nobody may execute, or will be made as one."""
    try:
        with Path(path).open("rb") as file:
            return file.read(len(_SQLITE)) in (_SQLITE, b"") and not os.access(path, os.X_OK)
    except FileNotFoundError:
        return True
    except OSError:
        return False


def input_for(text: str, schema: JsonSchema, name: str) -> Json:
    """Return the input that a text means for a graph (see `GraphTeam.bind`).

    Args:
        text: JSON, `name=value …`, or words.
        schema: JSON Schema of the graph's input.
        name: what messages call the graph.

    Raises:
        BadInput: words don't fit what it takes.
    """
    kind = schema.get("type")
    try:
        value = strict_json(text)
    except ValueError:
        value = text
    if isinstance(value, dict | list):
        return value
    properties = schema.get("properties")
    if isinstance(properties, Mapping) and (pairs := pairs_among(text, properties)):
        return exact_arguments(name, pairs, schema)
    if not isinstance(properties, Mapping) or kind not in (None, "object"):
        return text if _takes_text(schema) and not isinstance(value, str) else value
    if "messages" in properties:
        return {"messages": [{"role": "user", "content": text}]}
    takes = [key for key, part in properties.items() if _takes_text(part)]
    required = [key for key in schema.get("required", ()) if key in takes]
    chosen = required if len(required) == 1 else takes if len(takes) == 1 else [k for k in takes if k in _USUAL][:1]
    others = [key for key in schema.get("required", ()) if key not in chosen]
    if not chosen or others:
        raise BadInput(
            Message("{} takes {}; write its input as JSON.", name, _shape(schema)),
            help=Message("For example: {}", _example(properties)),
        )
    return {chosen[0]: text}


def _takes_text(part: object) -> bool:
    if not isinstance(part, Mapping):
        return False
    kinds = [part, *(p for p in part.get("anyOf", ()) if isinstance(p, Mapping))]
    return any(p.get("type") == "string" and "enum" not in p for p in kinds)


def check_input(value: Json, schema: JsonSchema, name: str) -> None:
    """Check an input before anything runs: LangGraph drops fields that a graph doesn't have, and checks no other.

    Messages may be given in more forms than their schema says; null for a field that needn't be there.

    Raises:
        BadInput: the input can't be for this graph.
    """
    _check_fields(value, schema, name)
    required = schema.get("required", ())
    given = {k: v for k, v in value.items() if v is not None or k in required} if isinstance(value, Mapping) else value
    forms = _without_messages(schema, _message_kinds(schema))
    if (
        isinstance(forms, Mapping)
        and not why_unusable(forms)
        and (wrong := problem(forms, given, Message("The input")))
    ):
        raise BadInput(Message("{}: {}", name, wrong))


def _message_kinds(schema: JsonSchema) -> frozenset[str]:
    """Return the references to definitions of LangChain's messages."""
    kinds = schema.get("$defs")
    return frozenset(
        f"#/$defs/{kind}"
        for kind, part in (kinds.items() if isinstance(kinds, Mapping) else ())
        if isinstance(part, Mapping) and {"content", "additional_kwargs"} <= set(part.get("properties") or ())
    )


def _without_messages(schema: Any, kinds: frozenset[str]) -> Any:
    """Return a schema that takes anything where it wants messages."""
    if isinstance(schema, list):
        return [_without_messages(part, kinds) for part in schema]
    if not isinstance(schema, Mapping):
        return schema
    options = [part for key in ("anyOf", "oneOf") for part in schema.get(key) or ()]
    if any(isinstance(part, Mapping) and part.get("$ref") in kinds for part in (schema, *options)):
        return {}
    return {key: _without_messages(part, kinds) for key, part in schema.items()}


def _check_fields(value: Json, schema: JsonSchema, name: str) -> None:
    properties = schema.get("properties")
    if schema.get("type", "object") != "object" or not isinstance(properties, Mapping):
        return
    if not properties and schema.get("additionalProperties") is not False:
        return
    if not isinstance(value, Mapping):
        raise BadInput(Message("{} takes an object, {}, not {}.", name, _shape(schema), _kind(value)))
    for key in value:
        if key not in properties and schema.get("additionalProperties") in (None, False):
            near = nearest(str(key), properties)
            said = one_line(str(key), 60)
            raise BadInput(
                Message('{} has no input "{}"; did you mean "{}"?', name, said, near)
                if near
                else Message('{} has no input "{}"; it takes {}.', name, said, _shape(schema))
            )
    missing = [key for key in schema.get("required", ()) if key not in value]
    if missing:
        raise BadInput(Message('The input of {} needs "{}"; it takes {}.', name, missing[0], _shape(schema)))
    for key, part in properties.items():
        wanted = part.get("type") if isinstance(part, Mapping) else None
        if key in value and isinstance(wanted, str) and value[key] is not None and not _is(value[key], wanted):
            raise BadInput(Message('"{}" of {} must be {}, not {}.', key, name, _article(wanted), _kind(value[key])))


_KINDS: Mapping[str, tuple[type, ...]] = {
    "string": (str,),
    "integer": (int,),
    "number": (int, float),
    "boolean": (bool,),
    "array": (list, tuple),
    "object": (Mapping,),
}


def _is(value: Json, kind: str) -> bool:
    if isinstance(value, bool) and kind != "boolean":
        return kind not in _KINDS
    return kind not in _KINDS or isinstance(value, _KINDS[kind])


def _kind(value: Json) -> str:
    for kind, types in _KINDS.items():
        if kind != "number" and isinstance(value, types) and (kind == "boolean") == isinstance(value, bool):
            return _article(kind)
    return "a number" if isinstance(value, float) else "null"


def _article(kind: str) -> str:
    return f"{'an' if kind[0] in 'aeio' else 'a'} {kind}"


def _shape(schema: JsonSchema) -> str:
    """Return what an input looks like, in short: `{"topic": string, "count": integer}`."""
    properties = schema.get("properties")
    if not isinstance(properties, Mapping):
        return str(schema.get("type", "any JSON"))
    shown = [f'"{one_line(str(key), 40)}": {_type_name(part)}' for key, part in list(properties.items())[:8]]
    return f"{{{', '.join(shown)}{', …' if len(properties) > 8 else ''}}}"


def _type_name(part: object) -> str:
    if not isinstance(part, Mapping):
        return "any"
    if isinstance(part.get("type"), str):
        return str(part["type"])
    choices = [_type_name(p) for p in part.get("anyOf", ())]
    return " or ".join(dict.fromkeys(choices)) if choices else "any"


def _example(properties: JsonObject) -> str:
    values = {"string": "…", "integer": 1, "number": 1.5, "boolean": True, "array": [], "object": {}}
    return json.dumps(
        {key: values.get(_type_name(part).split(" ")[0], "…") for key, part in list(properties.items())[:4]},
        ensure_ascii=False,
    )
