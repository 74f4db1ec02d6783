"""What the policy says of the calls that a team asks for from inside, as asked and as an answer changes them (M9, M10).

Rules with a `tool` are about such calls. They are looked at when the question is asked, which sets how many people
have to answer it, and again for every answer: arguments that were edited may fall under another rule. What is denied
stays denied, whoever answers.

What can't be judged falls under every rule that could be about it, and the strictest of those count: a call whose
arguments aren't known, and one with an argument of another type than a rule's JSON Schema speaks about. The text "5000"
falls under a rule about numbers from 1000, since the tool may well read it as one.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from hitl_tui.core.policy import Policy, Risk, Rule, Ruling, Terms
from hitl_tui.core.requests import Request
from hitl_tui.core.safe_text import one_line
from hitl_tui.core.shapes.kinds import is_strange
from hitl_tui.core.shapes.letting import asked_calls, calls_let_run
from hitl_tui.core.shapes.naming import Call
from hitl_tui.core.shapes.schema import problem


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
    for call in asked_calls(value, schema, _tools(policy)):
        for _, rule in _rules(policy, team, risk, call):
            terms = _stricter(terms, rule.terms)
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
    for call in calls_let_run(value, schema, answer, _tools(policy)):
        found = list(_rules(policy, team, risk, call))
        name = one_line(call[0], 60)
        denying = next((number for number, rule in found if rule.decision is Ruling.DENY), 0)
        if denying and call[1] is None:
            return (
                f"Rule {denying} of the policy denies {name}, which this answer may let run; "
                "refuse it plainly (a rejection, or false), or stop the step."
            )
        if denying:
            return f"Rule {denying} of the policy denies {name} with these arguments; it can only be refused."
        for number, rule in found:
            needs = _stricter(terms, rule.terms)
            if (needs.quorum, needs.level) != (terms.quorum, terms.level):
                people = "1 person" if needs.quorum == 1 else f"{needs.quorum} people"
                return (
                    f"Rule {number} of the policy wants {people} of level {needs.level} for {name} with these "
                    "arguments, and this question was asked for less; refuse it, or answer it with others."
                )
    return ""


def has_tools(policy: Policy) -> bool:
    """Return whether any rule is about calls."""
    return any(rule.tool for rule in policy.all_rules)


def _tools(policy: Policy) -> frozenset[str]:
    return frozenset(rule.tool for rule in policy.all_rules if rule.tool)


def _rules(policy: Policy, team: str, risk: Risk, call: Call) -> Iterator[tuple[int, Rule]]:
    """Yield the rules about a call, with their numbers from 1: the first that fits it, and before that all that may.

    Where another policy holds beside, its rules about the call as well: of all of them the strictest counts.
    """
    yield from _own_rules(policy, team, risk, call)
    if policy.beside is not None:
        yield from _rules(policy.beside, team, risk, call)


def _own_rules(policy: Policy, team: str, risk: Risk, call: Call) -> Iterator[tuple[int, Rule]]:
    name, arguments = call
    for number, rule in enumerate(policy.rules, start=1):
        if not rule.about_call(team, risk, name):
            continue
        if not rule.arguments:
            yield number, rule
            return
        if arguments is None or is_strange(rule.arguments, dict(arguments)):
            yield number, rule
        elif not problem(rule.arguments, dict(arguments)):
            yield number, rule
            return


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
