"""Errors and context managers: what would catch a question."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from hitl_tui.core.messages import Message
from hitl_tui.lint.abstract_values import (
    A_GENERATOR,
    UNKNOWN,
    External,
    FunctionRef,
    Given,
    InstanceRef,
    Value,
    external_name,
    value_of,
)
from hitl_tui.lint.call_catalogue import (
    BROAD_ERRORS,
)
from hitl_tui.lint.evaluation_context import EvaluationContext, Walk
from hitl_tui.lint.expression_evaluator import ExpressionEvaluator, join_names
from hitl_tui.lint.flow_state import Catch, Flow, join_flows
from hitl_tui.lint.observations import EffectInFinally

ATTEMPT: Final = "one of several attempts"
"""What a loop over tenacity's `Retrying()` gives; used as a context manager it catches any error."""

Ways = tuple[Flow, dict[str, Value]]
_SUPPRESS: Final = ("contextlib.suppress()", "?suppress()")


class ErrorPaths:
    """Walks try and with.

    Args:
        context: of the walk.
        expressions: says what is caught and entered.
        walk: walks what stands within.
    """

    def __init__(self, context: EvaluationContext, expressions: ExpressionEvaluator, walk: Walk) -> None:
        self._context = context
        self._expressions = expressions
        self._walk = walk

    def walk_try(self, node: ast.Try | ast.TryStar) -> None:
        """Walk a try: the ways through it with and without an error."""
        frame = self._context.frame
        start = (frame.flow.copy(), dict(frame.scope.names))
        catches = self._catches(node)
        frame.catches += catches
        self._walk.block(node.body)
        del frame.catches[len(frame.catches) - len(catches) :]
        ended = (frame.flow, frame.scope.names)
        ways: list[Ways] = []
        for handler in node.handlers:
            held = frame.flow.effects
            frame.flow, frame.scope.names = join_ways([start, (ended[0].copy(), dict(ended[1]))])
            frame.flow.alive, frame.flow.effects = True, {**frame.flow.effects, **held}
            if handler.name:
                frame.scope.names[handler.name] = value_of(External("Exception()"))
            self._walk.block(handler.body)
            ways.append((frame.flow, frame.scope.names))
        frame.flow, frame.scope.names = ended
        self._walk.block(node.orelse)
        ways.append((frame.flow, frame.scope.names))
        frame.flow, frame.scope.names = join_ways(ways)
        self._finally(node)

    def _finally(self, node: ast.Try | ast.TryStar) -> None:
        frame = self._context.frame
        if not node.finalbody:
            return
        alive, frame.flow.alive = frame.flow.alive, True
        known = set(frame.flow.effects)
        asked = [site for site in frame.sites if _within(node.body, site.place.line)]
        self._walk.block(node.finalbody)
        frame.flow.alive = frame.flow.alive and alive
        for effect in [e for e in frame.flow.effects if e not in known]:
            done = frame.done.get(effect)
            if asked and done is not None and not effect.idempotent:
                frame.done[effect] = replace(done, before=True)
                self._context.observe(EffectInFinally(effect, asked[0]))

    def _catches(self, node: ast.Try | ast.TryStar) -> list[Catch]:
        found: list[Catch] = []
        for handler in node.handlers:
            names = self._handled(handler)
            if "InterruptedError" in names:
                found.append(Catch(self._context.place(handler), "except InterruptedError", misses=True))
            if not handler.type or any(name in BROAD_ERRORS for name in names):
                if not _lets_through(handler):
                    broad = next((n for n in names if n in BROAD_ERRORS), "").rpartition(".")[2]
                    what = f"except {broad}" if broad else Message("a bare except")
                    found.append(Catch(self._context.place(handler), what))
                break
        if any(isinstance(part, ast.Return | ast.Break | ast.Continue) for part in _own_statements(node.finalbody)):
            found.append(Catch(self._context.place(node.finalbody[0]), Message("a finally that leaves")))
        return found

    def _handled(self, handler: ast.ExceptHandler) -> list[str]:
        if handler.type is None:
            return []
        made = self._expressions.value(handler.type)
        return [external_name(part).removeprefix("?") for part in (made.items or (made,))]

    def walk_with(self, node: ast.With | ast.AsyncWith) -> None:
        """Walk a with: what its context managers catch."""
        catches: list[Catch] = []
        for item in node.items:
            made = self._expressions.value(item.context_expr)
            catch = self.managed(item.context_expr, made)
            catches += [catch] if catch else []
            if item.optional_vars is not None:
                self._walk.assign(item.optional_vars, replace(made, kinds=made.kinds - {A_GENERATOR}))
        frame = self._context.frame
        around = len(frame.catches)
        frame.catches += catches
        start = (frame.flow.copy(), dict(frame.scope.names))
        self._walk.block(node.body)
        caught = len(frame.catches) > around  # an ExitStack may have got more within
        del frame.catches[around:]
        if caught:
            frame.flow, frame.scope.names = join_ways([start, (frame.flow, frame.scope.names)])

    def managed(self, node: ast.expr, made: Value) -> Catch | None:
        """Return what a context manager catches."""
        name = external_name(made)
        if name == ATTEMPT:
            return Catch(self._context.place(node), Message("a retry"))
        if name in _SUPPRESS and isinstance(node, ast.Call):
            broad = [external_name(self._expressions.value(part)) for part in node.args]
            if any(part in BROAD_ERRORS for part in broad):
                return Catch(self._context.place(node), "suppress()")
        for instance in made.refs:
            if isinstance(instance, InstanceRef) and _leaves_quietly(instance):
                return Catch(self._context.place(node), f"{instance.type.node.name}()")
        if isinstance(node, ast.Call):
            for ref in self._expressions.value(node.func).refs:
                if isinstance(ref, FunctionRef) and isinstance(ref.node, ast.FunctionDef | ast.AsyncFunctionDef):
                    return self._walk.follow(ref, Given(open=True)).catches
        return None


