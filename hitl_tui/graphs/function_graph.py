"""A plain function, a LangChain tool or another Runnable as a graph of one node."""

from __future__ import annotations

import contextlib
import inspect
import typing
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from hitl_tui.core.messages import Message
from hitl_tui.core.safe_text import one_line
from hitl_tui.graphs.call_signature import is_setting, may_make_graph, name_of, needs_arguments, signature_of
from hitl_tui.graphs.graph_target import GraphError

if TYPE_CHECKING:
    from langgraph.graph import StateGraph


_ENTERED = (contextlib.AbstractContextManager, contextlib.AbstractAsyncContextManager)
"""What a graph is got from by entering it, though it can be called, too."""


def function_graph(found: object) -> StateGraph[Any, Any, Any, Any] | None:
    """Return a graph that calls something once, with its parameters as input and `result` as output; None for others.

    What may make a graph, by its signature, isn't one; see `call_signature.may_make_graph`. Nothing is called here.

    Raises:
        GraphError: its parameters have no names, or no form in JSON.
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
    if not callable(found) or inspect.isclass(found) or isinstance(found, _ENTERED):
        return None
    signature = signature_of(found)
    if may_make_graph(signature):
        return None
    return _called(found, signature)


def _called(function: Callable[..., Any], signature: inspect.Signature) -> StateGraph[Any, Any, Any, Any]:
    parameters = [p for p in signature.parameters.values() if p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD)]
    name = name_of(function)
    if len(parameters) < len(signature.parameters) and not parameters:
        raise GraphError(
            Message("{} takes arguments that have no names.", name),
            help=Message("Give it parameters with names and types: each becomes a field of its input."),
        )
    if any(is_setting(p) for p in parameters if p.default is p.empty):
        raise needs_arguments(name, parameters)
    fields = {
        p.name: (
            Any if p.annotation is p.empty else _described(p.annotation),
            ... if p.default is p.empty else p.default,
        )
        for p in parameters
    }
    by_place = [p.name for p in parameters if p.kind is p.POSITIONAL_ONLY]

    def call(given: Mapping[str, Any]) -> Any:
        by_name = {key: value for key, value in given.items() if key not in by_place}
        return function(*(given[key] for key in by_place), **by_name)

    async def called(given: Mapping[str, Any]) -> Any:
        return await call(given)

    waits = inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(type(function).__call__)
    return _graph(name, _form(name, fields), called if waits else call)


def _described(hint: Any) -> Any:
    from pydantic import Field

    if typing.get_origin(hint) is not typing.Annotated:
        return hint
    kind, *notes = typing.get_args(hint)
    annotated: Any = typing.Annotated
    return annotated[(kind, *(Field(description=note) if isinstance(note, str) else note for note in notes))]


def _form(name: str, fields: Mapping[str, tuple[Any, Any]]) -> Any:
    from pydantic import ConfigDict, create_model

    make: Any = create_model
    try:
        form = make(name, __config__=ConfigDict(extra="forbid"), **fields)
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
