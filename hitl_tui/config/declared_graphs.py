"""Declared graphs: LangGraph graphs of the user's own that become teams."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any

from hitl_tui.config.model_settings import address_problem
from hitl_tui.config.paths import given_path
from hitl_tui.core.addresses import is_url
from hitl_tui.core.errors import BadInput, ConfigError
from hitl_tui.core.json_types import Json, JsonObject, Stored
from hitl_tui.core.messages import Message
from hitl_tui.core.policy import Risk
from hitl_tui.core.safe_text import one_line

LANGGRAPH_FILE = "langgraph.json"
LARGEST = 1_000_000
"""Bytes; a larger langgraph.json is surely none."""

_NAME = re.compile(r"[^a-z0-9_]+")
_HEADER = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]+")
_OF_THE_CONNECTION = frozenset({"connection", "content-length", "content-type", "host", "transfer-encoding", "upgrade"})


@dataclass(frozen=True, slots=True)
class GraphDeclaration:
    """One graph that is a team.

    Args:
        name: the team's name: lower-case letters, digits and underscores.
        target: `module:attribute` or `path.py:attribute`; the attribute may be missing when there is one graph only.
        folder: absolute path that relative targets start from and that its imports are found in.
        description: one line.
        risk: risk class of running it.
        timeout: seconds one attempt may take; 0 for no limit.
        config: `configurable` values and other RunnableConfig entries, JSON.
        context: the graph's runtime context, JSON; None for none.
        state_types: `module:Class` of types that its state holds inside untyped fields.
        env: environment variables it needs, by name; those that are set already win.
        saver: where its own threads live: a SQLite path or a PostgreSQL URI; empty for the session's file.
        thread: the thread in that store to go on with; empty for one of its own.
        origin: absolute path of the folder whose langgraph.json names it; empty where a person or hitl.toml does.
        pins: patterns of files that an approval of it doesn't bind, the workspace's own among them.
        optional: a failure skips the step instead of blocking what depends on it.
        offered: context that a person gave to all graphs of a session: this one takes the fields that it has.
        store: what langgraph.json says of the store that its nodes get: `path` of one of its own, or `index` and `ttl`.
        assistant: of a graph that a LangGraph server runs, whose address is the target: its id or name, or its graph's;
            empty for the only one.
        header_env: variables that hold the headers which that server is sent, by the header's name.
        inbox: threads of it that wait on that server, whoever began them, become sessions here.
    """

    name: str
    target: str
    folder: str
    description: str = ""
    risk: str = Risk.HIGH.value
    timeout: float = 0.0
    config: Mapping[str, Any] = field(default_factory=dict)
    context: JsonObject | None = None
    state_types: tuple[str, ...] = ()
    env: Mapping[str, str] = field(default_factory=dict)
    saver: str = ""
    thread: str = ""
    origin: str = ""
    pins: tuple[str, ...] = ()
    optional: bool = False
    offered: Mapping[str, Any] = field(default_factory=dict)
    store: Mapping[str, Any] = field(default_factory=dict)
    assistant: str = ""
    header_env: Mapping[str, str] = field(default_factory=dict)
    inbox: bool = False

    @property
    def shown(self) -> str:
        """What people see as what runs."""
        return f"{self.name} @ {self.target}" if self.is_served else self.target

    @property
    def is_served(self) -> bool:
        """Whether a LangGraph server runs it."""
        return is_url(self.target)

    @property
    def targets(self) -> tuple[str, ...]:
        """What of it is code: the graph, and what langgraph.json names beside it."""
        embed = str((self.store.get("index") or {}).get("embed", ""))
        named = (str(self.store.get("path", "")), embed if is_file_target(embed) else "")
        return (self.target, *filter(None, named))

    def to_dict(self) -> dict[str, Any]:
        """Return it as JSON, without what environment variables hold: those are read anew."""
        data = {f.name: getattr(self, f.name) for f in fields(self) if f.name != "env"}
        data |= {name: dict(data[name]) for name in ("config", "offered", "store", "header_env")}
        return {**data, "state_types": list(self.state_types), "pins": list(self.pins)}

    @classmethod
    def from_dict(cls, data: Stored) -> GraphDeclaration:
        known = {f.name for f in fields(cls)}
        values = {k: v for k, v in data.items() if k in known}
        for key in ("state_types", "pins"):
            values[key] = tuple(values.get(key, ()))
        return cls(**values)


@dataclass(frozen=True, slots=True)
class GraphSettings:
    """What a person gives to graphs beside their input, over what is declared.

    Args:
        context: values of the runtime context by name.
        config: entries of the RunnableConfig; those of `configurable` are put among the declared ones.
    """

    context: Mapping[str, Any] = field(default_factory=dict)
    config: Mapping[str, Any] = field(default_factory=dict)

    def __bool__(self) -> bool:
        return bool(self.context or self.config)

    def of_one(self, graph: GraphDeclaration) -> GraphDeclaration:
        """Return a graph that they are for: each value has to be one of its own."""
        context = {**(graph.context or {}), **self.context} if self.context else graph.context
        return replace(graph, config=self._over(graph.config), context=context)

    def of_all(self, graph: GraphDeclaration) -> GraphDeclaration:
        """Return one of several graphs that they are for."""
        return replace(graph, config=self._over(graph.config), offered=self.context) if self else graph

    def _over(self, declared: Mapping[str, Any]) -> dict[str, Any]:
        values = {**declared.get("configurable", {}), **self.config.get("configurable", {})}
        return {**declared, **self.config, **({"configurable": values} if values else {})}

    def to_dict(self) -> dict[str, Json]:
        return {"context": dict(self.context), "config": dict(self.config)}


@dataclass(frozen=True, slots=True)
class Attachment:
    """A graph that an interface is started with.

    Args:
        graph: which.
        query: its input, as a person wrote it; empty when it is to be asked for.
        approved: the person who started it gave the input whole, so that running it needs no second word.
        notes: what that person should know.
        takes: what its input looks like, in short.
        waits: its thread stands at a question, and nothing runs before that is answered.
    """

    graph: GraphDeclaration
    query: str = ""
    approved: bool = False
    notes: tuple[str, ...] = ()
    takes: str = ""
    waits: bool = False

    def given(self, query: str) -> bool:
        """Return whether a session of this query is the one that was approved with its input."""
        return self.approved and query == self.query


def holds_password(uri: str) -> bool:
    """Return whether a store's address holds a password, which would be kept and shown with it."""
    if "://" not in uri:
        return False
    from urllib.parse import parse_qs, urlsplit

    try:
        parts = urlsplit(uri)
        return bool(parts.password) or any(name.lower() == "password" for name in parse_qs(parts.query))
    except ValueError:
        return "password" in uri.lower() or "@" in uri


