"""Expressions, attributes and objects: what they stand for."""

from __future__ import annotations

import ast
import builtins
import itertools
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import partial
from typing import Final

from hitl_tui.core.messages import Message
from hitl_tui.lint.abstract_values import (
    A_CLASS,
    A_FUNCTION,
    A_GENERATOR,
    A_SET,
    MOST_ITEMS,
    UNKNOWN,
    UNTOLD,
    ClassRef,
    External,
    FunctionRef,
    Given,
    GraphRef,
    InstanceRef,
    MethodRef,
    ModuleRef,
    Ref,
    Scope,
    Source,
    TaskRef,
    ToolNodeRef,
    ToolRef,
    Value,
    container_of,
    element,
    external_name,
    join,
    taint,
    value_of,
)
from hitl_tui.lint.call_catalogue import A_DATE, A_DECIMAL, A_FRAME, A_PATH, AN_ARRAY, BYTES, kind_of
from hitl_tui.lint.evaluation_context import EvaluationContext, Walk
from hitl_tui.lint.flow_state import Flow, Guard, Loop, join_flows

_BUILTINS: Final = frozenset(dir(builtins))

STARS: Final = {
    "interrupt": "langgraph.types.interrupt",
    "Command": "langgraph.types.Command",
    "Send": "langgraph.types.Send",
    "StateGraph": "langgraph.graph.StateGraph",
    "START": "langgraph.graph.START",
    "END": "langgraph.graph.END",
    "ToolNode": "langgraph.prebuilt.ToolNode",
    "create_react_agent": "langgraph.prebuilt.create_react_agent",
    "task": "langgraph.func.task",
    "entrypoint": "langgraph.func.entrypoint",
    "REMOVE_ALL_MESSAGES": "langgraph.graph.message.REMOVE_ALL_MESSAGES",
}
"""What `from langgraph.… import *` may bring."""

_LONGEST_TEXT: Final = 2_000

_KEEPING_KINDS: Final = (A_DATE, A_DECIMAL, A_PATH, AN_ARRAY, A_FRAME)

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


