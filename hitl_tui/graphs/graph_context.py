"""The context that a graph's nodes get: which fields its schema has, what stands in those that nobody gave."""

from __future__ import annotations

import dataclasses
import inspect
import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from hitl_tui.core.errors import BadInput, error_words
from hitl_tui.core.interrupts.json_schema import problem
from hitl_tui.core.json_types import Json, JsonObject
from hitl_tui.core.messages import Message
from hitl_tui.core.names import nearest
from hitl_tui.core.safe_text import one_line
from hitl_tui.graphs.graph_schema import field_schema
from hitl_tui.graphs.json_values import plain

_SECRET = re.compile(r"(?:^|_)(?:key|apikey|token|secret|password|passwd|credentials?)(?:_|$)", re.IGNORECASE)
_PLAIN = (str, int, float, bool, type(None))


@dataclass(frozen=True, slots=True)
class ContextForm:
    """What a graph takes as its context.

    Args:
        kind: the class that LangGraph makes of it; None where it stays a mapping.
        schema: JSON Schema of its fields; {} where it takes anything, or isn't known to take any.
    """

    kind: type | None = None
    schema: JsonObject = field(default_factory=dict)

    @property
    def fields(self) -> Mapping[str, Any]:
        """The schema of each field by name."""
        found = self.schema.get("properties")
        return found if isinstance(found, Mapping) else {}

    @property
    def needed(self) -> tuple[str, ...]:
        """Names of the fields that somebody has to give."""
        found = self.schema.get("required")
        return tuple(map(str, found)) if isinstance(found, list | tuple) else ()

    def of_settings(self, context: JsonObject, configurable: JsonObject) -> dict[str, Json]:
        """Return what is given as context, the configurable values that it has fields for among it."""
        return {**{key: value for key, value in configurable.items() if key in self.fields}, **context}

    def filled(self, given: JsonObject, name: str, secret_names: Sequence[str] = ()) -> dict[str, Json]:
        """Return a context with what its class puts into the fields that nobody gave, as far as that is plain JSON.

        What may be a secret is left to the class.

        Args:
            given: what somebody gave.
            name: what messages call the graph.
            secret_names: variables of the environment that hold secrets.

        Raises:
            BadInput: it can't be made of what was given; the message names the first field that is wrong.
        """
        self._check(given, name)
        if self.kind is None:
            found = {key: part["default"] for key, part in self.fields.items() if "default" in _mapping(part)}
        else:
            try:
                made = self.kind(**given)
            except Exception as error:
                said = one_line(error_words(error), 300)
                raise BadInput(Message("The context of {} can't be made: {}.", name, said)) from error
            found = {key: getattr(made, key, ...) for key in self.fields}
        secrets = {os.environ[key] for key in secret_names if os.environ.get(key)}
        kept = {
            key: value
            for key, value in found.items()
            if _is_plain(value) and not _SECRET.search(key) and not _holds(value, secrets)
        }
        return {**kept, **given}

    def absent(self, error: BaseException, given: JsonObject) -> str:
        """Return the field that nobody gave and that a node looked for in vain; empty where that wasn't it."""
        if isinstance(error, TypeError | AttributeError) and not given and str(error).startswith("'NoneType' object"):
            return next(iter(self.needed), "")  # LangGraph gives None for an empty mapping
        key = error.args[0] if isinstance(error, KeyError) and error.args else ""
        return key if isinstance(key, str) and key in self.fields and key not in given else ""

    def _check(self, given: JsonObject, name: str) -> None:
        known = self.fields
        for key in given:
            if known and key not in known and self.schema.get("additionalProperties") in (None, False):
                near = nearest(str(key), known)
                said = one_line(str(key), 60)
                raise BadInput(
                    Message('The context of {} has no "{}"; did you mean "{}"?', name, said, near)
                    if near
                    else Message('The context of {} has no "{}"; its fields are {}.', name, said, ", ".join(known))
                )
        if self.kind is not None and (missing := [key for key in self.needed if key not in given]):
            raise BadInput(
                Message('{} needs "{}" in its context, and nobody gave it.', name, one_line(missing[0], 60)),
                help=Message(
                    "Give it with --context '{{\"{}\": …}}', or as context of the team in hitl.toml.", missing[0]
                ),
            )
        for key, value in given.items():
            schema = {**_mapping(known.get(key)), "$defs": self.schema.get("$defs", {})}
            if wrong := problem(schema, value):
                raise BadInput(Message('"{}" in the context of {}: {}', one_line(key, 60), name, wrong))


def context_form(graph: Any) -> ContextForm:
    """Return what a compiled graph takes as its context."""
    from pydantic import BaseModel

    kind = getattr(graph, "context_schema", None)
    if not inspect.isclass(kind):
        return ContextForm()
    try:
        schema = plain(graph.get_context_jsonschema()) or {}
    except Exception:  # noqa: BLE001 - whatever a type without a JSON Schema raises
        schema = field_schema(kind)
    is_made = dataclasses.is_dataclass(kind) or issubclass(kind, BaseModel)
    return ContextForm(kind if is_made else None, schema if isinstance(schema, Mapping) else {})


def _mapping(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def _is_plain(value: object) -> bool:
    """Tell whether a value is JSON as it is: a subclass of a text or number means something else, too."""
    if isinstance(value, dict) and type(value) is dict:
        return all(type(key) is str and _is_plain(part) for key, part in value.items())
    if isinstance(value, list) and type(value) is list:
        return all(map(_is_plain, value))
    return type(value) in _PLAIN


def _holds(value: object, secrets: set[str]) -> bool:
    text = str(value)
    return any(secret in text for secret in secrets)
