"""What the policy says of the calls that a team asks for from inside, as asked and as an answer changes them (M9, M10).

Rules with a `tool` are about such calls. They are looked at when the question is asked, which sets how many people
have to answer it, and again for every answer: arguments that were edited may fall under another rule. What is denied
stays denied, whoever answers.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from hitl_tui.core.policy import Policy, Risk, Rule, Ruling, Terms
from hitl_tui.core.requests import Request
from hitl_tui.core.safe_text import one_line
from hitl_tui.core.shapes.model import APPROVE, EDIT, Shape
from hitl_tui.core.shapes.plain import ActionShape
from hitl_tui.core.shapes.recognise import recognise
from hitl_tui.core.shapes.schema import problem
from hitl_tui.core.shapes.tools import BatchShape, CallShape, ToolCall

Call = tuple[str, Mapping[str, Any] | None]
"""A tool's name and its arguments; None where they were too many to be kept."""


def terms_for(policy: Policy, team: str, risk: Risk, terms: Terms, value: Any, schema: Any) -> Terms:
    """Return what it takes to answer a question: its TODO's terms, and those of the rules its calls fall under.

    Args:
        policy: the rules.
        team, risk: of the TODO that asks.
        terms: of the TODO.
        value, schema: what is asked, and the JSON Schema of the answer if there is one.
    """
    if not has_tools(policy):
        return terms
    for call in _asked(value, schema):
        found = _rule(policy, team, risk, call)
        if found is not None:
            terms = _stricter(terms, found[1].terms)
    return terms


def why_refused(policy: Policy, risk: Risk, request: Request, answer: Any) -> str:
    """Return why an answer may not let run what it lets run, in one sentence; empty when it may.

    Args:
        policy: the rules.
        risk: of the TODO that asks.
        request: what was asked, and what it took to answer.
        answer: the answer, JSON.
    """
    team, terms = request.source, request.terms
    value, schema = request.subject.get("value"), request.subject.get("schema")
    if not has_tools(policy):
        return ""
    whole = not is_cut(value)
    for call in calls_let_run(recognise(value, schema), answer) if whole else _asked(value, schema):
        found = _rule(policy, team, risk, call)
        if found is None:
            continue
        number, rule = found
        name = one_line(call[0], 60)
        if rule.decision is Ruling.DENY:
            return f"Rule {number} of the policy denies {name} with these arguments; it can only be refused."
        needs = _stricter(terms, rule.terms)
        if (needs.quorum, needs.level) != (terms.quorum, terms.level):
            people = "1 person" if needs.quorum == 1 else f"{needs.quorum} people"
            return (
                f"Rule {number} of the policy wants {people} of level {needs.level} for {name} with these arguments, "
                "and this question was asked for less; refuse it, or answer it with others."
            )
    return ""


def calls_in(shape: Shape) -> Iterator[Call]:
    """Yield the calls that a question is about, as they were asked for."""
    match shape:
        case CallShape():
            yield shape.call.name, shape.call.args
        case BatchShape():
            yield from ((call.name, call.args) for call in shape.calls)
        case ActionShape():
            yield shape.tool, shape.fields or {}


def calls_let_run(shape: Shape, answer: Any) -> Iterator[Call]:
    """Yield the calls that an answer lets run, with the arguments that they would run with."""
    match shape:
        case CallShape():
            alone = answer[0] if shape.listed and isinstance(answer, list) and answer else answer
            yield from _run(shape.call, alone)
        case BatchShape():
            listed = answer.get(shape.key) if shape.key and isinstance(answer, Mapping) else answer
            for call, decision in zip(shape.calls, listed if isinstance(listed, list) else (), strict=False):
                yield from _run(call, decision)
        case ActionShape():
            # Another action than to refuse is up to the tool: it counts as letting it run.
            if isinstance(answer, Mapping) and answer.get("action") != "reject":
                yield shape.tool, {**(shape.fields or {}), **{k: v for k, v in answer.items() if k != "action"}}


def _run(call: ToolCall, decision: Any) -> Iterator[Call]:
    if not isinstance(decision, Mapping):
        return
    if decision.get("type") == call.words[APPROVE]:
        yield call.name, call.args
    elif decision.get("type") == call.words[EDIT]:
        edited = decision.get("args" if call.inbox else "edited_action")
        if isinstance(edited, Mapping):
            name, args = edited.get("action" if call.inbox else "name"), edited.get("args")
            yield str(name), args if isinstance(args, Mapping) else {}


def is_cut(value: Any) -> bool:
    """Return whether a question was too large to be kept: how its parts begin stands in `shown`."""
    return isinstance(value, Mapping) and set(value) == {"cut", "shown", "sha256"}


def _asked(value: Any, schema: Any) -> Iterator[Call]:
    """Yield the calls that a question is about; of one that was cut without arguments, which every rule fits then."""
    if not is_cut(value):
        yield from calls_in(recognise(value, schema))
        return
    for name, _ in calls_in(recognise(value["shown"])):
        yield name, None


def has_tools(policy: Policy) -> bool:
    """Return whether any rule is about calls."""
    return any(rule.tool for rule in policy.rules)


def _rule(policy: Policy, team: str, risk: Risk, call: Call) -> tuple[int, Rule] | None:
    """Return the first rule about a call, with its number from 1; one whose arguments can't be judged fits."""
    name, arguments = call
    for number, rule in enumerate(policy.rules, start=1):
        if rule.about_call(team, risk, name) and (arguments is None or not problem(rule.arguments, dict(arguments))):
            return number, rule
    return None


def _stricter(one: Terms, other: Terms) -> Terms:
    """Return terms that fulfil both."""
    ends: Sequence[float] = [t.deadline for t in (one, other) if t.deadline]
    first = other if other.deadline and (not one.deadline or other.deadline < one.deadline) else one
    return replace(
        first,
        quorum=max(one.quorum, other.quorum),
        level=max(one.level, other.level),
        deadline=min(ends, default=0.0),
        veto=one.veto or other.veto,
    )
