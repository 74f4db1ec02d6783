"""Which rule applies to something, and which condition each other rule lacks."""

from __future__ import annotations

import pytest

from hitl_tui.core.policy import Facts, Fit, Mode, Of, Policy, Risk, Rule, Ruling, Terms
from hitl_tui.policy.rule_explanation import explain

RULES = Policy(
    [
        Rule(Ruling.DENY, team="pay"),
        Rule(Ruling.ASK, agent="billing"),
        Rule(Ruling.ASK, action="drop*"),
        Rule(Ruling.DENY, action="Bash", arguments={"properties": {"command": {"pattern": "^rm "}}}),
        Rule(Ruling.ALLOW),
        Rule(Ruling.ASK, action="Bash", name="shells", terms=Terms(quorum=2)),
        Rule(Ruling.DENY),
    ]
)
BASH = Facts(Of.STEP, agent="claude-code", action="Bash", arguments={"command": "ls"})


def test_each_rule_says_which_condition_is_not_met_and_one_applies() -> None:
    found = explain(RULES, BASH, Mode.STEP)
    assert (found.judgement.ruling, found.judgement.rule, found.judgement.terms.quorum) == (Ruling.ASK, 6, 2)
    assert [one.fit for one in found.tried] == [Fit.NO] * 5 + [Fit.YES] * 2
    assert [one.reached for one in found.tried] == [True] * 6 + [False]
    assert [one.why for one in found.tried] == [
        "it is for team pay, and this is a step outside of sessions",
        "it is for agent billing, and this has claude-code",
        "it is for action drop*, and this has Bash",
        "the arguments don't fit: command can't be used: must match the pattern ^rm .",
        "it allows, and names neither agent nor action, as it takes to allow a step outside of sessions",
        "",
        "",
    ]


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (None, "the arguments aren't known, so it may"),
        ({"command": 7}, "an argument lacks, or is of a type that its schema doesn't speak about, so it may"),
    ],
)
def test_what_cannot_be_told_is_said(arguments: dict[str, object] | None, says: str) -> None:
    found = explain(RULES, Facts(Of.STEP, agent="a", action="Bash", arguments=arguments), Mode.STEP)
    assert (found.tried[3].fit, found.tried[3].why) == (Fit.MAYBE, says)
    assert found.judgement.ruling is Ruling.DENY


def test_steps_of_sessions_and_calls_of_tools_have_their_own_words() -> None:
    rules = Policy([Rule(Ruling.ASK, agent="x"), Rule(Ruling.ASK, tool="pay"), Rule(Ruling.ASK, risk="low")])
    todo = explain(rules, Facts(Of.TODO, "search_team", Risk.HIGH), Mode.STEP)
    assert [one.why for one in todo.tried] == [
        "it is for agent x, and this is a step of a session",
        "it is for tool pay, and this is a step of a session",
        "it is for risk low, and this has high",
    ]
    call = explain(rules, Facts(Of.TOOL, "search_team", Risk.HIGH, tool="pay"), Mode.STEP)
    assert [one.why for one in call.tried] == [
        "it names no tool, and this is a call of a tool within a session",
        "",
        "it names no tool, and this is a call of a tool within a session",
    ]
