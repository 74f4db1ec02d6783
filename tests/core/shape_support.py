"""Payloads of interrupts as graphs make them, and JSON that nobody would expect."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from hypothesis import strategies as st

MAIL = "Dear Kim,\n\nthe offer is attached.\n"

words = st.text(min_size=1, max_size=12)
scalars = st.none() | st.booleans() | st.integers(-(2**60), 2**60) | st.floats(allow_nan=False, allow_infinity=False)
json_values = st.recursive(
    scalars | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=10,
)
arguments = st.dictionaries(words, json_values, max_size=3)


def call(name: str = "send_mail", **args: Any) -> dict[str, Any]:
    """One tool call of a batch."""
    return {"name": name, "args": args, "description": f"Tool: {name}"}


def batch(calls: Sequence[dict[str, Any]], allowed: Sequence[Sequence[str]]) -> dict[str, Any]:
    """A batch as LangChain's middleware makes it."""
    configs = [{"action_name": c["name"], "allowed_decisions": list(a)} for c, a in zip(calls, allowed, strict=True)]
    return {"action_requests": list(calls), "review_configs": configs}


def inbox(action: str = "reply", *, allow: str = "aeir", **args: Any) -> dict[str, Any]:
    """An agent-inbox request; `allow` has the first letters of accept, edit, ignore and respond."""
    flags = {"allow_accept": "a", "allow_edit": "e", "allow_ignore": "i", "allow_respond": "r"}
    return {
        "action_request": {"action": action, "args": args},
        "config": {flag: letter in allow for flag, letter in flags.items()},
        "description": "# Why",
    }


ALL = ("approve", "edit", "reject", "respond")

tool_calls = st.builds(lambda n, a, d: {"name": n, "args": a, "description": d}, words, arguments, st.text(max_size=9))
batches = st.lists(
    st.tuples(tool_calls, st.lists(st.sampled_from(ALL), min_size=1, unique=True)), min_size=1, max_size=3
).map(lambda pairs: batch([c for c, _ in pairs], [a for _, a in pairs]))
inboxes = st.builds(
    lambda name, allow, args: inbox(name, allow="".join(allow), **args),
    words,
    st.lists(st.sampled_from("aeir"), min_size=1, unique=True),
    st.dictionaries(
        st.from_regex(r"[a-z]{1,6}", fullmatch=True).filter(lambda k: k not in ("action", "allow")),
        json_values,
        max_size=2,
    ),
)
payloads = st.one_of(
    st.text(max_size=30),
    json_values,
    st.builds(lambda c: {"type": "tool_approval", "tool_call_id": "1", **c}, tool_calls),
    batches,
    inboxes,
    st.lists(inboxes, min_size=1, max_size=2),
    st.builds(lambda q, o: {"question": q, "options": o}, words, st.lists(json_values, min_size=1, max_size=12)),
    st.builds(lambda f: {**f, "action": "send", "message": "Send?"}, arguments),
    st.builds(lambda c: {"instruction": "Review", "content": c}, json_values),
    st.builds(lambda d, q: {**d, "question": q}, arguments, words),
)
"""What graphs interrupt with: every known form, and anything else."""

SCHEMAS: tuple[dict[str, Any], ...] = (
    {"type": "integer", "minimum": 0},
    {"type": "boolean"},
    {"enum": ["a", "b", 3, None]},
    {"oneOf": [{"const": "x", "title": "Ex"}, {"const": "y"}]},
    {"type": "string", "maxLength": 5},
    {"type": "object", "properties": {"approved": {"type": "boolean"}, "why": {"type": "string"}}},
    {"type": "object", "properties": {"n": {"type": "integer"}, "tags": {"type": "array"}}, "required": ["n"]},
    {
        "$defs": {
            "Yes": {"type": "object", "properties": {"type": {"const": "approve"}}, "required": ["type"]},
            "No": {
                "type": "object",
                "properties": {"type": {"const": "reject"}, "message": {"type": "string"}},
                "required": ["type", "message"],
            },
        },
        "oneOf": [{"$ref": "#/$defs/Yes"}, {"$ref": "#/$defs/No"}],
    },
    {"anyOf": [{"type": "integer"}, {"type": "null"}]},
    {"type": "array", "items": {"type": "string"}},
)
