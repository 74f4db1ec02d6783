"""Calls: what they do, what they give, and which of them stop and ask."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable
from dataclasses import replace
from typing import Final

from hitl_tui.lint.base import Given
from hitl_tui.lint.catalogue import BROAD_ERRORS, KEEPS_ORDER, RETRIES, Call, effect_of, is_unordered, kind_of, source_of
from hitl_tui.lint.expressions import Expressions
from hitl_tui.lint.flow import Loop, Site
from hitl_tui.lint.modules import CHANGERS
from hitl_tui.lint.values import (
    UNKNOWN,
    ClassRef,
    External,
    FunctionRef,
    GraphRef,
    InstanceRef,
    MethodRef,
    ModuleRef,
    Ref,
    Source,
    TaskRef,
    ToolNodeRef,
    ToolRef,
    Value,
    contained,
    element,
    external,
    join,
    of,
    taint,
)

_LONGEST_NAME: Final = 160
_RUNS: Final = ("invoke", "ainvoke", "stream", "astream", "batch", "abatch", "astream_events", "run", "arun", "__call__")
_PURE_STEPS: Final = frozenset("get keys values items copy strip split splitlines lower upper format join".split())
_ENUMS: Final = frozenset("enum.Enum enum.Flag".split())
_TEXT_ENUMS: Final = frozenset("enum.StrEnum enum.IntEnum enum.IntFlag str int float".split())
_RECORDS: Final = frozenset(
    "typing.TypedDict typing_extensions.TypedDict typing.NamedTuple str int float dict list collections.UserDict "
    "langgraph.graph.MessagesState langgraph.graph.message.MessagesState langgraph.prebuilt.chat_agent_executor.AgentState "
    "langchain.agents.AgentState".split()
)
_SHELLS: Final = re.compile(r"(?:eval|exec|os\.system|os\.popen|subprocess\.(?:getoutput|getstatusoutput)|compile)\Z")
_QUERIES: Final = re.compile(r".*\.(?:execute|executemany|executescript|raw|text|fetch\w*|read_sql\w*)\Z")
_ELSEWHERE: Final = re.compile(
    r"(?:concurrent\.futures\.(?:thread\.)?ThreadPoolExecutor|concurrent\.futures\.ProcessPoolExecutor|"
    r"multiprocessing\.(?:pool\.)?(?:Thread)?Pool)\(\)\.(?:submit|map|apply|apply_async|starmap)\Z"
    r"|threading\.(?:Thread|Timer)\Z|multiprocessing\.Process\Z|.*\.run_in_executor\Z|_thread\.start_new_thread\Z"
)
_HERE: Final = re.compile(
    r"(?:asyncio\.(?:to_thread|create_task|ensure_future|wait_for|shield|run)|anyio\.to_thread\.run_sync|map|filter|"
    r"functools\.reduce|langchain_core\.runnables\.\S*|contextvars\.copy_context\(\)\.run|asyncio\.TaskGroup\(\)\.create_task)\Z"
)


def is_langgraph(name: str, last: str) -> bool:
    """Whether a dotted name is LangGraph's or LangChain's of that last part, wherever they export it."""
    return name.rpartition(".")[2] == last and name.startswith(("langgraph", "langchain"))


class Calls(Expressions):
    """Follows calls."""

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
                kept = path if len(path) < _LONGEST_NAME else f"?{path.rpartition('.')[2]}"
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
                yield UNKNOWN

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

    # Calls

    def call(self, function: Value, given: Given, node: ast.expr, what: str) -> Value:
        """Call something; note what it does."""
        changed = self._changes(node, given)
        if changed is not None:
            return changed
        if not function.refs:
            return replace(taint([function, *given.all]), raw=function.raw, unordered=function.unordered)
        results = [
            self._call_of(ref, function, given, node, what) for ref in sorted(function.refs, key=lambda r: str(type(r)))
        ]
        return join(results)

    def _call_of(self, ref: Ref, function: Value, given: Given, node: ast.expr, what: str) -> Value:
        match ref:
            case FunctionRef():
                summary = self.follow(ref, given)
                self.happened(summary, node, what)
                return summary.value
            case ClassRef():
                return self._make(ref, given, node)
            case InstanceRef():
                return self.call(self._of_instance(ref, "__call__", node), given, node, what)
            case TaskRef():
                return self._task(ref, given, node, what)
            case ToolRef(function=inner):
                return self.call(inner, given, node, what)
            case MethodRef():
                return self.method(ref, given, node, what)
            case GraphRef() | ToolNodeRef():
                return self.run_graph(ref, node, what)
            case External(name=name):
                return self.outside(name, function, given, node, what)
            case _:
                return taint(given.all)

    def _make(self, ref: ClassRef, given: Given, node: ast.expr) -> Value:
        names = [a.name if isinstance(a, External) else "" for a in ref.ancestors()]
        if any(name in _RECORDS for name in names):
            return contained(given.all, fields=tuple(given.names.items()))
        instance = InstanceRef(ref, lasting=not self.checking)
        if any(_is_dataclass(a) for a in ref.ancestors()) or "pydantic.BaseModel" in names:
            fields = [s.target.id for s in ref.node.body if isinstance(s, ast.AnnAssign) and isinstance(s.target, ast.Name)]
            instance.names.update(zip(fields, given.args, strict=False))
            instance.names.update(given.names)
        start = self._of_instance(instance, "__init__", node)
        if any(isinstance(r, FunctionRef) for r in start.refs):
            self.call(start, given, node, f"{ref.node.name}()")
        if any(name in _ENUMS | _TEXT_ENUMS for name in names):
            return taint(given.all)
        made = taint(given.all)
        return replace(made, refs=frozenset({instance}), kinds=frozenset({f"an object of class {ref.node.name}"}))

    def _task(self, ref: TaskRef, given: Given, node: ast.expr, what: str) -> Value:
        place = self.place(node)
        for loop in self.frame.loops:
            if loop.rule == "HT003" or loop.rule == "HT005" and "state says" not in loop.reason:
                self.report("HT009", place, f"The task {what} is called in a loop over {loop.reason}.")
        for guard in self.flow.guards:
            says = f"{guard.source.what} in line {guard.source.place.line}"
            self.report("HT009", place, f"{says} decides whether the task {what} is called.")
        for inner in ref.function.refs:
            if isinstance(inner, FunctionRef):
                summary = self.follow(inner, given)
                done = tuple(replace(d, effect=replace(d.effect, idempotent="task")) for d in summary.done)
                self.happened(replace(summary, done=done), node, what)
        return UNKNOWN

    def outside(self, name: str, function: Value, given: Given, node: ast.expr, what: str) -> Value:
        """Call something of another package."""
        last = name.rpartition(".")[2]
        if is_langgraph(name, "interrupt") or name == "?interrupt":
            return self.ask(given, node, what)
        made = self.construct(name, given, node)
        if made is not None:
            return made
        if name in ("functools.partial", "functools.partialmethod") and given.args:
            return _partial(given)
        self._passed_on(name, given, node, what)
        call = _described(name, given)
        doing = effect_of(call)
        if doing is not None:
            self.uses(given.all)
            idempotent = doing.idempotent
            self.acts(name.removeprefix("?"), node, certain=doing.certain, idempotent=idempotent)
        self._executes(name, given, node)
        self._shuffles(name, given, node)
        return self._result(name, last, call, function, given, node)

    def _result(self, name: str, last: str, call: Call, function: Value, given: Given, node: ast.expr) -> Value:
        made = taint([function, *given.all])
        if name in KEEPS_ORDER or last in ("keys", "values", "items", "copy"):
            inner = given.args[-1] if given.args else function
            kind = kind_of(f"{name}()")
            order = next((v.unordered for v in (*given.args, function) if v.unordered), "")
            items = inner.items if name in ("list", "tuple", "reversed", "iter", "copy.copy") else None
            kinds = frozenset({kind} if kind else ())
            inside = frozenset().union(*(v.inside for v in given.all)) if given.all else frozenset()
            return replace(made, unordered=order, items=items, kinds=kinds, inside=inside)
        if name in ("sorted", "min", "max", "sum", "len", "str", "int", "float", "bool", "repr", "json.dumps", "any", "all"):
            inside = given.args[0].inside if name == "sorted" and given.args else frozenset()
            items = given.args[0].items if name == "sorted" and given.args else None
            return replace(made, inside=inside, items=items, raw=name == "str" and any(v.raw for v in given.args))
        kind = source_of(call)
        if kind:
            made = replace(made, sources=made.sources | {Source(kind, name.removeprefix("?"), self.place(node))})
        if is_unordered(name):
            made = replace(made, unordered=f"what {name} gives")
        if name in ("set", "frozenset"):
            made = replace(made, unordered="a set")
        if name in ("next", "iter", "getattr") and given.args:
            made = replace(made, refs=element(given.args[0]).refs)
        form = kind_of(f"{name}()")
        result = External(f"{name}()" if len(name) < _LONGEST_NAME else f"?{last}()")
        unspecific = name.startswith("dict().") or last in _PURE_STEPS and not form
        raw = function.raw or last in ("format", "join") and any(v.raw for v in given.all)
        refs: frozenset[Ref] = frozenset() if unspecific else frozenset({result})
        return replace(made, refs=refs, kinds=frozenset({form} if form else ()), raw=raw)

    # Questions

    def ask(self, given: Given, node: ast.expr, what: str) -> Value:
        """Note an `interrupt()` with its payload."""
        payload = given.get(0, "value") or UNKNOWN
        site = Site(self.place(node), what if len(what) < 60 else "interrupt()")
        wrong = sorted(_with_functions(payload))
        if wrong:
            self.report("HT004", site.place, f"The payload {_is_or_has(payload)} {', '.join(wrong)}.")
        self.asks(site)
        self.flow.shown |= payload.sources
        self.frame.shown |= payload.sources
        return Value(answer=True, raw=True)

    def _passed_on(self, name: str, given: Given, node: ast.expr, what: str) -> None:
        """Look at functions that are given to others to call."""
        elsewhere, here = _ELSEWHERE.match(name), _HERE.match(name)
        if not elsewhere and not here:
            self._gathers(name, given, node)
            return
        many = name in ("map", "filter", "functools.reduce") or name.endswith(".map")
        loop = self.loop_over(given.args[1], node) if many and len(given.args) > 1 else Loop()
        self.frame.loops.append(loop)
        for argument in given.all:
            for ref in argument.refs:
                if isinstance(ref, FunctionRef) or isinstance(ref, External) and is_langgraph(ref.name, "interrupt"):
                    self._called_by(ref, given, node, what, elsewhere=bool(elsewhere), many=many)
        self.frame.loops.pop()

    def _called_by(
        self, ref: FunctionRef | External, given: Given, node: ast.expr, what: str, *, elsewhere: bool, many: bool
    ) -> None:
        before = len(self.frame.sites)
        rest = Given(tuple(element(v) if many else v for v in given.args[1:]), {}, True)
        if isinstance(ref, External):
            self.ask(rest, node, what)
        else:
            self.happened(self.follow(ref, rest), node, what)
        if elsewhere and len(self.frame.sites) > before:
            self.report("HT015", self.place(node), f"{what} runs something that asks in a thread of its own.")

    def _gathers(self, name: str, given: Given, node: ast.expr) -> None:
        if name != "asyncio.gather" or not isinstance(node, ast.Call) or "return_exceptions" not in given.names:
            return
        keeps = any(
            word.arg == "return_exceptions" and isinstance(word.value, ast.Constant) and word.value.value is True
            for word in node.keywords
        )
        inside = [s for s in self.frame.sites if _encloses(node, s)]
        for site in inside if keeps else []:
            self.report("HT001", site.place, f"gather(return_exceptions=True) catches what {site.what} raises.")

    # Changes of what lasts

    def _changes(self, node: ast.expr, given: Given) -> Value | None:
        """Note a change of a container by one of its methods; None when it is no such call."""
        if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute) or node.func.attr not in CHANGERS:
            return None
        owner = node.func.value
        if not isinstance(owner, ast.Name | ast.Attribute | ast.Subscript):
            return None
        held = self._quietly(owner)
        if any(not _is_container(ref) for ref in held.refs):
            return None
        method = node.func.attr
        if self.lasts(owner):
            same = method in ("add", "discard", "update", "setdefault", "clear", "remove")
            idempotent = "by its form" if same and not any(v.sources for v in given.all) else ""
            self.acts(f"{_text(owner)}.{method}", node, idempotent=idempotent)
            return taint([held, *given.all])
        if isinstance(owner, ast.Name) and method in ("append", "add", "insert", "extend", "update", "appendleft"):
            last = given.args[-1] if given.args else UNKNOWN
            many = method in ("extend", "update")
            added = list(last.items or [element(last)]) if many else [last]
            items = (*(held.items or ()), *added)[:40]
            flat = contained([held, *added])
            merged = replace(
                held, items=items, sources=flat.sources, inside=held.inside | flat.inside - held.kinds,
                from_state=flat.from_state, answer=flat.answer,
            )
            self.assign(owner, merged)
        got = element(held) if method in ("pop", "popleft", "setdefault", "popitem") else UNKNOWN
        return replace(got, sources=got.sources | held.sources, from_state=got.from_state or held.from_state)

    def _quietly(self, node: ast.expr) -> Value:
        if isinstance(node, ast.Name):
            holder = self.frame.scope.holder(node.id)
            return holder.names[node.id] if holder else of(External("?"))
        return self.value(node)

    def lasts(self, target: ast.expr) -> bool:
        """Whether what a name, attribute or element belongs to outlives a run of the node."""
        if not self.checking:
            return False
        root = target
        while isinstance(root, ast.Subscript):
            root = root.value
        if isinstance(root, ast.Name):
            holder = self.frame.scope.holder(root.id)
            if holder is None or not holder.lasting and root.id not in self.frame.scope.outer:
                return False
            return holder is not self.frame.scope and not _has(holder.names[root.id], ModuleRef)
        if isinstance(root, ast.Attribute):
            owner = self._quietly(root.value)
            if any(isinstance(ref, ClassRef | ModuleRef) for ref in owner.refs):
                return True
            return any(isinstance(ref, InstanceRef) and ref.lasting for ref in owner.refs)
        return False

    # Dangers

    def _executes(self, name: str, given: Given, node: ast.expr) -> None:
        first = given.args[0] if given.args else UNKNOWN
        shell = name.startswith(("subprocess.", "asyncio.create_subprocess_shell")) and _says_true(node, "shell")
        if first.raw and (_SHELLS.match(name) or shell or name == "asyncio.create_subprocess_shell"):
            self.report("HT014", self.place(node), f"An answer reaches {name}.")
        elif first.raw and _QUERIES.match(name) and not isinstance(getattr(node, "args", [None])[0], ast.Name):
            self.report("HT014", self.place(node), f"An answer is put into the text of {name.removeprefix('?')}.")

    def _shuffles(self, name: str, given: Given, node: ast.expr) -> None:
        if name not in ("random.shuffle", "numpy.random.shuffle") or not isinstance(node, ast.Call) or not node.args:
            return
        source = Source("random", name, self.place(node))
        held = given.args[0] if given.args else UNKNOWN
        if isinstance(node.args[0], ast.Name):
            made = replace(held, unordered=f"what {name} made", sources=held.sources | {source})
            self.assign(node.args[0], made)

    # Graphs, given by the next part

    def construct(self, name: str, given: Given, node: ast.expr) -> Value | None:
        """Return what LangGraph or LangChain makes of a call; None when it isn't one of theirs that matters."""
        raise NotImplementedError

    def method(self, ref: MethodRef, given: Given, node: ast.expr, what: str) -> Value:
        """Call a method of a graph, tool or task."""
        raise NotImplementedError

    def run_graph(self, ref: GraphRef | ToolNodeRef, node: ast.expr, what: str) -> Value:
        """Run a graph within a node."""
        raise NotImplementedError


