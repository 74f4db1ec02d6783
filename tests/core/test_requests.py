"""What decisions amount to: the rules in `resolve`, against a slow model written apart from them (M8 to M10)."""

from __future__ import annotations

from dataclasses import replace
from itertools import permutations
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hitl_tui.core.errors import Refused
from hitl_tui.core.json_text import short_id
from hitl_tui.core.names import plain_name
from hitl_tui.core.policy import Terms
from hitl_tui.core.requests import (
    BY_RULE,
    OPTIONS,
    Decision,
    Kind,
    Outcome,
    Request,
    Verdict,
    check_decision,
    expiry_verdict,
    request_id,
    resolve,
)
from hitl_tui.core.supersession import Cause, Supersession

NOW = st.integers(0, 9).map(lambda minute: f"2025-03-01T09:0{minute}:00+00:00")
TERMS = st.builds(
    Terms,
    quorum=st.integers(1, 3),
    level=st.integers(0, 2),
    on_deadline=st.sampled_from(["reject", "approve"]),
    veto=st.booleans(),
)


def make(kind: Kind = Kind.TODO, **changes: Any) -> Request:
    plain = Request("req-1", "s1", 0, kind, "todo_001", "team", {"n": 1}, "d" * 64, options=OPTIONS[kind], risk="low")
    return replace(plain, **changes)


REQUESTS = st.builds(
    make,
    st.sampled_from(Kind),
    terms=TERMS,
    requester=st.sampled_from(["", "ann"]),
    deadline=st.just("") | NOW,
    risk=st.sampled_from(["low", "medium", "high", "", "harmless"]),
    about=st.sampled_from([{}, {"risk": "low"}, {"risk": "high"}, {"risk": 0}]),
    first_shown=st.just("") | NOW,
    superseded=st.sampled_from([None, None, None, *map(Supersession, Cause)]),
)
DECISIONS = st.builds(
    Decision,
    st.just("req-1"),
    st.sampled_from([Verdict.APPROVE, Verdict.APPROVE, Verdict.REJECT, Verdict.SKIP, Verdict.RETRY, Verdict.STOP]),
    st.sampled_from(["ann", "bob", "cid", "dan"]),
    st.sampled_from(["d" * 64, "d" * 64, "d" * 64, "e" * 64]),
    NOW,
    level=st.integers(0, 2),
    person=st.sampled_from(["", "ann", "bob", "cid"]),
)
HISTORIES = st.lists(DECISIONS, max_size=8)


def high(request: Request) -> bool:
    """Unless everything that it says of its risk is a word for less."""
    said = [word for word in (request.risk, request.about.get("risk", "")) if word]
    return not said or bool(set(said) - {"low", "medium"})


def approves_by_itself(request: Request) -> bool:
    harmless = request.kind is Kind.PLAN or not high(request)  # of a plan that nobody approved, high risk asks
    return request.terms.on_deadline == "approve" and Verdict.APPROVE in request.options and harmless


def end(request: Request) -> str:
    """When it expires; nobody's silence counts before they were asked."""
    return "" if approves_by_itself(request) and request.first_shown == "" else request.deadline


def counts(request: Request, decision: Decision) -> bool:
    """One sentence of the rules a line."""
    if decision.digest != request.digest:
        return False
    if decision.verdict not in request.options:
        return False
    if request.requester != "" and request.requester in (decision.by, voter(decision)):
        return False
    if decision.person == "" and (request.terms.quorum > 1 or request.terms.level > 0):
        return False
    vetoes = decision.verdict in ("reject", "skip", "stop") and request.terms.veto
    if decision.level < request.terms.level and not vetoes:
        return False
    return end(request) == "" or decision.at < end(request)


def voter(decision: Decision) -> str:
    return decision.person or decision.by


def people(request: Request, decisions: list[Decision], verdict: Verdict) -> list[str]:
    names: list[str] = []
    for decision in decisions:
        if decision.verdict == verdict and counts(request, decision) and voter(decision) not in names:
            names.append(voter(decision))
    return names


