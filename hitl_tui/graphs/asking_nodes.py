"""What a node or a tool that asks does before its question: whether anything happens again when it begins anew.

It says yes only of what it can read to the last call: plain functions, of a file that is as it was when they were
loaded, that call nothing but `interrupt`, each other, and what computes on values. What is in the state is taken for
such values. Of all else nobody knows.
"""

from __future__ import annotations

import ast
import builtins
import re
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache, partial
from pathlib import Path
from types import CodeType, FunctionType
from typing import Any, is_typeddict

from langgraph.types import interrupt

_COMPUTING = frozenset(
    {abs, all, any, bool, dict, enumerate, float, frozenset, int, isinstance, len, list, max, min}
    | {range, repr, reversed, round, set, sorted, str, sum, tuple, zip}
)
"""Calls that give a value and do nothing."""
_METHODS = frozenset(
    {"casefold", "count", "endswith", "find", "format", "fullmatch", "get", "group", "groups", "index", "isalnum"}
    | {"isalpha", "isdigit", "items", "join", "keys", "lower", "lstrip", "match", "partition", "replace", "rpartition"}
    | {"rsplit", "rstrip", "search", "split", "splitlines", "startswith", "strip", "title", "upper", "values"}
)
"""Methods of texts, lists, objects of JSON and expressions that give a value and do nothing."""
_READ = (
    *(ast.arguments, ast.arg, ast.Lambda, ast.Return, ast.Assign, ast.AnnAssign, ast.AugAssign),
    *(ast.If, ast.IfExp, ast.For, ast.While, ast.Break, ast.Continue, ast.Pass, ast.Expr, ast.Assert),
    *(ast.BoolOp, ast.BinOp, ast.UnaryOp, ast.Compare, ast.NamedExpr, ast.Constant, ast.JoinedStr, ast.FormattedValue),
    *(ast.Name, ast.Attribute, ast.Subscript, ast.Slice, ast.Starred, ast.Call, ast.keyword, ast.expr_context),
    *(
        ast.Tuple,
        ast.List,
        ast.Set,
        ast.Dict,
        ast.ListComp,
        ast.SetComp,
        ast.DictComp,
        ast.GeneratorExp,
        ast.comprehension,
    ),
    *(ast.operator, ast.unaryop, ast.boolop, ast.cmpop),
)
"""Syntax that does nothing by itself; what isn't here isn't understood."""
_REVIEW = "langchain.agents.middleware.human_in_the_loop.HumanInTheLoopMiddleware"
_Definition = ast.FunctionDef | ast.AsyncFunctionDef


def only_asks(node: Any) -> bool:
    """Return whether a node's function does nothing but look at its state and ask.

    Args:
        node: of a compiled graph.
    """
    bound = getattr(node, "bound", None)
    function, beside = getattr(bound, "func", None), getattr(bound, "afunc", None)
    if not isinstance(function, FunctionType):
        return False
    same = beside is None or (isinstance(beside, partial) and beside.args[-1:] == (function,))  # on a thread
    return same and _computes(function, set(), as_node=True)


def surely_asks(node: Any) -> bool:
    """Return whether a node does nothing but look at its state and ask, and comes to no end without having asked.

    Args:
        node: of a compiled graph.
    """
    if not only_asks(node):
        return False
    function: FunctionType = node.bound.func
    found = _definition(function.__code__)
    return found is not None and _asks_in(found.body, function)


def acts_before_asking(node: Any, *, answered: bool) -> bool:
    """Return whether a node that asks may have done anything before its question.

    Args:
        node: of a compiled graph, stopped at a question of its own.
        answered: an earlier question of the same run of it was answered: what came after that counts, too.
    """
    function = getattr(getattr(node, "bound", None), "func", None)
    if only_asks(node) or _is_review(getattr(function, "__self__", None)):
        return False
    return answered or not isinstance(function, FunctionType) or not _asks_first(function, as_node=True)


def _is_review(owner: Any) -> bool:
    """Return whether this is LangChain's own middleware that asks about calls, which calls nothing of anybody's."""
    kind, asked = type(owner), getattr(owner, "interrupt_on", None)
    if f"{kind.__module__}.{kind.__qualname__}" != _REVIEW or not isinstance(asked, dict):
        return False
    return not any(callable(value) for one in asked.values() if isinstance(one, dict) for value in one.values())


