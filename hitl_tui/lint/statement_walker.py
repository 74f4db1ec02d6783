"""Statements: the ways through a function or module."""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from dataclasses import replace

from hitl_tui.core.messages import Message
from hitl_tui.lint.abstract_values import (
    UNKNOWN,
    External,
    GraphRef,
    InstanceRef,
    Scope,
    Value,
    contained,
    element,
    external,
    join,
    of,
    taint,
)
from hitl_tui.lint.call_catalogue import RETRIES
from hitl_tui.lint.error_paths import ATTEMPT, Errors, joined
from hitl_tui.lint.evaluation_context import given_by
from hitl_tui.lint.flow_state import Loop, Site
from hitl_tui.lint.state_changes import source_text


class Statements(Errors):
    """Walks statements."""

    def block(self, body: Sequence[ast.stmt]) -> None:
        """Walk statements in order; what comes after a way's end is not reached."""
        for statement in body:
            if not self.flow.alive:
                return
            self.statement(statement)

    def statement(self, node: ast.stmt) -> None:
        """Walk a statement."""
        self.steps += 1
        match node:
            case ast.Expr():
                self.value(node.value)
            case ast.Assign():
                self._assign_all(node)
            case ast.AnnAssign():
                self._annotated(node)
            case ast.AugAssign():
                self._augmented(node)
            case ast.Return():
                self._return(node)
            case ast.If():
                self._if(node)
            case ast.For() | ast.AsyncFor():
                self._for(node)
            case ast.While():
                self._while(node)
            case ast.Try() | ast.TryStar():
                self._try(node)
            case ast.With() | ast.AsyncWith():
                self._with(node)
            case ast.FunctionDef() | ast.AsyncFunctionDef():
                self.frame.scope.names[node.name] = self._function(node)
            case ast.ClassDef():
                self.frame.scope.names[node.name] = self._class(node)
            case ast.Raise():
                self._raise(node)
            case ast.Break() | ast.Continue():
                self._leave(node)
            case ast.Match():
                self._match(node)
            case ast.Import() | ast.ImportFrom():
                self._import(node)
            case ast.Global() | ast.Nonlocal():
                self.frame.scope.outer.update(node.names)
            case ast.Assert():
                self.value(node.test)
            case ast.Delete():
                for target in node.targets:
                    if isinstance(target, ast.Subscript) and self.lasts(target):
                        self.acts(f"del {source_text(target)}", target, idempotent="by its form")

    # Binding

    def _assign_all(self, node: ast.Assign) -> None:
        made = self.value(node.value)
        for target in node.targets:
            self.assign(target, made)
        first = node.targets[0]
        for ref in made.refs:
            if isinstance(ref, GraphRef) and isinstance(first, ast.Name) and (not ref.name or len(self.frames) == 1):
                ref.name = first.id

    def assign(self, target: ast.expr, value: Value) -> None:
        """Bind a target."""
        frame = self.frame
        match target:
            case ast.Name(id=name):
                if name in frame.scope.outer and self.checking:
                    self.acts(f"{name} =", target, idempotent="by its form")
                else:
                    frame.scope.names[name] = value
            case ast.Tuple() | ast.List():
                for position, part in enumerate(target.elts):
                    known = value.items is not None and position < len(value.items) and not value.unordered
                    item = value.items[position] if known and value.items else element(value)
                    self.assign(part.value if isinstance(part, ast.Starred) else part, item)
            case ast.Attribute():
                owner = self.value(target.value)
                for ref in owner.refs:
                    if isinstance(ref, InstanceRef):
                        ref.names[target.attr] = (
                            join([ref.names[target.attr], value]) if target.attr in ref.names else value
                        )
            case ast.Subscript():
                self._put(target, value)

    def _put(self, target: ast.Subscript, value: Value) -> None:
        key = self.value(target.slice)
        owner = target.value
        held = self.value(owner)
        if self.lasts(target) and not any(isinstance(ref, External) and "(" not in ref.name for ref in held.refs):
            self.acts(f"{source_text(target)} =", target, idempotent="" if key.sources else "by its form")
            return
        if isinstance(owner, ast.Name) and owner.id in self.frame.scope.names:
            flat = contained([held, value, replace(key, refs=frozenset())])
            fields = held.fields
            if fields is not None and key.text is not None:
                fields = tuple({**dict(fields), key.text: value}.items())
            self.frame.scope.names[owner.id] = replace(
                held,
                sources=flat.sources,
                inside=held.inside | value.not_json,
                fields=fields,
                from_state=flat.from_state,
                answer=flat.answer,
            )

    def _annotated(self, node: ast.AnnAssign) -> None:
        if node.value is not None:
            made = self.value(node.value)
            if not made.refs and not made.kinds and made.items is None and made.fields is None:
                made = replace(made, refs=self.of_type(node.annotation).refs)
            self.assign(node.target, made)
        elif isinstance(node.target, ast.Name) and len(self.frames) and isinstance(self.frame.scope, Scope):
            self.frame.scope.names.setdefault(node.target.id, self.of_type(node.annotation))

    def _augmented(self, node: ast.AugAssign) -> None:
        made = self.value(node.value)
        held = self.value(node.target) if not isinstance(node.target, ast.Name) else self._quietly(node.target)
        if self.lasts(node.target) or (isinstance(node.target, ast.Name) and node.target.id in self.frame.scope.outer):
            self.acts(f"{source_text(node.target)} +=", node.target)
            return
        added = list(made.items or [element(made)])
        flat = contained([held, *added]) if isinstance(node.op, ast.Add) else taint([held, made])
        merged = replace(held, sources=flat.sources, from_state=flat.from_state, answer=flat.answer, text=None)
        if held.items is not None:
            merged = replace(merged, items=(*held.items, *added)[:40], inside=held.inside | flat.inside)
        if isinstance(node.target, ast.Name):
            self.frame.scope.names[node.target.id] = replace(merged, raw=held.raw or made.raw)

    # Ways

    def _return(self, node: ast.Return) -> None:
        made = self.value(node.value) if node.value is not None else UNKNOWN
        self.uses([made])
        self.frame.returns.append(made)
        self.frame.exits.append(self.flow.copy())
        self.flow.alive = False

    def _raise(self, node: ast.Raise) -> None:
        made = self.value(node.exc) if node.exc is not None else UNKNOWN
        name = external(made).removesuffix("()")
        if name.startswith("langgraph") and name.endswith(".NodeInterrupt"):  # the old way to ask
            self.asks(Site(self.place(node), "NodeInterrupt"))
        if self.checking and name == "InterruptedError":
            self.report("HT013", self.place(node), Message("InterruptedError is raised, which asks nobody."))
        self.flow.alive = False

    def _leave(self, node: ast.Break | ast.Continue) -> None:
        frame = self.frame
        if frame.loops:
            way = (frame.flow.copy(), dict(frame.scope.names))
            (frame.loops[-1].ends if isinstance(node, ast.Break) else frame.loops[-1].again).append(way)
        frame.flow.alive = False

    def _if(self, node: ast.If) -> None:
        if isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING":
            self.block(node.body)
            return
        if _is_main_guard(node.test) and self.frame.module is not self.sources.first:
            return
        test = self.value(node.test)
        ended = len(self.frame.loops[-1].ends) if self.frame.loops else 0
        self.either(test, [self._way(node.body), self._way(node.orelse)])
        if self.frame.loops and len(self.frame.loops[-1].ends) > ended:
            flow = self.flow
            flow.guards = tuple(replace(g, loop=True) if g.source in test.sources else g for g in flow.guards)

    def _way(self, body: Sequence[ast.stmt]) -> Callable[[], Value]:
        def walk() -> Value:
            self.block(body)
            return UNKNOWN

        return walk

    def _match(self, node: ast.Match) -> None:
        subject = self.value(node.subject)
        complete = any(
            isinstance(c.pattern, ast.MatchAs) and c.pattern.pattern is None and not c.guard for c in node.cases
        )

        def way(case: ast.match_case) -> Callable[[], Value]:
            def walk() -> Value:
                for part in ast.walk(case.pattern):
                    name = getattr(part, "name", None) or getattr(part, "rest", None)
                    if isinstance(name, str):
                        self.frame.scope.names[name] = element(subject)
                if case.guard is not None:
                    self.value(case.guard)
                self.block(case.body)
                return UNKNOWN

            return walk

        self.either(subject, [*(way(case) for case in node.cases), *([] if complete else [self._way([])])])

    # Loops

    def _for(self, node: ast.For | ast.AsyncFor) -> None:
        over = self.value(node.iter)
        if RETRIES.match(external(over).removesuffix("()")) or external(over) == "retry()":
            over = replace(over, items=(of(External(ATTEMPT)),))
        self.assign(node.target, element(over))
        singles = over.items if over.items and not over.unordered and self._builds(node) else None
        if singles:  # what is added in a loop over a list that is written out
            for item in singles:
                self.assign(node.target, item)
                self._around(node.body, Loop())
                self.flow.alive = True
        else:
            self._loop(node.body, self.loop_over(over, node.iter), target=(node.target, element(over)))
        self.block(node.orelse)

    def _builds(self, node: ast.For | ast.AsyncFor) -> bool:
        return not self.checking and any(
            isinstance(part, ast.Attribute) and part.attr.startswith("add_") for part in ast.walk(node)
        )

    def _while(self, node: ast.While) -> None:
        test = self.value(node.test)
        loop = Loop()
        for source in sorted(test.sources, key=lambda s: s.place):
            loop = Loop("HT005", given_by(source))
            break
        forever = isinstance(node.test, ast.Constant) and bool(node.test.value)
        self._loop(node.body, loop, test=node.test, forever=forever)
        self.block(node.orelse)

    def _loop(
        self,
        body: Sequence[ast.stmt],
        loop: Loop,
        *,
        target: tuple[ast.expr, Value] | None = None,
        test: ast.expr | None = None,
        forever: bool = False,
    ) -> None:
        """Walk a loop twice: what one round does comes before what the next one asks."""
        frame = self.frame
        start = (frame.flow.copy(), dict(frame.scope.names))
        frame.loops.append(loop)
        for _ in range(2):
            if target is not None:
                self.assign(*target)
            self.block(body)
            frame.flow, frame.scope.names = joined([(frame.flow, frame.scope.names), *loop.again])
            if not frame.flow.alive:
                break
            if test is not None:
                self.value(test)
        frame.loops.pop()
        ways = [*loop.ends, *([] if forever else [start, (frame.flow, frame.scope.names)])]
        guards = start[0].guards
        frame.flow, frame.scope.names = joined(ways)
        frame.flow.guards = tuple(guard for guard in frame.flow.guards if guard in guards)
        frame.flow.low = start[0].low if not forever else frame.flow.low

    def _around(self, body: Sequence[ast.stmt], loop: Loop) -> None:
        self.frame.loops.append(loop)
        self.block(body)
        self.frame.loops.pop()

    # Errors

    # Definitions

    # Imports


def _is_main_guard(test: ast.expr) -> bool:
    return isinstance(test, ast.Compare) and isinstance(test.left, ast.Name) and test.left.id == "__name__"
