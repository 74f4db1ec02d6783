"""Calls: what they do, what they give, and which of them stop and ask."""

from __future__ import annotations

import ast
import re
from dataclasses import replace
from typing import Final

from hitl_tui.core.messages import Message
from hitl_tui.lint.abstract_values import (
    A_SET,
    UNKNOWN,
    UNTOLD,
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
    container_of,
    element,
    external_name,
    join,
    sorted_refs,
    taint,
)
from hitl_tui.lint.call_catalogue import (
    KEEPS_ORDER,
    Call,
    effect_of,
    is_langgraph,
    is_unordered,
    keyword_is,
    kind_of,
    runs_tool,
    source_of,
    writes_on,
)
from hitl_tui.lint.error_paths import ErrorPaths
from hitl_tui.lint.evaluation_context import EvaluationContext, Walk
from hitl_tui.lint.expression_evaluator import LONGEST_NAME, ExpressionEvaluator
from hitl_tui.lint.flow_state import Loop, Site
from hitl_tui.lint.graph_model import GraphModel
from hitl_tui.lint.observations import AskedElsewhere, ErrorsGathered, OutsideCalled, PayloadGiven, TaskCalled
from hitl_tui.lint.state_changes import StateChanges

_PURE_STEPS: Final = frozenset(
    ["get", "keys", "values", "items", "copy", "strip", "split", "splitlines", "lower", "upper", "format", "join"]
)
_COMPOSED: Final = re.compile(rf"[;&|<>`$\n{UNTOLD}]")
_TEXTS: Final = frozenset(
    ["textwrap.dedent", "inspect.cleandoc", "sqlalchemy.text", "sqlalchemy.sql.text", "sqlmodel.text"]
)
_SCALARS: Final = frozenset(
    ["sorted", "min", "max", "sum", "len", "str", "int", "float", "bool", "repr", "json.dumps", "any", "all"]
)
_ELSEWHERE: Final = re.compile(
    r"(?:concurrent\.futures\.(?:thread\.)?ThreadPoolExecutor|concurrent\.futures\.ProcessPoolExecutor|"
    r"multiprocessing\.(?:pool\.)?(?:Thread)?Pool)\(\)\.(?:submit|map|apply|apply_async|starmap)\Z"
    r"|threading\.(?:Thread|Timer)\Z|multiprocessing\.Process\Z|.*\.run_in_executor\Z|_thread\.start_new_thread\Z"
)
_HERE: Final = re.compile(
    r"(?:asyncio\.(?:to_thread|create_task|ensure_future|wait_for|shield|run)|anyio\.to_thread\.run_sync|map|filter|"
    r"functools\.reduce|langchain_core\.runnables\.\S*|contextvars\.copy_context\(\)\.run|asyncio\.TaskGroup\(\)\.create_task)\Z"
)