def call_acts_before_asking(functions: Sequence[Any], *, answered: bool) -> bool:
    """Return whether a call of a tool may have done anything before it asked, or may have come to its end.

    Args:
        functions: one of these is called.
        answered: a question of the same task was answered: it may have gone on after that.
    """
    return not functions or not all(
        isinstance(one, FunctionType) and (_computes(one, set()) or (not answered and _asks_first(one)))
        for one in functions
    )


def _asks_first(function: FunctionType, *, as_node: bool = False) -> bool:
    """Return whether a function surely asks, and does nothing before that."""
    found = _definition(function.__code__)
    if found is None or hasattr(function, "__wrapped__"):
        return False
    reading = _Reading(function, found, {function})
    return reading.readable(as_node=as_node) and _first_asks(found.body, function, reading)


def _first_asks(statements: Iterable[ast.stmt], function: FunctionType, reading: _Reading) -> bool:
    """Return whether statements surely ask, and do nothing before that."""
    for statement in statements:
        if isinstance(statement, ast.If | ast.While) and _asked_by(statement.test, function):
            return reading.harmless(statement.test)
        if _asks_in([statement], function):
            if isinstance(statement, ast.If):
                ways = (statement.body, statement.orelse)
                return reading.harmless(statement.test) and all(_first_asks(w, function, reading) for w in ways)
            if isinstance(statement, ast.While):
                return _first_asks(statement.body, function, reading)
            return reading.harmless(statement)
        if not reading.harmless(statement) or any(isinstance(n, ast.Return | ast.Raise) for n in ast.walk(statement)):
            return False
    return False


def _asked_by(part: ast.AST, function: FunctionType) -> bool:
    return any(_is_question(node, function) for node in _carried_out(part))


def _asks_in(statements: Iterable[ast.stmt], function: FunctionType) -> bool:
    """Return whether statements that are carried out in their order ask before they leave the function."""
    for statement in statements:
        if isinstance(statement, ast.If | ast.While) and _asked_by(statement.test, function):
            return True
        if isinstance(statement, ast.If):
            if _asks_in(statement.body, function) and _asks_in(statement.orelse, function):
                return True
        elif isinstance(statement, ast.While):
            if isinstance(statement.test, ast.Constant) and statement.test.value and _asks_in(statement.body, function):
                return True
        elif not isinstance(statement, ast.For) and _asked_by(statement, function):
            return True
        if any(isinstance(n, ast.Return | ast.Raise | ast.Break | ast.Continue) for n in ast.walk(statement)):
            return False
    return False