def server_problem(url: str) -> str:
    """Return why a text can't be the address of a LangGraph server, as the rest of a sentence; empty where it can."""
    if problem := address_problem(url):
        return problem
    return Message("must end with its path, without ? and #") if {"?", "#"} & set(url) else ""


def is_header(name: str) -> bool:
    """Return whether a header can be sent to a server by this name; those of the connection itself aren't anybody's."""
    return bool(_HEADER.fullmatch(name)) and name.lower() not in _OF_THE_CONNECTION


def team_name(text: str) -> str:
    """Return a text as a team's name: lower-case, anything strange as underscores."""
    name = _NAME.sub("_", text.lower()).strip("_")[:60]
    return name if name and name[0].isalpha() else f"graph_{name}".rstrip("_")


def langgraph_file(path: Path) -> tuple[GraphDeclaration, ...]:
    """Return the graphs that a langgraph.json declares, without the variables of a file that it names.

    Raises:
        ConfigError: it can't be read, or isn't what such a file looks like.
    """
    try:
        with path.open("rb") as file:
            content = file.read(LARGEST + 1)
    except OSError as error:
        raise ConfigError(Message("{} can't be read: {}.", one_line(path.name, 100), error.strerror)) from error
    return parse_langgraph(content, path.parent.resolve() / path.name, None)


