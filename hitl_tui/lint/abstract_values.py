"""What an expression may stand for, as far as the syntax tells: abstract values, immutable, and what they refer to."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final

from hitl_tui.core.messages import Message
from hitl_tui.core.safe_text import one_line
from hitl_tui.lint.findings import Place

MOST_ITEMS: Final = 40
MOST_REFS: Final = 6
DEEPEST_VALUE: Final = 6

A_SET: Final = Message("a set")
A_GENERATOR: Final = Message("a generator")
A_FUNCTION: Final = Message("a function")
A_CLASS: Final = Message("a class")

UNTOLD: Final = "…"
"""Stands in a text for what isn't written out."""


@dataclass(frozen=True, slots=True)
class Source:
    """Why a value may be another one when its node runs again.

    Args:
        kind: `random`, `clock`, `model`, `outside` or `module`.
        what: the call or name, such as `uuid.uuid4`.
        place: where it stands.
    """

    kind: str
    what: str
    place: Place

    def described(self) -> Message:
        """Return what makes a value differ, and where."""
        name, line = brief_name(self.what), self.place.line
        if self.kind == "module":
            return Message("{name} (changed as the code runs) in line {line}", name=name, line=line)
        return Message("{name} in line {line}", name=name, line=line)


@dataclass(frozen=True, slots=True)
class Value:
    """What is known of a value; the default says nothing.

    Args:
        refs: what it may be: functions, classes, graphs, names of other packages.
        kinds: what it may be that JSON has no form for, such as `A_SET`.
        inside: the same, of something it contains.
        sources: why it may differ when worked out again.
        unordered: why its order isn't fixed; None for a fixed one.
        from_state: it comes from the state that the node was given.
        answer: it comes from a person's answer.
        raw: it is an answer as it came, or text made with one.
        items: elements in order, where they are written out.
        fields: values by key, of a mapping that is written out.
        text: the string, of one that is written out; or its beginning and `UNTOLD`.
        depth: how many levels of elements are known.
    """

    refs: frozenset[Ref] = frozenset()
    kinds: frozenset[Message] = frozenset()
    inside: frozenset[Message] = frozenset()
    sources: frozenset[Source] = frozenset()
    unordered: Message | None = None
    from_state: bool = False
    answer: bool = False
    raw: bool = False
    items: tuple[Value, ...] | None = None
    fields: tuple[tuple[str, Value], ...] | None = None
    text: str | None = None
    depth: int = 0

    def __post_init__(self) -> None:
        """Forget what lies too deep: hashing and comparing go as deep as values do."""
        if self.items or self.fields:
            items = None if self.items is None else tuple(map(_shallow, self.items))
            fields = None if self.fields is None else tuple((name, _shallow(value)) for name, value in self.fields)
            parts = [*(items or ()), *(value for _, value in fields or ())]
            object.__setattr__(self, "items", items)
            object.__setattr__(self, "fields", fields)
            object.__setattr__(self, "depth", 1 + max(part.depth for part in parts))

    @property
    def not_json(self) -> frozenset[Message]:
        """Everything about it that JSON has no form for."""
        return self.kinds | self.inside


def _shallow(value: Value) -> Value:
    return value if value.depth < DEEPEST_VALUE else replace(value, items=None, fields=None, depth=0)


UNKNOWN: Final = Value()
STATE: Final = Value(from_state=True)


@dataclass(eq=False)
class Module:
    """A file of source, parsed.

    Args:
        name: dotted; empty when it isn't known.
        path: where it is.
        shown: how its path is told to people.
        tree: its syntax.
        declared: lines that are declared idempotent.
        scope: its names, once it was walked.
        mutated: names of it that functions in it change.
    """

    name: str
    path: Path
    shown: str
    tree: ast.Module
    declared: frozenset[int]
    scope: Scope | None = None
    mutated: frozenset[str] = field(default=frozenset())

    def place(self, node: ast.AST) -> Place:
        """Return where a node of its tree stands."""
        return Place(self.shown, getattr(node, "lineno", 1), getattr(node, "col_offset", 0) + 1)