_PERHAPS = (ast.Lambda, ast.Assert, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
"""Syntax of which all may be left out."""


def _carried_out(node: ast.AST) -> Iterator[ast.AST]:
    """Yield the parts of a statement or expression that are surely carried out with it."""
    if isinstance(node, _PERHAPS):
        return
    yield node
    parts: Iterable[ast.AST] = ast.iter_child_nodes(node)
    if isinstance(node, ast.BoolOp):
        parts = node.values[:1]
    elif isinstance(node, ast.IfExp):
        parts = (node.test,)
    elif isinstance(node, ast.Compare):  # a < b < c may leave c out
        parts = (node.left, node.comparators[0])
    for inner in parts:
        yield from _carried_out(inner)


def _is_question(node: ast.AST, function: FunctionType) -> bool:
    called = node.func if isinstance(node, ast.Call) else None
    own = function.__code__.co_varnames
    return isinstance(called, ast.Name) and called.id not in own and function.__globals__.get(called.id) is interrupt


def _computes(function: FunctionType, known: set[FunctionType], *, as_node: bool = False) -> bool:
    """Return whether all that a function does is known, and is to compute and to ask."""
    if function in known:  # it is being looked at
        return True
    known.add(function)
    found = _definition(function.__code__) if not hasattr(function, "__wrapped__") else None
    return found is not None and _Reading(function, found, known).understood(as_node=as_node)


def _definition(code: CodeType) -> _Definition | None:
    """Return the definition that a function was made of; None where its file doesn't say that any more."""
    try:
        tree, compiled = _parsed(code.co_filename, Path(code.co_filename).read_bytes())
    except (OSError, SyntaxError, ValueError, RecursionError):
        return None
    if code not in set(_codes(compiled)):
        return None
    line = code.co_firstlineno
    found = [n for n in ast.walk(tree) if isinstance(n, _Definition) and (_line(n), n.name) == (line, code.co_name)]
    return found[0] if len(found) == 1 else None


def _line(definition: _Definition) -> int:
    """Return the line at which the code of a function begins: that of its first decorator."""
    return min([definition.lineno, *(d.lineno for d in definition.decorator_list)])


@lru_cache(8)
def _parsed(name: str, source: bytes) -> tuple[ast.Module, CodeType]:
    tree = ast.parse(source, name)
    return tree, compile(source, name, "exec", dont_inherit=True)


def _codes(code: CodeType) -> Iterator[CodeType]:
    yield code
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _codes(constant)


class _Reading:
    """One function, as it is read.

    Args:
        function: the function.
        definition: its source.
        known: functions that are looked at already.
    """

    def __init__(self, function: FunctionType, definition: _Definition, known: set[FunctionType]) -> None:
        self._globals, self._known = function.__globals__, known
        self._closed, self._definition = bool(function.__closure__), definition
        nodes = list(ast.walk(definition))
        stored = {n.id for n in nodes if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
        self._own = stored | {n.arg for n in nodes if isinstance(n, ast.arg)}
        self._called = {n.func for n in nodes if isinstance(n, ast.Call)}
        given = definition.args
        beside = [*[*given.posonlyargs, *given.args][1:], *given.kwonlyargs, given.vararg, given.kwarg]
        self._beside = {argument.arg for argument in beside if argument is not None}

    def understood(self, *, as_node: bool) -> bool:
        """Return whether all of it is harmless; `as_node` as in `readable`."""
        return self.readable(as_node=as_node) and all(map(self.harmless, self._definition.body))

    def readable(self, *, as_node: bool) -> bool:
        """Return whether what it says is what it does.

        Args:
            as_node: what it is given beside the state, such as a store, may do anything.
        """
        named = (n.id for n in ast.walk(self._definition) if isinstance(n, ast.Name))
        return not self._closed and not (as_node and any(name in self._beside for name in named))

    def harmless(self, part: ast.AST) -> bool:
        """Return whether a part of it does nothing but compute and ask."""
        hints = {n for a in ast.walk(part) if isinstance(a, ast.AnnAssign) for n in ast.walk(a.annotation)}
        return all(self._harmless(node) for node in ast.walk(part) if node not in hints)

    def _harmless(self, node: ast.AST) -> bool:
        if not isinstance(node, _READ):
            return False
        if isinstance(node, ast.Call):
            return self._harmless_call(node.func)
        if isinstance(node, ast.Attribute | ast.Subscript):
            return isinstance(node.ctx, ast.Load)
        if isinstance(node, ast.Name) and node.id not in self._own and node not in self._called:
            value = self._value(node.id)
            return _is_data(value) or _is_one_of(value, _COMPUTING)
        return True

    def _harmless_call(self, called: ast.expr) -> bool:
        if isinstance(called, ast.Attribute):
            return called.attr in _METHODS  # of values: what it is a method of is looked at, too
        if not isinstance(called, ast.Name) or called.id in self._own:
            return False
        value = self._value(called.id)
        if isinstance(value, FunctionType) and value is not interrupt:
            return _computes(value, self._known)
        return value is interrupt or is_typeddict(value) or _is_one_of(value, _COMPUTING)

    def _value(self, name: str) -> Any:
        return self._globals.get(name, getattr(builtins, name, None))


def _is_one_of(value: object, known: Iterable[object]) -> bool:
    return any(value is one for one in known)


def _is_data(value: object, depth: int = 8) -> bool:
    """Return whether a value is plain: looking at it does nothing."""
    if isinstance(value, dict):
        return depth > 0 and all(_is_data(k, depth - 1) and _is_data(v, depth - 1) for k, v in value.items())
    if isinstance(value, list | tuple | set | frozenset):
        return depth > 0 and all(_is_data(item, depth - 1) for item in value)
    return value is None or isinstance(value, str | bytes | int | float | re.Pattern)
