"""Statements: the ways through a function or module, and what they define."""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from dataclasses import replace

from hitl_tui.lint.abstract_values import (
    UNKNOWN,
    ClassRef,
    External,
    FunctionRef,
    Given,
    GraphRef,
    InstanceRef,
    Module,
    ModuleRef,
    Scope,
    Value,
    container_of,
    element,
    external_name,
    join,
    taint,
    value_of,
)
from hitl_tui.lint.call_catalogue import RETRIES, retries_any_error
from hitl_tui.lint.error_paths import ATTEMPT, ErrorPaths, join_ways
from hitl_tui.lint.evaluation_context import EvaluationContext, Frame, Walk
from hitl_tui.lint.expression_evaluator import ExpressionEvaluator, given_by
from hitl_tui.lint.flow_state import Loop, Site
from hitl_tui.lint.graph_model import GraphModel
from hitl_tui.lint.observations import ErrorRaised
from hitl_tui.lint.state_changes import StateChanges, source_text


class Definitions:
    """Functions, classes and imports.

    Args:
        context: of the walk.
        expressions, graphs: say what decorators, bases and annotations are.
        walk: walks classes, reads modules and calls decorators.
    """

    def __init__(
        self, context: EvaluationContext, expressions: ExpressionEvaluator, graphs: GraphModel, walk: Walk
    ) -> None:
        self.functions: list[FunctionRef] = []
        self._context = context
        self._expressions = expressions
        self._graphs = graphs
        self._walk = walk

    def function(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> Value:
        """Return what a definition binds its name to: a function, or what decorators make of it."""
        for default in (*node.args.defaults, *filter(None, node.args.kw_defaults)):
            self._expressions.value(default)
        function = FunctionRef(node, self._context.frame.scope, node.name)
        self.functions.append(function)
        made = value_of(function)
        for decorator in reversed(node.decorator_list):
            made = self._decorate(decorator, made)
        return made

    def _decorate(self, decorator: ast.expr, made: Value) -> Value:
        by = self._expressions.value(decorator)
        name = external_name(by)
        if name == "retry()":
            return self._graphs.decorated("retry", made, decorator)
        if name == "functools.wraps()" and isinstance(decorator, ast.Call) and decorator.args:
            return _named_like(made, self._expressions.value(decorator.args[0]))
        if name and name != "narrow()":
            told = isinstance(decorator, ast.Call)
            if told and retries_any_error(name.removesuffix("()"), Given()):
                return made  # it was told after which errors
            return self._graphs.decorated(name, made, decorator)
        if any(isinstance(ref, FunctionRef) for ref in by.refs):
            given = self._walk.call(by, Given((made,)), decorator, "decorator")
            if given.refs:
                return given
        return made

    def class_of(self, node: ast.ClassDef) -> Value:
        """Return a class; its body is walked."""
        bases = tuple(self._expressions.value(base) for base in node.bases)
        outer = self._context.frame
        scope = Scope(outer.scope, outer.module, lasting=not self._context.checking)
        with self._context.within(Frame(scope, node.name)):
            self._walk.block(node.body)
        scope_names = scope.names
        made = ClassRef(node, outer.scope, bases, scope_names)
        for name, member in scope_names.items():  # methods don't see the names of their class
            refs = frozenset(
                replace(r, scope=outer.scope) if isinstance(r, FunctionRef) and r.scope is scope else r
                for r in member.refs
            )
            scope_names[name] = replace(member, refs=refs)
        return value_of(made)

    def of_type(self, annotation: ast.expr | None) -> Value:
        """Return what is known of something by its annotation."""
        for part in ast.walk(annotation) if annotation is not None else ():
            node: ast.expr | None = part if isinstance(part, ast.Name | ast.Attribute) else None
            if isinstance(part, ast.Constant) and isinstance(part.value, str) and part.value.isidentifier():
                node = ast.copy_location(ast.Name(part.value, ast.Load()), part)
            if node is None:
                continue
            for ref in self._expressions.value(node).refs:
                if isinstance(ref, ClassRef):
                    plain = any(isinstance(a, External) and a.name.endswith("TypedDict") for a in ref.ancestors())
                    return UNKNOWN if plain else value_of(InstanceRef(ref, lasting=True))
                if (
                    isinstance(ref, External)
                    and "." in ref.name
                    and not ref.name.startswith(("typing", "langgraph", "?"))
                ):
                    return value_of(External(f"{ref.name}()"))
        return UNKNOWN

    def bind_imports(self, node: ast.Import | ast.ImportFrom) -> None:
        """Bind what is imported."""
        names = self._context.frame.scope.names
        module = self._context.frame.module
        if isinstance(node, ast.Import):
            for alias in node.names:
                asked = alias.name if alias.asname else alias.name.partition(".")[0]
                found = self._context.sources.imported(asked, 0, module)
                names[alias.asname or asked] = value_of(ModuleRef(found) if found else External(asked))
            return
        found = self._context.sources.imported(node.module or "", node.level, module)
        for alias in node.names:
            if alias.name == "*":
                names |= dict(self._public(found)) if found else {"*": UNKNOWN}
            else:
                names[alias.asname or alias.name] = self._imported(node, alias.name, found, module)

    def _imported(self, node: ast.ImportFrom, name: str, found: Module | None, module: Module) -> Value:
        if found is not None:
            scope = self._walk.module_scope(found)
            if name in scope.names:
                return scope.names[name]
        dotted = f"{node.module}.{name}" if node.module else name
        inner = self._context.sources.imported(dotted, node.level, module)
        if inner is not None:
            return value_of(ModuleRef(inner))
        return value_of(External(f"?{name}" if node.level or found else dotted))

    def _public(self, module: Module) -> dict[str, Value]:
        return {
            name: value for name, value in self._walk.module_scope(module).names.items() if not name.startswith("_")
        }


def _named_like(wrapper: Value, wrapped: Value) -> Value:
    names = [ref.name for ref in wrapped.refs if isinstance(ref, FunctionRef)]
    if len(names) != 1:
        return wrapper
    refs = (replace(ref, name=names[0]) if isinstance(ref, FunctionRef) else ref for ref in wrapper.refs)
    return replace(wrapper, refs=frozenset(refs))


class StatementWalker:
    """Walks statements.

    Args:
        context: of the walk.
        expressions, changes, errors, definitions: walk the parts of statements.
    """

    def __init__(
        self,
        context: EvaluationContext,
        expressions: ExpressionEvaluator,
        changes: StateChanges,
        errors: ErrorPaths,
        definitions: Definitions,
    ) -> None:
        self._context = context
        self._expressions = expressions
        self._changes = changes
        self._errors = errors
        self._definitions = definitions

    def block(self, body: Sequence[ast.stmt]) -> None:
        """Walk statements in order; what comes after a way's end is not reached."""
        for statement in body:
            if not self._context.flow.alive:
                return
            self.statement(statement)

    def statement(self, node: ast.stmt) -> None:
        """Walk a statement."""
        self._context.steps += 1
        match node:
            case ast.Expr():
                self._expressions.value(node.value)
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
                self._errors.walk_try(node)
            case ast.With() | ast.AsyncWith():
                self._errors.walk_with(node)
            case ast.FunctionDef() | ast.AsyncFunctionDef():
                self._context.frame.scope.names[node.name] = self._definitions.function(node)
            case ast.ClassDef():
                self._context.frame.scope.names[node.name] = self._definitions.class_of(node)
            case ast.Raise():
                self._raise(node)
            case ast.Break() | ast.Continue():
                self._leave(node)
            case ast.Match():
                self._match(node)
            case ast.Import() | ast.ImportFrom():
                self._definitions.bind_imports(node)
            case ast.Global() | ast.Nonlocal():
                self._context.frame.scope.outer.update(node.names)
            case ast.Assert():
                self._expressions.value(node.test)
            case ast.Delete():
                for target in node.targets:
                    if isinstance(target, ast.Subscript) and self._changes.lasts(target):
                        self._context.note_effect(f"del {source_text(target)}", target, idempotent="by its form")

    # Binding

    def _assign_all(self, node: ast.Assign) -> None:
        made = self._expressions.value(node.value)
        for target in node.targets:
            self.assign(target, made)
        first, at_top = node.targets[0], len(self._context.frames) == 1
        for ref in made.refs:
            if isinstance(ref, GraphRef) and isinstance(first, ast.Name) and (not ref.name or at_top):
                ref.name = first.id

    def assign(self, target: ast.expr, value: Value) -> None:
        """Bind a target."""
        frame = self._context.frame
        match target:
            case ast.Name(id=name):
                if name in frame.scope.outer and self._context.checking:
                    self._context.note_effect(f"{name} =", target, idempotent="by its form")
                else:
                    frame.scope.names[name] = value
            case ast.Tuple() | ast.List():
                for position, part in enumerate(target.elts):
                    known = value.items is not None and position < len(value.items) and not value.unordered
                    item = value.items[position] if known and value.items else element(value)
                    self.assign(part.value if isinstance(part, ast.Starred) else part, item)
            case ast.Attribute():
                owner = self._expressions.value(target.value)
                for ref in owner.refs:
                    if isinstance(ref, InstanceRef):
                        ref.names[target.attr] = (
                            join([ref.names[target.attr], value]) if target.attr in ref.names else value
                        )
            case ast.Subscript():
                self._put(target, value)

    def _put(self, target: ast.Subscript, value: Value) -> None:
        key = self._expressions.value(target.slice)
        owner = target.value
        held = self._expressions.value(owner)
        outside = any(isinstance(ref, External) and "(" not in ref.name for ref in held.refs)
        if self._changes.lasts(target) and not outside:
            self._context.note_effect(
                f"{source_text(target)} =", target, idempotent="" if key.sources else "by its form"
            )
            return
        if isinstance(owner, ast.Name) and owner.id in self._context.frame.scope.names:
            flat = container_of([held, value, replace(key, refs=frozenset())])
            fields = held.fields
            if fields is not None and key.text is not None:
                fields = tuple({**dict(fields), key.text: value}.items())
            self._context.frame.scope.names[owner.id] = replace(
                held,
                sources=flat.sources,
                inside=held.inside | value.not_json,
                fields=fields,
                from_state=flat.from_state,
                answer=flat.answer,
            )

    def _annotated(self, node: ast.AnnAssign) -> None:
        if node.value is not None:
            made = self._expressions.value(node.value)
            if not made.refs and not made.kinds and made.items is None and made.fields is None:
                made = replace(made, refs=self._definitions.of_type(node.annotation).refs)
            self.assign(node.target, made)
        elif isinstance(node.target, ast.Name):
            self._context.frame.scope.names.setdefault(node.target.id, self._definitions.of_type(node.annotation))

    def _augmented(self, node: ast.AugAssign) -> None:
        made = self._expressions.value(node.value)
        target, scope = node.target, self._context.frame.scope
        named = isinstance(target, ast.Name)
        held = self._changes.held_by(target) if named else self._expressions.value(target)
        if self._changes.lasts(target) or (isinstance(target, ast.Name) and target.id in scope.outer):
            self._context.note_effect(f"{source_text(target)} +=", target)
            return
        added = list(made.items or [element(made)])
        flat = container_of([held, *added]) if isinstance(node.op, ast.Add) else taint([held, made])
        merged = replace(held, sources=flat.sources, from_state=flat.from_state, answer=flat.answer, text=None)
        if held.items is not None:
            merged = replace(merged, items=(*held.items, *added)[:40], inside=held.inside | flat.inside)
        if isinstance(target, ast.Name):
            scope.names[target.id] = replace(merged, raw=held.raw or made.raw)

    # Ways

    def _return(self, node: ast.Return) -> None:
        made = self._expressions.value(node.value) if node.value is not None else UNKNOWN
        self._context.note_left([made])
        self._context.frame.returns.append(made)
        self._context.frame.exits.append(self._context.flow.copy())
        self._context.flow.alive = False

    def _raise(self, node: ast.Raise) -> None:
        made = self._expressions.value(node.exc) if node.exc is not None else UNKNOWN
        name = external_name(made).removesuffix("()")
        if name.startswith("langgraph") and name.endswith(".NodeInterrupt"):  # the old way to ask
            self._context.note_question(Site(self._context.place(node), "NodeInterrupt"))
        self._context.observe(ErrorRaised(name, self._context.place(node)))
        self._context.flow.alive = False

    def _leave(self, node: ast.Break | ast.Continue) -> None:
        frame = self._context.frame
        if frame.loops:
            way = (frame.flow.copy(), dict(frame.scope.names))
            (frame.loops[-1].ends if isinstance(node, ast.Break) else frame.loops[-1].again).append(way)
        frame.flow.alive = False

    def _if(self, node: ast.If) -> None:
        if isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING":
            self.block(node.body)
            return
        if _is_main_guard(node.test) and self._context.frame.module is not self._context.sources.first:
            return
        test, loops = self._expressions.value(node.test), self._context.frame.loops
        ended = len(loops[-1].ends) if loops else 0
        self._expressions.either(test, [self._way(node.body), self._way(node.orelse)])
        if loops and len(loops[-1].ends) > ended:
            flow = self._context.flow
            flow.guards = tuple(replace(g, loop=True) if g.source in test.sources else g for g in flow.guards)

    def _way(self, body: Sequence[ast.stmt]) -> Callable[[], Value]:
        def walk() -> Value:
            self.block(body)
            return UNKNOWN

        return walk

    def _match(self, node: ast.Match) -> None:
        subject = self._expressions.value(node.subject)
        complete = any(
            isinstance(c.pattern, ast.MatchAs) and c.pattern.pattern is None and not c.guard for c in node.cases
        )

        def way(case: ast.match_case) -> Callable[[], Value]:
            def walk() -> Value:
                for part in ast.walk(case.pattern):
                    name = getattr(part, "name", None) or getattr(part, "rest", None)
                    if isinstance(name, str):
                        self._context.frame.scope.names[name] = element(subject)
                if case.guard is not None:
                    self._expressions.value(case.guard)
                self.block(case.body)
                return UNKNOWN

            return walk

        self._expressions.either(subject, [*(way(case) for case in node.cases), *([] if complete else [self._way([])])])

    # Loops

    def _for(self, node: ast.For | ast.AsyncFor) -> None:
        over = self._expressions.value(node.iter)
        if RETRIES.match(external_name(over).removesuffix("()")) or external_name(over) == "retry()":
            over = replace(over, items=(value_of(External(ATTEMPT)),))
        self.assign(node.target, element(over))
        singles = over.items if over.items and not over.unordered and self._builds(node) else None
        if singles:  # what is added in a loop over a list that is written out
            for item in singles:
                self.assign(node.target, item)
                self._around(node.body, Loop())
                self._context.flow.alive = True
        else:
            self._loop(node.body, self._expressions.loop_over(over, node.iter), target=(node.target, element(over)))
        self.block(node.orelse)

    def _builds(self, node: ast.For | ast.AsyncFor) -> bool:
        return not self._context.checking and any(
            isinstance(part, ast.Attribute) and part.attr.startswith("add_") for part in ast.walk(node)
        )

    def _while(self, node: ast.While) -> None:
        test = self._expressions.value(node.test)
        loop = Loop()
        for source in sorted(test.sources, key=lambda s: s.place):
            loop = Loop("round", given_by(source))
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
        frame = self._context.frame
        start = (frame.flow.copy(), dict(frame.scope.names))
        frame.loops.append(loop)
        for _ in range(2):
            if target is not None:
                self.assign(*target)
            self.block(body)
            frame.flow, frame.scope.names = join_ways([(frame.flow, frame.scope.names), *loop.again])
            if not frame.flow.alive:
                break
            if test is not None:
                self._expressions.value(test)
        frame.loops.pop()
        ways = [*loop.ends, *([] if forever else [start, (frame.flow, frame.scope.names)])]
        guards = start[0].guards
        frame.flow, frame.scope.names = join_ways(ways)
        frame.flow.guards = tuple(guard for guard in frame.flow.guards if guard in guards)
        frame.flow.low = start[0].low if not forever else frame.flow.low

    def _around(self, body: Sequence[ast.stmt], loop: Loop) -> None:
        self._context.frame.loops.append(loop)
        self.block(body)
        self._context.frame.loops.pop()


def _is_main_guard(test: ast.expr) -> bool:
    return isinstance(test, ast.Compare) and isinstance(test.left, ast.Name) and test.left.id == "__name__"