def retried(name: str, given: Given) -> bool:
    """Whether a decorator's call calls again after any error."""
    if not RETRIES.match(name):
        return False
    told = [v for v in (*given.args, *given.names.values()) if v.refs]
    names = [external(v) for v in told]
    if any(n == "narrow()" for n in names):
        return False
    errors = [n for v in told for n in _error_names(v)]
    return not errors or any(n in BROAD_ERRORS for n in errors)


def narrow(name: str, given: Given) -> bool:
    """Whether a retry's condition lets a question through."""
    last = name.rpartition(".")[2]
    broad = any(n in BROAD_ERRORS for v in given.all for n in _error_names(v))
    if last in ("retry_if_exception_type",):
        return bool(given.args) and not broad
    if last == "retry_if_not_exception_type":
        return broad
    return last in ("retry_if_result", "retry_if_not_result", "retry_if_exception_message")


def _error_names(value: Value) -> list[str]:
    refs = [ref for v in (value, *(value.items or ())) for ref in v.refs]
    names = [ref.name for ref in refs if isinstance(ref, External)]
    own = [ref.node.name for ref in refs if isinstance(ref, ClassRef)]
    return [n for n in (*names, *own) if re.search(r"(?:Error|Exception|Interrupt|BubbleUp|Timeout)\w*\Z", n)]


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
    return Call(name, first, (mode.text or "") if mode else "", first, "data" in given.names, harmless)


