"""Form fields of a JSON Schema, references resolved, and the branches of a choice."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from hitl_tui.core.json_types import Json, JsonObject, JsonSchema

_FARTHEST = 16


def resolved(schema: Any, root: JsonObject) -> dict[str, Json]:
    """Return a schema with its own reference followed and a choice between something and null made.

    Args:
        schema: a part of `root`.
        root: the whole schema, which local references point into.
    """
    found = schema
    for _ in range(_FARTHEST):
        if not isinstance(found, Mapping):
            return {}
        target = found.get("$ref")
        if isinstance(target, str):
            beside = {k: v for k, v in found.items() if k != "$ref"}
            there = pointed(root, target)
            found = {**there, **beside} if isinstance(there, Mapping) else beside
            continue
        members = found.get("allOf")
        if isinstance(members, list) and len(members) == 1 and isinstance(members[0], Mapping):
            found = {**members[0], **{k: v for k, v in found.items() if k != "allOf"}}
            continue
        only = _but_null(found)
        if only is None:
            break
        found = {**only, **{k: v for k, v in found.items() if k not in ("anyOf", "oneOf")}}
    kinds = found.get("type")
    if isinstance(kinds, list) and len(kinds) == 2 and "null" in kinds:
        return {**found, "type": next(k for k in kinds if k != "null")}
    return dict(found)


def pointed(root: Mapping[str, object], reference: str) -> object:
    """Return what a local reference points to, None when it points nowhere."""
    found: Any = root
    for step in reference.removeprefix("#").split("/")[1:]:
        name = step.replace("~1", "/").replace("~0", "~")
        if isinstance(found, Mapping) and name in found:
            found = found[name]
        elif isinstance(found, list) and name.isascii() and name.isdigit() and int(name) < len(found):
            found = found[int(name)]
        else:
            return None
    return found


def _but_null(schema: JsonObject) -> JsonObject | None:
    """Return the one thing besides null that a schema allows, None when it isn't like that."""
    for name in ("anyOf", "oneOf"):
        members = schema.get(name)
        if isinstance(members, list) and len(members) == 2:
            rest = [m for m in members if not (isinstance(m, Mapping) and m.get("type") == "null")]
            if len(rest) == 1 and isinstance(rest[0], Mapping):
                return rest[0]
    return None


def fields_schema(schema: JsonObject, root: JsonObject | None = None) -> dict[str, Json]:
    """Return an object schema whose properties can be made a form, each with its reference followed.

    Args:
        schema: the object's schema.
        root: what local references point into; the schema itself when None.
    """
    whole = schema if root is None else root
    top = resolved(schema, whole)
    properties = top.get("properties")
    named = properties if isinstance(properties, Mapping) else {}
    required = top.get("required")
    return {
        "type": "object",
        "properties": {str(k): resolved(v, whole) for k, v in named.items()},
        "required": [str(r) for r in required] if isinstance(required, list) else [],
        "additionalProperties": top.get("additionalProperties", True),
    }


def is_object(schema: JsonObject) -> bool:
    """Return whether a resolved schema describes an object with fields."""
    return schema.get("type") == "object" or (
        "type" not in schema and isinstance(schema.get("properties"), Mapping) and bool(schema["properties"])
    )


def choices(schema: JsonObject) -> list[Json] | None:
    """Return the values that a resolved schema enumerates, None when it doesn't."""
    listed = schema.get("enum")
    if isinstance(listed, list) and listed:
        return list(listed)
    for name in ("oneOf", "anyOf"):
        members = schema.get(name)
        if isinstance(members, list) and members and all(isinstance(m, Mapping) and "const" in m for m in members):
            return [m["const"] for m in members]
    return None


def choice_titles(schema: JsonObject) -> list[str]:
    """Return what a schema calls the values it enumerates, empty texts where it doesn't."""
    for name in ("oneOf", "anyOf"):
        members = schema.get(name)
        if isinstance(members, list) and members and all(isinstance(m, Mapping) and "const" in m for m in members):
            return [str(m.get("title") or m.get("description") or "") for m in members]
    names = schema.get("enumNames")
    return [str(n) for n in names] if isinstance(names, list) else []


@dataclass(frozen=True, slots=True)
class Branch:
    """One form of a choice between objects: what tells it apart, and its other fields.

    Args:
        key: the property that tells the branches apart.
        name: its value here.
        fields: an object schema of the other properties.
    """

    key: str
    name: str
    fields: JsonSchema


def branches(schema: JsonObject, root: JsonObject) -> tuple[Branch, ...]:
    """Return the branches of a choice between objects that one text property tells apart; empty for anything else."""
    members = schema.get("oneOf", schema.get("anyOf"))
    if not isinstance(members, list):
        members = [schema]
    objects = [fields_schema(m, root) for m in members if isinstance(m, Mapping)]
    for key in ("type", "action", "decision", "kind"):
        found = tuple(branch for one in objects if (branch := _branch(one, key)) is not None)
        if found and len(found) == len(members) and len({b.name for b in found}) == len(found):
            return found
    return ()


def _branch(fields: JsonSchema, key: str) -> Branch | None:
    said = fields["properties"].get(key)
    if not isinstance(said, Mapping):
        return None
    listed = said.get("enum")
    value = said.get("const", listed[0] if isinstance(listed, list) and len(listed) == 1 else None)
    if not isinstance(value, str):
        return None
    rest = {k: v for k, v in fields["properties"].items() if k != key}
    required = [r for r in fields["required"] if r != key]
    return Branch(key, value, {**fields, "properties": rest, "required": required})


def defaults(fields: JsonSchema) -> dict[str, Json]:
    """Return the values that a form's schema gives by itself."""
    named = fields.get("properties", {})
    found = {k: v["default"] for k, v in named.items() if isinstance(v, Mapping) and v.get("default") is not None}
    return {**found, **{k: v["const"] for k, v in named.items() if isinstance(v, Mapping) and "const" in v}}


def inferred(present: JsonObject) -> dict[str, Json]:
    """Return an object schema that fits the values there are, for a form where none was given."""
    return {"type": "object", "properties": {k: {"type": _kind(v)} for k, v in present.items()}, "required": []}


def _kind(value: Json) -> str:
    if isinstance(value, bool):
        return "boolean"
    if isinstance(value, int | float):
        return "number"
    return "string" if isinstance(value, str) else "object"