def model(request: Request, decisions: list[Decision], now: str) -> tuple[str, Verdict | None, list[str]]:
    """Look at the history as it stood after each decision; the first moment with enough people settles it."""
    if request.superseded:
        return "superseded", None, []
    for length in range(1, len(decisions) + 1):
        for verdict in Verdict:
            refusing = verdict in (Verdict.REJECT, Verdict.SKIP, Verdict.STOP)
            enough = 1 if refusing and request.terms.veto else request.terms.quorum
            names = people(request, decisions[:length], verdict)
            if len(names) >= enough:
                return ("rejected" if refusing else "approved"), verdict, names
    if end(request) != "" and not now < end(request):
        if approves_by_itself(request):
            return "expired", Verdict.APPROVE, []
        refusals = [v for v in (Verdict.REJECT, Verdict.STOP, Verdict.SKIP) if v in request.options]
        return "expired", refusals[0], []
    return "pending", None, []


@given(REQUESTS, HISTORIES, NOW)
def test_resolve_agrees_with_the_model(request: Request, decisions: list[Decision], now: str) -> None:
    outcome, verdict, names = model(request, decisions, now)
    found = resolve(request, decisions, now)
    assert (found.outcome, found.verdict) == (outcome, verdict)
    assert found.decided == (verdict is not None)
    if outcome == "pending":
        given_ = [len(people(request, decisions, v)) for v in Verdict if v not in ("reject", "skip", "stop")]
        assert found.needed == request.terms.quorum - max(given_)
        assert found.needed > 0
    else:
        assert [voter(d) for d in found.decisions] == names


@given(REQUESTS, HISTORIES, HISTORIES, NOW)
def test_what_is_settled_is_not_changed_by_what_comes_later(
    request: Request, decisions: list[Decision], later: list[Decision], now: str
) -> None:
    before = resolve(request, decisions, now)
    if before.outcome in (Outcome.APPROVED, Outcome.REJECTED, Outcome.SUPERSEDED):
        assert resolve(request, [*decisions, *later], "9999") == before


@given(REQUESTS, HISTORIES, DECISIONS, NOW)
def test_a_decision_is_let_through_exactly_when_it_counts_for_an_open_request(
    request: Request, earlier: list[Decision], decision: Decision, now: str
) -> None:
    open_ = model(request, earlier, now)[0] == "pending"
    said = voter(decision) in people(request, earlier, decision.verdict)
    seen = request.first_shown != "" or not high(request) or decision.verdict in ("reject", "skip", "stop")
    welcome = open_ and counts(request, decision) and not said and seen
    try:
        check_decision(request, earlier, decision, now)
    except Refused as refused:
        assert not welcome
        assert refused.reason in ("late", "repeated", "stale", "superseded", "unshown", "not_allowed")
        assert "\n" not in refused.message
    else:
        assert welcome
        assert len(people(request, [*earlier, decision], decision.verdict)) == 1 + len(
            people(request, earlier, decision.verdict)
        )


def said(verdict: Verdict, by: str, **changes: Any) -> Decision:
    return replace(Decision("req-1", verdict, by, "d" * 64, "2025-03-01T09:01:00+00:00", person=by), **changes)


def test_the_order_of_decisions_decides() -> None:
    request = make(terms=Terms(quorum=2, veto=False))
    voices = [said(Verdict.APPROVE, "ann"), said(Verdict.APPROVE, "bob"), said(Verdict.REJECT, "cid")]
    voices.append(said(Verdict.REJECT, "dan"))
    outcomes = {resolve(request, order, "2025").outcome for order in permutations(voices)}
    assert outcomes == {Outcome.APPROVED, Outcome.REJECTED}
    assert resolve(request, voices, "2025").outcome is Outcome.APPROVED
    assert resolve(request, voices[::-1], "2025").outcome is Outcome.REJECTED


