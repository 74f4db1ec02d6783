"""The check of a target: its graphs, each of their nodes, and the rules about graphs as a whole (I6)."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from hitl_tui.core.errors import BadInput
from hitl_tui.core.messages import Message
from hitl_tui.core.safe_text import one_line
from hitl_tui.lint.abstract_values import (
    STATE,
    UNKNOWN,
    ClassRef,
    External,
    FunctionRef,
    Given,
    GraphRef,
    InstanceRef,
    Module,
    Ref,
    TaskRef,
    ToolNodeRef,
    ToolRef,
    Value,
    in_order,
    of,
)
from hitl_tui.lint.evaluation_context import Frame
from hitl_tui.lint.evaluator import Walker
from hitl_tui.lint.findings import NodeRow, Place, Position, Report
from hitl_tui.lint.flow_state import Done
from hitl_tui.lint.source_modules import Sources, Target, find_target

_DEEP_ENOUGH: Final = 12_000
_BUILDERS: Final = frozenset(
    ["StateGraph", "MessageGraph", "create_agent", "create_react_agent", "create_deep_agent", "ToolNode", "entrypoint"]
)
_TALK: Final = frozenset(["messages", "history", "conversation", "chat_history", "discussion", "transcript"])


def lint(text: str, folder: Path, search: Sequence[str] = ()) -> Report:
    """Check the graphs of a module or file by its syntax; nothing of it is imported or run (I6).

    Args:
        text: `module:attribute`, `module`, `path.py:attribute` or `path.py`.
        folder: the current folder; paths below it are told relative to it.
        search: more folders in which modules are looked for.

    Raises:
        BadInput: there is no such file, module or attribute, or the file can't be read as Python.
    """
    target = find_target(text, folder, search)
    sources = Sources(target, folder)
    try:
        with _deeper():
            return _Check(text, target, sources).run()
    except RecursionError as error:
        raise BadInput(f"{sources.first.shown}: this is nested too deeply to be checked.") from error


@contextmanager
def _deeper() -> Iterator[None]:
    """Let the walk go as deep as long chains of elif and nested calls do."""
    was = sys.getrecursionlimit()
    sys.setrecursionlimit(max(was, _DEEP_ENOUGH))
    try:
        yield
    finally:
        sys.setrecursionlimit(was)


class _Check:
    def __init__(self, text: str, target: Target, sources: Sources) -> None:
        self._text = text
        self._target = target
        self._sources = sources
        self._walker = Walker(sources)
        self._rows: list[NodeRow] = []
        self._done: set[tuple[Place, tuple[str, ...]]] = set()

    def run(self) -> Report:
        """Walk everything; return what was found."""
        module = self._sources.first
        self._walker.module_scope(module)
        self._build(module)
        wanted = self._wanted(module)
        self._walker.checking = True
        for graph in wanted:
            self._graph(graph)
        if not self._target.attribute or not wanted:
            self._alone(module)
        notes = list(self._sources.notes)
        if self._walker.exhausted:
            notes.append(Message("The module is so large that not every call was followed."))
        findings = sorted(self._walker.found.values(), key=lambda f: (f.place, f.rule.id))
        files = tuple(found.shown for found in self._sources.modules)
        return Report(self._text, module.shown, tuple(findings), tuple(self._rows), files, tuple(notes))

    # Which graphs

    def _build(self, module: Module) -> None:
        """Call what builds graphs and hasn't been called."""
        walker = self._walker
        scope = walker.module_scope(module)
        with walker.within(Frame(scope, "")):
            for ref in list(walker.uncalled(module)):
                if _builds(ref.node):
                    walker.follow(ref, Given(open=True))
            for value in list(scope.names.values()):
                for cls in value.refs:
                    if isinstance(cls, ClassRef) and cls.scope is scope:
                        self._build_methods(cls)

    def _build_methods(self, cls: ClassRef) -> None:
        for name, value in cls.names.items():
            for ref in value.refs:
                if isinstance(ref, FunctionRef) and ref.node not in self._walker.reached and _builds(ref.node):
                    owner = InstanceRef(cls, lasting=True)
                    if name != "__init__":
                        self._walker.call(Value(refs=frozenset({cls})), Given(open=True), _nowhere(cls.node), name)
                    bound = FunctionRef(ref.node, ref.scope, ref.name, binding=of(owner))
                    self._walker.follow(bound, Given(open=True))

    def _wanted(self, module: Module) -> list[GraphRef]:
        graphs = self._walker.graphs
        attribute = self._target.attribute.partition(".")[0]
        if not attribute:
            return [graph for graph in graphs if graph.place.file == module.shown] or graphs
        scope = self._walker.module_scope(module)
        if attribute not in scope.names:
            if "*" in scope.names or "__getattr__" in scope.names:
                return graphs
            raise _missing(module, attribute, scope.names)
        found = self._graphs_of(scope.names[attribute])
        return found or [graph for graph in graphs if graph.place.file == module.shown]

    def _graphs_of(self, value: Value) -> list[GraphRef]:
        found: list[GraphRef] = []
        for ref in value.refs:
            if isinstance(ref, GraphRef):
                found.append(ref)
            elif isinstance(ref, FunctionRef) and not self._walker.checking:
                with self._walker.within(Frame(ref.scope, "")):
                    made = self._walker.follow(ref, Given(open=True)).value
                found += [inner for inner in made.refs if isinstance(inner, GraphRef)]
        return found

    # Nodes

    def _graph(self, graph: GraphRef) -> None:
        key = (graph.place, tuple(graph.nodes))
        if key in self._done:  # a function that builds graphs may be called several times
            return
        self._done.add(key)
        for name, value in list(graph.nodes.items()):
            for ref in in_order(value.refs):
                self._node(graph, name, ref)
        for start in [source for source, _ in graph.routers if source not in graph.nodes]:
            self._node(graph, start, None)
        self._as_a_whole(graph)

    def _node(self, graph: GraphRef, name: str, ref: Ref | None) -> None:
        match ref:
            case GraphRef():
                self._nested(ref)
                self._rows.append(NodeRow(graph.name, name, self._walker.may_ask(ref), None, Position.NONE))
                self._graph(ref)
            case ToolNodeRef():
                for tool in ref.tools:
                    for inner in tool.refs:
                        self._node(graph, f"{name}/{_name(inner)}", inner)
                self._together(ref)
            case External():
                self._rows.append(NodeRow(graph.name, name, False, None, Position.NONE))
            case _:
                frame = self._run_node(graph, name, ref)
                if frame is not None:
                    self._rows += _rows(graph.name, name, frame)

    def _run_node(self, graph: GraphRef, name: str, ref: Ref | None) -> Frame | None:
        """Walk a node and what chooses where to go on from it: one task, which runs again as a whole."""
        walker = self._walker
        function = self._function(ref)
        routers = [inner for source, path in graph.routers if source == name for inner in path.refs]
        scope = walker.module_scope(self._sources.first)
        with walker.within(Frame(scope, name)) as frame:
            for step in [function, *(r for r in routers if isinstance(r, FunctionRef))]:
                if step is None:
                    continue
                given = (
                    Given(open=True) if isinstance(ref, ToolRef) and step is function else Given((STATE,), open=True)
                )
                summary = walker.follow(step, given)
                frame.scope = step.scope
                walker.happened(summary, step.node, f"{step.name}()")
        return frame

    def _function(self, ref: Ref | None) -> FunctionRef | None:
        match ref:
            case FunctionRef():
                return ref
            case ToolRef(function=value) | TaskRef(function=value):
                return next((r for r in value.refs if isinstance(r, FunctionRef)), None)
            case InstanceRef():
                for name in ("__call__", "invoke", "ainvoke", "_run", "_arun", "run"):
                    for ancestor in ref.type.ancestors():
                        if isinstance(ancestor, ClassRef) and name in ancestor.names:
                            made = next((r for r in ancestor.names[name].refs if isinstance(r, FunctionRef)), None)
                            if made is not None:
                                return FunctionRef(made.node, made.scope, made.name, binding=of(ref))
        return None

    def _alone(self, module: Module) -> None:
        """Check functions that ask and that no graph was found to use."""
        scope = self._walker.module_scope(module)
        named = [ref for value in list(scope.names.values()) for ref in value.refs]
        for ref in [*named, *self._walker.defined]:
            function = self._function(ref) if isinstance(ref, FunctionRef | ToolRef | TaskRef) else None
            if function is None or function.scope.module is not module or function.node in self._walker.checked:
                continue
            if self._asks_itself(function):
                frame = self._run_node(GraphRef("graph", module.place(function.node)), function.name, ref)
                if frame is not None:
                    self._rows += _rows("", function.name, frame)

    def _asks_itself(self, function: FunctionRef) -> bool:
        """Whether a function asks, and doesn't only run a graph that does: that is done from outside of any node."""
        walker = self._walker
        known = dict(walker.found)
        if any(not site.nested for site in walker.summary_of(function).sites):
            return True
        lines = range(function.node.lineno, (function.node.end_lineno or function.node.lineno) + 1)
        file = function.scope.module.shown
        walker.found = {
            key: finding
            for key, finding in walker.found.items()
            if key in known or finding.place.file != file or finding.place.line not in lines
        }
        return False

    # Rules about a whole graph

    def _as_a_whole(self, graph: GraphRef) -> None:
        if not self._walker.may_ask(graph):
            return
        for place, off in graph.compiled:
            if off:
                name = graph.name or Message("This graph")
                self._walker.report("HT011", place, Message("{graph} asks, and is told to keep nothing.", graph=name))

    def _together(self, node: ToolNodeRef) -> None:
        tools = [(_name(ref), ref) for tool in node.tools for ref in tool.refs]
        asking = [name for name, ref in tools if self._walker.may_ask(ref)]
        if len(asking) > 1:
            said = Message("{tools} ask, and stand in one ToolNode.", tools=_listed(asking))
            self._walker.report("HT008", node.place, said)
        elif asking:
            acting = [name for name, ref in tools if name not in asking and self._acts(ref)]
            if acting:
                tool, others = asking[0], _listed(acting)
                one = Message("{tool} asks, and {others} acts in the same ToolNode.", tool=tool, others=others)
                many = Message("{tool} asks, and {others} act in the same ToolNode.", tool=tool, others=others)
                said = one if len(acting) == 1 else many
                self._walker.report("HT008", node.place, said)

    def _acts(self, ref: Ref) -> bool:
        return any(not done.effect.idempotent for done in self._walker.summary_of(ref).done)

    def _nested(self, graph: GraphRef) -> None:
        if not self._walker.may_ask(graph):
            return
        for name in graph.entries:
            for ref in graph.nodes.get(name, UNKNOWN).refs:
                function = self._function(ref)
                for place in _resets(function) if function is not None else ():
                    said = Message("{node}(), where the subgraph begins, clears what was said.", node=name)
                    self._walker.report("HT010", place, said)


