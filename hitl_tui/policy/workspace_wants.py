"""What a workspace wants to run or read that needs trust, sorted by risk."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from urllib.parse import urlsplit

from hitl_tui.config.declared_graphs import LANGGRAPH_FILE, GraphDeclaration
from hitl_tui.config.loader import FILE_NAME
from hitl_tui.config.notify_settings import shown_address
from hitl_tui.config.plan_settings import ENV_FILE
from hitl_tui.config.review_settings import is_folder
from hitl_tui.config.workspace import DocumentSettings, WorkspaceConfig
from hitl_tui.config.workspace_files import WorkspaceFiles
from hitl_tui.core.json_types import Json
from hitl_tui.core.messages import Message
from hitl_tui.core.policy import Mode, Risk, Rule, Ruling
from hitl_tui.core.safe_text import safe_text

_ORDER = {Risk.HIGH: 0, Risk.MEDIUM: 1, Risk.LOW: 2}
_ADDRESS = re.compile(r"(?:^|_)(?:URL|URI|ENDPOINT|HOST|PROXY|BASE)$", re.IGNORECASE)
_LOADS_CODE = re.compile(r"LD_|DYLD_|PYTHON|PATH$|NODE_OPTIONS|BASH_ENV|ENV$|SHELL$|PERL5|RUBY|GIT_", re.IGNORECASE)


class WantKind(StrEnum):
    """What kind of thing a workspace wants."""

    COMMAND = "command"
    PREVIEW = "preview"
    GRAPH = "graph"
    TOOL = "tool"
    SERVER = "server"
    REMOTE = "remote"
    AGENT = "agent"
    STORE = "store"
    VARIABLES = "variables"
    NOTIFY = "notify"
    MODEL = "model"
    REVIEW = "review"
    SECRET = "secret"  # noqa: S105 - the name of a kind
    ALLOW = "allow"
    DEADLINE = "deadline"
    PINS = "pins"
    MODE = "mode"
    FOLDER = "folder"


@dataclass(frozen=True, slots=True)
class Want:
    """One thing a workspace wants and gets only when it is trusted.

    Args:
        kind: what kind of thing.
        name: what the file calls it.
        text: exactly what it is: an argument vector, a target, a rule; made safe to show.
        risk: how bad it can get; a preview and code that is imported run without a question, so they are high.
        file: the file that says so.
    """

    kind: WantKind
    name: str
    text: str
    risk: Risk
    file: str

    def to_dict(self) -> dict[str, str]:
        """Return all fields as JSON values."""
        return {
            "kind": self.kind.value,
            "name": self.name,
            "text": self.text,
            "risk": self.risk.value,
            "file": self.file,
        }


def wants_of(config: WorkspaceConfig, files: WorkspaceFiles) -> tuple[Want, ...]:
    """Return what a workspace wants beyond what an untrusted one may say, the riskiest first.

    Args:
        config: what its files declare.
        files: those files.
    """
    found = [
        *_commands(config),
        *_graphs(config, files),
        *_tools(config),
        *_agents(config),
        *_variables(config, files),
        *_rules(config),
        *_plan(config),
        *_rest(config),
    ]
    order = list(WantKind)
    return tuple(sorted(found, key=lambda want: (_ORDER[want.risk], order.index(want.kind))))


def _commands(config: WorkspaceConfig) -> Iterator[Want]:
    for name, command in config.commands.items():
        yield Want(WantKind.COMMAND, _safe(name), _safe(shlex.join(command.run)), command.risk, FILE_NAME)
        if command.preview is not None:
            text = _safe(shlex.join(command.preview))
            yield Want(WantKind.PREVIEW, _safe(name), text, Risk.HIGH, FILE_NAME)


def _graphs(config: WorkspaceConfig, files: WorkspaceFiles) -> Iterator[Want]:
    for name, graph in config.graphs.items():
        text = f"{graph.assistant or '—'} @ {_host(graph.target)}" if graph.is_served else graph.target
        if graph.header_env:
            text += Message(", sends {}", ", ".join(graph.header_env.values()))
        if graph.state_types:
            text += Message(", imports {}", ", ".join(graph.state_types))
        if settings := _settings(graph):
            text += Message(", with {}", settings)
        kind = WantKind.REMOTE if graph.is_served else WantKind.GRAPH
        yield Want(kind, _safe(name), _safe(text), Risk.HIGH, _file_of(graph, files))
        if graph.saver:
            yield Want(WantKind.STORE, _safe(name), _safe(graph.saver), Risk.HIGH, FILE_NAME)


def _tools(config: WorkspaceConfig) -> Iterator[Want]:
    for name, tool in config.tools.items():
        if tool.url:
            text, kind = f"{tool.tool} @ {_host(tool.url)}", WantKind.SERVER
        else:
            text, kind = tool.calls, WantKind.SERVER if tool.kind == "mcp" else WantKind.TOOL
        # what it takes is read before anybody is asked about a call
        yield Want(kind, _safe(name), _safe(text), Risk.HIGH, FILE_NAME)


def _agents(config: WorkspaceConfig) -> Iterator[Want]:
    for name, agent in config.agents.items():
        # its tools stand in this list as what they are; each call of them passes the policy
        text = Message("tools: {}", ", ".join(agent.tools) or "—")
        yield Want(WantKind.AGENT, _safe(name), _safe(text), agent.risk or Risk.MEDIUM, FILE_NAME)


def _settings(graph: GraphDeclaration) -> str:
    """Return the names, and the addresses, in what a graph is given as config and context."""
    found: list[str] = []

    def walk(value: Json, path: str) -> None:
        if isinstance(value, Mapping):
            for key, item in value.items():
                walk(item, f"{path}.{key}" if path else str(key))
        else:
            found.append(f"{path}={_host(value)}" if isinstance(value, str) and "://" in value else path)

    walk(graph.config, "config")
    walk(graph.context or {}, "context")
    return ", ".join(found)


def _file_of(graph: GraphDeclaration, files: WorkspaceFiles) -> str:
    text = (files.hitl or b"").decode("utf-8", errors="replace")
    return FILE_NAME if f"teams.{graph.name}" in text or files.langgraph is None else LANGGRAPH_FILE


def _variables(config: WorkspaceConfig, files: WorkspaceFiles) -> Iterator[Want]:
    """Yield the variables that graphs are given: their names, and where those that are addresses lead."""
    seen: dict[str, str] = {}
    for graph in config.graphs.values():
        seen.update(graph.env)
    if not seen and not files.env_name:
        return
    names = ", ".join(f"{k}={_host(v)}" if _ADDRESS.search(k) and "://" in v else k for k, v in sorted(seen.items()))
    where = files.env_name or LANGGRAPH_FILE
    text = names or (Message("no variables") if files.env is not None else Message("the file doesn't exist yet"))
    risk = Risk.HIGH if any(_LOADS_CODE.match(k) or _ADDRESS.search(k) for k in seen) else Risk.MEDIUM
    yield Want(WantKind.VARIABLES, _safe(where), _safe(text), risk, LANGGRAPH_FILE)


def _rules(config: WorkspaceConfig) -> Iterator[Want]:
    for number, rule in enumerate(config.policy.rules, start=1):
        if rule.decision is Ruling.ALLOW:
            risk = Risk(rule.risk) if rule.risk else Risk.HIGH
            yield Want(WantKind.ALLOW, str(number), _safe(_about(rule)), risk, FILE_NAME)
        elif approves_in_time(rule):
            text = Message("{} after {} s", _about(rule), f"{rule.terms.deadline:g}")
            yield Want(WantKind.DEADLINE, str(number), _safe(text), Risk.HIGH, FILE_NAME)


def _plan(config: WorkspaceConfig) -> Iterator[Want]:
    """Yield what a file of variables says of the review of plans."""
    if config.plan:
        text = ", ".join(f"{name}={value}" for name, value in config.plan.items())
        yield Want(WantKind.VARIABLES, ENV_FILE, _safe(text), Risk.MEDIUM, ENV_FILE)


def approves_in_time(rule: Rule) -> bool:
    """Return whether silence until a rule's deadline counts as an approval."""
    return bool(rule.terms.deadline) and rule.terms.on_deadline == "approve"


