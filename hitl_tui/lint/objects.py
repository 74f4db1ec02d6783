"""Attributes, classes and their objects."""

from __future__ import annotations

import ast
from collections.abc import Iterable
from dataclasses import replace
from typing import Final

from hitl_tui.lint.base import Given
from hitl_tui.lint.expressions import Expressions
from hitl_tui.lint.kinds import kind_of
from hitl_tui.lint.values import (
    ClassRef,
    External,
    FunctionRef,
    GraphRef,
    InstanceRef,
    MethodRef,
    ModuleRef,
    Ref,
    TaskRef,
    ToolNodeRef,
    ToolRef,
    Value,
    contained,
    join,
    of,
    taint,
)

LONGEST_NAME: Final = 160
_ENUMS: Final = frozenset(["enum.Enum", "enum.Flag"])
_TEXT_ENUMS: Final = frozenset(["enum.StrEnum", "enum.IntEnum", "enum.IntFlag", "str", "int", "float"])
_RECORDS: Final = frozenset(
    [
        "typing.TypedDict",
        "typing_extensions.TypedDict",
        "typing.NamedTuple",
        "str",
        "int",
        "float",
        "dict",
        "list",
        "collections.UserDict",
        "langgraph.graph.MessagesState",
        "langgraph.graph.message.MessagesState",
        "langgraph.prebuilt.chat_agent_executor.AgentState",
        "langchain.agents.AgentState",
    ]
)


class Objects(Expressions):
    """Follows attributes and makes objects."""

    def attribute(self, value: Value, name: str, node: ast.expr) -> Value:
        """Return an attribute of something."""
        found: list[Value] = []
        for ref in value.refs:
            found += self._attribute_of(ref, name, node)
        base = replace(taint([value]), raw=value.raw)
        if name == "tool_calls":  # a message that was said stays as it is, whatever becomes of the list it stands in
            return replace(base, from_state=False)
        if not found:
            if value.fields is not None and not value.refs:  # a method of a mapping
                return replace(base, refs=frozenset({External(f"dict().{name}")}))
            return base
        made = join(found)
        merged = taint([made, base])
        return replace(made, sources=merged.sources, from_state=merged.from_state, answer=merged.answer, raw=base.raw)

    def _attribute_of(self, ref: Ref, name: str, node: ast.expr) -> Iterable[Value]:
        match ref:
            case External(name=path):
                kept = path if len(path) < LONGEST_NAME else f"?{path.rpartition('.')[2]}"
                kind = kind_of(f"{kept}.{name}")
                yield replace(of(External(f"{kept}.{name}")), kinds=frozenset({kind} if kind else ()))
            case InstanceRef():
                yield self._of_instance(ref, name, node)
            case ClassRef():
                yield _of_class(ref, name)
            case ModuleRef(module=module):
                names = self.module_scope(module).names
                other = None if name in names else self.sources.imported(name, 1, module)
                yield names[name] if name in names else of(ModuleRef(other) if other else External(f"?{name}"))
            case GraphRef() | ToolRef() | TaskRef() | ToolNodeRef() | MethodRef():
                yield of(MethodRef(ref, name))
            case FunctionRef():
                yield of(MethodRef(ref, name))

    def _of_instance(self, ref: InstanceRef, name: str, node: ast.expr) -> Value:
        if name in ref.names:
            return ref.names[name]
        for ancestor in ref.type.ancestors():
            if isinstance(ancestor, ClassRef) and name in ancestor.names:
                return self._bound(ref, ancestor.names[name], node)
        return of(External(f"?self.{name}"))

    def _bound(self, ref: InstanceRef, found: Value, node: ast.expr) -> Value:
        refs: set[Ref] = set()
        for member in found.refs:
            if not isinstance(member, FunctionRef) or isinstance(member.node, ast.Lambda):
                refs.add(member)
                continue
            decorators = {_last(d) for d in member.node.decorator_list}
            bound = member if "staticmethod" in decorators else replace(member, binding=of(ref))
            if decorators & {"property", "cached_property"}:
                return self.call(of(bound), Given(), node, f"{member.name}")
            refs.add(bound)
        return replace(found, refs=frozenset(refs))

    def _make(self, ref: ClassRef, given: Given, node: ast.expr) -> Value:
        names = [a.name if isinstance(a, External) else "" for a in ref.ancestors()]
        if any(name in _RECORDS for name in names):
            return contained(given.all, fields=tuple(given.names.items()))
        instance = InstanceRef(ref, lasting=not self.checking)
        if any(_is_dataclass(a) for a in ref.ancestors()) or "pydantic.BaseModel" in names:
            fields = [
                s.target.id for s in ref.node.body if isinstance(s, ast.AnnAssign) and isinstance(s.target, ast.Name)
            ]
            instance.names.update(zip(fields, given.args, strict=False))
            instance.names.update(given.names)
        start = self._of_instance(instance, "__init__", node)
        if any(isinstance(r, FunctionRef) for r in start.refs):
            self.call(start, given, node, f"{ref.node.name}()")
        if any(name in _ENUMS | _TEXT_ENUMS for name in names):
            return taint(given.all)
        made = taint(given.all)
        return replace(made, refs=frozenset({instance}), kinds=frozenset({f"an object of class {ref.node.name}"}))


def _of_class(ref: ClassRef, name: str) -> Value:
    for ancestor in ref.ancestors():
        if isinstance(ancestor, ClassRef) and name in ancestor.names:
            found = ancestor.names[name]
            bases = {a.name for a in ref.ancestors() if isinstance(a, External)}
            if bases & _ENUMS and not bases & _TEXT_ENUMS and not found.refs:
                return Value(kinds=frozenset({f"a member of {ref.node.name}"}))
            return found
    return of(External(f"?{ref.node.name}.{name}"))


def _is_dataclass(ref: ClassRef | External) -> bool:
    return isinstance(ref, ClassRef) and any(
        _last(d) in ("dataclass", "define", "frozen", "attrs", "s") for d in ref.node.decorator_list
    )


def _last(node: ast.expr) -> str:
    while isinstance(node, ast.Call):
        node = node.func
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""
