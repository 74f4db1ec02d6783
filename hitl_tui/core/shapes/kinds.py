"""Whether a value is of another type than a rule's JSON Schema speaks about (M10).

A schema fits or doesn't fit only values of the types it was written for: `minimum = 1000` says nothing about the text
"5000", and `type = "number"` just doesn't fit it. A tool may read that text as a number all the same, so for a rule
such a value is one that can't be judged.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from hitl_tui.core.shapes.forms import pointed
from hitl_tui.core.shapes.schema import found_in

_BESIDE = ("allOf", "anyOf", "oneOf")
_WITHIN = ("not", "if", "then", "else")
_ITEMS = ("items", "contains", "additionalItems", "unevaluatedItems")
_VALUES = ("additionalProperties", "unevaluatedProperties")
_SPEAKS: Mapping[str, frozenset[str]] = {
    **dict.fromkeys(
        ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"), frozenset({"integer", "number"})
    ),
    **dict.fromkeys(("pattern", "minLength", "maxLength", "format"), frozenset({"string"})),
    **dict.fromkeys((*_ITEMS, "prefixItems", "minItems", "maxItems", "uniqueItems"), frozenset({"array"})),
    **dict.fromkeys(("properties", "patternProperties", "required", *_VALUES), frozenset({"object"})),
}
_MOST_STEPS = 10_000
_DEEPEST = 6


def is_strange(schema: Mapping[str, Any], value: Any) -> bool:
    """Return whether anything in a value is of a type that a schema doesn't speak about at its place.

    A whole number is a number, too; what isn't whole is strange where only whole numbers are spoken of. A schema that
    says nothing of types at a place takes any. What is too large to be looked through counts as strange.

    Args:
        schema: JSON Schema of the value.
        value: JSON.
    """
    pending: list[tuple[Sequence[Any], Any]] = [((schema,), value)]
    steps = 0
    while pending:
        given, item = pending.pop()
        there = []
        for one in _alongside(given, schema):
            steps += 1
            if steps > _MOST_STEPS:
                return True
            there.append(one)
        spoken = frozenset[str]().union(*(_spoken(one, schema) for one in given))
        if spoken and not spoken & _kinds(item):
            return True
        pending += ((below, part) for part, below in _parts(there, item) if below)
    return False


def _alongside(schemas: Sequence[Any], root: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """Yield all that speaks about the same place: the schemas, and what they refer to or are combined of."""
    pending, seen = list(schemas), set[int]()
    while pending:
        one = pending.pop()
        if isinstance(one, Mapping) and id(one) not in seen:
            seen.add(id(one))
            yield one
            pending += _combined(one, root)


def _combined(schema: Mapping[str, Any], root: Mapping[str, Any]) -> list[Any]:
    found = [schema[name] for name in _WITHIN if name in schema]
    for name in _BESIDE:
        found += schema[name] if isinstance(schema.get(name), list) else []
    return [*found, pointed(root, schema["$ref"])] if isinstance(schema.get("$ref"), str) else found


def _parts(schemas: Sequence[Mapping[str, Any]], value: Any) -> Iterator[tuple[Any, Sequence[Any]]]:
    """Yield the parts of a value, each with the schemas that speak about it."""
    if isinstance(value, Mapping):
        for name, part in value.items():
            below = []
            for one in schemas:
                named, patterns = _mapping(one, "properties"), _mapping(one, "patternProperties")
                about = [named[name]] if name in named else []
                about += [below_it for pattern, below_it in patterns.items() if found_in(pattern, name) is not False]
                below += about or [one[key] for key in _VALUES if key in one]
            yield part, below
    elif isinstance(value, list | tuple):
        below = []
        for one in schemas:
            for key in (*_ITEMS, "prefixItems"):
                below += one[key] if isinstance(one.get(key), list) else [one[key]] if key in one else []
        yield from ((part, below) for part in value)


def _mapping(schema: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    found = schema.get(name)
    return found if isinstance(found, Mapping) else {}


def _spoken(schema: Any, root: Mapping[str, Any], depth: int = 0) -> frozenset[str]:
    """Return the types that a schema speaks about; empty for all. What it says itself goes before what is within."""
    if not isinstance(schema, Mapping) or depth > _DEEPEST:
        return frozenset()
    kinds = schema.get("type")
    if isinstance(kinds, str | list):
        return _with_whole({kinds} if isinstance(kinds, str) else {kind for kind in kinds if isinstance(kind, str)})
    if "const" in schema:
        return _kinds(schema["const"])
    if isinstance(schema.get("enum"), list):
        return frozenset[str]().union(*(_kinds(value) for value in schema["enum"]))
    found = frozenset[str]().union(*(_SPEAKS[name] for name in schema if name in _SPEAKS))
    return found.union(*(_spoken(one, root, depth + 1) for one in _combined(schema, root)))


def _with_whole(kinds: set[str]) -> frozenset[str]:
    return frozenset(kinds | {"integer"} if "number" in kinds else kinds)


def _kinds(value: Any) -> frozenset[str]:
    """Return the names that JSON Schema has for a value's type."""
    if value is None:
        return frozenset({"null"})
    if isinstance(value, bool):
        return frozenset({"boolean"})
    if isinstance(value, int) or (isinstance(value, float) and value.is_integer()):
        return frozenset({"integer", "number"})
    if isinstance(value, float):
        return frozenset({"number"})
    if isinstance(value, str):
        return frozenset({"string"})
    return frozenset({"object"} if isinstance(value, Mapping) else {"array"})
