"""From words, `name=value` and JSON to the exact arguments of a team, by its schema. Pure."""

from __future__ import annotations

import json
from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from hitl_tui.config.problems import quoted
from hitl_tui.core.errors import BadInput, MissingInput
from hitl_tui.core.interrupts.field_text import how_listed, list_example, list_value
from hitl_tui.core.interrupts.json_schema import expects, problem
from hitl_tui.core.interrupts.schema_fields import fields_schema, resolved
from hitl_tui.core.json_text import canonical, strict_json
from hitl_tui.core.json_types import Json, JsonObject, JsonSchema
from hitl_tui.core.messages import Message
from hitl_tui.core.names import nearest
from hitl_tui.core.shell_words import shell_words
from hitl_tui.teams.contract import one

_BOOLEANS = {"true": True, "yes": True, "false": False, "no": False}


@dataclass(frozen=True, slots=True)
class Fields:
    """The arguments that a schema names.

    Args:
        known: the schema of each, its reference followed.
        required: those that it has to have.
        closed: it takes no others.
        others: the schema of others.
    """

    known: Mapping[str, JsonSchema]
    required: tuple[str, ...]
    closed: bool
    others: JsonSchema


def fields_of(schema: JsonSchema) -> Fields:
    """Return the arguments that a schema names."""
    found: Mapping[str, Any] = fields_schema(schema)
    others = found["additionalProperties"]
    rest = resolved(others, schema) if isinstance(others, Mapping) else {}
    return Fields(found["properties"], tuple(found["required"]), others is False, rest)


def given_in(text: str, schema: JsonSchema) -> dict[str, Json]:
    """Return the arguments that a text gives: a JSON object, `name=value …`, or words for the only one it has to have.

    Other words are what the step is called by, and give nothing.

    Args:
        text: as a person wrote it.
        schema: JSON Schema of the arguments.

    Raises:
        BadInput: it begins as JSON and is none.
    """
    words = text.strip()
    if words.startswith("{"):
        try:
            found = strict_json(words)
        except ValueError as error:
            raise BadInput(Message("The input isn't valid JSON: {}.", error)) from error
        if isinstance(found, dict):
            return found
    if (pairs := pairs_in(words)) is not None:
        return dict(pairs)
    needed = fields_of(schema).required
    return {needed[0]: words} if words and len(needed) == 1 else {}


def pairs_in(text: str) -> dict[str, str] | None:
    """Return what `name=value …` gives, with quotes as in a shell; None where a text is anything else.

    A list or an object is written in JSON as it is.
    """
    try:
        words = [word.partition("=") for word in shell_words(text)]
    except ValueError:
        return None
    if not words or not all(mark and name.isidentifier() for name, mark, _ in words):
        return None
    return {name: value for name, _, value in words}


def pairs_among(text: str, known: Container[str]) -> dict[str, Json]:
    """Return what words give by name amid others: a JSON object of known names, else each `name=value`.

    Args:
        text: as a person wrote it: `pay amount=4 with the payments team`, `payments with {"amount": 4}`.
        known: the names that are meant.
    """
    for place in (i for i, sign in enumerate(text) if sign == "{"):
        try:
            _, end = json.JSONDecoder().raw_decode(text, place)
            found = strict_json(text[place:end])
        except ValueError:
            continue
        if isinstance(found, dict) and found and all(name in known for name in found):
            return found
    try:
        words = [word.partition("=") for word in shell_words(text)]
    except ValueError:
        return {}
    return {name: value.rstrip(",;") for name, mark, value in words if mark and name in known}


def exact_arguments(name: str, given: JsonObject, schema: JsonSchema) -> dict[str, Json]:
    """Return the arguments with texts read as what is due and the schema's defaults, null aside, filled in.

    Args:
        name: what messages call the team.
        given: as they were written.
        schema: JSON Schema of the arguments.

    Raises:
        BadInput: the first that doesn't fit; the message names it.
    """
    fields = fields_of(schema)
    known = fields.known
    for key in given:
        if key not in known and fields.closed:
            raise BadInput(_unknown(name, one(key), list(known)))
    found: dict[str, Json] = {}
    for key, part in known.items():
        if key in given:
            found[key] = _read(given[key], part)
        elif part.get("default") is not None:
            found[key] = part["default"]
    found.update((key, _read(value, fields.others)) for key, value in given.items() if key not in known)
    if lacking := [key for key in fields.required if key in known and key not in found]:
        raise MissingInput(
            Message("{} needs the parameter {} ({}).", name, quoted(lacking[0]), expects(known[lacking[0]])),
            missing=lacking,
            given=found,
            help=Message("For example: {}", _example(known, fields.required)),
        )
    canonical(found)  # it is JSON
    if wrong := problem(schema, found):
        raise BadInput(Message("{}: {}", name, wrong), help=_how_lists_are_written(found, known))
    exact: dict[str, Json] = json.loads(json.dumps(found))
    return exact


def _read(value: Json, schema: JsonSchema) -> Json:
    """Return a text as the number, truth value or JSON that is due where it stands; anything else as it is."""
    kinds = _kinds(schema)
    if not isinstance(value, str) or "string" in kinds:
        return value
    if "boolean" in kinds and value.strip().lower() in _BOOLEANS:
        return _BOOLEANS[value.strip().lower()]
    if kinds - {"null"} == {"array"} and value.strip() != "null":
        return list_value(value, schema.get("items") or {})
    if not kinds and value in schema.get("enum", (value,)):
        return value
    try:
        return strict_json(value)
    except ValueError:
        return value


def _how_lists_are_written(given: JsonObject, known: Mapping[str, JsonSchema]) -> str:
    """Return how the first list is written that was given as something else; empty for none."""
    for key, part in known.items():
        if part.get("type") == "array" and key in given and not isinstance(given[key], list):
            return how_listed(key, part.get("items") or {})
    return ""


def _kinds(schema: JsonSchema) -> frozenset[str]:
    kind = schema.get("type")
    kinds = frozenset([kind] if isinstance(kind, str) else kind or ())
    members = [*schema.get("anyOf", ()), *schema.get("oneOf", ())]
    return kinds.union(*(_kinds(member) for member in members if isinstance(member, Mapping)))


def _unknown(name: str, key: str, known: list[str]) -> str:
    hint = nearest(key, known)
    if hint:
        return Message("{} has no parameter {}; did you mean {}?", name, quoted(key), quoted(hint))
    if known:
        return Message("{} has no parameter {}; it takes {}.", name, quoted(key), ", ".join(known))
    return Message("{} has no parameter {}; it takes none.", name, quoted(key))


_EXAMPLES: Mapping[str, str] = {"integer": "1", "number": "1.5", "boolean": "true", "object": "'{}'"}


def _example(known: Mapping[str, JsonSchema], required: Sequence[str]) -> str:
    parts = []
    for key in required[:4]:
        choices = known[key].get("enum")
        kind = known[key].get("type")
        value = json.dumps(choices[0], ensure_ascii=False) if choices else _EXAMPLES.get(str(kind), "…")
        if kind == "array":
            value = list_example(known[key].get("items") or {})
        parts.append(f"{key}={value}")
    return " ".join(parts)
