"""Standing rules: what they match, what no rule can stand for, and their file."""

from __future__ import annotations

import tomllib
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hitl_tui.core.errors import BadInput, ConfigError, StorageError
from hitl_tui.core.json_text import digest
from hitl_tui.core.policy import Mode, Risk, Terms
from hitl_tui.core.requests import BY_RULE, OPTIONS, Kind, Request, Verdict, resolve
from hitl_tui.policy.standing_rules import (
    StandingRule,
    change_rules,
    changed,
    decisions,
    exact_input,
    load_rules,
    objection,
    parse_rules,
    rule_for,
    without_team,
)

WORKSPACE = "/srv/web-1"
NOW = "2026-03-01T10:00:00+00:00"


def asked(risk: str = "high", about: dict[str, Any] | None = None, **arguments: Any) -> Request:
    """Return a question about a declared command."""
    given_arguments = {"command": "clean", "parameters": {}, "argv": ["rm", "a"], "timeout": 5.0, **arguments}
    subject = {
        "session": "s1",
        "todo": "todo_001",
        "asked": 0,
        "team": "command_team",
        "task": "clean",
        "arguments": given_arguments,
        "inputs": {"todo_000": "aa"},
    }
    return Request(
        id="req-1",
        session="s1",
        branch=0,
        kind=Kind.TODO,
        todo_id="todo_001",
        source="command_team",
        subject=subject,
        digest=digest(subject),
        options=OPTIONS[Kind.TODO],
        about={"risk": risk, "rule": 0, **(about or {})},
    )


def made(request: Request) -> StandingRule:
    return rule_for(request, WORKSPACE, by="ops", at=NOW, shown="rm a")


def answered(request: Request, *rules: StandingRule, mode: Mode = Mode.RISK, workspace: str = WORKSPACE) -> int:
    return len(decisions([request], mode, workspace, rules, NOW))


def test_a_rule_allows_what_it_was_made_from_and_says_who_made_it() -> None:
    request = asked()
    (decision,) = decisions([request], Mode.PLAN, WORKSPACE, [made(request)], NOW)
    assert decision.verdict is Verdict.APPROVE
    assert decision.channel == BY_RULE
    assert decision.digest == request.digest
    assert decision.by.endswith("of ops")
    assert resolve(request, [decision], NOW).verdict is Verdict.APPROVE


def test_the_same_command_in_another_session_or_place_of_the_plan_is_the_same_input() -> None:
    request = asked()
    subject = {**request.subject, "session": "s9", "todo": "todo_007", "asked": 3, "inputs": {}}
    assert answered(replace(request, subject=subject, digest=digest(subject)), made(request)) == 1


@pytest.mark.parametrize(
    "other",
    [
        asked(argv=["rm", "a", "b"]),
        asked(argv=["rm", "a "]),
        asked(timeout=6.0),
        asked(command="clean2"),
        asked(risk="medium"),
    ],
    ids=["argument", "space", "timeout", "command", "risk"],
)
def test_anything_else_still_asks(other: Request) -> None:
    assert answered(other, made(asked())) == 0


def test_another_workspace_and_mode_step_still_ask() -> None:
    request = asked()
    assert answered(request, made(request), workspace="/srv/web-2") == 0
    assert answered(request, made(request), mode=Mode.STEP) == 0


def test_who_asks_is_not_answered_by_their_own_rule() -> None:
    request = asked()
    assert answered(replace(request, requester="ops"), made(request)) == 0
    assert answered(replace(request, requester="someone"), made(request)) == 1


@pytest.mark.parametrize(
    "request_",
    [
        asked(about={"rule": 2}),
        asked(about={"missing": ["todo_000"]}),
        asked(about={"ran_before": {"status": "completed"}}),
        asked(about={"ahead": True}),
        replace(asked(), terms=Terms(quorum=2)),
        replace(asked(), terms=Terms(level=1)),
        replace(asked(), kind=Kind.FAILURE),
        replace(asked(), subject={**asked().subject, "from_step": {}}),
    ],
    ids=["hitl.toml", "missing", "ran before", "ahead", "quorum", "level", "kind", "rewind"],
)
def test_what_no_rule_can_stand_for(request_: Request) -> None:
    assert objection(request_)
    with pytest.raises(BadInput):
        made(request_)
    assert answered(request_, made(asked())) == 0