def _rows(graph: str, node: str, frame: Frame) -> list[NodeRow]:
    asks, rules = bool(frame.sites), tuple(sorted(frame.rules))
    if not frame.done:
        return [NodeRow(graph, node, asks, None, Position.NONE, rules)]
    done = sorted(frame.done.values(), key=lambda d: d.effect.place)
    return [NodeRow(graph, node, asks, each.effect, _position(each, asks=asks), rules) for each in done]


def _position(done: Done, *, asks: bool) -> Position:
    if done.before and done.after:
        return Position.AROUND
    if done.before:
        return Position.BEFORE
    return Position.AFTER if asks else Position.NONE


def _resets(function: FunctionRef) -> Iterable[Place]:
    """Return where a function clears messages."""
    module = function.scope.module
    for node in ast.walk(function.node):
        match node:
            case ast.Call(func=ast.Name(id="RemoveMessage") | ast.Attribute(attr="RemoveMessage")) if _removes_all(
                node
            ):
                yield module.place(node)
            case ast.Dict(keys=keys, values=values):
                for key, value in zip(keys, values, strict=True):
                    empty = isinstance(value, ast.List) and not value.elts
                    if isinstance(key, ast.Constant) and key.value in _TALK and empty:
                        yield module.place(value)


def _removes_all(node: ast.Call) -> bool:
    given = [*node.args, *(word.value for word in node.keywords if word.arg == "id")]
    names = {getattr(a, "id", getattr(a, "attr", getattr(a, "value", ""))) for a in given}
    return bool(names & {"REMOVE_ALL_MESSAGES", "__remove_all__"})


