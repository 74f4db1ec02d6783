"""What another policy would have made of what was asked, allowed or denied under the one of then."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from hitl_tui.core.events import after_seconds
from hitl_tui.core.json_types import Json
from hitl_tui.core.policy import Facts, Judgement, Mode, Policy, Risk, Ruling, Terms
from hitl_tui.core.requests import Kind, Outcome, Resolution, Verdict, resolve
from hitl_tui.ledger.records import RequestView


@dataclass(frozen=True, slots=True)
class Recorded:
    """Something that a policy ruled on.

    Args:
        source: `session` or `task`.
        stream: the session's or the task's id.
        name: what people call it: `todo_001`, `deploy.3`.
        what: what it is about, in a line.
        at: when, ISO 8601, UTC.
        facts: what rules look at.
        mode: the session's then.
        before: what was said then.
        view: its request; None where nobody was asked.
        asks_always: it asked of itself, whatever a rule allows.
        deadline: seconds, where no rule gives any; 0 for never.
    """

    source: str
    stream: str
    name: str
    what: str
    at: str
    facts: Facts
    mode: Mode
    before: Judgement
    view: RequestView | None = None
    asks_always: bool = False
    deadline: float = 0.0

    @property
    def outcome(self) -> str:
        """How it stands: what became of its request, or what the policy said."""
        if self.view is not None:
            return _became(self.view.resolution)
        return {Ruling.ALLOW: "allowed", Ruling.DENY: "denied"}.get(self.before.ruling, "")


@dataclass(frozen=True, slots=True)
class Difference:
    """Something that another policy would have ruled on differently.

    Args:
        recorded: what was recorded.
        after: what it would have said.
        outcome: what the recorded decisions would have amounted to; empty where nobody was asked for any.
        needed: how many approvals would be missing.
    """

    recorded: Recorded
    after: Judgement
    outcome: str
    needed: int = 0

    def to_dict(self) -> dict[str, Json]:
        """Return it as JSON values."""
        recorded, view = self.recorded, self.recorded.view
        return {
            "source": recorded.source,
            "stream": recorded.stream,
            "name": recorded.name,
            "what": recorded.what,
            "at": recorded.at,
            "request": view.request.id if view is not None else "",
            "by": [d.by for d in view.resolution.decisions] if view is not None else [],
            "before": {**_said(recorded.before), "outcome": recorded.outcome},
            "after": {**_said(self.after), "outcome": self.outcome, "needed": self.needed},
        }


def replay(policy: Policy, recorded: Iterable[Recorded], now: str) -> list[Difference]:
    """Return what a policy would have ruled differently, in the order given.

    Args:
        policy: the other policy.
        recorded: what was ruled on.
        now: until when people could have decided, ISO 8601, UTC.
    """
    found = ((one, _judge(policy, one)) for one in recorded)
    return [_difference(one, after, now) for one, after in found if _differs(one.before, after)]


def _judge(policy: Policy, one: Recorded) -> Judgement:
    judged = policy.judge_facts(one.facts, one.mode)
    if one.view is not None and one.view.request.kind is Kind.INTERRUPT:
        judged = _judge_interrupt(policy, one, judged)
    elif one.asks_always and judged.ruling is Ruling.ALLOW:
        judged = replace(judged, ruling=Ruling.ASK)
    terms = judged.terms if judged.terms.deadline else replace(judged.terms, deadline=one.deadline)
    return replace(judged, terms=replace(terms, on_deadline="reject") if one.facts.risk is Risk.HIGH else terms)


def _judge_interrupt(policy: Policy, one: Recorded, judged: Judgement) -> Judgement:
    """Return what it takes to answer a question from inside a step: that is asked whatever its step is."""
    from hitl_tui.core.interrupts.tool_permissions import denying_rule, terms_for

    assert one.view is not None, "a question has a request"
    subject, team, risk = one.view.request.subject, one.facts.team, one.facts.risk
    value, schema = subject.get("value"), subject.get("schema")
    terms = terms_for(policy, team, risk, judged.terms, value, schema)
    denying = denying_rule(policy, team, risk, value, schema)
    return Judgement(Ruling.DENY if denying else Ruling.ASK, terms, denying or judged.rule)


def _differs(before: Judgement, after: Judgement) -> bool:
    if before.ruling is not Ruling.ASK or after.ruling is not Ruling.ASK:
        return before.ruling is not after.ruling
    return _counting(before.terms) != _counting(after.terms)


def _counting(terms: Terms) -> Terms:
    """Return terms without what has no effect in them."""
    return terms if terms.deadline else replace(terms, on_deadline="reject")


def _difference(one: Recorded, after: Judgement, now: str) -> Difference:
    if after.ruling is not Ruling.ASK:
        return Difference(one, after, "allowed" if after.ruling is Ruling.ALLOW else "denied")
    if one.view is None or one.view.resolution.outcome is Outcome.SUPERSEDED:
        return Difference(one, after, "", max(1, after.terms.quorum))
    request, terms = one.view.request, after.terms
    deadline = after_seconds(request.opened_at, terms.deadline) if terms.deadline else ""
    found = resolve(replace(request, terms=terms, deadline=deadline), one.view.decisions, now)
    return Difference(one, after, _became(found), found.needed)


def _became(found: Resolution) -> str:
    """Return what became of a request: its outcome, and where it was skipped or stopped that."""
    if found.outcome is not Outcome.REJECTED:
        return found.outcome.value
    return {Verdict.SKIP: "skipped", Verdict.STOP: "stopped"}.get(found.verdict or Verdict.REJECT, found.outcome.value)


def _said(judgement: Judgement) -> dict[str, Json]:
    return {"ruling": judgement.ruling.value, "rule": judgement.rule, **judgement.terms.to_dict()}


def counts(differences: Sequence[Difference]) -> dict[str, int]:
    """Return how many would have been ruled on how: `allowed`, `asked`, `denied` instead, or asked on other `terms`."""
    found = dict.fromkeys(("allowed", "asked", "denied", "terms"), 0)
    words = {Ruling.ALLOW: "allowed", Ruling.DENY: "denied"}
    for one in differences:
        asked = "terms" if one.recorded.before.ruling is Ruling.ASK else "asked"
        found[words.get(one.after.ruling, asked)] += 1
    return found
