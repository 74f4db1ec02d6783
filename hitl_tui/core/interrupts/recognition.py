"""Which form an interrupt has, and which tool calls it asks about. Total: any JSON has one, nothing is raised."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from hitl_tui.core.interrupts.denied_answers import without_denied
from hitl_tui.core.interrupts.handmade_shapes import (
    YesNoShape,
    action_shape,
    choice_shape,
    elicitation_shape,
    is_text,
    listed_action_shape,
    option_shape,
    other_shape,
    prompt_shape,
    review_shape,
    yes_no_shape,
)
from hitl_tui.core.interrupts.json_schema import why_unusable
from hitl_tui.core.interrupts.schema_fields import branches, choices, resolved
from hitl_tui.core.interrupts.schema_shapes import break_shape, declared_shape
from hitl_tui.core.interrupts.shape import APPROVE, EDIT, IGNORE, REJECT, RESPOND, STOP, Detail, Shape, ShapeKind
from hitl_tui.core.interrupts.tool_shapes import INBOX, LANGCHAIN, BatchShape, CallShape, ToolCall
from hitl_tui.core.json_types import Json, JsonObject, JsonSchema
from hitl_tui.core.messages import Message
from hitl_tui.core.requests import Kind, Request, Verdict, subject_in_order


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


def _config(configs: Sequence[JsonObject], name: Json, place: int) -> Mapping[str, Any]:
    """Return what is configured for a call: the entry at its place when it bears its name, else one that does."""
    if place < len(configs) and configs[place].get("action_name") == name:
        return configs[place]
    return next((c for c in configs if c.get("action_name") == name), {})


def _allowed(config: JsonObject) -> frozenset[str]:
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


def _call(
    name: Json, args: Json, description: Json, allowed: frozenset[str], words: Mapping[str, str]
) -> ToolCall | None:
    if not isinstance(name, str) or not isinstance(args, Mapping):
        return None
    return ToolCall(name, args, description if isinstance(description, str) else "", allowed, words)


_LONGEST_TEXT = 1_000_000
"""Characters of a text that may be an agent-inbox request; a longer one is a prompt."""


def recognise(value: Json, schema: Json = None) -> Shape:
    """Return the form of an interrupt.

    Args:
        value: its payload, JSON.
        schema: JSON Schema of the answer if the graph gave one. One that can't be used is named in the form's notes,
            and any JSON is taken.
    """
    if schema is None or schema == {}:
        return _undeclared(value)
    why = why_unusable(schema)
    if why or not isinstance(schema, Mapping):
        note = Message("The graph's schema of the answer {}; it isn't used and any JSON is taken.", why)
        shape = _undeclared(value)
        if shape.kind in (ShapeKind.TOOL_APPROVAL, ShapeKind.TOOL_BATCH, ShapeKind.AGENT_INBOX):
            return replace(shape, notes=(note,))
        return other_shape(value, (note,))
    call = tool_approval(value)
    if call is not None:
        return _approval(call, schema)
    return break_shape(value, schema) or declared_shape(value, schema)


def form_of(request: Request) -> Shape:
    """Return the form of what a team asks from inside a step."""
    subject, denied = subject_in_order(request), request.about.get("denied")
    shape = recognise(subject.get("value"), subject.get("schema"))
    return without_denied(shape, denied) if denied else shape


def answers_to(request: Request) -> tuple[str, ...]:
    """Return the words that answer a request: its verdicts, `edit` of a call, the actions of what a team asks."""
    if request.kind is Kind.INTERRUPT:
        stops = (STOP,) if Verdict.REJECT in request.options else ()
        return (*(action.name for action in form_of(request).actions if not action.why_not), *stops)
    edited = request.kind is Kind.TODO or (request.kind is Kind.EXTERNAL and "arguments" in request.subject)
    return (*map(str, request.options), *((EDIT,) if edited else ()))


def title_of(request: Request) -> str:
    """Return what a request is about in one line: its step's title, or the question that its team asks from inside."""
    if request.kind is Kind.INTERRUPT:
        return form_of(request).question
    return str(request.about.get("title", "")) or request.kind.value


