"""Graphs: how they are built, and running one within a node of another."""

from __future__ import annotations

import ast
from dataclasses import replace
from typing import Final

from hitl_tui.lint.abstract_values import (
    STATE,
    UNKNOWN,
    ClassRef,
    External,
    FunctionRef,
    Given,
    GraphRef,
    InstanceRef,
    MethodRef,
    Ref,
    Source,
    TaskRef,
    ToolNodeRef,
    ToolRef,
    Value,
    external_name,
    taint,
    value_of,
)
from hitl_tui.lint.call_catalogue import is_langgraph, keyword_is, lets_questions_through, retries_any_error
from hitl_tui.lint.evaluation_context import EvaluationContext, Walk
from hitl_tui.lint.flow_state import Site, Summary
from hitl_tui.lint.observations import GraphRun

_RUNS: Final = frozenset(
    ["invoke", "ainvoke", "stream", "astream", "batch", "abatch", "astream_events", "stream_events", "astream_log"]
)
_AGENTS: Final = frozenset(
    ["create_agent", "create_react_agent", "create_deep_agent", "create_supervisor", "create_swarm"]
)
_SAME: Final = frozenset(
    ["with_config", "with_types", "copy", "configurable_fields", "bind", "with_retry", "with_listeners"]
)


class GraphModel:
    """The graphs of the source, built as it builds them.

    Args:
        context: of the walk.
        walk: calls and follows functions.
    """

    def __init__(self, context: EvaluationContext, walk: Walk) -> None:
        self.built: list[GraphRef] = []
        self._context = context
        self._walk = walk
        self._asking: dict[Ref, bool] = {}

    def construct(self, name: str, given: Given, node: ast.expr) -> Value | None:
        """Return what LangGraph or LangChain makes of a call; None when it isn't one of theirs that matters."""
        last = name.rpartition(".")[2]
        ours = name.startswith(("langgraph", "langchain", "deepagents"))
        if ours and last in ("StateGraph", "MessageGraph", "Graph"):
            return value_of(self._new_graph("graph", node))
        if ours and last in _AGENTS:
            return self._agent(last, given, node)
        if ours and last == "HumanInTheLoopMiddleware":
            asked = tuple((tool, UNKNOWN) for tool in sorted(_asked_tools(given.get(0, "interrupt_on"), node)))
            return Value(refs=frozenset({External(f"{name}()")}), fields=asked)
        if ours and last == "ToolNode":
            tools = given.get(0, "tools") or UNKNOWN
            return value_of(ToolNodeRef(tools.items or (tools,), self._context.place(node)))
        if ours and last in ("RunnableLambda", "RunnableCallable", "coerce_to_runnable") and given.args:
            return given.args[0]
        if ours and last in ("tool", "from_function", "Tool", "StructuredTool", "task", "entrypoint"):
            return self._wrapped(name, last, given, node)
        if retries_any_error(name, given):
            functions = [v for v in given.args if any(isinstance(r, FunctionRef) for r in v.refs)]
            return self.decorated(name, functions[0], node) if functions else value_of(External("retry()"))
        return value_of(External("narrow()")) if lets_questions_through(name, given) else None

    def _wrapped(self, name: str, last: str, given: Given, node: ast.expr) -> Value:
        function = given.get(0, "func", "coroutine") or given.get(-1, "func", "coroutine") or UNKNOWN
        if last == "Tool" or not any(isinstance(r, FunctionRef) for r in function.refs):
            function = given.get(-1, "func", "coroutine") or (given.args[1] if len(given.args) > 1 else UNKNOWN)
        if any(isinstance(r, FunctionRef) for r in function.refs):
            return self.decorated(name, function, node)
        off = last == "entrypoint" and keyword_is(node, "checkpointer", False)
        return value_of(External(f"{name}(off)" if off else f"{name}()"))

    def decorated(self, name: str, function: Value, node: ast.AST) -> Value:
        """Return what a decorator of another package makes of a function."""
        called = name.removesuffix("()").removesuffix("(off)")
        label = next((r.name for r in function.refs if isinstance(r, FunctionRef)), "")
        if is_langgraph(called, "tool") or called.rpartition(".")[2] in ("from_function", "Tool", "StructuredTool"):
            return value_of(ToolRef(function, label))
        if is_langgraph(called, "task"):
            return value_of(TaskRef(function, label))
        if is_langgraph(called, "entrypoint"):
            graph = GraphRef("entrypoint", self._context.place(node), name=label)
            graph.nodes[label] = function
            graph.compiled.append((self._context.place(node), name.endswith("(off)")))
            self.built.append(graph)
            return value_of(graph)
        if called == "retry" or retries_any_error(called, Given()):
            return Value(
                refs=frozenset(replace(r, retried=True) if isinstance(r, FunctionRef) else r for r in function.refs)
            )
        return function

    def _new_graph(self, kind: str, node: ast.expr) -> GraphRef:
        name = self._context.frame.name if len(self._context.frames) > 1 else ""
        graph = GraphRef(kind, self._context.place(node), name=name)
        self.built.append(graph)
        return graph

    def _agent(self, last: str, given: Given, node: ast.expr) -> Value:
        graph = self._new_graph("agent", node)
        tools = given.get(1, "tools") or UNKNOWN
        version = given.names.get("version")
        if last == "create_react_agent" and version is not None and version.text == "v1":
            graph.nodes["tools"] = value_of(ToolNodeRef(tools.items or (tools,), self._context.place(node)))
        else:
            self._tool_nodes(graph, tools)
        for middleware in _flat(given.names.get("middleware")):
            if external_name(middleware).rstrip("()").endswith("HumanInTheLoopMiddleware"):
                graph.stops = True
                graph.asked |= {tool for tool, _ in middleware.fields or ()}
        if (told := given.names.get("interrupt_on")) is not None:
            graph.asked |= _asked_tools(told, node)
        graph.compiled.append((self._context.place(node), keyword_is(node, "checkpointer", False)))
        graph.stops = graph.stops or bool({"interrupt_before", "interrupt_after", "interrupt_on"} & set(given.names))
        return value_of(graph)

    def _tool_nodes(self, graph: GraphRef, tools: Value) -> None:
        for tool in _flat(tools):
            for ref in tool.refs:
                match ref:
                    case ToolNodeRef(tools=inner):
                        for each in inner:
                            self._tool_nodes(graph, each)
                    case ToolRef(name=name) | FunctionRef(name=name):
                        graph.nodes.setdefault(f"tool {name}", value_of(ref))
                    case InstanceRef(type=made):
                        graph.nodes.setdefault(f"tool {made.node.name}", value_of(ref))

    # Methods

    def method(self, ref: MethodRef, given: Given, node: ast.expr, what: str) -> Value:
        """Call a method of a graph, tool or task."""
        owner, name = ref.owner, ref.name
        if isinstance(owner, GraphRef):
            return self._of_graph(owner, name, given, node, what)
        if isinstance(owner, ToolNodeRef):
            return self.run_graph(owner, node, what) if name in _RUNS else value_of(owner)
        if isinstance(owner, ToolRef) and (name in _RUNS or name in ("run", "arun", "func", "coroutine")):
            return self._walk.call(owner.function, Given(open=True), node, what)
        if isinstance(owner, TaskRef) and name in _RUNS:
            return self._walk.call(value_of(owner), given, node, what)
        if isinstance(owner, FunctionRef):  # a runnable around it
            if name in ("with_retry", "with_fallbacks"):
                return value_of(replace(owner, retried=True))
            if name in _RUNS:
                return self._walk.call(value_of(owner), given, node, what)
            return value_of(owner) if name in _SAME else UNKNOWN
        return taint(given.all)

    def _of_graph(self, graph: GraphRef, name: str, given: Given, node: ast.expr, what: str) -> Value:
        match name:
            case "add_node":
                self._add_node(graph, given)
            case "add_sequence":
                self._add_sequence(graph, given.get(0, "nodes") or UNKNOWN)
            case "add_edge":
                start, end = given.get(0, "start_key", "start"), given.get(1, "end_key", "end")
                self._edge(graph, start, end)
            case "set_entry_point":
                self._edge(graph, Value(text="__start__"), given.get(0, "key"))
            case "add_conditional_edges" | "set_conditional_entry_point":
                self._router(graph, given, first=name.startswith("set"))
            case "compile":
                return self._compile(graph, given, node)
            case "final" | "task":
                return UNKNOWN
            case _ if name in _RUNS:
                self._observe_run(graph, given, node, what)
                return self.run_graph(graph, node, what)
            case _ if name == "as_tool":
                return value_of(graph)
        return value_of(graph) if name.startswith(("add_", "set_")) or name in _SAME else taint(given.all)

    def _add_node(self, graph: GraphRef, given: Given) -> None:
        first, second = given.get(0, "node"), given.get(1, "action")
        if first is None:
            return
        if second is None or (first.refs and second.text is not None):
            label, action = _label(first), first
        else:
            label, action = first.text or _label(second), second
        label = label or f"node {len(graph.nodes) + 1}"
        if graph.nodes.get(label, action) != action:  # its name isn't known whole, and two begin alike
            label = f"{label} ({len(graph.nodes) + 1})"
        graph.nodes[label] = action

    def _add_sequence(self, graph: GraphRef, nodes: Value) -> None:
        for item in nodes.items or ():
            if item.items is not None and len(item.items) == 2:
                self._add_node(graph, Given(item.items))
            else:
                self._add_node(graph, Given((item,)))

    def _edge(self, graph: GraphRef, start: Value | None, end: Value | None) -> None:
        if start is None or end is None or end.text is None:
            return
        if start.text == "__start__" or external_name(start).endswith(".START"):
            graph.entries.append(end.text)

    def _router(self, graph: GraphRef, given: Given, *, first: bool) -> None:
        source = "__start__" if first else _name_of(given.get(0, "source"))
        path = given.get(0 if first else 1, "path")
        if path is not None and source:
            graph.routers.append((source, path))
        if source == "__start__":
            paths = given.get(1 if first else 2, "path_map", "then")
            targets = [*(paths.items or ()), *(v for _, v in paths.fields or ())] if paths else []
            graph.entries += [target.text for target in targets if target.text]

    def _compile(self, graph: GraphRef, given: Given, node: ast.expr) -> Value:
        graph.compiled.append((self._context.place(node), keyword_is(node, "checkpointer", False)))
        stops = [given.names.get(word) for word in ("interrupt_before", "interrupt_after")]
        graph.stops = graph.stops or any(stop is not None and stop.items != () for stop in stops)
        return value_of(graph)

    # Running one within a node

    def run_graph(self, ref: GraphRef | ToolNodeRef, node: ast.expr, what: str) -> Value:
        """Run a graph within a node."""
        if self._context.checking and self.may_ask(ref):
            self._context.note_question(Site(self._context.place(node), what, nested=True), low=0)
        agent = isinstance(ref, GraphRef) and ref.kind == "agent"
        source = Source("model", what, self._context.place(node))
        return Value(sources=frozenset({source}) if agent else frozenset())

    def _observe_run(self, graph: GraphRef, given: Given, node: ast.expr, what: str) -> None:
        config = given.get(1, "config")
        own = dict(config.fields or ()).get("configurable") if config is not None else None
        names = frozenset(name for name, _ in own.fields or ()) if own is not None else frozenset()
        self._context.observe(GraphRun(self._context.place(node), what, graph, names, self))

    def may_ask(self, ref: Ref) -> bool:
        """Whether a graph, tool or function may stop and ask, at any depth."""
        if ref in self._asking:
            return self._asking[ref]
        self._asking[ref] = False  # a graph within itself asks when the rest of it does
        found = bool(self.summary_of(ref).sites)
        if isinstance(ref, GraphRef):
            values = [*ref.nodes.values(), *(path for _, path in ref.routers)]
            found = ref.stops or any(self.may_ask(inner) for value in values for inner in value.refs)
        elif isinstance(ref, ToolNodeRef):
            found = any(self.may_ask(inner) for tool in ref.tools for inner in tool.refs)
        self._asking[ref] = found
        return found

    def function_of(self, ref: Ref | None) -> FunctionRef | None:
        """Return the function that a node runs; None for a node without source."""
        match ref:
            case FunctionRef():
                return ref
            case ToolRef(function=value) | TaskRef(function=value):
                return next((r for r in value.refs if isinstance(r, FunctionRef)), None)
            case InstanceRef():
                return _called_method(ref)
        return None

    def summary_of(self, ref: Ref) -> Summary:
        """Return what is known of running something as a node or tool, with nothing known of what it is given."""
        function = self.function_of(ref)
        if function is None:
            return Summary()
        args = () if isinstance(ref, ToolRef | TaskRef) else (STATE,)
        return self._walk.follow(function, Given(args, open=True))