class CallEvaluator:
    """Follows calls.

    Args:
        context: of the walk.
        expressions, changes, graphs, errors: know attributes, containers, graphs and context managers.
        walk: follows functions and binds.
    """

    def __init__(
        self,
        context: EvaluationContext,
        expressions: ExpressionEvaluator,
        changes: StateChanges,
        graphs: GraphModel,
        errors: ErrorPaths,
        walk: Walk,
    ) -> None:
        self._context = context
        self._expressions = expressions
        self._changes = changes
        self._graphs = graphs
        self._errors = errors
        self._walk = walk

    def call(self, function: Value, given: Given, node: ast.expr, what: str) -> Value:
        """Call something; note what it does."""
        changed = self._changes.change_of(node, given)
        if changed is not None:
            return changed
        if not function.refs:
            if runs_tool(f"?{what.removesuffix('()')}"):
                self._context.note_use(given.all)
                self._context.note_effect(what.removesuffix("()"), node, certain=False)
            return replace(taint([function, *given.all]), raw=function.raw, unordered=function.unordered)
        results = [self._call_of(ref, function, given, node, what) for ref in sorted_refs(function.refs)]
        return join(results)

    def _call_of(self, ref: Ref, function: Value, given: Given, node: ast.expr, what: str) -> Value:
        match ref:
            case FunctionRef():
                summary = self._walk.follow(ref, given)
                self._context.note_call(summary, node, what)
                return summary.value
            case ClassRef():
                return self._expressions.make_object(ref, given, node)
            case InstanceRef():
                return self.call(self._expressions.member_of(ref, "__call__", node), given, node, what)
            case TaskRef():
                return self._task(ref, given, node, what)
            case ToolRef(function=inner):
                return self.call(inner, given, node, what)
            case MethodRef():
                return self._graphs.method(ref, given, node, what)
            case GraphRef() | ToolNodeRef():
                return self._graphs.run_graph(ref, node, what)
            case External(name=name):
                return self._outside(name, function, given, node, what)
            case _:
                return taint(given.all)

    def _task(self, ref: TaskRef, given: Given, node: ast.expr, what: str) -> Value:
        frame = self._context.frame
        self._context.observe(TaskCalled(self._context.place(node), what, frame.loops, frame.flow.guards))
        for inner in ref.function.refs:
            if isinstance(inner, FunctionRef):
                summary = self._walk.follow(inner, given)
                done = tuple(replace(d, effect=replace(d.effect, idempotent="task")) for d in summary.done)
                self._context.note_call(replace(summary, done=done), node, what)
        return UNKNOWN

    def _outside(self, name: str, function: Value, given: Given, node: ast.expr, what: str) -> Value:
        """Call something of another package."""
        last = name.rpartition(".")[2]
        if is_langgraph(name, "interrupt") or name == "?interrupt":
            return self._ask(given, node, what)
        made = self._graphs.construct(name, given, node)
        if made is not None:
            return made
        if name in ("functools.partial", "functools.partialmethod") and given.args:
            return _partial(given)
        if name.endswith(("ExitStack().enter_context", "ExitStack().enter_async_context")):
            self._enter(node, given)
        if name == "getattr" and len(given.args) > 1 and given.args[1].text is not None:
            return self._expressions.attribute(given.args[0], given.args[1].text, node)
        self._passed_on(name, given, node, what)
        call = _described(name, given)
        doing = effect_of(call)
        if doing is not None or writes_on(name, given):
            self._context.note_use(given.all)
        if doing is not None:
            idempotent = doing.idempotent if not any(v.sources for v in given.all) else ""
            self._context.note_effect(name.removeprefix("?"), node, certain=doing.certain, idempotent=idempotent)
        self._context.observe(OutsideCalled(name, given, node, self._context.place(node)))
        self._shuffles(name, given, node)
        return self._result(name, last, call, function, given, node)

    def _enter(self, node: ast.expr, given: Given) -> None:
        if isinstance(node, ast.Call) and given.args:
            catch = self._errors.managed(node.args[0], given.args[0])
            self._context.frame.catches += [catch] if catch else []

    def _result(self, name: str, last: str, call: Call, function: Value, given: Given, node: ast.expr) -> Value:
        made = taint([function, *given.all])
        if name in ("next", "getattr") and given.args:
            return replace(made, refs=element(given.args[0]).refs)
        if name in KEEPS_ORDER or last in ("keys", "values", "items", "copy"):
            inner = given.args[-1] if given.args else function
            kind = kind_of(f"{name}()")
            order = next((v.unordered for v in (*given.args, function) if v.unordered), None)
            items = inner.items if name in ("list", "tuple", "reversed", "iter", "copy.copy") else None
            kinds = frozenset({kind} if kind else ())
            inside = frozenset().union(*(v.inside for v in given.all)) if given.all else frozenset()
            if name == "dict" and not given.args and not given.open:
                return container_of(given.names.values(), fields=tuple(given.names.items()))
            return replace(made, unordered=order, items=items, kinds=kinds, inside=inside)
        if name in _SCALARS:
            inside = given.args[0].inside if name == "sorted" and given.args else frozenset()
            items = given.args[0].items if name == "sorted" and given.args else None
            return replace(made, inside=inside, items=items, raw=name == "str" and any(v.raw for v in given.args))
        if name in _TEXTS and call.first is not None:
            made = replace(made, text=call.first, raw=any(v.raw for v in given.args))
        changing = source_of(call)
        if changing:
            source = Source(changing, name.removeprefix("?"), self._context.place(node))
            made = replace(made, sources=made.sources | {source})
        if is_unordered(name):
            made = replace(made, unordered=Message("what {name} gives", name=name))
        if name in ("set", "frozenset"):
            made = replace(made, unordered=A_SET)
        form = kind_of(f"{name}()")
        result = External(f"{name}()" if len(name) < LONGEST_NAME else f"?{last}()")
        unspecific = name.startswith("dict().") or (last in _PURE_STEPS and not form)
        raw = function.raw or (last in ("format", "join") and any(v.raw for v in given.all))
        refs: frozenset[Ref] = frozenset() if unspecific else frozenset({result})
        return replace(made, refs=refs, kinds=frozenset({form} if form else ()), raw=raw)

    # Questions

    def _ask(self, given: Given, node: ast.expr, what: str) -> Value:
        """Note an `interrupt()` with its payload."""
        payload = given.get(0, "value") or UNKNOWN
        site = Site(self._context.place(node), what if len(what) < 60 else "interrupt()")
        self._context.observe(PayloadGiven(site, payload))
        self._context.note_question(site)
        self._context.note_shown(payload.sources)
        return Value(answer=True, raw=True)

    def _passed_on(self, name: str, given: Given, node: ast.expr, what: str) -> None:
        """Look at functions that are given to others to call."""
        elsewhere, here = _ELSEWHERE.match(name), _HERE.match(name)
        if not elsewhere and not here:
            self._gathers(name, given, node)
            return
        many = name in ("map", "filter", "functools.reduce") or name.endswith(".map")
        loop = self._expressions.loop_over(given.args[1], node) if many and len(given.args) > 1 else Loop()
        self._context.frame.loops.append(loop)
        for argument in given.all:
            for ref in argument.refs:
                if isinstance(ref, FunctionRef) or (isinstance(ref, External) and is_langgraph(ref.name, "interrupt")):
                    self._called_by(ref, given, node, what, elsewhere=bool(elsewhere), many=many)
        self._context.frame.loops.pop()

    def _called_by(
        self, ref: FunctionRef | External, given: Given, node: ast.expr, what: str, *, elsewhere: bool, many: bool
    ) -> None:
        before = len(self._context.frame.sites)
        rest = Given(tuple(element(v) if many else v for v in given.args[1:]), {}, True)
        if isinstance(ref, External):
            self._ask(rest, node, what)
        else:
            self._context.note_call(self._walk.follow(ref, rest), node, what)
        if elsewhere and len(self._context.frame.sites) > before:
            self._context.observe(AskedElsewhere(self._context.place(node), what))

    def _gathers(self, name: str, given: Given, node: ast.expr) -> None:
        if name != "asyncio.gather" or not isinstance(node, ast.Call) or "return_exceptions" not in given.names:
            return
        if keyword_is(node, "return_exceptions", True):
            inside = [site for site in self._context.frame.sites if _encloses(node, site)]
            self._context.observe(ErrorsGathered(inside))

    def _shuffles(self, name: str, given: Given, node: ast.expr) -> None:
        if name not in ("random.shuffle", "numpy.random.shuffle") or not isinstance(node, ast.Call) or not node.args:
            return
        source = Source("random", name, self._context.place(node))
        held = given.args[0] if given.args else UNKNOWN
        if isinstance(node.args[0], ast.Name):
            made = replace(held, unordered=Message("what {name} made", name=name), sources=held.sources | {source})
            self._walk.assign(node.args[0], made)


def _partial(given: Given) -> Value:
    first = given.args[0]
    refs: set[Ref] = set()
    for ref in first.refs:
        if isinstance(ref, FunctionRef):
            names = (*ref.fixed_names, *given.names.items())
            refs.add(replace(ref, fixed=(*ref.fixed, *given.args[1:]), fixed_names=names))
        else:
            refs.add(ref)
    return replace(first, refs=frozenset(refs))


def _described(name: str, given: Given) -> Call:
    is_path = name.startswith(("pathlib", "?")) and name.endswith(".open")
    mode = given.get(0 if is_path else 1, "mode")
    first = given.args[0].text if given.args else None
    harmless = "exist_ok" in given.names or "missing_ok" in given.names
    start = given.args[0] if given.args else UNKNOWN
    words: list[str] = []
    if start.items:
        words = [item.text or UNTOLD for item in start.items]
    elif first is not None and not _COMPOSED.search(first):
        words = first.split()
    file_mode = (mode.text or "") if mode else ""
    return Call(name, first, file_mode, first, "data" in given.names, harmless, external_name(start), tuple(words))


def _encloses(node: ast.expr, site: Site) -> bool:
    return node.lineno <= site.place.line <= (node.end_lineno or node.lineno)