def test_a_team_that_uses_results_has_them_in_its_exact_input() -> None:
    subject = {"team": "document_team", "task": "t", "arguments": {"path": "a.md"}, "inputs": {"todo_001": "aa"}}
    assert exact_input(subject) != exact_input({**subject, "inputs": {"todo_001": "bb"}})
    assert exact_input(subject) != exact_input({**subject, "task": "u"})
    assert exact_input(subject) == exact_input({**subject, "inputs": {"todo_009": "aa"}})


# The file ----------------------------------------------------------------------------------------------------------


def test_the_file_is_read_back_as_it_was_written(tmp_path: Path) -> None:
    path = tmp_path / "rules.toml"
    assert load_rules(path) == ()
    first, second = made(asked()), made(asked(argv=["rm", "ㅁ \"'\\"]))
    change_rules(path, lambda rules: (*rules, first))
    assert change_rules(path, lambda rules: (*rules, second)) == (first, second)
    assert load_rules(path) == (first, second)
    table = tomllib.loads(path.read_text(encoding="utf-8"))["policy"][0]
    assert (table["decision"], table["by"], table["at"], table["workspace"]) == ("allow", "ops", NOW, WORKSPACE)


@given(st.text(), st.text())
def test_no_text_breaks_out_of_its_place(shown: str, by: str) -> None:
    rule = replace(made(asked()), shown=shown, by=by)
    try:
        rule.to_toml().encode("utf-8")
    except UnicodeEncodeError:
        return
    assert parse_rules(rule.to_toml()) == (rule,)


BASE = '[[policy]]\nteam = "command_team"\nrisk = "medium"\ndecision = "allow"\nworkspace = "/w"\n'


def test_a_rule_for_a_graph_is_kept_and_one_whose_team_is_gone_hinders_nothing(tmp_path: Path) -> None:
    path, request = tmp_path / "rules.toml", asked()
    graph = replace(made(request), team="mailer", command="")
    assert change_rules(path, lambda rules: (*rules, graph, made(request))) == load_rules(path)
    rules = load_rules(path)
    assert answered(request, *rules) == 1
    assert without_team(rules, WORKSPACE, ["command_team"]) == [graph]
    assert without_team(rules, WORKSPACE, ["command_team", "mailer"]) == without_team(rules, "/else", []) == []


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (BASE.replace("allow", "deny"), "only allow"),
        (BASE.replace("medium", "high"), "exact input"),
        (BASE.replace('"/w"', '"w"'), "absolute path"),
        (BASE + "quorum = 2\n", "only allow"),
        (BASE + 'tem = "x"\n', "tem"),
        (BASE.replace("command_team", ""), "command_team"),
        (BASE + "by = 3\n", "must be texts"),
        (BASE + 'until = "2030-01-31T12:00"\n', "with its zone"),
        ("[defaults]\nmode = 'risk'\n", "nothing but"),
        ("policy = 3\n", "nothing but"),
        ("x = [", "TOML"),
    ],
)
def test_a_file_that_cannot_be_used_says_why_in_one_sentence(text: str, said: str) -> None:
    with pytest.raises(ConfigError) as error:
        parse_rules(text)
    assert said in error.value.message
    assert "\n" not in error.value.message


def test_a_rule_for_any_input_is_for_less_than_high_risk_alone() -> None:
    (rule,) = parse_rules(BASE)
    assert rule.risk is Risk.MEDIUM
    assert rule.allows(asked(risk="medium"), "/w", NOW)
    assert not rule.allows(asked(risk="high"), "/w", NOW)
    assert not replace(rule, risk=Risk.HIGH).allows(asked(risk="high"), "/w", NOW)


def test_a_rule_for_any_input_is_for_the_command_that_it_was_made_of() -> None:
    question = asked(risk="medium", about={"declared": "run of echo"})
    rule = changed(made(question), {"input": "any"}, by="ops", at=NOW)
    assert rule.allows(asked(risk="medium", about={"declared": "run of echo"}, argv=["rm", "b"]), WORKSPACE, NOW)
    assert not rule.allows(asked(risk="medium", about={"declared": "run of touch"}), WORKSPACE, NOW)
    assert not rule.allows(asked(risk="medium"), WORKSPACE, NOW)


