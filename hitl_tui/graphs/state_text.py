"""What the last state of a graph says to a person: its answer or last message, else its fields, as Markdown."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence

from hitl_tui.core.json_types import Json
from hitl_tui.core.names import clip
from hitl_tui.core.safe_markdown import fenced, literal, tamed
from hitl_tui.graphs.json_values import content_text

_ANSWERS = (
    *("answer", "final_answer", "response", "final_response", "output", "result", "outcome", "final"),
    *("report", "summary"),
)
"""Names of fields that a graph answers in, the first of them that holds a text."""
_SPEAKERS = ("assistant", "ai")
_LONG = 100
"""Characters of a text that stands below its name instead of beside it."""
_FIELDS = 40
_ITEMS = 10
_DEEPEST = 3
_LONGEST = 20_000


def answer_of(values: Json, given: Json = None) -> str:
    """Return what a graph's last state says to a person, as Markdown.

    That is the last message of a conversation; or the text of the field that a graph answers in, and below it the
    other texts and figures; or all fields by name. What it was given and left as it was isn't told.

    Args:
        values: the state, as `json_values.plain` makes it.
        given: the graph's input, made so as well.
    """
    if isinstance(values, str):
        return values
    if not isinstance(values, Mapping):
        return "\n".join(_items(values, 0)) if isinstance(values, list) else _short(values)
    if said := _last_message(values.get("messages")):
        return said
    before = given if isinstance(given, Mapping) else {}
    fields = {k: v for k, v in values.items() if v not in (None, "", [], {}) and before.get(k) != v}
    name = next((n for n in _ANSWERS if isinstance(v := fields.get(n), str) and v.strip()), "")
    if not name:
        return _fields(fields)
    beside = {k: v for k, v in fields.items() if k != name and not isinstance(v, list | Mapping)}
    return "\n\n".join(part for part in (str(fields[name]), _fields(beside)) if part)


def _last_message(messages: Json) -> str:
    """Return the text of the last message that has one, of the graph's own where it said anything."""
    if not isinstance(messages, list):
        return ""
    spoken = [m for m in messages if isinstance(m, Mapping) and content_text(m.get("content", "")).strip()]
    own = [m for m in spoken if m.get("role") in _SPEAKERS] or spoken
    return content_text(own[-1]["content"]) if own else ""


def _fields(fields: Mapping[str, Json]) -> str:
    """Return fields by name: what is short as a list, what is long below its name."""
    shown = dict(list(fields.items())[:_FIELDS])
    short = [_field(name, value, 0) for name, value in shown.items() if not _is_long(value)]
    long = [f"**{literal(name)}**\n\n{_text(str(value))}" for name, value in shown.items() if _is_long(value)]
    rest = [f"- … +{len(fields) - _FIELDS}"] if len(fields) > _FIELDS else []
    return "\n\n".join(part for part in ("\n".join([*short, *rest]), *long) if part)


def _is_long(value: Json) -> bool:
    return isinstance(value, str) and ("\n" in value.strip() or len(value) > _LONG)


def _text(text: str) -> str:
    """Return a long text as Markdown below its name: one that isn't prose, such as JSON, as it is."""
    text = text.strip("\n")
    kept = text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"
    return fenced(kept) if kept.lstrip().startswith(("{", "[", "<")) else tamed(kept, 3)


def _field(name: str, value: Json, depth: int) -> str:
    head = f"{'  ' * depth}- **{literal(name)}**:"
    if isinstance(value, Mapping | list) and depth + 1 >= _DEEPEST:
        return f"{head} {_raw(value)}"
    if isinstance(value, Mapping):
        return "\n".join([head, *_members(value, depth + 1)])
    if isinstance(value, list):
        if all(map(_is_plain, value)):
            listed = f"{', '.join(map(_short, value[:_ITEMS]))}{_more(value)}"
            return f"{head} {listed if len(value) > 1 else literal('[') + listed + literal(']')}"
        return "\n".join([head, *_items(value, depth + 1)])
    return f"{head} {_short(value)}"


def _is_plain(value: Json) -> bool:
    """Return whether a value is told in a line."""
    return not isinstance(value, Mapping | list) and not _is_long(value)


def _members(value: Mapping[str, Json], depth: int) -> Iterator[str]:
    for name, member in list(value.items())[:_ITEMS]:
        yield _field(name, member, depth)
    if len(value) > _ITEMS:
        yield f"{'  ' * depth}- …{_more(value)}"


def _items(values: Sequence[Json], depth: int) -> Iterator[str]:
    margin = "  " * depth
    for number, item in enumerate(values[:_ITEMS], 1):
        if isinstance(item, Mapping) and item and all(map(_is_plain, item.values())):
            members = (f"**{literal(name)}**: {_short(member)}" for name, member in list(item.items())[:_ITEMS])
            yield f"{margin}- {' · '.join(members)}{_more(item)}"
        elif isinstance(item, Mapping) and item and depth + 1 < _DEEPEST:
            yield f"{margin}- {number}:"
            yield from _members(item, depth + 1)
        else:
            yield f"{margin}- {_raw(item) if isinstance(item, Mapping | list) else _short(item)}"
    if len(values) > _ITEMS:
        yield f"{margin}- …{_more(values)}"


def _more(values: Sequence[Json] | Mapping[str, Json]) -> str:
    return f" … +{len(values) - _ITEMS}" if len(values) > _ITEMS else ""


def _short(value: Json) -> str:
    """Return a text, figure or truth in one line."""
    return literal(clip(" ".join(value.split()), 400)) if isinstance(value, str) else json.dumps(value)


def _raw(value: Json) -> str:
    """Return what is nested too deep to be told by name."""
    return literal(clip(json.dumps(value, ensure_ascii=False), 200))
