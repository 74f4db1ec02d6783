"""Which rule decides, and what the modes leave to people (C4)."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hitl_tui.core.policy import Facts, Fit, Judgement, Match, Mode, Of, Policy, Risk, Rule, Ruling, Terms, is_like

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


GIT = Rule(
    Ruling.ALLOW, agent="claude-*", action="Bash", arguments={"properties": {"command": {"pattern": "^git status$"}}}
)
NO_RM = Rule(
    Ruling.DENY, action="Bash", arguments={"properties": {"command": {"pattern": "rm "}}, "required": ["command"]}
)


@pytest.mark.parametrize(
    ("agent", "action", "arguments", "ruling", "rule"),
    [
        ("claude-code", "Bash", {"command": "git status"}, Ruling.ALLOW, 1),
        ("claude-code", "bASH", {"command": "git status"}, Ruling.ASK, 0),  # nothing is allowed that isn't named so
        ("claude-code", "bASH", {"command": "rm -rf /"}, Ruling.DENY, 2),
        ("claude-code", "Bash", {"command": "git status\n"}, Ruling.ASK, 0),  # `$` is the end, not a line's
        ("claude-code", "Bash", {"command": "git status; rm -rf /"}, Ruling.DENY, 2),
        ("claude-code", "Bash", {"command": ["git status"]}, Ruling.DENY, 2),  # of a type that no rule speaks of
        ("claude-code", "Bash", None, Ruling.DENY, 2),  # what isn't known is never allowed, and may be denied
        ("claude-code", "Bash", {"cmd": "rm -rf /"}, Ruling.ASK, 0),  # what the rule restricts isn't there
        ("claude-code", "Bash", {}, Ruling.ASK, 0),
        ("other", "Bash", {"command": "git status"}, Ruling.ASK, 0),
        ("claude-code", "Write", {"command": "git status"}, Ruling.ASK, 0),
    ],
)
def test_rules_for_steps_look_at_agent_action_and_arguments(
    agent: str, action: str, arguments: dict[str, object] | None, ruling: Ruling, rule: int
) -> None:
    judged = Policy([GIT, NO_RM]).judge_step(agent, action, arguments)
    assert (judged.ruling, judged.rule) == (ruling, rule)


@pytest.mark.parametrize(
    ("pattern", "text", "fits"),
    [
        ("DROP TABLE [prod].*", "DROP TABLE [prod].customers", True),
        ("DROP TABLE [prod].*", "DROP TABLE p.customers", False),
        ("read?", "read?", True),
        ("read?", "readX", False),
        ("*", "", True),
        ("a*a", "a", False),
        ("a*a", "aa", True),
        ("a*b*c", "a-c-b-c", True),
        ("a*b*c", "acb", False),
        ("*b", "ab\nb", True),
        ("", "", True),
    ],
)
def test_only_a_star_stands_for_other_text(pattern: str, text: str, fits: bool) -> None:
    assert is_like(text, pattern) is fits


def test_what_a_rule_says_may_be_lacking_may() -> None:
    named = {"path": {"pattern": "^docs/"}, "limit": {"maximum": 9}}
    for required, ruling in ((None, Ruling.ASK), (["path"], Ruling.ALLOW), ([], Ruling.ALLOW)):
        schema = {"properties": named} if required is None else {"properties": named, "required": required}
        rule = Rule(Ruling.ALLOW, action="read", arguments=schema)
        assert Policy([rule]).judge_step("a", "read", {"path": "docs/a.md"}).ruling is ruling


NESTED = "^git (status|diff)( [a-z]+)*$"
"""A pattern that could take too long, so it isn't looked for."""


