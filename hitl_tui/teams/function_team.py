"""Teams made of one plain async function."""

from __future__ import annotations

import inspect
import json
import re
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any, TypedDict

from hitl_tui.core.errors import BadInput
from hitl_tui.core.interrupts.json_schema import why_unusable
from hitl_tui.core.json_text import canonical
from hitl_tui.core.json_types import Json, JsonObject, JsonSchema
from hitl_tui.core.messages import Message
from hitl_tui.core.policy import Risk
from hitl_tui.teams.arguments import exact_arguments, pairs_in
from hitl_tui.teams.contract import Team, TeamContext, TeamFailure, TeamGraph, TeamResult, in_steps

if TYPE_CHECKING:
    from langgraph.runtime import Runtime

Function = Callable[[TeamContext], Awaitable[TeamResult | str | dict[str, Json]]]

_NAME = re.compile(r"[a-z][a-z0-9_-]{0,63}")


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
        input_schema: JSON Schema of the arguments.
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
        if why := why_unusable(input_schema):
            raise BadInput(Message('The input schema of the team "{}" {}.', name, why))
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
        """Return the JSON Schema of `arguments`, of which the one that takes the task's words may be left out."""
        schema = self.input_schema
        return {**schema, "required": [key for key in schema.get("required", ()) if key != self._text_argument]}

    def bind(self, text: str, arguments: JsonObject) -> dict[str, Json]:
        """Return the arguments with the schema's defaults filled in, and the task's words where they belong.

        Raises:
            BadInput: they don't fit the schema; the message says where.
        """
        given = dict(arguments or pairs_in(text) or {})
        if self._text_argument and text.strip():
            given.setdefault(self._text_argument, text)
        return exact_arguments(self.name, given, self._schema)

    def build(self) -> TeamGraph:
        """Return a graph of one node."""
        return in_steps(FunctionState, ("call", self._call))

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
