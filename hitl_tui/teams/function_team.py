"""Teams made of one plain async function."""

from __future__ import annotations

import difflib
import inspect
import json
import re
from collections.abc import Awaitable, Callable, Mapping
from typing import TYPE_CHECKING, Any, TypedDict

from hitl_tui.core.errors import BadInput, MissingInput
from hitl_tui.core.json_text import canonical
from hitl_tui.core.json_types import Json, JsonObject, JsonSchema
from hitl_tui.core.messages import Message
from hitl_tui.core.policy import Risk
from hitl_tui.teams.contract import Team, TeamContext, TeamFailure, TeamGraph, TeamResult

if TYPE_CHECKING:
    from langgraph.runtime import Runtime

Function = Callable[[TeamContext], Awaitable[TeamResult | str | dict[str, Json]]]

_NAME = re.compile(r"[a-z][a-z0-9_-]{0,63}")
_TYPES: Mapping[str, tuple[type, ...]] = {
    "string": (str,),
    "integer": (int,),
    "number": (int, float),
    "boolean": (bool,),
    "array": (list, tuple),
    "object": (Mapping,),
    "null": (type(None),),
}
_CHECKED = {"type", "enum", "properties", "required", "additionalProperties", "items", "minimum", "maximum"}
_NOTES = {"$schema", "title", "description", "default", "examples", "readOnly"}


class FunctionState(TypedDict, total=False):
    """State of the team's graph: the task and the result."""

    task: str
    result: dict[str, Any]


class FunctionTeam(Team):
    """A team made of `async def f(context: TeamContext) -> TeamResult | str | dict`.

    The function finds its approved input in `context.task.arguments` and changes the world only through
    `context.effects`. A text it returns is the result's text; a dict is its data.

    Args:
        name: lower-case letters, digits, `_` and `-`.
        description: one line.
        risk: risk class of whatever it does.
        function: the async function.
        input_schema: JSON Schema of the arguments; type, enum, properties, required, additionalProperties,
            items, minimum and maximum are checked, and a schema that asks for more is refused.
        text_argument: the property that takes the task's words when it isn't given; empty for none.
        max_retries: how often a failure is tried again.
        timeout: seconds one attempt may take; 0 for no limit.

    Raises:
        BadInput: the function is not async, or the name or the schema can't be used.
    """

    def __init__(
        self,
        name: str,
        description: str,
        risk: Risk,
        function: Function,
        input_schema: JsonSchema,
        *,
        text_argument: str = "",
        max_retries: int = 0,
        timeout: float = 600.0,
    ) -> None:
        if not _NAME.fullmatch(name):
            raise BadInput(Message('A team\'s name is lower-case letters, digits, "_" and "-", not "{}".', name))
        if not _is_async(function):
            raise BadInput(
                Message('The function of team "{}" must be "async def": a synchronous one can\'t be stopped.', name)
            )
        refuse_schema(input_schema)
        if input_schema.get("type", "object") != "object":
            raise BadInput(Message('The input schema of the team "{}" must describe an object.', name))
        if text_argument and text_argument not in input_schema.get("properties", {}):
            raise BadInput(
                Message(
                    'The input schema of team "{}" has no property "{}" for the task\'s words.', name, text_argument
                )
            )
        self.name = name
        self.description = description
        self.risk = risk
        self.max_retries = max_retries
        self.timeout = timeout
        self._function = function
        self._schema = json.loads(canonical(dict(input_schema)))
        self._text_argument = text_argument

    @property
    def input_schema(self) -> JsonSchema:
        """JSON Schema of `arguments`."""
        copy: dict[str, Json] = json.loads(canonical(self._schema))
        return copy

    def call_schema(self) -> JsonSchema:
        """Return the JSON Schema of `arguments`, without the one that takes the task's words."""
        schema = self.input_schema
        known = {key: part for key, part in schema.get("properties", {}).items() if key != self._text_argument}
        return {**schema, "properties": known}

    def bind(self, text: str, arguments: JsonObject) -> dict[str, Json]:
        """Return the arguments with the schema's defaults filled in, and the task's words where they belong.

        Raises:
            BadInput: they don't fit the schema; the message says where.
        """
        bound = {key: part["default"] for key, part in self._schema.get("properties", {}).items() if "default" in part}
        if self._text_argument and text.strip():
            bound[self._text_argument] = text
        bound.update(arguments)
        exact: dict[str, Json] = json.loads(canonical(bound))
        if lacking := [name for name in self._schema.get("required", ()) if name not in exact]:
            raise MissingInput(Message('{} needs "{}".', "The input", lacking[0]), missing=lacking, given=exact)
        refuse_misfit(exact, self._schema)
        return exact

    def build(self) -> TeamGraph:
        """Return a graph of one node."""
        from langgraph.graph import END, START, StateGraph

        graph = StateGraph(FunctionState, context_schema=TeamContext)
        graph.add_node("call", self._call)
        graph.add_edge(START, "call")
        graph.add_edge("call", END)
        return graph

    async def _call(self, state: FunctionState, runtime: Runtime[TeamContext]) -> FunctionState:
        returned = await self._function(runtime.context)
        try:
            return {"result": json.loads(canonical(_as_result(self.name, returned).to_dict()))}
        except BadInput as error:
            raise TeamFailure(Message('The team "{}" returned something that isn\'t JSON.', self.name)) from error