def _with_functions(payload: Value) -> frozenset[str]:
    kinds = payload.not_json
    if any(isinstance(ref, FunctionRef) for ref in payload.refs):
        kinds |= {"a function"}
    if any(isinstance(ref, ClassRef) for ref in payload.refs):
        kinds |= {"a class"}
    return kinds


def _is_or_has(payload: Value) -> str:
    return "contains" if payload.inside and not payload.kinds else "is"


def _is_container(ref: Ref) -> bool:
    return isinstance(ref, External) and bool(
        re.match(r"(?:list|dict|set|collections\.\w+|queue\.\w+|asyncio\.Queue|deque|defaultdict|Counter)\(\)\Z", ref.name)
    )


def _has(value: Value, kind: type) -> bool:
    return any(isinstance(ref, kind) for ref in value.refs)


def _encloses(node: ast.expr, site: Site) -> bool:
    return node.lineno <= site.place.line <= (node.end_lineno or node.lineno)


def _says_true(node: ast.expr, word: str) -> bool:
    return isinstance(node, ast.Call) and any(
        k.arg == word and isinstance(k.value, ast.Constant) and k.value.value is True for k in node.keywords
    )


def _text(node: ast.expr) -> str:
    match node:
        case ast.Name(id=name):
            return name
        case ast.Attribute(value=inner, attr=name):
            return f"{_text(inner)}.{name}"
        case ast.Subscript(value=inner):
            return f"{_text(inner)}[…]"
        case _:
            return "…"
