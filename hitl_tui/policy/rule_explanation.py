"""Which rule of a policy applies to something, and why each other one doesn't."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from hitl_tui.core.json_types import Json
from hitl_tui.core.messages import Message
from hitl_tui.core.policy import Facts, Fit, Judgement, Mode, Of, Policy, Rule, Ruling, strictness
from hitl_tui.core.requests import Kind, Request


@dataclass(frozen=True, slots=True)
class Tried:
    """A rule that was tried.

    Args:
        number: its place, from 1.
        rule: the rule.
        fit: whether it is about what is asked.
        why: which condition isn't met, or can't be told, in one sentence; empty where all are.
        reached: no rule before it decided alone.
    """

    number: int
    rule: Rule
    fit: Fit
    why: str
    reached: bool

    def to_dict(self) -> dict[str, Json]:
        """Return it as JSON values."""
        return {
            "rule": self.number,
            "name": self.rule.name,
            "decision": self.rule.decision.value,
            "fit": self.fit.value,
            "why": self.why,
            "reached": self.reached,
        }


@dataclass(frozen=True, slots=True)
class Explanation:
    """What a policy says of something.

    Args:
        facts: what its rules looked at.
        judgement: what has to happen.
        tried: its rules, in order.
    """

    facts: Facts
    judgement: Judgement
    tried: tuple[Tried, ...]


def explain(policy: Policy, facts: Facts, mode: Mode) -> Explanation:
    """Return what a policy says of something in a mode, and how each of its rules comes to that."""
    tried, reached = list[Tried](), True
    for number, rule in enumerate(policy.rules, start=1):
        match = rule.match(facts)
        tried.append(Tried(number, rule, match.fit, _why(rule, facts, match.condition), reached))
        reached = reached and match.fit is not Fit.YES
    return Explanation(facts, policy.judge_facts(facts, mode), tuple(tried))


def explain_inside(
    policy: Policy, request: Request, step: Facts, mode: Mode
) -> tuple[Explanation, tuple[Explanation, ...]]:
    """Return what a policy says of what a team asks from inside a step, and of each call that it asks about.

    It is asked whatever the rules say, unless one denies a call: then the answer that lets it run is refused. The first
    of these is that of the call that decides; of a question about no call, that of its step.

    Args:
        policy: the rules.
        request: what is asked.
        step: what rules look at in the step that asks.
        mode: the session's.
    """
    from hitl_tui.core.interrupts.tool_permissions import asked_calls, terms_for, tools_in

    value, schema = request.subject.get("value"), request.subject.get("schema")
    of_step = explain(policy, step, mode)
    calls = tuple(
        explain(policy, Facts(Of.TOOL, step.team, step.risk, tool=tool, arguments=arguments), mode)
        for tool, arguments in asked_calls(value, schema, tools_in(policy))
    )
    decides = max(calls, key=lambda one: (strictness(one.judgement), bool(one.judgement.rule)), default=of_step)
    terms = terms_for(policy, step.team, step.risk, of_step.judgement.terms, value, schema)
    return replace(decides, judgement=replace(decides.judgement, terms=terms)), calls


def facts_of(request: Request) -> Facts:
    """Return what rules look at in a request."""
    subject = request.subject
    if request.kind is Kind.EXTERNAL:
        arguments = subject.get("arguments")
        return Facts(Of.STEP, agent=subject["agent"], action=subject["action"], arguments=arguments)
    if request.kind in (Kind.PLAN, Kind.PROPOSAL):
        return Facts(Of(request.kind.value), risk=request.risk_class)
    arguments = subject.get("arguments")
    command = str((arguments or {}).get("command", ""))
    return Facts.of_todo(request.source, request.risk_class, command, arguments)


_KINDS: Mapping[Of, str] = {
    Of.TODO: Message("a step of a session"),
    Of.TOOL: Message("a call of a tool within a session"),
    Of.STEP: Message("a step outside of sessions"),
    Of.PLAN: Message("a plan"),
    Of.PROPOSAL: Message("a proposal"),
}


def _why(rule: Rule, facts: Facts, condition: str) -> str:
    if not condition:
        return ""
    if condition == "arguments":
        return _why_arguments(rule, facts)
    wanted, found = getattr(rule, condition), getattr(facts, condition)
    if not wanted and condition == "tool":
        return Message("it names no tool, and this is {}", _KINDS[facts.of])
    if condition == "request" and not wanted:
        return Message("it is for steps, and this is {}", _KINDS[facts.of])
    if not wanted:
        return Message("it allows, and names neither agent nor action, as it takes to allow {}", _KINDS[facts.of])
    foreign = {Of.STEP: ("team", "command", "tool", "request"), Of.TODO: ("agent", "action", "tool", "request")}
    if condition in foreign.get(facts.of, ("agent", "action", "request")):
        return Message("it is for {} {}, and this is {}", condition, wanted, _KINDS[facts.of])
    return Message("it is for {} {}, and this has {}", condition, wanted, found or "-")


def _why_arguments(rule: Rule, facts: Facts) -> str:
    from hitl_tui.core.interrupts.json_schema import fits, is_strange, problem

    if facts.arguments is None:
        said = Message("the arguments aren't known")
    elif is_strange(rule.arguments, dict(facts.arguments)):
        said = Message("an argument lacks, or is of a type that its schema doesn't speak about")
    elif fits(rule.arguments, dict(facts.arguments)) is None:
        said = Message(
            "its schema can't be looked through: a pattern could take too long, or a reference leads nowhere"
        )
    else:
        return Message("the arguments don't fit: {}", problem(rule.arguments, dict(facts.arguments)))
    return Message("{}, so it doesn't allow", said) if rule.decision is Ruling.ALLOW else Message("{}, so it may", said)