@pytest.mark.parametrize(
    ("request_", "earlier", "decision", "now", "reason"),
    [
        (None, [], said(Verdict.APPROVE, "ann"), "2025", "unknown"),
        (make(superseded=Supersession(Cause.ADVANCED)), [], said(Verdict.APPROVE, "ann"), "2025", "superseded"),
        (make(deadline="2025-03"), [], said(Verdict.APPROVE, "ann"), "2025-03", "late"),
        (make(deadline="2025-03-01T09:01"), [], said(Verdict.APPROVE, "ann"), "2025-02", "late"),
        (make(), [said(Verdict.REJECT, "bob")], said(Verdict.APPROVE, "ann"), "2025", "late"),
        (make(), [said(Verdict.APPROVE, "ann")], said(Verdict.APPROVE, "ann"), "2025", "repeated"),
        (make(terms=Terms(2)), [said(Verdict.APPROVE, "ann")], said(Verdict.APPROVE, "ann"), "2025", "repeated"),
        (make(), [], said(Verdict.APPROVE, "ann", digest="x"), "2025", "stale"),
        (make(), [], said(Verdict.RESPOND, "ann"), "2025", "not_allowed"),
        (make(requester="ann"), [], said(Verdict.REJECT, "ann"), "2025", "not_allowed"),
        (make(terms=Terms(level=2)), [], said(Verdict.APPROVE, "ann", level=1), "2025", "not_allowed"),
        (make(risk="high"), [], said(Verdict.APPROVE, "ann"), "2025", "unshown"),
        (make(risk=""), [], said(Verdict.APPROVE, "ann"), "2025", "unshown"),
        (make(risk="low", about={"risk": "high"}), [], said(Verdict.APPROVE, "ann"), "2025", "unshown"),
        (make(Kind.EFFECT, risk="high"), [], said(Verdict.DO_AGAIN, "ann"), "2025", "unshown"),
    ],
)
def test_each_refusal_bears_its_name(
    request_: Request | None, earlier: list[Decision], decision: Decision, now: str, reason: str
) -> None:
    with pytest.raises(Refused) as refused:
        check_decision(request_, earlier, decision, now)
    assert refused.value.reason == reason


@pytest.mark.parametrize("kind", Kind)
def test_expiry_means_a_verdict_that_the_request_knows(kind: Kind) -> None:
    for on_deadline in ("reject", "approve"):
        request = make(kind, terms=Terms(on_deadline=on_deadline))
        assert expiry_verdict(request) in request.options
        approved = expiry_verdict(request) is Verdict.APPROVE
        assert approved == (on_deadline == "approve" and Verdict.APPROVE in request.options)


@pytest.mark.parametrize("risk", ["high", "", "harmless"])
@pytest.mark.parametrize("shown", ["", "2025-01"])
def test_silence_never_approves_what_is_of_high_or_unknown_risk(risk: str, shown: str) -> None:
    request = make(risk=risk, terms=Terms(deadline=1, on_deadline="approve"), deadline="2025-02", first_shown=shown)
    assert resolve(request, [], "2026").verdict is Verdict.REJECT
    assert expiry_verdict(request) is Verdict.REJECT


def test_a_deadline_that_approves_begins_when_the_question_is_shown() -> None:
    request = make(terms=Terms(deadline=1, on_deadline="approve"), deadline="2025-02")
    assert resolve(request, [], "2026").outcome is Outcome.PENDING
    assert resolve(replace(request, first_shown="2025-01"), [], "2026").verdict is Verdict.APPROVE
    assert resolve(replace(request, terms=Terms(deadline=1)), [], "2026").verdict is Verdict.REJECT


def test_what_a_standing_rule_allows_was_shown_when_the_rule_was_made() -> None:
    check_decision(make(risk="high"), [], said(Verdict.APPROVE, "rule 1", channel=BY_RULE), "2025")


