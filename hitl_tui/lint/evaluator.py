"""The evaluator: walks modules and functions with abstract values and lets the rules judge what happens."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Final

from hitl_tui.lint.abstract_values import UNKNOWN, FunctionRef, Given, Module, Scope, Value, join
from hitl_tui.lint.call_evaluator import CallEvaluator
from hitl_tui.lint.error_paths import ErrorPaths
from hitl_tui.lint.evaluation_context import EvaluationContext, Frame
from hitl_tui.lint.expression_evaluator import ExpressionEvaluator
from hitl_tui.lint.findings import Rule
from hitl_tui.lint.flow_state import Summary
from hitl_tui.lint.graph_model import GraphModel
from hitl_tui.lint.observations import FunctionRetried
from hitl_tui.lint.source_modules import Sources
from hitl_tui.lint.state_changes import StateChanges
from hitl_tui.lint.statement_walker import Definitions, StatementWalker

_DEEPEST: Final = 25
"""How many calls are followed into each other."""

_IDEMPOTENT: Final = re.compile(r"(?:\w+\.)*idempotent\Z")


class Evaluator:
    """Walks a module, the functions in it that are called, and what it imports from its own package.

    Args:
        sources: where modules come from.
        rules: judge what happens.
    """

    def __init__(self, sources: Sources, rules: Iterable[Rule]) -> None:
        self.context = context = EvaluationContext(sources, rules)
        self.graphs = GraphModel(context, self)
        self.reached: set[ast.AST] = set()
        self.checked: set[ast.AST] = set()
        self._known: dict[object, Summary] = {}
        self._following: list[ast.AST] = []
        self._expressions = ExpressionEvaluator(context, self)
        self._definitions = Definitions(context, self._expressions, self.graphs, self)
        changes = StateChanges(context, self._expressions, self)
        errors = ErrorPaths(context, self._expressions, self)
        self._calls = CallEvaluator(context, self._expressions, changes, self.graphs, errors, self)
        self._statements = StatementWalker(context, self._expressions, changes, errors, self._definitions)

    @property
    def functions(self) -> Sequence[FunctionRef]:
        """Return every function that was defined, in the order of the walk."""
        return self._definitions.functions

    def assign(self, target: ast.expr, value: Value) -> None:
        """Bind a target."""
        self._statements.assign(target, value)

    def block(self, body: Sequence[ast.stmt]) -> None:
        """Walk statements in order."""
        self._statements.block(body)

    def call(self, function: Value, given: Given, node: ast.expr, what: str) -> Value:
        """Call something; note what it does."""
        return self._calls.call(function, given, node, what)

    def module_scope(self, module: Module) -> Scope:
        """Return a module's names, walking it first where that hasn't happened."""
        if module.scope is None:
            module.scope = Scope(None, module, lasting=True)
            checking, self.context.checking = self.context.checking, False
            with self.context.within(Frame(module.scope, module.name)):
                for statement in module.tree.body:  # a top-level raise or exit hides nothing that follows
                    self.context.flow.alive = True
                    self._statements.statement(statement)
            self.context.checking = checking
        return module.scope

    def follow(self, function: FunctionRef, given: Given) -> Summary:
        """Walk a function's body with these arguments; return what is known of the call.

        A function that calls itself is walked once, and so is one with the same arguments.
        """
        node = function.node
        key = (node, function.scope, function.binding, function.fixed, function.fixed_names, given.args,
               tuple(given.names.items()), given.open, self.context.checking)  # fmt: skip
        if key in self._known:
            return self._observe_retry(function, self._known[key])
        if node in self._following or len(self._following) >= _DEEPEST or self.context.exhausted:
            return Summary()
        self._following.append(node)
        try:
            summary = self._walk_body(function, given)
        finally:
            self._following.pop()
        self._known[key] = summary
        return self._observe_retry(function, summary)

    def _observe_retry(self, function: FunctionRef, summary: Summary) -> Summary:
        if function.retried and summary.sites:
            self.context.observe(FunctionRetried(function.name, summary.sites[0]))
        return summary

    def _walk_body(self, function: FunctionRef, given: Given) -> Summary:
        node = function.node
        self.reached.add(node)
        if self.context.checking:
            self.checked.add(node)
        scope = Scope(function.scope, function.scope.module, lasting=not self.context.checking)
        frame = Frame(scope, function.name, self._is_idempotent(function))
        with self.context.within(frame):
            self._bind(function, given)
            if isinstance(node, ast.Lambda):
                made = self._expressions.value(node.body)
                self.context.note_left([made])
                frame.returns.append(made)
            else:
                self.block(node.body)
            exits = [*frame.exits, *([frame.flow] if frame.flow.alive else [])]
        return Summary(
            value=join(frame.returns),
            done=tuple(frame.done.values()),
            sites=tuple(frame.sites),
            low=min((flow.low for flow in exits), default=0),
            high=max((flow.high for flow in exits), default=0),
            shown=frozenset(frame.shown),
            used=frozenset(frame.used),
            catches=frame.yields,
            findings=frozenset(frame.findings),
        )

    def _bind(self, function: FunctionRef, given: Given) -> None:
        arguments = function.node.args
        names = self.context.frame.scope.names
        args = [*([function.binding] if function.binding is not None else []), *function.fixed, *given.args]
        words = {**dict(function.fixed_names), **given.names}
        positional = [*arguments.posonlyargs, *arguments.args]
        for position, parameter in enumerate(positional):
            value = args[position] if position < len(args) else words.get(parameter.arg, UNKNOWN)
            names[parameter.arg] = self._parameter(parameter, value)
        for parameter in arguments.kwonlyargs:
            names[parameter.arg] = self._parameter(parameter, words.get(parameter.arg, UNKNOWN))
        if arguments.vararg is not None:
            rest = args[len(positional) :]
            names[arguments.vararg.arg] = replace(join(rest), refs=frozenset(), items=tuple(rest) or None)
        if arguments.kwarg is not None:
            known = {p.arg for p in (*positional, *arguments.kwonlyargs)}
            more = {name: value for name, value in words.items() if name not in known}
            names[arguments.kwarg.arg] = Value(fields=tuple(more.items()) if more else None)

    def _parameter(self, parameter: ast.arg, value: Value) -> Value:
        if value.refs or value.kinds or value.items is not None or value.fields is not None or value.text is not None:
            return value
        known = self._definitions.of_type(parameter.annotation)
        if known.refs:
            return replace(value, refs=known.refs)
        if value == UNKNOWN and parameter.annotation is None:
            return self._expressions.free_name(parameter.arg)
        return value

    def _is_idempotent(self, function: FunctionRef) -> bool:
        node = function.node
        declared = function.scope.module.declared
        if isinstance(node, ast.Lambda):
            return node.lineno in declared
        first = min([node.lineno, *(d.lineno for d in node.decorator_list)])
        head = node.body[0].lineno if node.body else node.lineno
        lines = [*range(first, node.lineno + 1), *range(node.lineno + 1, head)]
        return any(line in declared for line in lines) or any(_is_declaring(d) for d in node.decorator_list)

    def uncalled(self, module: Module) -> Iterable[FunctionRef]:
        """Return functions of a module, and methods, that nothing has called so far."""
        scope = self.module_scope(module)
        for value in list(scope.names.values()):
            for ref in value.refs:
                if isinstance(ref, FunctionRef) and ref.node not in self.reached and ref.scope.module is module:
                    yield ref


def _is_declaring(node: ast.expr) -> bool:
    called = node.func if isinstance(node, ast.Call) else node
    return isinstance(called, ast.Name | ast.Attribute) and bool(_IDEMPOTENT.match(ast.unparse(called)))
