"""What the text of a form's field stands for, wherever a person writes it: in a form, or as `name=value`."""

from __future__ import annotations

import re
from collections.abc import Mapping
from math import isfinite

from hitl_tui.core.errors import BadInput
from hitl_tui.core.interrupts.schema_fields import inferred
from hitl_tui.core.interrupts.shape import Wants
from hitl_tui.core.json_text import strict_json
from hitl_tui.core.json_types import Json, JsonObject, JsonSchema
from hitl_tui.core.messages import Message
from hitl_tui.core.safe_text import one_line

STRING, INTEGER, NUMBER, BOOLEAN, TEXTS, JSON = "string", "integer", "number", "boolean", "texts", "json"
"""What a field takes; `TEXTS` is a list of them."""

_NUMBER = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")
_LONGEST = 400
"""Characters of a number."""
_BETWEEN = re.compile("[,\n]")


def form_schema(wants: Wants) -> JsonSchema:
    """Return the object schema of the form of what an action needs: its own, or one of what is there."""
    present = wants.present if isinstance(wants.present, Mapping) else {}
    return wants.schema if wants.schema and "properties" in wants.schema else inferred(present)


def field_kind(schema: JsonSchema, name: str, present: JsonObject) -> str:
    """Return what a field takes: a value that is there and isn't of the kind that is declared makes it JSON.

    Args:
        schema: an object schema with its references followed.
        name: the property; one that the schema doesn't describe is JSON.
        present: the values that there are.
    """
    said = schema.get("properties", {}).get(name) or {}
    kind, options = said.get("type"), said.get("enum") or ()
    if not all(isinstance(option, str) for option in options):
        return JSON
    if kind == "array" and (said.get("items") or {}).get("type") == "string":
        kind = TEXTS
    if name in present and kind in (STRING, TEXTS) and not _fits(kind, present[name]):
        return JSON
    return kind if kind in (STRING, INTEGER, NUMBER, BOOLEAN, TEXTS) else JSON


def _fits(kind: str, value: Json) -> bool:
    """Return whether a value that is there is a text, or a list of texts."""
    if kind == STRING:
        return isinstance(value, str)
    return isinstance(value, list | tuple) and all(isinstance(one, str) for one in value)


def field_value(kind: str, text: str) -> Json:
    """Return what a text stands for in a field of a kind: the text as it stands where it is none of that kind.

    Raises:
        BadInput: it is JSON with an object that names a key twice.
    """
    plain = text.strip()
    if kind in (INTEGER, NUMBER):
        return _number(plain, text, whole=kind == INTEGER)
    if kind == BOOLEAN:
        return plain.lower() == "true" if plain.lower() in ("true", "false") else text
    if kind == TEXTS:
        return list_value(text, {"type": STRING})
    return typed_value(text) if kind == JSON else text


def written_value(schema: JsonSchema, name: str, present: JsonObject, text: str) -> Json:
    """Return what the text after `name=` stands for, by an object schema; see `field_kind`.

    Raises:
        BadInput: it has to be a list and isn't written as one.
    """
    found = field_value(field_kind(schema, name, present), text)
    said = schema.get("properties", {}).get(name) or {}
    if said.get("type") != "array" or found is None:
        return found
    items = said.get("items") or {}
    listed = list_value(text, items)
    if isinstance(listed, str):
        raise BadInput(Message('"{}" must be a list.', one_line(name, 40)), help=how_listed(name, items))
    return listed


_PLAIN = (STRING, INTEGER, NUMBER, BOOLEAN)


def list_value(text: str, items: JsonSchema) -> Json:
    """Return the list that a text is: JSON, or what stands between its commas; the text as it stands where it is none.

    Args:
        text: as a person wrote it; `[Ann, Bob]` without quotation marks is such a list, too.
        items: JSON Schema of what it holds.

    Raises:
        BadInput: it is JSON with an object that names a key twice.
    """
    plain, kind = text.strip(), items.get("type")
    if isinstance(found := json_value(plain), list):
        return found
    bare = plain[1:-1] if plain.startswith("[") and plain.endswith("]") else plain
    if bare[:1] in ("[", "{") or (bare != plain and '"' in bare) or (kind and kind not in _PLAIN):
        return text
    return [field_value(kind or JSON, part.strip()) for part in _BETWEEN.split(bare) if part.strip()]


_TWO = {INTEGER: "1,2", NUMBER: "1.5,2", BOOLEAN: "true,false"}


def list_example(items: JsonSchema) -> str:
    """Return a list of two as a person may write it; of what isn't written without JSON, in JSON."""
    kind = items.get("type")
    return _TWO.get(str(kind), "a,b") if kind in (None, *_PLAIN) else "'[…]'"


def how_listed(name: str, items: JsonSchema) -> Message:
    """Return how a list is written after `name=`."""
    plain, name = list_example(items), one_line(name, 40)
    if plain.startswith("'"):
        return Message("A list is written in JSON: {}", f"{name}=[…]")
    parts = plain.split(",") if items.get("type") in _TWO else [f'"{part}"' for part in plain.split(",")]
    return Message("A list is written as {} or {}", f"{name}={plain}", f"{name}=[{','.join(parts)}]")


def _number(plain: str, text: str, *, whole: bool) -> Json:
    if len(plain) > _LONGEST or not _NUMBER.fullmatch(plain):
        return text
    if plain.lstrip("+-").isdigit():
        return int(plain)
    found = float(plain)
    if whole:
        return int(found) if found.is_integer() else text
    return found if isfinite(found) else text


def typed_value(text: str) -> Json:
    """Return a typed value: `30` is a number, `"30"` a text, what isn't JSON is text as it stands.

    Raises:
        BadInput: it is JSON with an object that names a key twice.
    """
    found = json_value(text)
    return text if found is None and text.strip() != "null" else found


def json_value(text: str) -> Json:
    """Return the JSON that a text is; None when it isn't any, and for null.

    Raises:
        BadInput: an object in it names a key twice.
    """
    try:
        return strict_json(text)
    except ValueError:
        return None
