"""Which tool calls a payload asks about: those of LangChain's middleware, one or a batch, and of agent-inbox."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from hitl_tui.core.shapes.model import APPROVE, EDIT, IGNORE, REJECT, RESPOND
from hitl_tui.core.shapes.schema import why_unusable
from hitl_tui.core.shapes.tools import INBOX, LANGCHAIN, ToolCall


def tool_approval(value: Any) -> ToolCall | None:
    """Return the call of a per-call approval, with everything allowed; None for anything else."""
    if not isinstance(value, Mapping) or value.get("type") != "tool_approval":
        return None
    return _call(value.get("name"), value.get("args"), value.get("description"), frozenset(LANGCHAIN), LANGCHAIN)


def tool_batch(value: Any) -> tuple[ToolCall, ...]:
    """Return the calls of a batch of the middleware's; empty for anything else."""
    if not isinstance(value, Mapping) or not isinstance(value.get("action_requests"), list):
        return ()
    listed = value.get("review_configs")
    configs = [c for c in listed if isinstance(c, Mapping)] if isinstance(listed, list) else []
    found = []
    for place, asked in enumerate(value["action_requests"]):
        if not isinstance(asked, Mapping):
            return ()
        config = _config(configs, asked.get("name"), place)
        call = _call(asked.get("name"), asked.get("args"), asked.get("description"), _allowed(config), LANGCHAIN)
        if call is None:
            return ()
        schema = config.get("args_schema")
        usable = isinstance(schema, Mapping) and not why_unusable(schema)
        found.append(replace(call, args_schema=schema) if usable else call)
    return tuple(found)


def _config(configs: Sequence[Mapping[str, Any]], name: Any, place: int) -> Mapping[str, Any]:
    """Return what is configured for a call: the entry at its place when it bears its name, else one that does."""
    if place < len(configs) and configs[place].get("action_name") == name:
        return configs[place]
    return next((c for c in configs if c.get("action_name") == name), {})


def _allowed(config: Mapping[str, Any]) -> frozenset[str]:
    """Return what is allowed; where nothing is said a call can be approved and rejected."""
    listed = config.get("allowed_decisions")
    if not isinstance(listed, list):
        return frozenset({APPROVE, REJECT})
    return frozenset(name for name in LANGCHAIN if name in listed)


def inbox_call(value: Any) -> ToolCall | None:
    """Return the call of an agent-inbox request; None for anything else."""
    if not isinstance(value, Mapping) or not isinstance(value.get("action_request"), Mapping):
        return None
    asked, config = value["action_request"], value.get("config")
    config = config if isinstance(config, Mapping) else {}
    flags = {APPROVE: "allow_accept", EDIT: "allow_edit", IGNORE: "allow_ignore", RESPOND: "allow_respond"}
    allowed = frozenset(name for name, flag in flags.items() if config.get(flag) is True)
    return _call(asked.get("action"), asked.get("args", {}), value.get("description"), allowed, INBOX)


def _call(name: Any, args: Any, description: Any, allowed: frozenset[str], words: Mapping[str, str]) -> ToolCall | None:
    if not isinstance(name, str) or not isinstance(args, Mapping):
        return None
    return ToolCall(name, args, description if isinstance(description, str) else "", allowed, words)
