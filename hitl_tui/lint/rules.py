"""The rules of safe interrupts: what each is called, and a function for each observation that it judges.

Ids are stable: a rule may be added, none changes its meaning. To add one, write a function that takes an observation
and yields what is wrong with it, and name it in the rule's `checks`. What has to be known of the way that led to an
observation travels in `flow_state.py:Flow`.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from hitl_tui.core.messages import Message
from hitl_tui.lint.abstract_values import (
    A_CLASS,
    A_FUNCTION,
    UNKNOWN,
    ClassRef,
    FunctionRef,
    brief_name,
    name_of,
)
from hitl_tui.lint.call_catalogue import keyword_is
from hitl_tui.lint.findings import Effect, Place, Problem, Rule, Severity
from hitl_tui.lint.flow_state import Guard, Site
from hitl_tui.lint.observations import (
    AskedElsewhere,
    EffectInFinally,
    ErrorRaised,
    ErrorsGathered,
    FunctionRetried,
    GraphBuilt,
    GraphRun,
    OutsideCalled,
    PayloadGiven,
    QuestionAsked,
    ShownValueUsed,
    SubgraphAdded,
    TaskCalled,
    ToolNodeAdded,
)

_ERROR, _WARNING = Severity.ERROR, Severity.WARNING

_ADDRESSES: Final = frozenset(["thread_id", "checkpoint_ns", "checkpoint_id"])
"""With one of these a config means a run of its own, unless it has all that the node was given as well."""

_TALK: Final = frozenset(["messages", "history", "conversation", "chat_history", "discussion", "transcript"])
_SHELLS: Final = re.compile(r"(?:eval|exec|os\.system|os\.popen|subprocess\.(?:getoutput|getstatusoutput)|compile)\Z")
_QUERIES: Final = re.compile(r".*\.(?:execute|executemany|executescript|raw|text|fetch\w*|read_sql\w*)\Z")


# Caught questions: HT001, HT013


def _caught(seen: QuestionAsked) -> Iterator[Problem]:
    place, question = seen.site.place, seen.site.what
    for catch in seen.catches:
        handler, line = catch.what, catch.place.line
        if catch.misses:
            continue
        message = Message("{handler} catches what {question} raises.", handler=handler, question=question)
        if catch.place.file == place.file:
            message = Message(
                "{handler} in line {line} catches what {question} raises.",
                handler=handler,
                line=line,
                question=question,
            )
        yield place, message


def _gathered(seen: ErrorsGathered) -> Iterator[Problem]:
    handler = "gather(return_exceptions=True)"
    for site in seen.sites:
        yield site.place, Message("{handler} catches what {question} raises.", handler=handler, question=site.what)


def _retried(seen: FunctionRetried) -> Iterator[Problem]:
    message = Message(
        "A retry around {function} catches what {question} raises.", function=seen.function, question=seen.site.what
    )
    yield seen.site.place, message


def _missed(seen: QuestionAsked) -> Iterator[Problem]:
    for catch in seen.catches:
        if catch.misses:
            message = Message(
                "{handler} does not catch what {question} raises.", handler=catch.what, question=seen.site.what
            )
            yield catch.place, message


def _wrong_error(seen: ErrorRaised) -> Iterator[Problem]:
    if seen.name == "InterruptedError":
        yield seen.place, Message("InterruptedError is raised, which asks nobody.")


# Questions that may differ in another run: HT002, HT003, HT005, HT009


def _conditional(seen: QuestionAsked) -> Iterator[Problem]:
    place, question = seen.site.place, seen.site.what
    for guard in _guards(seen):
        if not guard.loop:
            message = Message(
                "{source} decides whether {question} asks, and may decide otherwise.",
                source=guard.source.described(),
                question=question,
            )
            yield place, message
    for earlier in seen.flow.shaky:
        message = Message(
            "{earlier} is asked or not as the state says, and {question} in line {line} follows: "
            "its answer is looked for by number.",
            earlier=earlier.what,
            question=question,
            line=place.line,
        )
        yield earlier.place, message


def _unordered(seen: QuestionAsked) -> Iterator[Problem]:
    yield from _in_loops(seen, "order")


def _uncertain(seen: QuestionAsked) -> Iterator[Problem]:
    yield from _in_loops(seen, "round")
    for guard in _guards(seen):
        if guard.loop:
            message = Message(
                "{source} decides how often {question} asks.", source=guard.source.described(), question=seen.site.what
            )
            yield seen.site.place, message


def _guards(seen: QuestionAsked) -> Sequence[Guard]:
    """Return what decides that a question is asked, unless a loop around it explains that already."""
    return () if any(loop.differs for loop in seen.loops) else seen.flow.guards


def _in_loops(seen: QuestionAsked, differs: str) -> Iterator[Problem]:
    for loop in seen.loops:
        if loop.differs == differs:
            message = Message("{question} stands in a loop over {reason}.", question=seen.site.what, reason=loop.reason)
            yield seen.site.place, message


def _task_order(seen: TaskCalled) -> Iterator[Problem]:
    for loop in seen.loops:
        if loop.differs:
            message = Message("The task {task} is called in a loop over {reason}.", task=seen.what, reason=loop.reason)
            yield seen.place, message
    for guard in seen.guards:
        source = guard.source.described()
        yield seen.place, Message("{source} decides whether the task {task} is called.", source=source, task=seen.what)


# What is asked, and what becomes of it: HT004, HT012, HT014


def _not_json(seen: PayloadGiven) -> Iterator[Problem]:
    payload = seen.payload
    kinds = payload.not_json
    if any(isinstance(ref, FunctionRef) for ref in payload.refs):
        kinds |= {A_FUNCTION}
    if any(isinstance(ref, ClassRef) for ref in payload.refs):
        kinds |= {A_CLASS}
    told = tuple(sorted(kinds, key=str))
    if told and payload.inside and not payload.kinds:
        yield seen.site.place, Message("The payload contains {kinds}.", kinds=told)
    elif told:
        yield seen.site.place, Message("The payload is {kinds}.", kinds=told)


def _worked_out_anew(seen: ShownValueUsed) -> Iterator[Problem]:
    source = seen.source
    if source.kind != "module":
        message = Message(
            "What {source} gives is shown in the question and used after the answer.", source=brief_name(source.what)
        )
        yield source.place, message


def _executed(seen: OutsideCalled) -> Iterator[Problem]:
    name, node = seen.name, seen.node
    first = seen.given.args[0] if seen.given.args else UNKNOWN
    if not first.raw:
        return
    shell = name.startswith(("subprocess.", "asyncio.create_subprocess_shell")) and keyword_is(node, "shell", True)
    if _SHELLS.match(name) or shell or name == "asyncio.create_subprocess_shell":
        yield seen.place, Message("An answer reaches {call}.", call=name)
    elif _QUERIES.match(name) and not isinstance(getattr(node, "args", [None])[0], ast.Name):
        yield seen.place, Message("An answer is put into the text of {call}.", call=name.removeprefix("?"))


# Effects before a question: HT006, HT007


def _effect_before(seen: QuestionAsked) -> Iterator[Problem]:
    if not seen.site.nested:
        yield from _effects_before(seen)


def _effect_before_graph(seen: QuestionAsked) -> Iterator[Problem]:
    if seen.site.nested:
        yield from _effects_before(seen)


def _effects_before(seen: QuestionAsked) -> Iterator[Problem]:
    for effect, call in seen.flow.effects.items():
        if not effect.idempotent:
            yield effect.place, _before(effect, seen.site, call)


def _before(effect: Effect, site: Site, call: Place | None) -> Message:
    words: dict[str, str | int] = {"effect": effect.what, "question": site.what, "line": site.place.line}
    if call is None or call.line == effect.place.line:
        if effect.certain:
            return Message("{effect} comes before {question} in line {line}.", **words)
        return Message("{effect} looks like an effect and comes before {question} in line {line}.", **words)
    words["call"] = call.line
    if effect.certain:
        return Message("{effect} comes before {question} in line {line} (called in line {call}).", **words)
    return Message(
        "{effect} looks like an effect and comes before {question} in line {line} (called in line {call}).", **words
    )


def _in_finally(seen: EffectInFinally) -> Iterator[Problem]:
    effect, site = seen.effect, seen.site
    message = Message(
        "{effect} in finally happens each time {question} in line {line} asks.",
        effect=effect.what,
        question=site.what,
        line=site.place.line,
    )
    yield effect.place, message


# Graphs: HT008, HT010, HT011, HT015, HT016


def _tools_together(seen: ToolNodeAdded) -> Iterator[Problem]:
    knows, place = seen.knowledge, seen.node.place
    tools = [(name_of(ref), ref) for tool in seen.node.tools for ref in tool.refs]
    asking = [name for name, ref in tools if knows.may_ask(ref)]
    others = [(name, ref) for name, ref in tools if name not in asking]
    acting = [n for n, ref in others if any(not done.effect.idempotent for done in knows.summary_of(ref).done)]
    if not asking or len(asking) + len(acting) == 1:
        return
    if not acting:
        yield place, Message("{tools} ask, and stand in one ToolNode.", tools=_listed(asking))
    elif len(asking) == 1 and len(acting) == 1:
        yield place, Message("{tool} asks, and {others} acts in the same ToolNode.", tool=asking[0], others=acting[0])
    elif len(asking) == 1:
        yield (
            place,
            Message("{tool} asks, and {others} act in the same ToolNode.", tool=asking[0], others=_listed(acting)),
        )
    elif len(acting) == 1:
        yield (
            place,
            Message("{tools} ask, and {others} acts in the same ToolNode.", tools=_listed(asking), others=acting[0]),
        )
    else:
        yield (
            place,
            Message(
                "{tools} ask, and {others} act in the same ToolNode.", tools=_listed(asking), others=_listed(acting)
            ),
        )


def _listed(names: Sequence[str]) -> Message:
    return Message("{names} and {last}", names=", ".join(names[:-1]), last=names[-1])


def _subgraph_reset(seen: SubgraphAdded) -> Iterator[Problem]:
    graph, knows = seen.graph, seen.knowledge
    if not knows.may_ask(graph):
        return
    for name in graph.entries:
        for ref in graph.nodes.get(name, UNKNOWN).refs:
            function = knows.function_of(ref)
            for place in _resets(function) if function is not None else ():
                yield place, Message("{node}(), where the subgraph begins, clears what was said.", node=name)


def _resets(function: FunctionRef) -> Iterator[Place]:
    """Yield where a function clears messages."""
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


def _checkpointer_off(seen: GraphBuilt) -> Iterator[Problem]:
    graph = seen.graph
    if not seen.knowledge.may_ask(graph):
        return
    for place, off in graph.compiled:
        if off:
            name = graph.name or Message("This graph")
            yield place, Message("{graph} asks, but is set to keep nothing.", graph=name)


def _elsewhere(seen: AskedElsewhere) -> Iterator[Problem]:
    yield seen.place, Message("{call} runs something that asks in a thread of its own.", call=seen.what)


def _own_thread(seen: GraphRun) -> Iterator[Problem]:
    if seen.config & _ADDRESSES and "**" not in seen.config and seen.knowledge.may_ask(seen.graph):
        yield seen.place, Message("{call} asks in a thread of its own.", call=seen.what)


# The rules


_ALL: Final = (
    Rule(
        "HT001",
        "interrupt-caught",
        _ERROR,
        "A question within something that catches what it raises",
        Message(
            "interrupt() stops a node by raising, and something catches what it raises: the question is never asked."
        ),
        Message("Take the interrupt out of the try, catch narrower errors, or re-raise GraphBubbleUp first."),
        {QuestionAsked: _caught, ErrorsGathered: _gathered, FunctionRetried: _retried},
    ),
    Rule(
        "HT002",
        "conditional-interrupt",
        _WARNING,
        "A question that is asked in one run of a node and perhaps not in the next",
        Message("Answers are matched to interrupts by their order, which may differ when the node runs again."),
        Message("Decide in a node before this one and route on it, or ask all questions in every run."),
        {QuestionAsked: _conditional},
    ),
    Rule(
        "HT003",
        "unordered-interrupts",
        _ERROR,
        "Questions in an order that isn't fixed",
        Message("Answers are matched to interrupts by their order, and this order is not fixed."),
        Message(
            "Iterate over a list in a fixed order (sorted(…)) that is kept in state, or ask in one node each with Send."
        ),
        {QuestionAsked: _unordered},
        of_answers=True,
    ),
    Rule(
        "HT004",
        "payload-not-json",
        _ERROR,
        "A question that JSON has no form for",
        Message("What is asked is stored and sent as JSON, and this is not JSON."),
        Message(
            "Give plain values: str, int, float, bool, None, list, dict with text keys (isoformat(), list(…), "
            "asdict(…))."
        ),
        {PayloadGiven: _not_json},
    ),
    Rule(
        "HT005",
        "uncertain-loop",
        _WARNING,
        "A loop that may ask more or fewer questions in another run",
        Message("How many questions this loop asks may differ when the node runs again."),
        Message(
            "Ask once about all of them, give each a run of a node with Send, or work the list out in an earlier node."
        ),
        {QuestionAsked: _uncertain},
    ),
    Rule(
        "HT006",
        "effect-before-interrupt",
        _ERROR,
        "An effect on the world before a question",
        Message("A node runs again from its first line with each answer, so this happens again."),
        Message(
            "Move it behind the interrupt or into a node or @task of its own; or make it idempotent and say "
            "so: # hitl: idempotent"
        ),
        {QuestionAsked: _effect_before, EffectInFinally: _in_finally},
        of_effects=True,
    ),
    Rule(
        "HT007",
        "effect-before-subgraph",
        _ERROR,
        "An effect on the world before a graph is called that asks",
        Message(
            "The calling node runs again from its first line when the graph it calls is answered, so this "
            "happens again."
        ),
        Message(
            "Move it behind the call or into a node of its own, or add the graph as a node; or say # hitl: idempotent"
        ),
        {QuestionAsked: _effect_before_graph},
        of_effects=True,
    ),
    Rule(
        "HT008",
        "interrupting-tools-together",
        _ERROR,
        "Tools in one ToolNode of which one asks",
        Message("One ToolNode runs the calls of a turn in one task: an answer to one tool runs the others again."),
        Message(
            "Send each tool call to a run of its own (Send), or use create_agent, which does; or keep such tools apart."
        ),
        {ToolNodeAdded: _tools_together},
    ),
    Rule(
        "HT009",
        "task-order",
        _ERROR,
        "Tasks in an order that isn't fixed",
        Message("Results of tasks are kept by the order of their calls, and this order is not fixed."),
        Message(
            "Call tasks in a fixed order (sorted(…)), decided by the input, by answers and by other tasks' results."
        ),
        {TaskCalled: _task_order},
    ),
    Rule(
        "HT010",
        "subgraph-reset",
        _WARNING,
        "A subgraph that forgets when it is entered again",
        Message("The subgraph clears what it knew each time it is entered, and with it what people answered."),
        Message("Clear in the parent before the first call, or only when the discussion really begins."),
        {SubgraphAdded: _subgraph_reset},
    ),
    Rule(
        "HT011",
        "checkpointer-off",
        _ERROR,
        "A graph that asks and has its checkpointer off",
        Message("checkpointer=False keeps nothing, so an interrupt in this graph can never be answered."),
        Message("Leave checkpointer out: the console gives its own, and a subgraph takes its parent's."),
        {GraphBuilt: _checkpointer_off},
    ),
    Rule(
        "HT012",
        "shown-is-not-used",
        _ERROR,
        "What is shown in a question isn't what is used afterwards",
        Message("This is worked out anew when the node runs again: what was shown and approved is not what is used."),
        Message("Work it out in a node or @task before this one, keep it in state, and show and use that."),
        {ShownValueUsed: _worked_out_anew},
        of_answers=True,
    ),
    Rule(
        "HT013",
        "wrong-exception",
        _WARNING,
        "InterruptedError instead of GraphInterrupt",
        Message(
            "InterruptedError is about system calls; interrupt() raises GraphInterrupt, which code must not catch."
        ),
        Message("Remove it; to continue after a rejection, look at the answer that interrupt() returns."),
        {QuestionAsked: _missed, ErrorRaised: _wrong_error},
    ),
    Rule(
        "HT014",
        "answer-executed",
        _ERROR,
        "An answer that is executed",
        Message("What someone typed as an answer is executed as code, as a command or as SQL."),
        Message("Compare the answer with what is allowed, and pass it as an argument or a bound parameter."),
        {OutsideCalled: _executed},
    ),
    Rule(
        "HT015",
        "interrupt-elsewhere",
        _ERROR,
        "A question from a thread of a pool",
        Message("interrupt() needs the context of its node, and a thread of a pool doesn't have it."),
        Message("Ask in the node itself, or use asyncio.to_thread, which takes the context along."),
        {AskedElsewhere: _elsewhere},
    ),
    Rule(
        "HT016",
        "subgraph-apart",
        _ERROR,
        "A graph that asks and is called as another thread",
        Message(
            "A thread_id of its own cuts the graph off from the node that calls it: its "
            "questions reach nobody, and the node continues without an answer."
        ),
        Message("Leave thread_id out, or pass the config that the node was given; or add the graph as a node."),
        {GraphRun: _own_thread},
    ),
)

RULES: Final[Mapping[str, Rule]] = {rule.id: rule for rule in _ALL}
"""Every rule by id."""
