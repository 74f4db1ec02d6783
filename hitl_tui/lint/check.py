"""The check of a target: its graphs and each of their nodes."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from hitl_tui.core.errors import BadInput
from hitl_tui.core.messages import Message
from hitl_tui.core.safe_text import one_line
from hitl_tui.lint.abstract_values import (
    STATE,
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
    name_of,
    sorted_refs,
    value_of,
)
from hitl_tui.lint.evaluation_context import Frame
from hitl_tui.lint.evaluator import Evaluator
from hitl_tui.lint.findings import NodeRow, Place, Position, Report
from hitl_tui.lint.flow_state import Done
from hitl_tui.lint.observations import GraphBuilt, SubgraphAdded, ToolNodeAdded
from hitl_tui.lint.rules import RULES
from hitl_tui.lint.source_modules import Sources, Target, find_target

_DEEP_ENOUGH: Final = 12_000
_BUILDERS: Final = frozenset(
    ["StateGraph", "MessageGraph", "create_agent", "create_react_agent", "create_deep_agent", "ToolNode", "entrypoint"]
)


def lint(text: str, folder: Path, search: Sequence[str] = ()) -> Report:
    """Check the graphs of a module or file by its syntax; nothing of it is imported or run.

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
        raise BadInput(Message("{}: this is nested too deeply to be checked.", sources.first.shown)) from error


@contextmanager
def _deeper() -> Iterator[None]:
    """Let the walk go as deep as long chains of elif and nested calls do."""
    was = sys.getrecursionlimit()
    sys.setrecursionlimit(max(was, _DEEP_ENOUGH))
    try:
        yield
    finally:
        sys.setrecursionlimit(was)


_TOOL = "tool "
"""What the names of an agent's tools begin with in the table."""