class ExpressionEvaluator:
    """Evaluates expressions and follows attributes.

    Args:
        context: of the walk.
        walk: binds, calls and reads modules.
    """

    def __init__(self, context: EvaluationContext, walk: Walk) -> None:
        self._context = context
        self._walk = walk

    def value(self, node: ast.expr) -> Value:
        """Return what an expression stands for, and note what evaluating it does."""
        self._context.steps += 1
        match node:
            case ast.Constant():
                return _constant(node.value)
            case ast.Name():
                return self._name(node)
            case ast.Attribute():
                return self.attribute(self.value(node.value), node.attr, node)
            case ast.Call():
                return self._call(node)
            case ast.Await() | ast.Starred() | ast.FormattedValue():
                return self.value(node.value)
            case ast.Dict():
                return self._dict(node)
            case ast.List() | ast.Tuple():
                return self._sequence(node)
            case ast.Set():
                return self._set(node)
            case ast.Subscript():
                return self._subscript(node)
            case ast.JoinedStr():
                return self._text(node)
            case ast.BinOp():
                return self._binary(node)
            case ast.Lambda():
                return value_of(FunctionRef(node, self._context.frame.scope, "lambda"))
            case ast.IfExp():
                test = self.value(node.test)
                return self.either(test, [lambda: self.value(node.body), lambda: self.value(node.orelse)])
            case ast.BoolOp():
                return self._boolean(node)
            case ast.ListComp() | ast.SetComp() | ast.GeneratorExp() | ast.DictComp():
                return self._comprehension(node)
            case ast.NamedExpr():
                made = self.value(node.value)
                self._walk.assign(node.target, made)
                return made
            case ast.Compare():
                return self._compare(node)
            case _:
                return self._other(node)

    def _other(self, node: ast.expr) -> Value:
        parts = [self.value(child) for child in ast.iter_child_nodes(node) if isinstance(child, ast.expr)]
        if isinstance(node, ast.Yield | ast.YieldFrom):
            self._context.note_left(parts)
            caught = [catch for catch in self._context.frame.catches if not catch.misses]
            self._context.frame.yields = self._context.frame.yields or (caught[-1] if caught else None)
            if parts:
                self._context.frame.returns.append(parts[0])
            return UNKNOWN
        return taint(parts)

    # Names

    def _name(self, node: ast.Name) -> Value:
        scope = self._context.frame.scope
        holder = scope.holder(node.id)
        if holder is None:
            return self.free_name(node.id)
        found = holder.names[node.id]
        module = holder.module
        if self._context.checking and holder.parent is None and node.id in module.mutated:
            changing = Source("module", node.id, self._context.place(node))
            return replace(found, sources=found.sources | {changing}, items=None, fields=None)
        return found

    def free_name(self, name: str) -> Value:
        """Return what a name stands for that the source doesn't bind."""
        scope: Scope | None = self._context.frame.scope
        while scope is not None and scope.parent is not None:
            scope = scope.parent
        if scope is not None and "*" in scope.names and name in STARS:
            return value_of(External(STARS[name]))
        return value_of(External(name if name in _BUILTINS else f"?{name}"))

    # Containers

    def _dict(self, node: ast.Dict) -> Value:
        fields: dict[str, Value] = {}
        others: list[Value] = []
        for key, item in zip(node.keys, node.values, strict=True):
            made = self.value(item)
            if key is None:
                fields |= dict(made.fields if made.fields is not None else (("**", made),))
                continue
            label = self.value(key)
            if label.text is not None and len(fields) < MOST_ITEMS:
                fields[label.text] = made
            else:
                others += [made, replace(label, refs=frozenset())]
        return container_of([_plain(v) for v in (*fields.values(), *others)], fields=tuple(fields.items()))

    def _sequence(self, node: ast.List | ast.Tuple) -> Value:
        items: list[Value] = []
        for part in node.elts:
            made = self.value(part)
            items += made.items or [element(made)] if isinstance(part, ast.Starred) else [made]
        return container_of([_plain(item) for item in items], items=tuple(items[:MOST_ITEMS]))

    def _set(self, node: ast.Set) -> Value:
        items = [self.value(part) for part in node.elts]
        made = container_of([_plain(item) for item in items], items=tuple(items[:MOST_ITEMS]))
        return replace(made, kinds=frozenset({A_SET}), unordered=A_SET)

    def _subscript(self, node: ast.Subscript) -> Value:
        base = self.value(node.value)
        if isinstance(node.slice, ast.Slice):
            parts = [self.value(p) for p in (node.slice.lower, node.slice.upper, node.slice.step) if p is not None]
            return replace(base, refs=frozenset(), text=None, sources=taint([base, *parts]).sources)
        key = self.value(node.slice)
        if base.fields is not None and key.text is not None:
            for name, found in base.fields:
                if name == key.text:
                    return found
        index = node.slice.value if isinstance(node.slice, ast.Constant) else None
        if base.items and isinstance(index, int) and -len(base.items) <= index < len(base.items) and not base.unordered:
            return base.items[index]
        got = element(base)
        name = external_name(base)
        refs = got.refs or (frozenset({External(f"{name}[]")}) if name else frozenset())
        return replace(taint([got, base, key]), refs=refs, kinds=got.kinds, inside=got.inside, raw=base.raw or got.raw)

    def _text(self, node: ast.JoinedStr) -> Value:
        parts = [self.value(part) for part in node.values]
        known = list(itertools.takewhile(lambda text: text is not None, (part.text for part in parts)))
        text = "".join(filter(None, known)) + ("" if len(known) == len(parts) else UNTOLD) if known else None
        return replace(taint(parts), raw=any(part.raw for part in parts), text=text)

    # Operators

    def _binary(self, node: ast.BinOp) -> Value:
        chain: list[ast.expr] = [node.right]
        left: ast.expr = node.left
        while isinstance(left, ast.BinOp):  # a long sum is as deep as it is long
            chain.append(left.right)
            left = left.left
        made = self.value(left)
        for part in reversed(chain):
            made = _combined(made, self.value(part))
        return made

    def _boolean(self, node: ast.BoolOp) -> Value:
        made = self.value(node.values[0])
        for part in node.values[1:]:
            made = self.either(made, [partial(self.value, part), _always(made)])
        return made

    def _compare(self, node: ast.Compare) -> Value:
        parts = [self.value(node.left), *(self.value(part) for part in node.comparators)]
        equal = isinstance(node.ops[0], ast.In | ast.NotIn | ast.Eq | ast.NotEq)
        if equal and isinstance(node.left, ast.Name):  # from here on it is what it was compared with
            holder = self._context.frame.scope.holder(node.left.id)
            if holder is self._context.frame.scope:
                holder.names[node.left.id] = replace(holder.names[node.left.id], raw=False)
        return taint(parts)

    # Ways that part and meet

    def either(self, test: Value, ways: Sequence[Callable[[], Value]]) -> Value:
        """Walk one of several ways, as `test` decides; return what comes out of any."""
        frame = self._context.frame
        start, names = frame.flow, dict(frame.scope.names)
        ends: list[tuple[Flow, dict[str, Value]]] = []
        values: list[Value] = []
        extra = tuple(Guard(source, loop=False) for source in sorted(test.sources, key=lambda s: s.place)[:1])
        for way in ways:
            frame.flow = start.copy()
            frame.flow.guards += tuple(guard for guard in extra if guard not in frame.flow.guards)
            frame.scope.names = dict(names)
            made = way()
            if frame.flow.alive:
                values.append(made)
            ends.append((frame.flow, frame.scope.names))
        self._meet(start, test, ends)
        decided = taint([test])
        got = join(values)
        return replace(got, sources=got.sources | decided.sources) if decided.sources else got

    def _meet(self, start: Flow, test: Value, ends: Sequence[tuple[Flow, dict[str, Value]]]) -> None:
        frame = self._context.frame
        alive = [(flow, names) for flow, names in ends if flow.alive]
        frame.flow = join_flows(flow for flow, _ in ends)
        if not alive:
            return
        frame.scope.names = join_names([names for _, names in alive])
        if len(alive) == len(ends):  # which way was taken no longer decides what is reached
            frame.flow.guards = start.guards
            counts = {(flow.low, flow.high) for flow, _ in alive}
            if len(counts) > 1 and test.from_state and not test.answer and not test.sources:
                frame.flow.shaky |= {s: None for flow, _ in alive for s in flow.asked if s not in start.asked}
        elif frame.loops and any(len(frame.loops[-1].ends) for _ in ends):
            frame.flow.guards = tuple(
                replace(guard, loop=True) if guard not in start.guards else guard for guard in frame.flow.guards
            )

    def _comprehension(self, node: ast.ListComp | ast.SetComp | ast.GeneratorExp | ast.DictComp) -> Value:
        frame = self._context.frame
        outer = dict(frame.scope.names)
        orders: list[Message | None] = []
        loops = 0
        for part in node.generators:
            over = self.value(part.iter)
            orders.append(over.unordered)
            frame.loops.append(self.loop_over(over, part.iter))
            loops += 1
            self._walk.assign(part.target, element(over))
            for test in part.ifs:
                self.value(test)
        if isinstance(node, ast.DictComp):
            made = container_of([self.value(node.key), _plain(self.value(node.value))])
        else:
            item = self.value(node.elt)
            made = container_of([_plain(item)])
            if item.refs:
                made = replace(made, items=(item,))
        del frame.loops[len(frame.loops) - loops :]
        changed = {k: v for k, v in frame.scope.names.items() if k in outer}
        frame.scope.names = {**outer, **{k: v for k, v in changed.items() if not _is_target(k, node)}}
        order = next(filter(None, orders), None)
        match node:
            case ast.SetComp():
                return replace(made, kinds=frozenset({A_SET}), unordered=A_SET)
            case ast.GeneratorExp():
                return replace(made, kinds=frozenset({A_GENERATOR}), unordered=order)
            case _:
                return replace(made, unordered=order)

    def loop_over(self, over: Value, node: ast.expr) -> Loop:
        """Return the loop over something, with what is wrong with a question in it."""
        text = _brief(node)
        if over.unordered:
            if not text:
                return Loop("order", over.unordered)
            said = Message("{text}, {kind}, whose order is not fixed", text=text, kind=over.unordered)
            return Loop("order", said)
        for source in sorted(over.sources, key=lambda s: s.place):
            return Loop("round", given_by(source))
        return Loop()

    # Calls

    def _call(self, node: ast.Call) -> Value:
        function = self.value(node.func)
        args: list[Value] = []
        is_open = False
        for part in node.args:
            made = self.value(part)
            if isinstance(part, ast.Starred):
                is_open = is_open or made.items is None
                args += made.items or ([element(made)] if made.items is None else [])
            else:
                args.append(made)
        names: dict[str, Value] = {}
        for word in node.keywords:
            made = self.value(word.value)
            if word.arg is not None:
                names[word.arg] = made
            else:
                is_open = is_open or made.fields is None
                names |= dict(made.fields or (("**", made),))
        return self._walk.call(function, Given(tuple(args), names, is_open), node, f"{_brief(node.func)}()")

    # Attributes and objects

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
                yield replace(value_of(External(f"{kept}.{name}")), kinds=frozenset({kind} if kind else ()))
            case InstanceRef():
                yield self.member_of(ref, name, node)
            case ClassRef():
                yield _of_class(ref, name)
            case ModuleRef(module=module):
                names = self._walk.module_scope(module).names
                other = None if name in names else self._context.sources.imported(name, 1, module)
                yield names[name] if name in names else value_of(ModuleRef(other) if other else External(f"?{name}"))
            case GraphRef() | ToolRef() | TaskRef() | ToolNodeRef() | MethodRef():
                yield value_of(MethodRef(ref, name))
            case FunctionRef():
                yield value_of(MethodRef(ref, name))

    def member_of(self, ref: InstanceRef, name: str, node: ast.expr) -> Value:
        """Return an attribute of an object, a method bound to it."""
        if name in ref.names:
            return ref.names[name]
        for ancestor in ref.type.ancestors():
            if isinstance(ancestor, ClassRef) and name in ancestor.names:
                return self._bound(ref, ancestor.names[name], node)
        return value_of(External(f"?self.{name}"))

    def _bound(self, ref: InstanceRef, found: Value, node: ast.expr) -> Value:
        refs: set[Ref] = set()
        for member in found.refs:
            if not isinstance(member, FunctionRef) or isinstance(member.node, ast.Lambda):
                refs.add(member)
                continue
            decorators = {_last(d) for d in member.node.decorator_list}
            bound = member if "staticmethod" in decorators else replace(member, binding=value_of(ref))
            if decorators & {"property", "cached_property"}:
                return self._walk.call(value_of(bound), Given(), node, f"{member.name}")
            refs.add(bound)
        return replace(found, refs=frozenset(refs))

    def make_object(self, ref: ClassRef, given: Given, node: ast.expr) -> Value:
        """Call a class."""
        names = [a.name if isinstance(a, External) else "" for a in ref.ancestors()]
        if any(name in _RECORDS for name in names):
            return container_of(given.all, fields=tuple(given.names.items()))
        instance = InstanceRef(ref, lasting=not self._context.checking)
        if any(_is_dataclass(a) for a in ref.ancestors()) or "pydantic.BaseModel" in names:
            fields = [
                s.target.id for s in ref.node.body if isinstance(s, ast.AnnAssign) and isinstance(s.target, ast.Name)
            ]
            instance.names.update(zip(fields, given.args, strict=False))
            instance.names.update(given.names)
        start = self.member_of(instance, "__init__", node)
        if any(isinstance(r, FunctionRef) for r in start.refs):
            self._walk.call(start, given, node, f"{ref.node.name}()")
        if any(name in _ENUMS | _TEXT_ENUMS for name in names):
            return taint(given.all)
        kind = Message("an object of class {name}", name=ref.node.name)
        return replace(taint(given.all), refs=frozenset({instance}), kinds=frozenset({kind}))