def parse_langgraph(content: bytes, path: Path, env: bytes | None) -> tuple[GraphDeclaration, ...]:
    """Return the graphs that the bytes of a langgraph.json declare.

    Args:
        content: the bytes.
        path: where they are from, absolute; relative targets start from its folder, wherever a link of that name leads.
        env: content of the file of variables that it names; None where there is none.

    Raises:
        ConfigError: they aren't what such a file looks like.
    """
    name = one_line(path.name, 100)
    try:
        data = json.loads(content) if len(content) <= LARGEST else None
    except json.JSONDecodeError as error:
        raise ConfigError(Message("{} line {}: this is not JSON ({}).", name, error.lineno, error.msg)) from error
    except (ValueError, RecursionError) as error:
        raise ConfigError(Message("{} is not JSON text in UTF-8.", name)) from error
    graphs = data.get("graphs") if isinstance(data, dict) else None
    if not isinstance(graphs, dict) or not graphs:
        raise ConfigError(Message('{} names no graphs; expected {{"graphs": {{"agent": "./agent.py:graph"}}}}.', name))
    folder = str(path.parent)
    assert isinstance(data, dict)
    variables = _environment(data.get("env"), name, env)
    store = store_of(data.get("store"), name)
    return tuple(
        replace(_declared(str(key), value, folder, variables, name), store=store) for key, value in graphs.items()
    )


def is_file_target(text: str) -> bool:
    """Return whether a text names something in a file: `path.py:attribute`."""
    return ".py:" in text


def store_of(value: Any, file: str) -> dict[str, Any]:
    """Return the section `store` of a langgraph.json.

    Raises:
        ConfigError: it isn't what such a section looks like.
    """
    if value is None:
        return {}
    if not isinstance(value, Mapping):
        raise ConfigError(Message('{}: "store" must be an object with "path", "index" or "ttl".', file))
    path, index, ttl = value.get("path"), value.get("index"), value.get("ttl")
    if path is not None and (not isinstance(path, str) or not path.strip()):
        raise ConfigError(Message('{}: "path" of "store" must be such as "./store.py:make_store".', file))
    if index is not None and not (
        isinstance(index, Mapping)
        and isinstance(index.get("embed"), str)
        and type(index.get("dims")) is int
        and index["dims"] > 0
        and isinstance(index.get("fields", []), list | type(None))
    ):
        raise ConfigError(Message('{}: "index" of "store" needs "embed", a text, and "dims", a number.', file))
    if ttl is not None and not (isinstance(ttl, Mapping) and all(_is_time(ttl.get(key)) for key in _TIMES)):
        raise ConfigError(Message('{}: "ttl" of "store" must hold minutes above zero.', file))
    return {key: part for key, part in (("path", path), ("index", index), ("ttl", ttl)) if part}


_TIMES = ("default_ttl", "sweep_interval_minutes")


def _is_time(value: object) -> bool:
    return value is None or (isinstance(value, int | float) and not isinstance(value, bool) and value > 0)


def env_file_of(content: bytes) -> str:
    """Return the file of variables that the bytes of a langgraph.json name; empty for none."""
    try:
        data = json.loads(content)
    except (ValueError, RecursionError):
        return ""
    named = data.get("env") if isinstance(data, dict) else None
    return named if isinstance(named, str) and "\0" not in named else ""