class _Check:
    def __init__(self, text: str, target: Target, sources: Sources) -> None:
        self._text = text
        self._target = target
        self._sources = sources
        self._evaluator = Evaluator(sources, RULES.values())
        self._context = self._evaluator.context
        self._graphs = self._evaluator.graphs
        self._rows: list[NodeRow] = []
        self._done: set[tuple[Place, tuple[str, ...]]] = set()

    def run(self) -> Report:
        """Walk everything; return what was found."""
        module = self._sources.first
        self._evaluator.module_scope(module)
        self._build_graphs(module)
        wanted = self._wanted_graphs(module)
        self._context.checking = True
        for graph in wanted:
            self._check_graph(graph)
        if not self._target.attribute or not wanted:
            self._check_lone_functions(module)
        notes = list(self._sources.notes)
        if self._context.exhausted:
            notes.append(Message("The module is so large that not every call was followed."))
        findings = sorted(self._context.found.values(), key=lambda f: (f.place, f.rule.id))
        files = tuple(found.shown for found in self._sources.modules)
        return Report(self._text, module.shown, tuple(findings), tuple(self._rows), files, tuple(notes))

    # Which graphs

    def _build_graphs(self, module: Module) -> None:
        """Call what builds graphs and hasn't been called."""
        evaluator = self._evaluator
        scope = evaluator.module_scope(module)
        with self._context.within(Frame(scope, "")):
            for ref in list(evaluator.uncalled(module)):
                if _builds(ref.node):
                    evaluator.follow(ref, Given(open=True))
            for value in list(scope.names.values()):
                for cls in value.refs:
                    if isinstance(cls, ClassRef) and cls.scope is scope:
                        self._build_methods(cls)

    def _build_methods(self, cls: ClassRef) -> None:
        for name, value in cls.names.items():
            for ref in value.refs:
                if isinstance(ref, FunctionRef) and ref.node not in self._evaluator.reached and _builds(ref.node):
                    owner = InstanceRef(cls, lasting=True)
                    if name != "__init__":
                        self._evaluator.call(Value(refs=frozenset({cls})), Given(open=True), _nowhere(cls.node), name)
                    bound = FunctionRef(ref.node, ref.scope, ref.name, binding=value_of(owner))
                    self._evaluator.follow(bound, Given(open=True))

    def _wanted_graphs(self, module: Module) -> list[GraphRef]:
        graphs = self._graphs.built
        attribute = self._target.attribute.partition(".")[0]
        if not attribute:
            return [graph for graph in graphs if graph.place.file == module.shown] or graphs
        scope = self._evaluator.module_scope(module)
        if attribute not in scope.names:
            if "*" in scope.names or "__getattr__" in scope.names:
                return graphs
            raise _missing(module, attribute, scope.names)
        found = self._graphs_of(scope.names[attribute])
        if len(found) == 1:  # of several names that one builder has, the one that was asked for
            found[0].name = attribute
        return found or [graph for graph in graphs if graph.place.file == module.shown]

    def _graphs_of(self, value: Value) -> list[GraphRef]:
        found: list[GraphRef] = []
        for ref in value.refs:
            if isinstance(ref, GraphRef):
                found.append(ref)
            elif isinstance(ref, FunctionRef) and not self._context.checking:
                with self._context.within(Frame(ref.scope, "")):
                    made = self._evaluator.follow(ref, Given(open=True)).value
                found += [inner for inner in made.refs if isinstance(inner, GraphRef)]
        return found

    # Nodes

    def _check_graph(self, graph: GraphRef) -> None:
        key = (graph.place, tuple(graph.nodes))
        if key in self._done:  # a function that builds graphs may be called several times
            return
        self._done.add(key)
        for name, value in list(graph.nodes.items()):
            for ref in sorted_refs(value.refs):
                self._check_node(graph, name, ref)
        for start in [source for source, _ in graph.routers if source not in graph.nodes]:
            self._check_node(graph, start, None)
        self._context.observe(GraphBuilt(graph, self._graphs))

    def _check_node(self, graph: GraphRef, name: str, ref: Ref | None, *, beside: bool = False) -> None:
        """Check a node; `beside`: something else may ask in the same task."""
        match ref:
            case GraphRef():
                self._context.observe(SubgraphAdded(ref, self._graphs))
                self._rows.append(NodeRow(graph.name, name, self._graphs.may_ask(ref), None, Position.NONE))
                self._check_graph(ref)
            case ToolNodeRef():
                tools = [inner for tool in ref.tools for inner in tool.refs]
                asking = {inner for inner in tools if self._graphs.may_ask(inner)}
                for inner in tools:
                    self._check_node(graph, f"{name}/{name_of(inner)}", inner, beside=bool(asking - {inner}))
                self._context.observe(ToolNodeAdded(ref, self._graphs))
            case External():
                self._rows.append(NodeRow(graph.name, name, False, None, Position.NONE))
            case _:
                asked = name.startswith(_TOOL) and not graph.asked.isdisjoint({"*", name.removeprefix(_TOOL)})
                self._rows += _rows(graph.name, name, self._run_node(graph, name, ref), asked=asked, beside=beside)

    def _run_node(self, graph: GraphRef, name: str, ref: Ref | None) -> Frame:
        """Walk a node and what chooses where to go on from it: one task, which runs again as a whole."""
        function = self._graphs.function_of(ref)
        routers = [inner for source, path in graph.routers if source == name for inner in path.refs]
        scope = self._evaluator.module_scope(self._sources.first)
        with self._context.within(Frame(scope, name)) as frame:
            for step in [function, *routers]:
                if not isinstance(step, FunctionRef):
                    continue
                of_tool = isinstance(ref, ToolRef) and step is function
                summary = self._evaluator.follow(step, Given(() if of_tool else (STATE,), open=True))
                frame.scope = step.scope
                self._context.note_call(summary, step.node, f"{step.name}()")
        return frame

    def _check_lone_functions(self, module: Module) -> None:
        """Check functions that ask and that no graph was found to use."""
        scope = self._evaluator.module_scope(module)
        named = [ref for value in list(scope.names.values()) for ref in value.refs]
        for ref in [*named, *self._evaluator.functions]:
            if not isinstance(ref, FunctionRef | ToolRef | TaskRef):
                continue
            function = self._graphs.function_of(ref)
            if function is None or function.scope.module is not module or function.node in self._evaluator.checked:
                continue
            if self._asks_itself(function):
                alone = GraphRef("graph", module.place(function.node))
                self._rows += _rows("", function.name, self._run_node(alone, function.name, ref))

    def _asks_itself(self, function: FunctionRef) -> bool:
        """Whether a function asks, and doesn't only run a graph that does: that is done from outside of any node."""
        known = dict(self._context.found)
        if any(not site.nested for site in self._graphs.summary_of(function).sites):
            return True
        lines = range(function.node.lineno, (function.node.end_lineno or function.node.lineno) + 1)
        file = function.scope.module.shown
        self._context.found = {
            key: finding
            for key, finding in self._context.found.items()
            if key in known or finding.place.file != file or finding.place.line not in lines
        }
        return False


def _rows(graph: str, node: str, frame: Frame, *, asked: bool = False, beside: bool = False) -> list[NodeRow]:
    """Return the rows of a node.

    Args:
        graph, node: names.
        frame: what was seen in it.
        asked: a person is asked before it runs.
        beside: something else may ask in the same task.
    """
    asks, found = asked or bool(frame.sites), tuple(sorted(frame.findings, key=lambda f: (f.rule.id, f.place)))
    if not frame.done:
        return [NodeRow(graph, node, asks, None, Position.NONE, found)]
    done = sorted(frame.done.values(), key=lambda d: d.effect.place)
    return [NodeRow(graph, node, asks, each.effect, _position(each, asks=asks, beside=beside), found) for each in done]


def _position(done: Done, *, asks: bool, beside: bool) -> Position:
    if done.before and done.after:
        return Position.AROUND
    if done.before:
        return Position.BEFORE
    if beside:
        return Position.BESIDE
    return Position.AFTER if asks else Position.NONE


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


def _nowhere(node: ast.AST) -> ast.expr:
    return ast.copy_location(ast.Constant(None), node)


def _missing(module: Module, attribute: str, names: dict[str, Value]) -> BadInput:
    graphs = [name for name, value in names.items() if any(isinstance(r, GraphRef) for r in value.refs)]
    name, there = one_line(attribute, 80), one_line(", ".join(graphs[:6]), 300)
    if not graphs:
        return BadInput(Message('{} has no "{}"; it has no graph at its top level.', module.shown, name))
    return BadInput(Message('{} has no "{}"; its graphs are {}.', module.shown, name, there))