@given(REQUESTS)
def test_requests_round_trip(request: Request) -> None:
    assert Request.from_dict(request.to_dict()) == request


@given(DECISIONS, st.none() | st.text() | st.lists(st.integers()))
def test_decisions_round_trip(decision: Decision, value: Any) -> None:
    decided = replace(decision, value=value, reason="확인", channel="console")
    assert Decision.from_dict(decided.to_dict()) == decided


def test_ids_of_sessions_without_a_lineage_stay_as_they_were() -> None:
    plain = request_id("s1", 0, "todo_001", 0, ["node", 3], "d")
    assert plain == "req-" + short_id("s1", 0, "todo_001", 0, ["node", 3], "d")
    lines = [request_id("s1", 0, "todo_001", 0, ["node", 3], "d", lineage) for lineage in ("s1-aa", "s1-bb")]
    assert len({plain, *lines}) == 3


def test_the_same_question_at_the_same_place_has_the_same_id() -> None:
    same = request_id("s1", 0, "todo_001", 0, ["node", 3], "d")
    assert same == request_id("s1", 0, "todo_001", 0, ("node", 3), "d")
    others = {
        request_id("s2", 0, "todo_001", 0, ["node", 3], "d"),
        request_id("s1", 1, "todo_001", 0, ["node", 3], "d"),
        request_id("s1", 0, "todo_002", 0, ["node", 3], "d"),
        request_id("s1", 0, "todo_001", 1, ["node", 3], "d"),
        request_id("s1", 0, "todo_001", 0, ["node", 4], "d"),
        request_id("s1", 0, "todo_001", 0, ["node", 3], "e"),
    }
    assert len(others - {same}) == 6


def decision(by: str, verdict: Verdict = Verdict.APPROVE, **more: Any) -> Decision:
    return Decision("req-1", verdict, by, "d" * 64, "2025-03-01T09:00:00+00:00", person=by, **more)


@pytest.mark.parametrize(("one", "other"), [("ops", "OPS"), ("ops", "ｏｐｓ"), ("straße", "STRASSE"), ("é", "e\u0301")])
def test_one_person_in_two_spellings_is_no_quorum(one: str, other: str) -> None:
    request = make(terms=Terms(quorum=2))
    assert resolve(request, [decision(one), decision(other)], "").outcome is Outcome.PENDING
    with pytest.raises(Refused) as refused:
        check_decision(request, [decision(one)], decision(other), "")
    assert refused.value.reason == "repeated"
    with pytest.raises(Refused) as refused:
        check_decision(make(requester=one), [], decision(other), "")
    assert refused.value.reason == "not_allowed"
    assert resolve(request, [decision(one), decision("kim")], "").outcome is Outcome.APPROVED


def test_only_verified_people_make_a_quorum_and_two_names_of_one_are_one() -> None:
    request = make(terms=Terms(quorum=2))
    ann = replace(decision("ann"), person="ops", proof="account", account="ops")
    eve = replace(ann, by="eve (claimed) through ops")
    claim, bob = replace(decision("bob"), person=""), decision("bob")
    assert resolve(request, [ann, eve, claim], "").needed == 1
    assert resolve(request, [ann, bob], "").outcome is Outcome.APPROVED
    with pytest.raises(Refused, match="ops already said approve; this needs another person") as refused:
        check_decision(request, [ann], eve, "")
    assert refused.value.reason == "repeated"
    with pytest.raises(Refused, match="This needs verified approvers, and bob isn't one") as refused:
        check_decision(request, [ann], claim, "")
    assert refused.value.reason == "not_allowed"
    with pytest.raises(Refused, match="asked for this"):
        check_decision(make(requester="ops"), [], eve, "")
    assert resolve(make(), [claim], "").outcome is Outcome.APPROVED


