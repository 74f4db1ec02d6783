"""Following functions and modules."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable
from dataclasses import replace
from typing import Final

from hitl_tui.core.messages import Message
from hitl_tui.lint.abstract_values import UNKNOWN, FunctionRef, Given, Module, Scope, Value, join
from hitl_tui.lint.evaluation_context import DEEPEST, Frame
from hitl_tui.lint.flow_state import Catch, Summary
from hitl_tui.lint.statement_walker import Statements

_IDEMPOTENT: Final = re.compile(r"(?:\w+\.)*idempotent\Z")


class Walker(Statements):
    """Walks a module, the functions in it that are called, and what it imports from its own package."""

    def module_scope(self, module: Module) -> Scope:
        """Return a module's names, walking it first where that hasn't happened."""
        if module.scope is None:
            module.scope = Scope(None, module, lasting=True)
            checking, self.checking = self.checking, False
            with self.within(Frame(module.scope, module.name)):
                for statement in module.tree.body:  # a top-level raise or exit hides nothing that follows
                    self.flow.alive = True
                    self.statement(statement)
            self.checking = checking
        return module.scope

    def follow(self, function: FunctionRef, given: Given) -> Summary:
        """Walk a function's body with these arguments; return what is known of the call.

        A function that calls itself is walked once, and so is one with the same arguments.
        """
        node = function.node
        key = (node, function.scope, function.binding, function.fixed, function.fixed_names, given.args,
               tuple(given.names.items()), given.open, self.checking)  # fmt: skip
        if key in self.known:
            return self._again(function, self.known[key])
        if node in self.following or len(self.following) >= DEEPEST or self.exhausted:
            return Summary()
        self.following.append(node)
        try:
            summary = self._walked(function, given)
        finally:
            self.following.pop()
        self.known[key] = summary
        return self._again(function, summary)

    def _again(self, function: FunctionRef, summary: Summary) -> Summary:
        if function.retried and summary.sites:
            site = summary.sites[0]
            said = Message(
                "A retry around {function} catches what {question} raises.", function=function.name, question=site.what
            )
            self.report("HT001", site.place, said)
        return summary

    def _walked(self, function: FunctionRef, given: Given) -> Summary:
        node = function.node
        self.reached.add(node)
        if self.checking:
            self.checked.add(node)
        scope = Scope(function.scope, function.scope.module, lasting=not self.checking)
        frame = Frame(scope, function.name, self._is_idempotent(function))
        with self.within(frame):
            self._bind(function, given)
            if isinstance(node, ast.Lambda):
                made = self.value(node.body)
                self.uses([made])
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
            catches=frame.yields,
            rules=frozenset(frame.rules),
        )

    def _bind(self, function: FunctionRef, given: Given) -> None:
        arguments = function.node.args
        names = self.frame.scope.names
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
        known = self.of_type(parameter.annotation)
        if known.refs:
            return replace(value, refs=known.refs)
        if value == UNKNOWN and parameter.annotation is None:
            return self._free(parameter.arg)
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

    def managing(self, ref: FunctionRef) -> Catch | None:
        """Return what a generator that is used as a context manager catches."""
        return self.follow(ref, Given(open=True)).catches

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