@pytest.mark.parametrize(
    "arguments",
    [
        {"properties": {"command": {"pattern": NESTED}}},
        {"properties": {"command": {"anyOf": [{"const": "x"}, {"pattern": NESTED}]}}},
        {"properties": {"command": {"not": {"pattern": NESTED}}}},
        {"patternProperties": {"^(c+)+$": {"const": "ls"}}},
        {"properties": {"command": {"$ref": "#/nowhere"}}},
    ],
)
def test_what_cannot_be_found_out_is_never_allowed_and_may_be_denied(arguments: dict[str, object]) -> None:
    call = {"command": "rm -rf /"}
    for decision, ruling in ((Ruling.ALLOW, Ruling.ASK), (Ruling.DENY, Ruling.DENY)):
        rule = Rule(decision, action="Bash", arguments=arguments)
        assert Policy([rule]).judge_step("a", "Bash", call).ruling is ruling


def test_what_is_wrong_elsewhere_is_so_whatever_cannot_be_found_out() -> None:
    rule = Rule(
        Ruling.DENY, arguments={"properties": {"tool": {"const": "x"}, "command": {"pattern": NESTED}}}, action="*"
    )
    assert Policy([rule]).judge_step("a", "Bash", {"tool": "y", "command": "ls"}).ruling is Ruling.ASK


def test_of_a_rule_that_only_may_fit_and_what_follows_the_stricter_counts() -> None:
    two = Rule(Ruling.ASK, action="pay", arguments={"properties": {"eur": {"minimum": 100}}}, terms=Terms(quorum=2))
    rest = Rule(Ruling.ASK, action="pay", terms=Terms(level=3))
    judged = Policy([two, rest]).judge_step("a", "pay", {"eur": "100"})
    assert (judged.ruling, judged.terms.quorum, judged.terms.level) == (Ruling.ASK, 2, 3)
    assert Policy([two, rest]).judge_step("a", "pay", {"eur": 99}).terms == rest.terms


def test_what_allows_steps_of_sessions_allows_nothing_outside_of_them() -> None:
    assert Policy([Rule(Ruling.ALLOW)]).judge_step("a", "b", {}).ruling is Ruling.ASK
    assert Policy([Rule(Ruling.ALLOW, action="*")]).judge_step("a", "b", {}).ruling is Ruling.ALLOW


def test_rules_for_a_team_look_at_its_arguments() -> None:
    rule = Rule(Ruling.DENY, team="pay", arguments={"properties": {"eur": {"minimum": 100}}})
    assert Policy([rule]).judge(Mode.RISK, "pay", Risk.HIGH, arguments={"eur": 100}).ruling is Ruling.DENY
    assert Policy([rule]).judge(Mode.RISK, "pay", Risk.HIGH, arguments={"eur": 99}).ruling is Ruling.ASK


def wrapped(kind: str, given: dict[str, Any]) -> dict[str, Any]:
    """Return the exact input of a step that was given something."""
    programs = {"programs": {"bank.py": "5f"}}
    return {
        "own": given,
        "call": {"calls": "bank.py:pay", "input": given, **programs},
        "graph": {"input": given, "config": {}, **programs},
        "command": {"command": "pay", "parameters": given, "argv": ["pay"], "preview": [], "timeout": 9.0, **programs},
    }[kind]


TO_MALLORY: dict[str, Any] = {"properties": {"to": {"enum": ["mallory"]}}, "required": ["to"]}
LARGE: dict[str, Any] = {"properties": {"amount": {"minimum": 1000}}}


@pytest.mark.parametrize("kind", ["own", "call", "graph", "command"])
@pytest.mark.parametrize(
    ("given", "rule"),
    [({"to": "mallory", "amount": 20}, 1), ({"to": "fay", "amount": 5000}, 2), ({"to": "fay", "amount": 20}, 3)],
)
def test_rules_are_held_against_what_people_give(kind: str, given: dict[str, Any], rule: int) -> None:
    policy = Policy(
        [Rule(Ruling.DENY, arguments=TO_MALLORY), Rule(Ruling.ASK, arguments=LARGE, terms=Terms(2)), Rule(Ruling.ALLOW)]
    )
    judged = policy.judge(Mode.RISK, "pay", Risk.HIGH, arguments=wrapped(kind, given))
    assert (judged.rule, judged.ruling) == (rule, policy.rules[rule - 1].decision)