def test_a_file_that_cannot_be_used_is_not_written_over(tmp_path: Path) -> None:
    path = tmp_path / "rules.toml"
    path.write_text("nonsense", encoding="utf-8")
    with pytest.raises(ConfigError):
        change_rules(path, lambda rules: (*rules, made(asked())))
    assert path.read_text(encoding="utf-8") == "nonsense"


def test_a_folder_that_is_gone_is_said(tmp_path: Path) -> None:
    with pytest.raises(StorageError):
        change_rules(tmp_path / "gone" / "rules.toml", lambda rules: rules)


def medium() -> StandingRule:
    return replace(made(asked(risk="medium")), by="ann")


@pytest.mark.parametrize(
    ("written", "until"),
    [
        ("8h", "2026-03-01T18:00:00+00:00"),
        ("1d", "2026-03-02T10:00:00+00:00"),
        ("2030-01-31T12:00:00+09:00", "2030-01-31T03:00:00+00:00"),
        ("never", ""),
        ("", ""),
    ],
)
def test_a_rule_holds_until_its_end(written: str, until: str) -> None:
    fresh = changed(replace(medium(), until="2027-01-01T00:00:00+00:00"), {"until": written}, by="bob", at=NOW)
    assert (fresh.until, fresh.by, fresh.input) == (until, "bob", medium().input)
    assert parse_rules(fresh.to_toml()) == (fresh,)
    question = asked(risk="medium")
    assert decisions([question], Mode.RISK, WORKSPACE, [fresh], NOW)
    late = decisions([question], Mode.RISK, WORKSPACE, [fresh], "2031-01-01T00:00:00+00:00")
    assert bool(late) is (until == "")


@pytest.mark.parametrize("written", ["soon", "-1h", "2026-03-01", "2026-02-30", "9" * 400 + "d"])
def test_an_end_that_is_none_or_over_is_refused(written: str) -> None:
    with pytest.raises(BadInput):
        changed(medium(), {"until": written}, by="bob", at=NOW)


def test_any_input_is_for_less_than_high_risk_and_never_narrowed_again() -> None:
    wide = changed(medium(), {"input": "any"}, by="bob", at=NOW)
    assert (wide.input, wide.shown, wide.by) == ("", "clean: any input", "bob")
    assert wide.allows(asked(risk="medium", argv=["rm", "other"]), WORKSPACE, NOW)
    assert not medium().allows(asked(risk="medium", argv=["rm", "other"]), WORKSPACE, NOW)
    for rule, wanted in ((made(asked()), "any"), (wide, "exact"), (medium(), "some")):
        with pytest.raises(BadInput):
            changed(rule, {"input": wanted}, by="bob", at=NOW)
    assert changed(wide, {"input": "any"}, by="bob", at=NOW) is wide


def test_any_input_is_for_the_programs_that_the_rule_was_made_for() -> None:
    question = asked(risk="medium", programs={"clean.sh": "aa"})
    wide = changed(made(question), {"input": "any"}, by="bob", at=NOW)
    assert parse_rules(wide.to_toml()) == (wide,)
    assert wide.allows(asked(risk="medium", argv=["clean.sh", "other"], programs={"clean.sh": "aa"}), WORKSPACE, NOW)
    assert not wide.allows(asked(risk="medium", programs={"clean.sh": "bb"}), WORKSPACE, NOW)
    assert not wide.allows(asked(risk="medium"), WORKSPACE, NOW)
    before = replace(wide, code="")
    assert not before.allows(question, WORKSPACE, NOW), "nothing is known of the code that an older rule was made for"
    assert before.id != wide.id


def test_rules_are_read_from_nothing_but_a_file(tmp_path: Path) -> None:
    path = tmp_path / "rules.toml"
    path.symlink_to("/dev/null")  # a device or a pipe may never end
    with pytest.raises(ConfigError, match=r"rules\.toml must be a file, but isn't one\."):
        load_rules(path)