class Scope:
    """Names and what they stand for, while a function or module is walked.

    Args:
        parent: where other names are looked up; None for a module.
        module: whose source this is.
        lasting: it outlives a run of a node, so that changing what is in it is an effect.
    """

    def __init__(self, parent: Scope | None, module: Module, *, lasting: bool) -> None:
        self.parent = parent
        self.module = module
        self.lasting = lasting
        self.names: dict[str, Value] = {}
        self.outer: set[str] = set()

    def holder(self, name: str) -> Scope | None:
        """Return the scope that has a name."""
        scope: Scope | None = self
        while scope is not None:
            if name in scope.names and (scope is not self or name not in self.outer):
                return scope
            scope = scope.parent
        return None


@dataclass(frozen=True, slots=True, eq=False)
class FunctionRef:
    """A function or lambda, with where it was made.

    Args:
        node: its definition.
        scope: where its free names are looked up.
        name: for people.
        binding: what its first parameter is bound to, of a method; None for none.
        fixed: arguments given already (functools.partial).
        fixed_names: the same, by name.
        retried: it is called again after any error.
    """

    node: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda
    scope: Scope
    name: str
    binding: Value | None = None
    fixed: tuple[Value, ...] = ()
    fixed_names: tuple[tuple[str, Value], ...] = ()
    retried: bool = False


@dataclass(frozen=True, slots=True)
class External:
    """A name of a package that isn't read, as in `httpx.post`; `()` stands for what a call returns.

    A leading `?` marks a name of which only the spelling is known.
    """

    name: str


@dataclass(frozen=True, slots=True, eq=False)
class ClassRef:
    """A class of the source that is read."""

    node: ast.ClassDef
    scope: Scope
    bases: tuple[Value, ...]
    names: dict[str, Value]

    def ancestors(self) -> Iterable[ClassRef | External]:
        """Walk what it derives from, itself first, nearest first."""
        todo: list[ClassRef | External] = [self]
        seen: set[int] = set()
        while todo:
            now = todo.pop(0)
            if id(now) in seen:
                continue
            seen.add(id(now))
            yield now
            if isinstance(now, ClassRef):
                todo += [ref for base in now.bases for ref in base.refs if isinstance(ref, ClassRef | External)]


@dataclass(frozen=True, slots=True, eq=False)
class InstanceRef:
    """An object of such a class.

    Args:
        type: its class.
        lasting: it outlives a run of a node.
        names: its attributes, as they become known.
    """

    type: ClassRef
    lasting: bool
    names: dict[str, Value] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ModuleRef:
    """A module that is read as well."""

    module: Module


@dataclass(frozen=True, slots=True)
class ToolRef:
    """A tool around a function."""

    function: Value
    name: str


@dataclass(frozen=True, slots=True)
class TaskRef:
    """A `@task` around a function: its result is kept once it is there."""

    function: Value
    name: str


@dataclass(frozen=True, slots=True, eq=False)
class ToolNodeRef:
    """A node that runs tools."""

    tools: tuple[Value, ...]
    place: Place


@dataclass(frozen=True, slots=True)
class MethodRef:
    """A method of something that this check knows by itself: a graph, a list, a tool."""

    owner: Ref
    name: str


@dataclass(slots=True, eq=False)
class GraphRef:
    """A graph while and after it is built.

    Args:
        kind: `graph`, `agent` (tool calls apart from each other) or `entrypoint`.
        place: where it begins.
        nodes: values by name, in the order they were added.
        entries: names of the nodes that it begins with.
        routers: functions that choose where to go on, by the name of the node before.
        compiled: for every time it is compiled, its place and whether it keeps nothing.
        stops: static breakpoints were asked for, or a middleware asks.
        asked: names of the tools whose calls a middleware asks about before they run; `*` for all.
        name: the variable it is bound to, for people.
    """

    kind: str
    place: Place
    nodes: dict[str, Value] = field(default_factory=dict)
    entries: list[str] = field(default_factory=list)
    routers: list[tuple[str, Value]] = field(default_factory=list)
    compiled: list[tuple[Place, bool]] = field(default_factory=list)
    stops: bool = False
    asked: frozenset[str] = frozenset()
    name: str = ""


Ref = (
    FunctionRef | External | ClassRef | InstanceRef | ModuleRef | ToolRef | TaskRef | ToolNodeRef | MethodRef | GraphRef
)