def given_by(source: Source) -> Message:
    """Return what something gives that differs, as a loop goes over it."""
    return Message("what {source} gives this time", source=source.described())


def join_names(all_names: Sequence[dict[str, Value]]) -> dict[str, Value]:
    """Return what names stand for where several ways meet."""
    if len(all_names) == 1:
        return all_names[0]
    made = dict(all_names[0])
    for names in all_names[1:]:
        for name, value in names.items():
            held = made.get(name)
            if held is not value:  # most names stand for the same on every way
                made[name] = value if held is None else join((held, value))
    return made


def _always(value: Value) -> Callable[[], Value]:
    return lambda: value


def _constant(found: object) -> Value:
    if isinstance(found, str):
        return Value(text=found if len(found) <= _LONGEST_TEXT else None)
    if isinstance(found, bytes):
        return Value(kinds=frozenset({BYTES}))
    if isinstance(found, complex):
        return Value(kinds=frozenset({Message("a complex number")}))
    if found is Ellipsis:
        return Value(kinds=frozenset({Message("an ellipsis")}))
    return UNKNOWN


def _plain(item: Value) -> Value:
    """Return an element with what its being a function or class means for JSON."""
    if any(isinstance(ref, FunctionRef) for ref in item.refs):
        return replace(item, kinds=item.kinds | {A_FUNCTION})
    if any(isinstance(ref, ClassRef) for ref in item.refs):
        return replace(item, kinds=item.kinds | {A_CLASS})
    return item


