"""The files of a workspace that say what may run in it: hitl.toml, langgraph.json, and any file of variables it names.

They are read together and once; what they declare and the digest that trust binds come from the same bytes.
"""

from __future__ import annotations

import hashlib
import logging
import os
import re
import stat
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import MappingProxyType

from hitl_tui.config.declared_graphs import LANGGRAPH_FILE, GraphDeclaration, env_file_of, parse_langgraph
from hitl_tui.config.declared_graphs import LARGEST as LARGEST_LANGGRAPH
from hitl_tui.config.loader import FILE_NAME, content_of, parse_content
from hitl_tui.config.plan_settings import ENV_FILE, plan_variables
from hitl_tui.config.workspace import TEAMS, WorkspaceConfig
from hitl_tui.core.errors import BadInput, ConfigError
from hitl_tui.core.json_text import digest
from hitl_tui.core.messages import Message
from hitl_tui.core.safe_text import one_line

log = logging.getLogger(__name__)

LARGEST_ENV = 1_000_000
"""Bytes; a larger file of variables is surely none."""


@dataclass(frozen=True, slots=True)
class WorkspaceFiles:
    """The declaring files of one folder as they were read; None for one that isn't there.

    Args:
        folder: real path of the folder, with every link followed.
        hitl: content of hitl.toml.
        langgraph: content of langgraph.json.
        env_name: the file of variables that langgraph.json names, as it writes it; empty for none.
        env: its content.
        plan: what a file `.env` sets of the review of plans; of a file that sets nothing of it nothing counts.
        digest: SHA-256 over the real path and the digests of the files: what trust in the folder is bound to.
    """

    folder: str
    hitl: bytes | None = None
    langgraph: bytes | None = None
    env_name: str = ""
    env: bytes | None = None
    plan: Mapping[str, str] = field(default_factory=dict)
    digest: str = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "digest", digest(["workspace", self.folder, dict(self.digests)]))

    @property
    def digests(self) -> Mapping[str, str]:
        """SHA-256 of each file by its name; empty for a file of variables that is named and isn't there."""
        found = {
            name: hashlib.sha256(content).hexdigest()
            for name, content in ((FILE_NAME, self.hitl), (LANGGRAPH_FILE, self.langgraph))
            if content is not None
        }
        if self.env_name:
            found[f"{LANGGRAPH_FILE} env {self.env_name}"] = (
                hashlib.sha256(self.env).hexdigest() if self.env is not None else ""
            )
        if self.plan:
            found[f"{ENV_FILE} ({', '.join(self.plan)})"] = digest(dict(self.plan))
        return MappingProxyType(found)

    def declared(self) -> WorkspaceConfig:
        """Return what the files declare, whether or not anybody trusts them.

        A langgraph.json that can't be used declares nothing: it isn't ours, and what else is there works without it.

        Raises:
            ConfigError: hitl.toml can't be used; one sentence with file and line.
        """
        config = parse_content(self.hitl)
        graphs = {name: replace(graph, folder=self.folder) for name, graph in config.graphs.items()}
        if self.langgraph is not None:
            try:
                found = parse_langgraph(self.langgraph, Path(self.folder) / LANGGRAPH_FILE, self.env)
            except ConfigError as error:
                log.warning("%s", error.message)
                found = ()
            store = found[0].store if found else {}  # of the workspace, whoever declares the graph
            graphs = {name: replace(graph, store=store) for name, graph in graphs.items()}
            graphs = {graph.name: graph for graph in found if graph.name not in TEAMS} | graphs
        commands = {name: replace(command, folder=self.folder) for name, command in config.commands.items()}
        tools = {name: replace(tool, folder=self.folder) for name, tool in config.tools.items()}
        graphs = {name: graph for name, graph in graphs.items() if name not in tools}
        return replace(config, graphs=graphs, commands=commands, tools=tools, plan=dict(self.plan))


def team_graph(name: str, workspace: Path) -> GraphDeclaration | None:
    """Return the graph of a team that a folder's hitl.toml declares; None where it declares none of that name.

    A function or tool is one of a single node. The folder's word is what it is: it has to be trusted first.

    Raises:
        BadInput: it is a team of another kind. ConfigError: the folder's files can't be read.
    """
    text = name.strip()
    if not re.fullmatch(r"[a-z][a-z0-9_]*", text):
        return None
    files = read_files(workspace)
    if files.hitl is None:
        return None
    declared = files.declared()
    if (graph := declared.graphs.get(text)) is not None:
        return replace(graph, origin=files.folder)
    tool = declared.tools.get(text)
    if tool is None:
        return None
    if tool.kind == "mcp":
        raise BadInput(
            Message("{} is a tool of an MCP server, not a graph.", text),
            help=Message('Plan it in a session: hitl-tui run "… with {}"', text),
        )
    return GraphDeclaration(
        text, tool.target, files.folder, tool.description, tool.risk.value, pins=tool.pins, origin=files.folder
    )


def watched_paths(files: WorkspaceFiles) -> tuple[Path, ...]:
    """Return the paths of all files that count for a folder, those that aren't there included."""
    folder = Path(files.folder)
    more = dict.fromkeys((ENV_FILE, *filter(None, (files.env_name,))))
    return (folder / FILE_NAME, folder / LANGGRAPH_FILE, *(folder / name for name in more))


def real_path(folder: Path) -> Path:
    """Return a folder's path with every link followed, whether or not it is there."""
    return Path(os.path.realpath(folder))


def read_files(folder: Path) -> WorkspaceFiles:
    """Return the declaring files of a folder, each read once; nothing in them is obeyed by that.

    Raises:
        ConfigError: one of them can't be read, or is no file of a reasonable size.
    """
    real = real_path(folder)
    hitl = content_of(real / FILE_NAME)
    langgraph = _content(real / LANGGRAPH_FILE, LARGEST_LANGGRAPH)
    env_name = env_file_of(langgraph) if langgraph is not None else ""
    env = _content(real / env_name, LARGEST_ENV) if env_name else None
    return WorkspaceFiles(str(real), hitl, langgraph, env_name, env, _plan_variables(real / ENV_FILE))


def _plan_variables(path: Path) -> Mapping[str, str]:
    """Return what a file of variables sets of the review of plans; one that can't be read is somebody else's."""
    try:
        return plan_variables(_content(path, LARGEST_ENV) or b"")
    except ConfigError as error:
        log.warning("%s", error.message)
        return {}


def _content(path: Path, largest: int) -> bytes | None:
    """Return a file's bytes; None when there is no regular file of that name."""
    name = one_line(path.name, 100)
    try:
        # Opened before it is looked at, without waiting: a pipe in its place must neither block nor be read.
        handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except (FileNotFoundError, NotADirectoryError, ValueError):
        return None
    except OSError as error:
        raise ConfigError(Message("{} can't be read: {}.", name, error.strerror or error)) from error
    try:
        with os.fdopen(handle, "rb") as file:
            if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
                return None
            content = file.read(largest + 1)
    except OSError as error:
        raise ConfigError(Message("{} can't be read: {}.", name, error.strerror or error)) from error
    if len(content) > largest:
        raise ConfigError(Message("{} is larger than {} bytes, too large to use.", name, f"{largest:,}"))
    return content