@dataclass(frozen=True, slots=True)
class Given:
    """The arguments of a call.

    Args:
        args: by position.
        names: by name.
        open: there are more, of which nothing is known (`*args`, `**kwargs`).
    """

    args: tuple[Value, ...] = ()
    names: Mapping[str, Value] = field(default_factory=dict)
    open: bool = False

    def get(self, place: int, *names: str) -> Value | None:
        """Return an argument by position or else by one of its names."""
        if 0 <= place < len(self.args):
            return self.args[place]
        return next((self.names[name] for name in names if name in self.names), None)

    @property
    def all(self) -> list[Value]:
        """Return every argument."""
        return [*self.args, *self.names.values()]


def value_of(*refs: Ref) -> Value:
    """Return a value that is one of these."""
    return Value(refs=frozenset(refs))


def external_name(value: Value) -> str:
    """Return the dotted name that a value stands for; empty for none."""
    if len(value.refs) == 1:
        (ref,) = value.refs
        return ref.name if isinstance(ref, External) else ""
    return min((ref.name for ref in value.refs if isinstance(ref, External)), default="")


def name_of(ref: Ref) -> str:
    """Return what people call something that runs as a node or tool."""
    match ref:
        case ToolRef(name=name) | TaskRef(name=name) | FunctionRef(name=name) | GraphRef(name=name):
            return name
        case InstanceRef(type=made):
            return made.node.name
        case External(name=name):
            return name.removeprefix("?")
        case _:
            return "?"


def brief_name(name: str) -> str:
    """Return a dotted name of a call as people would say it: `httpx.Client.post`, `sqlite3…execute`."""
    parts = name.replace("()", "").replace("[]", "").split(".")
    brief = ".".join(parts) if len(parts) <= 3 else f"{parts[0]}…{parts[-1]}"
    return one_line(brief, 60)


def sorted_refs(refs: Iterable[Ref]) -> list[Ref]:
    """Return them in an order that is the same in every process."""
    return sorted(refs, key=_order)


def _order(ref: Ref) -> tuple[str, str, int]:
    match ref:
        case External(name=name) | ToolRef(name=name) | TaskRef(name=name) | MethodRef(name=name):
            return type(ref).__name__, name, 0
        case FunctionRef(node=node, name=name):
            return "FunctionRef", name, node.lineno
        case ClassRef(node=node) | InstanceRef(type=ClassRef(node=node)):
            return type(ref).__name__, node.name, node.lineno
        case GraphRef(place=place) | ToolNodeRef(place=place):
            return type(ref).__name__, place.file, place.line
        case _:
            return type(ref).__name__, "", 0


def join(values: Iterable[Value]) -> Value:
    """Return what is known of a value that is one of several."""
    given = list(dict.fromkeys(values))
    if len(given) == 1:
        return given[0]
    if not given:
        return UNKNOWN
    first = given[0]
    refs = frozenset().union(*(value.refs for value in given))
    return replace(
        taint(given),
        refs=refs if len(refs) <= MOST_REFS else frozenset(sorted_refs(refs)[:MOST_REFS]),
        kinds=frozenset().union(*(value.kinds for value in given)),
        inside=frozenset().union(*(value.inside for value in given)),
        unordered=next((value.unordered for value in given if value.unordered), None),
        raw=any(value.raw for value in given),
        items=next((value.items for value in given if value.items), first.items),
        fields=next((value.fields for value in given if value.fields), first.fields),
    )


def taint(values: Iterable[Value]) -> Value:
    """Return a value that is made from others: where it comes from, and nothing of what it is."""
    given = list(values)
    sources = [value.sources for value in given if value.sources]
    return Value(
        sources=frozenset().union(*sources) if sources else frozenset(),
        from_state=any(value.from_state for value in given),
        answer=any(value.answer for value in given),
    )


def element(value: Value) -> Value:
    """Return what an element of a value is."""
    if value.items:
        return replace(join(value.items), unordered=None)
    if value.fields:
        return replace(join(found for _, found in value.fields), unordered=None)
    base = taint([value])
    return replace(base, kinds=value.inside, inside=value.inside, raw=value.raw)


def container_of(
    values: Iterable[Value],
    *,
    items: tuple[Value, ...] | None = None,
    fields: tuple[tuple[str, Value], ...] | None = None,
) -> Value:
    """Return a container of these, with elements or fields where they are written out."""
    given = list(values)
    parts = [value.kinds | value.inside for value in given if value.kinds or value.inside]
    inside = frozenset().union(*parts) if parts else frozenset()
    return replace(taint(given), inside=inside, items=items, fields=fields)