def _combined(left: Value, right: Value) -> Value:
    made = replace(taint([left, right]), raw=left.raw or right.raw, unordered=left.unordered or right.unordered)
    for side in (left, right):
        name = external_name(side)
        if name and kind_of(name) in _KEEPING_KINDS:
            return replace(made, refs=frozenset({External(name)}), kinds=side.kinds)
    if left.items is not None and right.items is not None:
        made = replace(made, items=(*left.items, *right.items)[:MOST_ITEMS])
    if left.fields is not None and right.fields is not None:
        made = replace(made, fields=(*left.fields, *right.fields))
    if left.text is not None and not left.text.endswith(UNTOLD) and len(left.text) < _LONGEST_TEXT:
        made = replace(made, text=left.text + (right.text if right.text is not None else UNTOLD))
    kinds = (left.kinds | right.kinds) & {A_SET, BYTES}
    return replace(made, kinds=kinds, inside=left.inside | right.inside)


def _brief(node: ast.expr) -> str:
    """Return the source of a short expression; of a long one its end."""
    parts: list[str] = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    if isinstance(node, ast.Name):
        parts.append(node.id)
    elif isinstance(node, ast.Call):
        parts.append(f"{_brief(node.func)}()")
    elif isinstance(node, ast.Subscript):
        parts.append(f"{_brief(node.value)}[…]")
    elif isinstance(node, ast.Lambda):
        parts.append("lambda")
    return ".".join(reversed(parts[:4] if len(parts) > 4 else parts))[-80:]


def _is_target(name: str, node: ast.ListComp | ast.SetComp | ast.GeneratorExp | ast.DictComp) -> bool:
    targets = (part.target for part in node.generators)
    return any(isinstance(found, ast.Name) and found.id == name for t in targets for found in ast.walk(t))


def _of_class(ref: ClassRef, name: str) -> Value:
    for ancestor in ref.ancestors():
        if isinstance(ancestor, ClassRef) and name in ancestor.names:
            found = ancestor.names[name]
            bases = {a.name for a in ref.ancestors() if isinstance(a, External)}
            if bases & _ENUMS and not bases & _TEXT_ENUMS and not found.refs:
                return Value(kinds=frozenset({Message("a member of {name}", name=ref.node.name)}))
            return found
    return value_of(External(f"?{ref.node.name}.{name}"))


def _is_dataclass(ref: ClassRef | External) -> bool:
    return isinstance(ref, ClassRef) and any(
        _last(d) in ("dataclass", "define", "frozen", "attrs", "s") for d in ref.node.decorator_list
    )


def _last(node: ast.expr) -> str:
    while isinstance(node, ast.Call):
        node = node.func
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""