def test_two_approvers_of_one_account_are_one() -> None:
    request = make(terms=Terms(quorum=2))
    owner = replace(decision("ops"), person="ops", proof="account", account="ops")
    listed = replace(owner, by="me2", person="me2")
    assert resolve(request, [owner, listed], "").needed == 1
    with pytest.raises(Refused, match="already said approve"):
        check_decision(request, [owner], listed, "")
    with pytest.raises(Refused, match="asked for this"):
        check_decision(make(requester="me2"), [], listed, "")
    token = replace(decision("bob"), person="bob", proof="token", account="ops")
    assert resolve(request, [owner, token], "").outcome is Outcome.APPROVED, "a token is another person's"


def test_an_approver_listed_with_account_and_token_is_one_person() -> None:
    request = make(terms=Terms(quorum=2))
    token = replace(decision("ann"), proof="token", account="ops")
    account = replace(decision("ann"), proof="account", account="kim")
    for first, second in ((token, account), (account, token)):
        assert resolve(request, [first, second], "").needed == 1
        with pytest.raises(Refused, match="ann already said approve"):
            check_decision(request, [first], second, "")
    bob = replace(decision("bob"), proof="token", account="kim")
    assert resolve(request, [account, bob], "").outcome is Outcome.APPROVED


@pytest.mark.parametrize(
    ("one", "other"), [({"limit": 500}, {"limit": 5000}), (None, 1), ({"limit": 1}, None), (1, "1")]
)
def test_nobody_changes_the_value_that_others_approved(one: Any, other: Any) -> None:
    request = make(Kind.EXTERNAL, terms=Terms(quorum=2))
    first, second = replace(decision("ann"), value=one), replace(decision("bob"), value=other)
    with pytest.raises(Refused, match="ann approved this with") as refused:
        check_decision(request, [first], second, "")
    assert refused.value.reason == "not_allowed"
    assert resolve(request, [first, second], "").outcome is Outcome.PENDING
    check_decision(request, [first], replace(second, value=one), "")
    assert resolve(request, [first, replace(second, value=one)], "").outcome is Outcome.APPROVED


def test_a_verified_person_of_any_level_may_veto() -> None:
    request = make(terms=Terms(level=3))
    assert resolve(request, [decision("ann", Verdict.REJECT)], "").outcome is Outcome.REJECTED
    with pytest.raises(Refused, match="level 3; ann has level 1"):
        check_decision(request, [], decision("ann", level=1), "")
    with pytest.raises(Refused, match="verified"):
        check_decision(request, [], replace(decision("ann", Verdict.REJECT), person=""), "")
    strict = make(terms=Terms(level=3, veto=False))
    assert resolve(strict, [decision("ann", Verdict.REJECT)], "").outcome is Outcome.PENDING


def test_older_decisions_are_read_as_claims_and_what_they_settled_can_be_told_by_name() -> None:
    request = make(terms=Terms(quorum=2))
    old = [Decision.from_dict({**decision(name).to_dict(), "person": ""}) for name in ("ann", "bob")]
    assert "person" not in old[0].to_dict() and "proof" not in old[0].to_dict()
    assert resolve(request, old, "").outcome is Outcome.PENDING
    assert resolve(request, old, "", by_name=True).outcome is Outcome.APPROVED


def test_a_name_of_letters_that_look_alike_says_so() -> None:
    with pytest.raises(Refused, match=r"Answered already: 001 was approved by \u043eps \(U\+043E\) at "):
        check_decision(make(), [decision("\u043eps")], decision("ann"), "")
    assert [plain_name(name) for name in ("ops", "김 ops", "Зоя", "Ωps")] == ["ops", "김 ops", "Зоя", "Ωps (U+03A9)"]


def test_a_decision_of_an_older_record_is_read_as_it_was() -> None:
    old = decision("ann", Verdict.RESPOND).to_dict()
    assert "action" not in old and Decision.from_dict(old).said == "respond"
    assert Decision.from_dict(decision("ann", Verdict.RESPOND, action="edit").to_dict()).said == "edit"
