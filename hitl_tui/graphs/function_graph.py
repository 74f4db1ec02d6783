"""A plain function, a LangChain tool or another Runnable as a graph of one node."""

from __future__ import annotations

import inspect
import typing
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from hitl_tui.core.messages import Message
from hitl_tui.core.safe_text import one_line
from hitl_tui.graphs.graph_target import GraphError

if TYPE_CHECKING:
    from langgraph.graph import StateGraph

_SETTINGS = frozenset({"config", "runtime"})
_OTHERS = ("langgraph", "langchain")
"""Packages whose types a factory takes."""


def function_graph(found: object) -> StateGraph[Any, Any, Any, Any] | None:
    """Return a graph that calls something once, with its parameters as input and `result` as output; None for others.

    A function that takes nothing, or nothing but a configuration, isn't one: it may make a graph.

    Raises:
        GraphError: its parameters have no form in JSON.
    """
    from langchain_core.runnables import Runnable
    from langchain_core.tools import BaseTool

    if isinstance(found, BaseTool):
        form = found.tool_call_schema
        return _graph(found.name, form if inspect.isclass(form) else found.get_input_schema(), found.ainvoke)
    if isinstance(found, Runnable):
        runnable: Runnable[Any, Any] = found

        async def run(given: Mapping[str, Any]) -> Any:
            return await runnable.ainvoke(given["input"])

        return _graph(found.get_name(), _form(found.get_name(), {"input": (runnable.InputType, ...)}), run)
    if not inspect.isroutine(found):
        return None
    fields = _fields(found)
    if fields is None:
        return None
    function, name = found, found.__name__

    def call(given: Mapping[str, Any]) -> Any:
        return function(**given)

    async def called(given: Mapping[str, Any]) -> Any:
        return await function(**given)

    return _graph(name, _form(name, fields), called if inspect.iscoroutinefunction(found) else call)


def _fields(function: Callable[..., Any]) -> dict[str, tuple[Any, Any]] | None:
    """Return the type and default of each parameter; None where a function may be a factory, or can't be called so."""
    try:
        parameters = inspect.signature(function).parameters.values()
        hints = typing.get_type_hints(function, include_extras=True)
    except (TypeError, ValueError, NameError):
        return None
    by_name = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
    needed = [p for p in parameters if p.default is p.empty]
    if not needed or any(p.kind not in by_name or p.name not in hints for p in needed):
        return None
    if any(_is_setting(p.name, hints[p.name]) for p in needed):
        return None
    return {
        p.name: (_described(hints.get(p.name, Any)), ... if p.default is p.empty else p.default)
        for p in parameters
        if p.kind in by_name
    }


def _is_setting(name: str, hint: Any) -> bool:
    kind = typing.get_origin(hint) or hint
    return name in _SETTINGS or kind is Any or str(getattr(kind, "__module__", "")).startswith(_OTHERS)


def _described(hint: Any) -> Any:
    from pydantic import Field

    if typing.get_origin(hint) is not typing.Annotated:
        return hint
    kind, *notes = typing.get_args(hint)
    annotated: Any = typing.Annotated
    return annotated[(kind, *(Field(description=note) if isinstance(note, str) else note for note in notes))]


def _form(name: str, fields: Mapping[str, tuple[Any, Any]]) -> Any:
    from pydantic import create_model

    make: Any = create_model
    try:
        form = make(name, **fields)
        form.model_json_schema()
    except Exception as error:
        said = one_line(str(error).split("\n")[0], 200)
        raise GraphError(Message("A parameter of {0} can't be written as JSON: {1}.", name, said)) from error
    return form


def _graph(name: str, form: Any, call: Callable[[Any], Any]) -> StateGraph[Any, Any, Any, Any]:
    from langgraph.graph import END, START, StateGraph
    from pydantic_core import to_jsonable_python

    result = "result" if "result" not in form.model_fields else "returned"
    kept: Any = typing.TypedDict  # its fields are only known now
    hints = dict.fromkeys(form.model_fields, Any)
    state, output = kept("State", {**hints, result: Any}, total=False), kept("Output", {result: Any})

    def given(values: Any) -> dict[str, Any]:
        return {key: getattr(values, key) for key in form.model_fields}

    def node(values: Any) -> dict[str, Any]:
        return {result: to_jsonable_python(call(given(values)), fallback=str)}

    async def async_node(values: Any) -> dict[str, Any]:
        return {result: to_jsonable_python(await call(given(values)), fallback=str)}

    builder: Any = StateGraph(state, input_schema=form, output_schema=output)
    builder.add_node(name, async_node if inspect.iscoroutinefunction(call) else node, input_schema=form)
    builder.add_edge(START, name)
    builder.add_edge(name, END)
    made: StateGraph[Any, Any, Any, Any] = builder
    return made
