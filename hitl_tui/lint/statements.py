"""Statements: the ways through a function or module."""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Final

from hitl_tui.lint.base import Frame, Given
from hitl_tui.lint.calls import retried
from hitl_tui.lint.catalogue import BROAD_ERRORS
from hitl_tui.lint.expressions import met
from hitl_tui.lint.flow import Catch, Flow, Loop, merged
from hitl_tui.lint.graphs import Graphs
from hitl_tui.lint.modules import Module
from hitl_tui.lint.values import (
    UNKNOWN,
    ClassRef,
    External,
    FunctionRef,
    GraphRef,
    InstanceRef,
    ModuleRef,
    Scope,
    Value,
    contained,
    element,
    external,
    join,
    of,
    taint,
)

Ways = tuple[Flow, dict[str, Value]]
_SUPPRESS: Final = ("contextlib.suppress()", "?suppress()")


class Statements(Graphs):
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
                        self.acts("del of what lasts", target, idempotent="by its form")

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
                    self.acts(f"{name} = …", target, idempotent="" if value.sources else "by its form")
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
                        ref.names[target.attr] = join([ref.names[target.attr], value]) if target.attr in ref.names else value
            case ast.Subscript():
                self._put(target, value)

    def _put(self, target: ast.Subscript, value: Value) -> None:
        key = self.value(target.slice)
        owner = target.value
        held = self.value(owner)
        if self.lasts(target) and not any(isinstance(ref, External) and "(" not in ref.name for ref in held.refs):
            again = bool(value.sources | key.sources)
            self.acts("an element of what lasts", target, idempotent="" if again else "by its form")
            return
        if isinstance(owner, ast.Name) and owner.id in self.frame.scope.names:
            flat = contained([held, value, replace(key, refs=frozenset())])
            fields = held.fields
            if fields is not None and key.text is not None:
                fields = tuple({**dict(fields), key.text: value}.items())
            self.frame.scope.names[owner.id] = replace(
                held, sources=flat.sources, inside=held.inside | value.not_json, fields=fields,
                from_state=flat.from_state, answer=flat.answer,
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
        if self.lasts(node.target) or isinstance(node.target, ast.Name) and node.target.id in self.frame.scope.outer:
            self.acts("a change of what lasts", node.target)
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
        if self.checking and name == "InterruptedError":
            self.report("HT013", self.place(node), "InterruptedError is raised, which asks nobody.")
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
        complete = any(isinstance(c.pattern, ast.MatchAs) and c.pattern.pattern is None and not c.guard for c in node.cases)

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
            loop = Loop("HT005", f"what {source.what} in line {source.place.line} gives this time")
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
            frame.flow, frame.scope.names = _joined([(frame.flow, frame.scope.names), *loop.again])
            if not frame.flow.alive:
                break
            if test is not None:
                self.value(test)
        frame.loops.pop()
        ways = [*loop.ends, *([] if forever else [start, (frame.flow, frame.scope.names)])]
        guards = start[0].guards
        frame.flow, frame.scope.names = _joined(ways)
        frame.flow.guards = tuple(guard for guard in frame.flow.guards if guard in guards)
        frame.flow.low = start[0].low if not forever else frame.flow.low

    def _around(self, body: Sequence[ast.stmt], loop: Loop) -> None:
        self.frame.loops.append(loop)
        self.block(body)
        self.frame.loops.pop()

    # Errors

    def _try(self, node: ast.Try | ast.TryStar) -> None:
        frame = self.frame
        start = (frame.flow.copy(), dict(frame.scope.names))
        catches = self._catches(node)
        frame.catches += catches
        self.block(node.body)
        del frame.catches[len(frame.catches) - len(catches) :]
        ended = (frame.flow, frame.scope.names)
        ways: list[Ways] = []
        for handler in node.handlers:
            held = frame.flow.effects
            frame.flow, frame.scope.names = _joined([start, (ended[0].copy(), dict(ended[1]))])
            frame.flow.alive, frame.flow.effects = True, {**frame.flow.effects, **held}
            if handler.name:
                frame.scope.names[handler.name] = of(External("Exception()"))
            self.block(handler.body)
            ways.append((frame.flow, frame.scope.names))
        frame.flow, frame.scope.names = ended
        self.block(node.orelse)
        ways.append((frame.flow, frame.scope.names))
        frame.flow, frame.scope.names = _joined(ways)
        self._finally(node, start[0])

    def _finally(self, node: ast.Try | ast.TryStar, start: Flow) -> None:
        frame = self.frame
        if not node.finalbody:
            return
        alive, frame.flow.alive = frame.flow.alive, True
        known = set(frame.flow.effects)
        asked = [site for site in frame.sites if _within(node.body, site.place.line)]
        self.block(node.finalbody)
        frame.flow.alive = frame.flow.alive and alive
        for effect in [e for e in frame.flow.effects if e not in known]:
            done = frame.done.get(effect)
            if asked and done is not None and not effect.idempotent:
                frame.done[effect] = replace(done, before=True)
                line = asked[0].place.line
                self.report(
                    "HT006", effect.place, f"{effect.what} in finally happens each time {asked[0].what} in line {line} asks."
                )

    def _catches(self, node: ast.Try | ast.TryStar) -> list[Catch]:
        found: list[Catch] = []
        for handler in node.handlers:
            names = self._handled(handler)
            if "InterruptedError" in names:
                found.append(Catch(self.place(handler), "except InterruptedError", "HT013"))
            if not handler.type or any(name in BROAD_ERRORS for name in names):
                if not _lets_through(handler):
                    broad = next((n for n in names if n in BROAD_ERRORS), "").rpartition(".")[2]
                    found.append(Catch(self.place(handler), f"except {broad}".strip()))
                break
        if any(isinstance(part, ast.Return | ast.Break | ast.Continue) for part in _own_statements(node.finalbody)):
            found.append(Catch(self.place(node.finalbody[0]), "a finally that leaves"))
        return found

    def _handled(self, handler: ast.ExceptHandler) -> list[str]:
        if handler.type is None:
            return []
        made = self.value(handler.type)
        return [external(part).removeprefix("?") for part in (made.items or (made,))]

    def _with(self, node: ast.With | ast.AsyncWith) -> None:
        catches: list[Catch] = []
        for item in node.items:
            made = self.value(item.context_expr)
            catch = self._managed(item.context_expr, made)
            catches += [catch] if catch else []
            if item.optional_vars is not None:
                self.assign(item.optional_vars, replace(made, kinds=made.kinds - {"a generator"}))
        frame = self.frame
        frame.catches += catches
        start = (frame.flow.copy(), dict(frame.scope.names))
        self.block(node.body)
        del frame.catches[len(frame.catches) - len(catches) :]
        if catches:
            frame.flow, frame.scope.names = _joined([start, (frame.flow, frame.scope.names)])

    def _managed(self, node: ast.expr, made: Value) -> Catch | None:
        """Return what a context manager catches."""
        name = external(made)
        if name in _SUPPRESS and isinstance(node, ast.Call):
            broad = [external(self.value(part)) for part in node.args]
            if any(part in BROAD_ERRORS for part in broad):
                return Catch(self.place(node), "suppress()")
        if isinstance(node, ast.Call):
            for ref in self.value(node.func).refs:
                if isinstance(ref, FunctionRef) and isinstance(ref.node, ast.FunctionDef | ast.AsyncFunctionDef):
                    return self.managing(ref)
        return None

    def managing(self, ref: FunctionRef) -> Catch | None:
        """Return what a generator that is used as a context manager catches."""
        raise NotImplementedError

    # Definitions

    def _function(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> Value:
        for default in (*node.args.defaults, *filter(None, node.args.kw_defaults)):
            self.value(default)
        made = of(FunctionRef(node, self.frame.scope, node.name))
        for decorator in reversed(node.decorator_list):
            made = self._decorate(decorator, made)
        return made

    def _decorate(self, decorator: ast.expr, made: Value) -> Value:
        by = self.value(decorator)
        name = external(by)
        if name == "retry()":
            return self.decorated("retry", made, decorator)
        if name and name != "narrow()":
            told = isinstance(decorator, ast.Call)
            if told and retried(name.removesuffix("()"), Given()):
                return made  # it was told after which errors
            return self.decorated(name, made, decorator)
        if any(isinstance(ref, FunctionRef) for ref in by.refs):
            given = self.call(by, Given((made,)), decorator, "decorator")
            if given.refs:
                return given
        return made

    def _class(self, node: ast.ClassDef) -> Value:
        bases = tuple(self.value(base) for base in node.bases)
        outer = self.frame
        scope = Scope(outer.scope, outer.module, lasting=not self.checking)
        with self.within(Frame(scope, node.name)):
            self.block(node.body)
        scope_names = scope.names
        made = ClassRef(node, outer.scope, bases, scope_names)
        for name, member in scope_names.items():  # methods don't see the names of their class
            refs = frozenset(
                replace(r, scope=outer.scope) if isinstance(r, FunctionRef) and r.scope is scope else r for r in member.refs
            )
            scope_names[name] = replace(member, refs=refs)
        return of(made)

    def of_type(self, annotation: ast.expr | None) -> Value:
        """Return what is known of something by its annotation."""
        for part in ast.walk(annotation) if annotation is not None else ():
            node: ast.expr | None = part if isinstance(part, ast.Name | ast.Attribute) else None
            if isinstance(part, ast.Constant) and isinstance(part.value, str) and part.value.isidentifier():
                node = ast.copy_location(ast.Name(part.value, ast.Load()), part)
            if node is None:
                continue
            for ref in self.value(node).refs:
                if isinstance(ref, ClassRef):
                    plain = any(isinstance(a, External) and a.name.endswith("TypedDict") for a in ref.ancestors())
                    return UNKNOWN if plain else of(InstanceRef(ref, lasting=True))
                if isinstance(ref, External) and "." in ref.name and not ref.name.startswith(("typing", "langgraph", "?")):
                    return of(External(f"{ref.name}()"))
        return UNKNOWN

    # Imports

    def _import(self, node: ast.Import | ast.ImportFrom) -> None:
        names = self.frame.scope.names
        module = self.frame.module
        if isinstance(node, ast.Import):
            for alias in node.names:
                asked = alias.name if alias.asname else alias.name.partition(".")[0]
                found = self.sources.imported(asked, 0, module)
                names[alias.asname or asked] = of(ModuleRef(found) if found else External(asked))
            return
        found = self.sources.imported(node.module or "", node.level, module)
        for alias in node.names:
            if alias.name == "*":
                names |= dict(self._public(found)) if found else {"*": UNKNOWN}
            else:
                names[alias.asname or alias.name] = self._imported(node, alias.name, found, module)

    def _imported(self, node: ast.ImportFrom, name: str, found: Module | None, module: Module) -> Value:
        if found is not None:
            scope = self.module_scope(found)
            if name in scope.names:
                return scope.names[name]
        dotted = f"{node.module}.{name}" if node.module else name
        inner = self.sources.imported(dotted, node.level, module)
        if inner is not None:
            return of(ModuleRef(inner))
        return of(External(f"?{name}" if node.level or found else dotted))

    def _public(self, module: Module) -> dict[str, Value]:
        return {name: value for name, value in self.module_scope(module).names.items() if not name.startswith("_")}


def _joined(ways: Sequence[Ways]) -> Ways:
    alive = [(flow, names) for flow, names in ways if flow.alive]
    if not alive:
        return Flow(alive=False), dict(ways[0][1]) if ways else {}
    return merged(flow for flow, _ in alive), met([dict(names) for _, names in alive])


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


def _mentions_bubble(node: ast.expr) -> bool:
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