def _builds(node: ast.AST) -> bool:
    """Whether a function makes a graph, or a function that may be a node or tool of one."""
    for part in ast.walk(node):
        if part is not node and isinstance(part, ast.FunctionDef | ast.AsyncFunctionDef):
            return True  # it makes a function, which may ask
        if (isinstance(part, ast.Name) and part.id in _BUILDERS) or (
            isinstance(part, ast.Attribute) and part.attr in _BUILDERS
        ):
            return True
    return False


def _name(ref: Ref) -> str:
    match ref:
        case ToolRef(name=name) | TaskRef(name=name) | FunctionRef(name=name) | GraphRef(name=name):
            return name
        case InstanceRef(type=made):
            return made.node.name
        case External(name=name):
            return name.removeprefix("?")
        case _:
            return "?"


def _listed(names: Sequence[str]) -> str | Message:
    if len(names) == 1:
        return names[0]
    return Message("{names} and {last}", names=", ".join(names[:-1]), last=names[-1])


def _nowhere(node: ast.AST) -> ast.expr:
    return ast.copy_location(ast.Constant(None), node)


def _missing(module: Module, attribute: str, names: dict[str, Value]) -> BadInput:
    graphs = [name for name, value in names.items() if any(isinstance(r, GraphRef) for r in value.refs)]
    name, there = one_line(attribute, 80), one_line(", ".join(graphs[:6]), 300)
    if not graphs:
        return BadInput(f'{module.shown} has no "{name}"; it has no graph at its top level.')
    return BadInput(f'{module.shown} has no "{name}"; its graphs are {there}.')