def _as_result(name: str, returned: object) -> TeamResult:
    if isinstance(returned, TeamResult):
        return returned
    if isinstance(returned, str):
        return TeamResult(text=returned, found=bool(returned.strip()))
    if isinstance(returned, dict):
        shown = canonical(returned).decode("utf-8", "surrogatepass")
        pretty = json.dumps(json.loads(shown), ensure_ascii=False, indent=2)
        return TeamResult(text=f"```json\n{pretty}\n```\n", data=returned)
    raise TeamFailure(
        Message('The team "{}" must return a TeamResult, a text or a dict, not {}.', name, type(returned).__name__)
    )


def _is_async(function: object) -> bool:
    if inspect.iscoroutinefunction(function):
        return True
    call = getattr(type(function), "__call__", None)  # noqa: B004 - an object with an async __call__
    return inspect.iscoroutinefunction(call)


def refuse_schema(schema: object, where: str = "input schema") -> None:
    """Check that a schema asks for nothing that `refuse_misfit` doesn't check.

    Raises:
        BadInput: it does, or it is no schema.
    """
    if not isinstance(schema, Mapping):
        raise BadInput(Message("The {} must be a JSON object.", where))
    for key in schema:
        if key not in _CHECKED | _NOTES:
            raise BadInput(
                Message('The {} uses "{}", which isn\'t checked here; check it in the function.', where, key)
            )
    for kind in _kinds(schema):
        if kind not in _TYPES:
            raise BadInput(Message('The {} has the unknown type "{}"; known: {}.', where, kind, ", ".join(_TYPES)))
    if not isinstance(schema.get("additionalProperties", True), bool):
        raise BadInput(Message('"additionalProperties" of the {} must be true or false.', where))
    if not isinstance(schema.get("enum", []), list | tuple) or not isinstance(schema.get("required", []), list | tuple):
        raise BadInput(Message('"enum" and "required" of the {} must be lists.', where))
    for bound in ("minimum", "maximum"):
        if bound in schema and not _is(schema[bound], "number"):
            raise BadInput(Message('"{}" of the {} must be a number.', bound, where))
    properties = schema.get("properties", {})
    if not isinstance(properties, Mapping):
        raise BadInput(Message('"properties" of the {} must be a JSON object.', where))
    for name, part in properties.items():
        refuse_schema(part, f'{where} of "{name}"')
    if "items" in schema:
        refuse_schema(schema["items"], f"{where} of the items")


def refuse_misfit(value: Json, schema: JsonSchema, where: str = "the input") -> None:
    """Check a JSON value against a schema that `refuse_schema` lets through.

    Raises:
        BadInput: the first thing that doesn't fit, in one sentence.
    """
    kinds = _kinds(schema)
    if kinds and not any(_is(value, kind) for kind in kinds):
        raise BadInput(Message("{} must be {}, not {}.", _capital(where), _either(kinds), _shown(value)))
    if "enum" in schema and not any(_same(value, choice) for choice in schema["enum"]):
        choices = ", ".join(_shown(choice) for choice in schema["enum"])
        raise BadInput(Message("{} must be one of {}, not {}.", _capital(where), choices, _shown(value)))
    if _is(value, "number"):
        if "minimum" in schema and value < schema["minimum"]:
            raise BadInput(Message("{} must be at least {}, not {}.", _capital(where), schema["minimum"], value))
        if "maximum" in schema and value > schema["maximum"]:
            raise BadInput(Message("{} must be at most {}, not {}.", _capital(where), schema["maximum"], value))
    if isinstance(value, Mapping):
        _refuse_misfit_object(value, schema, where)
    if isinstance(value, list) and "items" in schema:
        for number, item in enumerate(value, start=1):
            refuse_misfit(item, schema["items"], f"item {number} of {where}")


def _refuse_misfit_object(value: JsonObject, schema: JsonSchema, where: str) -> None:
    properties = schema.get("properties", {})
    for name in schema.get("required", ()):
        if name not in value:
            raise BadInput(Message('{} needs "{}".', _capital(where), name))
    for name, item in value.items():
        if name in properties:
            refuse_misfit(item, properties[name], f'"{name}"')
        elif schema.get("additionalProperties", True) is False:
            near = difflib.get_close_matches(name, list(properties), n=1)
            meant = f'; did you mean "{near[0]}"' if near else ""
            raise BadInput(
                Message('{} has no "{}"{}?', _capital(where), name, meant)
                if meant
                else Message('{} has no "{}"{}.', _capital(where), name, meant)
            )


def _kinds(schema: JsonSchema) -> list[str]:
    kind = schema.get("type", [])
    return [kind] if isinstance(kind, str) else [str(k) for k in kind]


def _is(value: object, kind: str) -> bool:
    if isinstance(value, bool):
        return kind == "boolean"
    if kind == "integer" and isinstance(value, float):
        return value.is_integer()
    return isinstance(value, _TYPES[kind])


def _same(value: object, choice: object) -> bool:
    # JSON tells true from 1, Python doesn't.
    return value == choice and isinstance(value, bool) == isinstance(choice, bool)


def _either(kinds: list[str]) -> str:
    return " or ".join(("an " if kind[0] in "aeio" else "a ") + kind if kind != "null" else kind for kind in kinds)


def _shown(value: object) -> str:
    text = json.dumps(value, ensure_ascii=False, default=str)
    return text if len(text) <= 60 else text[:59] + "…"


def _capital(text: str) -> str:
    return text[0].upper() + text[1:]
