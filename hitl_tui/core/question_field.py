"""Which argument of a step is its question or instruction, by the schema of its input. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from hitl_tui.core.json_types import Json, JsonObject

_NAMES = ("query", "question", "task", "instruction", "instructions", "request", "prompt", "topic")
_CHOSEN = frozenset({"enum", "const", "format", "pattern", "$ref"})
"""What makes a text something else than words."""
_INPUT = "input"
"""The argument that holds the whole input of somebody's own team."""


def question_path(schema: Mapping[str, Any]) -> tuple[str, ...]:
    """Return where in a step's arguments its question stands, key by key; empty where it has none.

    It is the text that is called one, among those that have to be given where any has; else the only text there is.
    """
    parts = _mapping(schema.get("properties"))
    if _INPUT in parts and not _is_words(parts[_INPUT]):  # what else there is says how it runs
        within = question_path(_mapping(parts[_INPUT]))
        return (_INPUT, *within) if within else ()
    free = [name for name, part in parts.items() if _is_words(part)]
    required = schema.get("required")
    asked = [name for name in free if isinstance(required, list | tuple) and name in required] or free
    named = [name for name in _NAMES if name in asked]
    return ((named or free)[0],) if named or len(free) == 1 else ()


def question_of(arguments: JsonObject, path: Sequence[str]) -> str:
    """Return the question that stands somewhere in a step's arguments; empty for none."""
    value: Json = arguments
    for key in path:
        value = value.get(key) if isinstance(value, Mapping) else None
    return value if path and isinstance(value, str) else ""


def with_question(arguments: JsonObject, path: Sequence[str], question: str) -> dict[str, Json]:
    """Return arguments with another question there."""
    if len(path) == 1:
        return {**arguments, path[0]: question}
    within = arguments.get(path[0])
    return {**arguments, path[0]: with_question(within if isinstance(within, Mapping) else {}, path[1:], question)}


def _is_words(part: object) -> bool:
    shown = _mapping(part)
    return shown.get("type") == "string" and not shown.get("readOnly") and _CHOSEN.isdisjoint(shown)


def _mapping(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}
