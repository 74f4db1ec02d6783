"""Functions, classes and imports."""

from __future__ import annotations

import ast
from dataclasses import replace

from hitl_tui.lint.abstract_values import (
    UNKNOWN,
    ClassRef,
    External,
    FunctionRef,
    Given,
    InstanceRef,
    Module,
    ModuleRef,
    Scope,
    Value,
    external,
    of,
)
from hitl_tui.lint.call_catalogue import retried
from hitl_tui.lint.evaluation_context import Frame
from hitl_tui.lint.graph_model import Graphs


class Definitions(Graphs):
    """Binds what is defined and imported."""

    def _function(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> Value:
        for default in (*node.args.defaults, *filter(None, node.args.kw_defaults)):
            self.value(default)
        function = FunctionRef(node, self.frame.scope, node.name)
        self.defined.append(function)
        made = of(function)
        for decorator in reversed(node.decorator_list):
            made = self._decorate(decorator, made)
        return made

    def _decorate(self, decorator: ast.expr, made: Value) -> Value:
        by = self.value(decorator)
        name = external(by)
        if name == "retry()":
            return self.decorated("retry", made, decorator)
        if name == "functools.wraps()" and isinstance(decorator, ast.Call) and decorator.args:
            return _named_like(made, self.value(decorator.args[0]))
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
                replace(r, scope=outer.scope) if isinstance(r, FunctionRef) and r.scope is scope else r
                for r in member.refs
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
                if (
                    isinstance(ref, External)
                    and "." in ref.name
                    and not ref.name.startswith(("typing", "langgraph", "?"))
                ):
                    return of(External(f"{ref.name}()"))
        return UNKNOWN

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


def _named_like(wrapper: Value, wrapped: Value) -> Value:
    names = [ref.name for ref in wrapped.refs if isinstance(ref, FunctionRef)]
    if len(names) != 1:
        return wrapper
    refs = (replace(ref, name=names[0]) if isinstance(ref, FunctionRef) else ref for ref in wrapper.refs)
    return replace(wrapper, refs=frozenset(refs))
