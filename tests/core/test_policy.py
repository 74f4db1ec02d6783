"""Which rule decides, and what the modes leave to people (C4)."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hitl_tui.core.policy import Judgement, Mode, Policy, Risk, Rule, Ruling, Terms

RULES = st.builds(
    Rule,
    st.sampled_from(Ruling),
    team=st.sampled_from(["", "search_team", "command_team"]),
    risk=st.sampled_from(["", *Risk]).map(str),
    command=st.sampled_from(["", "clean-logs"]),
    terms=st.builds(Terms, quorum=st.integers(1, 3), level=st.integers(0, 2)),
)
POLICIES = st.lists(RULES, max_size=5).map(lambda rules: Policy(tuple(rules)))
CASES = (
    st.sampled_from(Mode),
    st.sampled_from(["search_team", "command_team", "other"]),
    st.sampled_from(Risk),
    st.sampled_from(["", "clean-logs", "pay"]),
)


def applies(rule: Rule, team: str, risk: Risk, command: str) -> bool:
    asked = [(rule.team, team), (rule.risk, risk.value), (rule.command, command)]
    return all(want in ("", have) for want, have in asked)


@given(POLICIES, *CASES)
def test_the_first_rule_that_matches_decides(policy: Policy, mode: Mode, team: str, risk: Risk, command: str) -> None:
    judged = policy.judge(mode, team, risk, command)
    matching = [n for n, rule in enumerate(policy.rules, 1) if applies(rule, team, risk, command)]
    assert judged.rule == (matching[0] if matching else 0)
    if matching:
        rule = policy.rules[matching[0] - 1]
        assert judged.terms == rule.terms
        asks_anyway = mode is Mode.STEP and rule.decision is Ruling.ALLOW
        assert judged.ruling == (Ruling.ASK if asks_anyway else rule.decision)


@given(POLICIES, *CASES)
def test_step_mode_lets_nothing_pass_unasked(policy: Policy, mode: Mode, team: str, risk: Risk, command: str) -> None:
    assert policy.judge(Mode.STEP, team, risk, command).ruling is not Ruling.ALLOW
    denied = policy.judge(mode, team, risk, command).ruling is Ruling.DENY
    assert denied == (policy.judge(Mode.STEP, team, risk, command).ruling is Ruling.DENY)


@pytest.mark.parametrize("mode", Mode)
@pytest.mark.parametrize("risk", Risk)
def test_without_rules_only_low_risk_passes_and_never_in_step_mode(mode: Mode, risk: Risk) -> None:
    ruling = Ruling.ALLOW if risk is Risk.LOW and mode is not Mode.STEP else Ruling.ASK
    assert Policy().judge(mode, "any", risk) == Judgement(ruling, Terms(), 0)


@given(
    st.builds(
        Terms,
        quorum=st.integers(1, 9),
        level=st.integers(0, 9),
        deadline=st.floats(0, 1e6),
        on_deadline=st.sampled_from(["reject", "approve"]),
        veto=st.booleans(),
    )
)
def test_terms_round_trip(terms: Terms) -> None:
    assert Terms.from_dict(terms.to_dict()) == terms


def test_missing_terms_are_one_approver_without_deadline() -> None:
    assert Terms.from_dict({}) == Terms(quorum=1, level=0, deadline=0.0, on_deadline="reject", veto=True)


@given(st.lists(RULES, max_size=3), st.lists(RULES, max_size=3))
def test_the_version_changes_with_the_rules_and_only_then(one: list[Rule], other: list[Rule]) -> None:
    assert (Policy(tuple(one)).version == Policy(other).version) == (one == other)