def _approval(call: ToolCall, schema: JsonSchema) -> Shape:
    """Return the form of a tool call whose schema says what is allowed, and what its arguments have to be."""
    known = {branch.name: branch for branch in branches(resolved(schema, schema), schema) if branch.key == "type"}
    allowed = frozenset(name for name, word in LANGCHAIN.items() if word in known)
    if not allowed:
        return declared_shape({"type": "tool_approval", "name": call.name, "args": call.args}, schema)
    args = known["edit"].fields["properties"].get("edited_action", {}) if "edit" in known else {}
    named = args.get("properties", {}) if isinstance(args, Mapping) else {}
    named = named if isinstance(named, Mapping) else {}
    found = resolved(named.get("args"), schema)
    others = tuple(n for n in choices(resolved(named.get("name"), schema)) or () if isinstance(n, str))
    within = {k: schema[k] for k in ("$defs", "definitions", "$schema") if k in schema}
    call = replace(call, allowed=allowed, args_schema={**within, **found} if found else None, others=others)
    return CallShape.of(call, ShapeKind.TOOL_APPROVAL, schema=schema)


def _undeclared(value: Json) -> Shape:
    """Return the form of a payload that has no schema that can be used."""
    if (cut := _cut(value)) is not None:
        return cut
    if (call := tool_approval(value)) is not None:
        return CallShape.of(call, ShapeKind.TOOL_APPROVAL)
    if calls := tool_batch(value):
        return BatchShape.of(calls, ShapeKind.TOOL_BATCH, "decisions")
    for known in (
        _inbox,
        elicitation_shape,
        option_shape,
        choice_shape,
        listed_action_shape,
        action_shape,
        review_shape,
        yes_no_shape,
    ):
        shape = known(value)
        if shape is not None:
            return shape
    return prompt_shape(value) if is_text(value) else other_shape(value)


def _cut(value: Json) -> Shape | None:
    """Return the form of what was too large to be kept whole, where its answers need none of the parts that were cut.

    Those are a yes or no, and tool calls, which can be approved and refused but not edited. Without it a "no" would be
    sent as a text, which a graph that only looks whether there is an answer takes for a yes.
    """
    if not isinstance(value, Mapping) or set(value) != {"cut", "shown", "sha256"}:
        return None
    shown = value["shown"]
    if isinstance(shown, Mapping) and ("…" in shown or set(shown) >= {"cut", "shown", "sha256"}):
        return None
    if not isinstance(shown, Mapping | list):
        return None
    shape = _undeclared(shown)
    match shape:
        case CallShape():
            shape = CallShape.of(_uneditable(shape.call), shape.kind, listed=shape.listed)
        case BatchShape():
            shape = BatchShape.of([_uneditable(call) for call in shape.calls], shape.kind, shape.key)
        case YesNoShape():
            pass
        case _:
            return None
    more = (Detail("cut", value["cut"]), *shape.details, Detail("sha256", value["sha256"]))
    return replace(shape, details=more)


def _uneditable(call: ToolCall) -> ToolCall:
    return replace(call, allowed=call.allowed - {EDIT}, cut=True)


def _inbox(value: Json) -> Shape | None:
    if isinstance(value, str):
        value = _parsed(value)
    if isinstance(value, list):
        calls = [inbox_call(item) for item in value]
        found = [call for call in calls if call is not None]
        return BatchShape.of(found, ShapeKind.AGENT_INBOX, "") if found and len(found) == len(calls) else None
    call = inbox_call(value)
    return CallShape.of(call, ShapeKind.AGENT_INBOX, listed=True) if call is not None else None


def _parsed(text: str) -> Json:
    """Return what a JSON text stands for, None when it is no object or list."""
    if len(text) > _LONGEST_TEXT or text.lstrip()[:1] not in ("{", "["):
        return None
    try:
        found: Json = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return found
