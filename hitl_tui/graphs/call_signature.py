"""What something that can be called is, told by its signature alone: what makes a graph, or a step of its own."""

from __future__ import annotations

import contextlib
import functools
import inspect
import re
import types
import typing
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Iterable, Iterator, Mapping
from typing import Any

from hitl_tui.core.messages import Message
from hitl_tui.graphs.graph_target import GraphError

_SETTINGS = frozenset({"config", "runtime"})
"""Names of parameters in which a factory gets its settings."""
_SETTING_TYPES = frozenset({"RunnableConfig", "Runtime", "ServerRuntime"})
"""Types of such parameters, of the packages below."""
_GRAPHS = frozenset({"CompiledStateGraph", "CompiledGraph", "StateGraph", "Pregel"})
"""Names of types of graphs, where only the name is known."""
_OTHERS = ("langgraph", "langchain")
_MAKERS = (
    Awaitable,
    Iterator,
    AsyncIterator,
    contextlib.AbstractContextManager,
    contextlib.AbstractAsyncContextManager,
)
"""What a factory may come as, or give its graph through."""
_IDENTIFIER = re.compile(r"\w+")


def name_of(function: Callable[..., Any]) -> str:
    """Return what something that can be called is called."""
    while isinstance(function, functools.partial):
        function = function.func
    return str(getattr(function, "__name__", None) or type(function).__name__)


def signature_of(function: Callable[..., Any]) -> inspect.Signature:
    """Return parameters and types of something that can be called; a type that isn't known stays its text.

    Raises:
        GraphError: nothing says what it takes.
    """
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError) as error:
        raise GraphError(Message("Nothing says which arguments {} takes.", name_of(function))) from error
    known = _names_of(function)
    parameters = [p.replace(annotation=_evaluated(p.annotation, known)) for p in signature.parameters.values()]
    return signature.replace(parameters=parameters, return_annotation=_evaluated(signature.return_annotation, known))


def _names_of(function: Any) -> dict[str, Any]:
    """Return the names that annotations are written with."""
    while isinstance(function, functools.partial):
        function = function.func
    if not hasattr(function, "__globals__") and not hasattr(function, "__wrapped__") and not inspect.ismethod(function):
        function = getattr(type(function), "__call__", None)  # noqa: B004 - it can be called; that isn't asked
    return getattr(inspect.unwrap(getattr(function, "__func__", function)), "__globals__", {})


def _evaluated(annotation: Any, known: dict[str, Any]) -> Any:
    """Return what an annotation says; its text where a name in it isn't known."""
    if not isinstance(annotation, str):
        return annotation
    try:
        return eval(annotation, known)  # noqa: S307 - as Python does it, from a module that was imported
    except Exception:  # noqa: BLE001 - anybody's expression
        return annotation


def may_make_graph(signature: inspect.Signature) -> bool:
    """Return whether something may be called to get a graph: what takes nothing, or its settings alone.

    What is said to return something else makes none, and what is said to return a graph does, whatever it takes.
    """
    returned = _returns_graph(signature.return_annotation)
    if returned is not None:
        return returned
    parameters = signature.parameters.values()
    return all(is_setting(p) for p in parameters)


def is_setting(parameter: inspect.Parameter) -> bool:
    """Return whether a parameter is for settings, as a factory gets them, by its name or its type."""
    if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD):
        return False
    return parameter.name.strip("_") in _SETTINGS or _is_setting_type(parameter.annotation)


def takes_settings(parameter: inspect.Parameter) -> bool:
    """Return whether the only parameter that a factory needs can be given its settings, a mapping."""
    if is_setting(parameter) or parameter.annotation in (parameter.empty, Any):
        return True
    kind = typing.get_origin(parameter.annotation) or parameter.annotation
    return inspect.isclass(kind) and issubclass(kind, Mapping)


def needs_arguments(name: str, parameters: Iterable[inspect.Parameter]) -> GraphError:
    """Return the sentence for a factory that needs more than its settings."""
    names = ", ".join(p.name for p in parameters if p.default is p.empty)
    return GraphError(Message("{} needs the arguments {}; a factory takes none, or the config.", name, names))


def _is_setting_type(hint: Any) -> bool:
    if isinstance(hint, str):
        return not _SETTING_TYPES.isdisjoint(_IDENTIFIER.findall(hint))
    kind = typing.get_origin(hint) or hint
    if kind in (typing.Union, types.UnionType, typing.Annotated):
        return any(_is_setting_type(part) for part in typing.get_args(hint))
    return getattr(kind, "__name__", "") in _SETTING_TYPES and str(getattr(kind, "__module__", "")).startswith(_OTHERS)


def _returns_graph(hint: Any) -> bool | None:
    """Return whether a type of what is returned is that of a graph; None where it doesn't say."""
    from langgraph.graph import StateGraph
    from langgraph.pregel import Pregel

    if isinstance(hint, str):
        return True if not _GRAPHS.isdisjoint(_IDENTIFIER.findall(hint)) else None
    if hint is inspect.Signature.empty or isinstance(hint, typing.TypeVar) or hint in (Any, object):
        return None
    if hint is None:
        return False
    kind = typing.get_origin(hint) or hint
    parts = typing.get_args(hint)
    if kind in (typing.Union, types.UnionType):
        found = {_returns_graph(part) for part in parts}
        return True if True in found else None if None in found else False
    if kind is typing.Annotated:
        return _returns_graph(parts[0])
    if not inspect.isclass(kind):
        return None
    if issubclass(kind, _MAKERS):  # what it yields, or comes to in the end
        yielded = parts[-1 if issubclass(kind, Coroutine) else 0] if parts else None
        return None if yielded is None else _returns_graph(yielded)
    if issubclass(kind, Pregel | StateGraph):
        return True
    try:
        return None if issubclass(Pregel, kind) else False
    except TypeError:  # a protocol that isn't checked
        return None
