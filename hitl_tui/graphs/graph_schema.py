"""JSON Schemas of classes that pydantic makes none of as a whole."""

from __future__ import annotations

import typing
from typing import Any

from hitl_tui.core.json_types import Json
from hitl_tui.graphs.json_values import plain


def field_schema(kind: object) -> dict[str, Json]:
    """Return a JSON Schema of a class with annotated fields, made field by field; {} where it has none."""
    try:
        hints = typing.get_type_hints(kind, include_extras=True)
    except (NameError, TypeError, AttributeError):
        return {}
    needed = getattr(kind, "__required_keys__", None)
    required = [name for name in hints if needed is None or name in needed]
    if needed is None:
        required = [name for name in hints if not hasattr(kind, name)]
    properties = {name: _schema_of(hint) for name, hint in hints.items()}
    return {"type": "object", "properties": properties, "required": required} if properties else {}


def _schema_of(hint: Any) -> Any:
    from pydantic import TypeAdapter

    while typing.get_origin(hint) in (typing.Required, typing.NotRequired, typing.Annotated):
        hint = typing.get_args(hint)[0]
    try:
        return plain(TypeAdapter(hint).json_schema())
    except Exception:  # noqa: BLE001 - whatever a type raises: anything may be given for it
        return {}