def _asked_tools(told: Value | None, node: ast.expr) -> frozenset[str]:
    """Return the tools that `interrupt_on` of a call names, those that are switched off aside; `*` for all."""
    written = next((k.value for k in getattr(node, "keywords", ()) if k.arg == "interrupt_on"), None)
    if isinstance(written, ast.Dict) and all(isinstance(key, ast.Constant) for key in written.keys):
        pairs = zip(written.keys, written.values, strict=True)
        on = [key for key, value in pairs if not (isinstance(value, ast.Constant) and value.value is False)]
        return frozenset(str(key.value) for key in on if isinstance(key, ast.Constant))
    if told is not None and told.fields is not None:
        return frozenset(tool for tool, _ in told.fields)
    return frozenset({"*"})


def _called_method(ref: InstanceRef) -> FunctionRef | None:
    """Return what runs when an object is a node or tool."""
    for name in ("__call__", "invoke", "ainvoke", "_run", "_arun", "run"):
        for ancestor in ref.type.ancestors():
            if isinstance(ancestor, ClassRef) and name in ancestor.names:
                made = next((r for r in ancestor.names[name].refs if isinstance(r, FunctionRef)), None)
                if made is not None:
                    return replace(made, binding=value_of(ref))
    return None


def _label(value: Value) -> str:
    for ref in value.refs:
        match ref:
            case FunctionRef(name=name) | ToolRef(name=name) | TaskRef(name=name):
                return name
            case InstanceRef(type=made):
                return made.node.name
            case ToolNodeRef():
                return "tools"
            case GraphRef(name=name):
                return name or "graph"
            case External(name=name):
                return name.removesuffix("()").rpartition(".")[2].removeprefix("?")
    return ""


def _name_of(value: Value | None) -> str:
    if value is None:
        return ""
    return "__start__" if external_name(value).endswith(".START") else value.text or ""


def _flat(value: Value | None) -> list[Value]:
    if value is None:
        return []
    return list(value.items) if value.items is not None else [value]