def join_ways(ways: Sequence[Ways]) -> Ways:
    """Return what may have happened, and what names stand for, where several ways meet."""
    alive = [(flow, names) for flow, names in ways if flow.alive]
    if not alive:
        return Flow(alive=False), dict(ways[0][1]) if ways else {}
    return join_flows(flow for flow, _ in alive), join_names([dict(names) for _, names in alive])


def _leaves_quietly(instance: InstanceRef) -> bool:
    """Whether an object ends what is raised within it: its `__exit__` returns True."""
    for ancestor in instance.type.ancestors():
        for name in ("__exit__", "__aexit__"):
            for ref in getattr(ancestor, "names", {}).get(name, UNKNOWN).refs:
                if isinstance(ref, FunctionRef):
                    return not _mentions_bubble(ref.node) and any(
                        isinstance(part, ast.Return) and isinstance(part.value, ast.Constant) and bool(part.value.value)
                        for part in ast.walk(ref.node)
                    )
    return False


def _within(body: Sequence[ast.stmt], line: int) -> bool:
    return bool(body) and body[0].lineno <= line <= (body[-1].end_lineno or body[-1].lineno)


def _lets_through(handler: ast.ExceptHandler) -> bool:
    """Whether a handler raises again what LangGraph raised, before anything else can end it."""
    for statement in handler.body:
        match statement:
            case ast.Raise(exc=None):
                return True
            case ast.Raise(exc=ast.Name(id=name)) if name == handler.name:
                return True
            case ast.If(test=ast.Call(func=ast.Name(id="isinstance"), args=[ast.Name(id=name), kinds])) if (
                name == handler.name and _mentions_bubble(kinds)
            ):
                return any(isinstance(part, ast.Raise) for part in statement.body)
            case ast.If() | ast.Return() | ast.Try() | ast.For() | ast.While() | ast.Raise():
                return _always_raises(statement)
    return False


def _always_raises(node: ast.stmt) -> bool:
    return isinstance(node, ast.If) and all(
        body and isinstance(body[-1], ast.Raise) and body[-1].exc is None for body in (node.body, node.orelse)
    )


def _mentions_bubble(node: ast.AST) -> bool:
    names = [getattr(part, "id", getattr(part, "attr", "")) for part in ast.walk(node)]
    return any(name in ("GraphBubbleUp", "GraphInterrupt") for name in names)


def _own_statements(body: Sequence[ast.stmt]) -> list[ast.stmt]:
    found: list[ast.stmt] = []
    todo = list(body)
    while todo:
        node = todo.pop()
        found.append(node)
        if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            todo += [child for child in ast.iter_child_nodes(node) if isinstance(child, ast.stmt)]
    return found