def _about(rule: Rule) -> str:
    """Return which steps or calls a rule is about."""
    keys = ("team", "command", "tool", "agent", "action", "request", "risk")
    parts = [f"{key} {value}" for key in keys if (value := getattr(rule, key))]
    if rule.arguments:
        parts.append(f"arguments {json.dumps(dict(rule.arguments), ensure_ascii=False)}")
    return ", ".join(parts) or "everything"


def _rest(config: WorkspaceConfig) -> Iterator[Want]:
    if config.pins:
        yield Want(WantKind.PINS, str(len(config.pins)), _safe(", ".join(config.pins)), Risk.HIGH, FILE_NAME)
    if config.mode is not Mode.STEP:
        risk = Risk.HIGH if config.mode is Mode.RISK else Risk.MEDIUM
        yield Want(WantKind.MODE, config.mode.value, config.mode.value, risk, FILE_NAME)
    if config.secret_names:
        text = _safe(", ".join(config.secret_names))
        yield Want(WantKind.SECRET, str(len(config.secret_names)), text, Risk.MEDIUM, FILE_NAME)
    if config.notify.targets:
        text = _safe(", ".join(map(shown_address, config.notify.targets)))
        yield Want(WantKind.NOTIFY, str(len(config.notify.targets)), text, Risk.MEDIUM, FILE_NAME)
    if config.model.name or config.model.base_url:
        model = config.model
        text = f"{model.name} @ {_host(model.base_url)}" if model.base_url else model.name
        # what it is given, and the key of its provider, go where the address leads
        risk = Risk.HIGH if model.base_url else Risk.MEDIUM
        yield Want(WantKind.MODEL, "model", _safe(text), risk, FILE_NAME)
    for place in config.reviewed:  # a token goes to an address, and what is answered there counts
        risk = Risk.MEDIUM if is_folder(place) else Risk.HIGH
        yield Want(WantKind.REVIEW, "runtime", _safe(place), risk, FILE_NAME)
    if config.document != DocumentSettings():
        yield Want(WantKind.FOLDER, "document_team", _safe(config.document.folder), Risk.LOW, FILE_NAME)


def _host(value: str) -> str:
    """Return where an address leads, without what may be secret in it."""
    try:
        parts = urlsplit(value)
        port = f":{parts.port}" if parts.port else ""
    except ValueError:
        return "?"
    return f"{parts.scheme}://{parts.hostname or '?'}{port}"


def _safe(text: str) -> str:
    """Return text as it is shown: whole, since what is cut off would be trusted unseen."""
    return safe_text(text, multiline=False)