def _declared(key: str, value: Json, folder: str, env: Mapping[str, str], file: str) -> GraphDeclaration:
    target = value.get("path") if isinstance(value, Mapping) else value
    if not isinstance(target, str) or not target.strip():
        raise ConfigError(
            Message('{}: the graph "{}" needs a path such as "./agent.py:graph".', file, one_line(key, 60))
        )
    said = value.get("description") if isinstance(value, Mapping) else ""
    return GraphDeclaration(
        name=team_name(key),
        target=target,
        folder=folder,
        description=one_line(str(said or ""), 200),
        env=env,
        origin=folder,
    )


def _environment(value: Json, file: str, env: bytes | None) -> dict[str, str]:
    if value is None:
        return {}
    if isinstance(value, Mapping):
        return {str(k): str(v) for k, v in value.items()}
    if not isinstance(value, str):
        raise ConfigError(Message('{}: "env" must be the name of a file or an object.', file))
    if env is None:
        return {}
    from io import StringIO

    from dotenv import dotenv_values

    text = env.decode("utf-8", errors="replace")
    return {k: v for k, v in dotenv_values(stream=StringIO(text)).items() if v is not None}


def declared_graph(given: str, workspace: Path) -> GraphDeclaration:
    """Return the graph a person names on the command line.

    Args:
        given: `module:attribute`, `path.py[:attribute]`, a langgraph.json with or without `:name`, or the name of a
            graph in the workspace's langgraph.json.
        workspace: the folder relative paths start from.

    Raises:
        BadInput: nothing of that name is there.
    """
    text = given.strip()
    if not text:
        raise BadInput(Message("Say which graph: module:attribute, path.py:attribute, or a langgraph.json."))
    place, _, attribute = text.partition(":")
    path = given_path(place)
    if path.name == LANGGRAPH_FILE or (path / LANGGRAPH_FILE).is_file():
        file = path if path.name == LANGGRAPH_FILE else path / LANGGRAPH_FILE
        return _of_file(file, attribute)
    if ":" not in text and not place.endswith(".py") and (workspace / LANGGRAPH_FILE).is_file():
        return _of_file(workspace / LANGGRAPH_FILE, place)
    if place.endswith(".py"):
        if not path.is_file():
            raise BadInput(Message("File {} not found.", one_line(place, 200)))
        real = path.resolve()
        target = f"{real}:{attribute}" if attribute else str(real)
        return GraphDeclaration(team_name(_named(attribute, real.stem)), target, str(real.parent))
    if not attribute:
        raise BadInput(
            Message(
                '"{}" names no graph; expected module:attribute, path.py:attribute or a langgraph.json.',
                one_line(text, 100),
            )
        )
    return GraphDeclaration(team_name(_named(attribute, place.rsplit(".", 1)[-1])), text, str(Path.cwd()))


def graph_in(folder: Path, target: str) -> GraphDeclaration:
    """Return a graph of a starter's folder.

    Args:
        folder: the starter's own copy.
        target: `file.py:attribute` in it.
    """
    file, _, attribute = target.partition(":")
    return GraphDeclaration(team_name(_named(attribute, Path(file).stem)), f"{folder / file}:{attribute}", str(folder))


_USUAL = frozenset({"graph", "app", "agent", "workflow", "builder", "compiled", "make_graph", "create_graph"})


def _named(attribute: str, module: str) -> str:
    """Return what to call a graph: its attribute says little when it is called "graph"."""
    return module if not attribute or attribute in _USUAL else attribute


def _of_file(file: Path, name: str) -> GraphDeclaration:
    found = langgraph_file(file)
    if not name:
        if len(found) == 1:
            return found[0]
        raise BadInput(Message("{} names {} graphs; say which: {}.", file.name, len(found), _names(found)))
    for declaration in found:
        if declaration.name == team_name(name):
            return declaration
    raise BadInput(Message('{} has no graph "{}"; known: {}.', file.name, one_line(name, 60), _names(found)))


def _names(found: tuple[GraphDeclaration, ...]) -> str:
    return ", ".join(declaration.name for declaration in found)