def within(part: str, schema: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"properties": {part: schema}, **more}


@pytest.mark.parametrize(("kind", "part"), [("call", "input"), ("graph", "input"), ("command", "parameters")])
def test_a_rule_for_the_exact_input_still_denies_and_asks(kind: str, part: str) -> None:
    policy = Policy(
        [
            Rule(Ruling.DENY, arguments=within(part, TO_MALLORY, required=[part])),
            Rule(Ruling.ASK, arguments=within(part, LARGE), terms=Terms(quorum=2)),
            Rule(Ruling.ALLOW),
        ]
    )
    rules = [
        policy.judge(Mode.RISK, "pay", Risk.HIGH, arguments=wrapped(kind, given)).rule
        for given in ({"to": "mallory"}, {"to": "fay", "amount": 5000}, {"to": "fay", "amount": 20})
    ]
    assert rules == [1, 2, 3]


@pytest.mark.parametrize(
    "schema",
    [
        {"not": within("input", TO_MALLORY, required=["input"])},
        {"$ref": "#/$defs/all", "$defs": {"all": {"not": within("input", TO_MALLORY, required=["input"])}}},
        within("input", {"properties": {"amount": {"maximum": 100}}, "required": ["amount"]}, required=[]),
        within("calls", {"const": "bank.py:other"}, required=[]),
    ],
)
def test_what_was_allowed_by_the_exact_input_is_allowed_no_more_widely(schema: dict[str, Any]) -> None:
    arguments = wrapped("call", {"to": "mallory", "amount": 5000})
    rule = Rule(Ruling.ALLOW, arguments=schema)
    assert Policy([rule]).judge(Mode.RISK, "pay", Risk.HIGH, arguments=arguments).ruling is Ruling.ASK


def test_a_parameter_with_the_name_of_a_part_of_the_exact_input_is_the_parameter() -> None:
    texts = {"properties": {"input": {"pattern": "secret"}}, "required": ["input"]}
    short = {"properties": {"timeout": {"maximum": 5}}, "required": ["timeout"]}
    for kind, schema, values, fits in (
        ("call", texts, {"input": "a secret"}, True),
        ("call", texts, {"input": "hello"}, False),
        ("command", short, {"timeout": 3}, True),
        ("command", short, {"timeout": 7}, False),
    ):
        facts = Facts.of_todo("t", Risk.HIGH, arguments=wrapped(kind, values))
        found = {
            decision: Rule(decision, arguments=schema).match(facts).fit for decision in (Ruling.DENY, Ruling.ALLOW)
        }
        assert found == dict.fromkeys(found, Fit.YES if fits else Fit.NO), (kind, values)


@pytest.mark.parametrize(
    ("rule", "condition"),
    [
        (Rule(Ruling.ASK, team="search_team"), "team"),
        (Rule(Ruling.ASK, tool="pay"), "tool"),
        (Rule(Ruling.ASK, risk="low"), "risk"),
        (Rule(Ruling.ASK, agent="x", action="y"), "agent"),
        (Rule(Ruling.ASK, action="y"), "action"),
        (Rule(Ruling.ASK, action="Bash", arguments={"required": ["x"]}), "arguments"),
        (Rule(Ruling.ALLOW), "agent"),
    ],
)
def test_a_rule_says_which_of_its_conditions_is_not_met(rule: Rule, condition: str) -> None:
    facts = Facts(Of.STEP, agent="claude-code", action="Bash", arguments={"command": "ls"})
    assert rule.match(facts) == Match(Fit.NO, condition)


def test_a_rule_round_trips_with_all_that_it_says() -> None:
    rule = Rule(Ruling.DENY, agent="a*", action="b", arguments={"required": ["x"]}, name="no x", terms=Terms(quorum=2))
    assert Rule.from_dict(rule.to_dict()) == rule
