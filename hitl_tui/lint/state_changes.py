"""Changes of what outlives a run of a node."""

from __future__ import annotations

import ast
import re
from dataclasses import replace

from hitl_tui.lint.abstract_values import (
    UNKNOWN,
    ClassRef,
    External,
    Given,
    InstanceRef,
    ModuleRef,
    Ref,
    Value,
    container_of,
    element,
    taint,
    value_of,
)
from hitl_tui.lint.evaluation_context import EvaluationContext, Walk
from hitl_tui.lint.expression_evaluator import ExpressionEvaluator
from hitl_tui.lint.source_modules import CHANGERS


class StateChanges:
    """Tells changes of what lasts from changes of what a run made for itself.

    Args:
        context: of the walk.
        expressions: says what is changed.
        walk: binds what changed.
    """

    def __init__(self, context: EvaluationContext, expressions: ExpressionEvaluator, walk: Walk) -> None:
        self._context = context
        self._expressions = expressions
        self._walk = walk

    def change_of(self, node: ast.expr, given: Given) -> Value | None:
        """Note a change of a container by one of its methods; None when it is no such call."""
        if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute) or node.func.attr not in CHANGERS:
            return None
        owner = node.func.value
        if not isinstance(owner, ast.Name | ast.Attribute | ast.Subscript):
            return None
        held = self.held_by(owner)
        if any(not _is_container(ref) for ref in held.refs):
            return None
        method = node.func.attr
        if self.lasts(owner):
            same = method in ("discard", "update", "setdefault", "clear", "remove")
            same = same or (method == "add" and not any(v.sources for v in given.all))
            idempotent = "by its form" if same else ""
            self._context.note_effect(f"{source_text(owner)}.{method}", node, idempotent=idempotent)
            return taint([held, *given.all])
        if isinstance(owner, ast.Name) and method in ("append", "add", "insert", "extend", "update", "appendleft"):
            last = given.args[-1] if given.args else UNKNOWN
            many = method in ("extend", "update")
            added = list(last.items or [element(last)]) if many else [last]
            items = (*(held.items or ()), *added)[:40]
            flat = container_of([held, *added])
            merged = replace(
                held,
                items=items,
                sources=flat.sources,
                inside=held.inside | flat.inside - held.kinds,
                from_state=flat.from_state,
                answer=flat.answer,
            )
            self._walk.assign(owner, merged)
        got = element(held) if method in ("pop", "popleft", "setdefault", "popitem") else UNKNOWN
        return replace(got, sources=got.sources | held.sources, from_state=got.from_state or held.from_state)

    def held_by(self, node: ast.expr) -> Value:
        """Return what is known of what is changed; a name is looked up as it was bound."""
        if isinstance(node, ast.Name):
            holder = self._context.frame.scope.holder(node.id)
            return holder.names[node.id] if holder else value_of(External("?"))
        return self._expressions.value(node)

    def lasts(self, target: ast.expr) -> bool:
        """Whether what a name, attribute or element belongs to outlives a run of the node."""
        if not self._context.checking:
            return False
        root = target
        while isinstance(root, ast.Subscript):
            root = root.value
        if isinstance(root, ast.Name):
            holder = self._context.frame.scope.holder(root.id)
            if holder is None or (not holder.lasting and root.id not in self._context.frame.scope.outer):
                return False
            return holder is not self._context.frame.scope and not _has(holder.names[root.id], ModuleRef)
        if isinstance(root, ast.Attribute):
            owner = self.held_by(root.value)
            if any(isinstance(ref, ClassRef | ModuleRef) for ref in owner.refs):
                return True
            return any(isinstance(ref, InstanceRef) and ref.lasting for ref in owner.refs)
        return False


def _is_container(ref: Ref) -> bool:
    return isinstance(ref, External) and bool(
        re.match(
            r"(?:list|dict|set|collections\.\w+|queue\.\w+|asyncio\.Queue|deque|defaultdict|Counter)\(\)\Z", ref.name
        )
    )


def _has(value: Value, kind: type) -> bool:
    return any(isinstance(ref, kind) for ref in value.refs)


def source_text(node: ast.expr) -> str:
    """Return a name, attribute or element as it is written, keys left out."""
    match node:
        case ast.Name(id=name):
            return name
        case ast.Attribute(value=inner, attr=name):
            return f"{source_text(inner)}.{name}"
        case ast.Subscript(value=inner):
            return f"{source_text(inner)}[…]"
        case _:
            return "…"
