"""Rules about tools hold whatever form a call is asked in and whatever is answered (M10)."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from shape_support import batch, call, inbox, json_values

from hitl_tui.core.interrupts.json_schema import problem
from hitl_tui.core.interrupts.recognition import answers_to, form_of
from hitl_tui.core.interrupts.shape import APPROVE, EDIT, Shape, commands_of, shape_document
from hitl_tui.core.interrupts.tool_permissions import denied_answers, terms_for, why_refused
from hitl_tui.core.json_text import digest
from hitl_tui.core.policy import Policy, Risk, Rule, Ruling, Terms
from hitl_tui.core.requests import Kind, Request


def amount(**schema: Any) -> dict[str, Any]:
    return {"properties": {"amount": schema}}


POLICY = Policy(
    (
        Rule(Ruling.DENY, tool="wipe"),
        Rule(Ruling.ASK, tool="pay", arguments=amount(type="number", minimum=1000), terms=Terms(quorum=2)),
    )
)
OPEN = {"type": "object", "properties": {"ok": {"type": "boolean"}, "decisions": {"type": "array"}}}
APPROVED: dict[str, Any] = {"decisions": [{"type": "approve"}]}


def asked(value: Any, schema: Any = None, policy: Policy = POLICY) -> Request:
    subject = {"value": value, "schema": schema}
    terms = terms_for(policy, "agent", Risk.HIGH, Terms(), value, schema)
    about: Any = {"denied": denied_answers(policy, "agent", Risk.HIGH, value, schema)}
    return Request("r", "s", 0, Kind.INTERRUPT, "t", "agent", subject, digest(subject), about=about, terms=terms)


def refused(value: Any, answer: Any, schema: Any = None, policy: Policy = POLICY) -> str:
    return why_refused(policy, Risk.HIGH, asked(value, schema, policy), answer)


def one(name: str, **args: Any) -> dict[str, Any]:
    return batch([call(name, **args)], [["approve", "edit", "reject"]])


def edited(name: str, **args: Any) -> dict[str, Any]:
    return {"decisions": [{"type": "edit", "edited_action": {"name": name, "args": args}}]}


def per_call(name: str, **args: Any) -> dict[str, Any]:
    return {"type": "tool_approval", "tool_call_id": "1", **call(name, **args)}


WAYS: dict[str, Any] = {
    "a batch": one("wipe"),
    "one call": per_call("wipe"),
    "agent-inbox": [inbox("wipe", allow="ar")],
    "an action": {"action": "wipe", "message": "wipe all?", "path": "/"},
    "an action alone": {"action": "wipe"},
    "arguments as a text": {"action_request": {"action": "wipe", "args": "{}"}},
    "a tool call": {"name": "wipe", "args": {}, "type": "tool_call"},
    "calls in a list": {"note": "x", "tool_calls": [{"function": {"name": "wipe", "arguments": "{}"}}]},
    "by key": {"calls": {"wipe": {"path": "/"}}},
    "beside a question": {"question": "Go on?", "tools": ["read", "wipe"]},
    "a JSON text": '{"tool": "wipe", "args": {}}',
    "cut": {"cut": "9 MB", "shown": one("wipe"), "sha256": "0"},
    "cut to a text": {"cut": "9 MB", "shown": '{"action_requests":[{"name":"re', "sha256": "0"},
    "cut in its fields": {"cut": "9 MB", "shown": {"a": 1, "…": "5 more"}, "sha256": "0"},
    "cut in a JSON text": {"cut": "9 MB", "shown": {"a": '[{"a": 1… (90,000 characters)'}, "sha256": "0"},
    "cut in its list": {"cut": "9 MB", "shown": [{"tool": "read"}, "… 5 more"], "sha256": "0"},
}


LETS: tuple[Any, ...] = (
    *(True, None, 1, "approve", "no", "", [], ["approve"], [False], {}, {"ok": True}, {"action": "Approve"}),
    *(APPROVED, edited("wipe"), {"type": "reject", "action": "approve"}, {"decisions": []}, [{"type": "accept"}]),
)


@pytest.mark.parametrize("way", WAYS)
def test_what_is_denied_is_only_refused(way: str) -> None:
    for answer in LETS:
        for schema in (None, OPEN):
            exact = way == "one call" and isinstance(answer, dict) and answer.get("type") == "reject"
            assert exact or "of the policy denies wipe" in refused(WAYS[way], answer, schema), answer


@given(st.sampled_from(sorted(WAYS)), json_values)
@settings(max_examples=100)
def test_whatever_is_answered_is_judged(way: str, answer: Any) -> None:
    assert answer is False or "of the policy denies wipe" in refused(WAYS[way], answer)


@pytest.mark.parametrize("way", WAYS)
def test_what_is_denied_can_be_refused(way: str) -> None:
    no: Any = {"decisions": [{"type": "reject", "message": "never"}]}
    if way in ("one call", "an action"):
        no = {"type": "reject"} if way == "one call" else {"action": "reject", "reason": "never"}
    if way == "agent-inbox":
        no = [{"type": "ignore", "args": None}]
    assert refused(WAYS[way], no) == ""
    choice = {"question": "Run it?", "tool": "wipe", "options": ["yes", "no"]}
    assert refused(choice, "no") == "" and refused(choice, "yes")
    assert refused({"question": "Go on?", "note": "wipe"}, {"ok": True}) == "", "to speak of a tool is no call of it"


@pytest.mark.parametrize("other", ["5000", "5,000", [5000], {"v": 5000}, None, True])
def test_a_value_of_another_type_does_not_go_round_a_rule(other: Any) -> None:
    assert asked(one("pay", amount=5)).terms.quorum == 1
    assert "wants 2 people" in refused(one("pay", amount=5), edited("pay", amount=other))
    assert asked(one("pay", amount=other)).terms.quorum == 2
    assert refused(one("pay", amount=5), edited("pay", amount=6)) == ""


@pytest.mark.parametrize(
    ("schema", "value", "falls"),
    [
        (amount(type="integer", minimum=1000), 5000.5, True),
        (amount(type="integer", minimum=1000), 5, False),
        (amount(type=["number", "string"], minimum=1000), 5, False),
        (amount(**{"not": {"maximum": 999}}), "5000", True),
        (amount(**{"not": {"maximum": 999}}), 5, False),
        (amount(enum=[1000, 2000]), "1000", True),
        (amount(enum=[1000, 2000]), 5, False),
        (amount(anyOf=[{"type": "number", "minimum": 1000}, {"const": "all"}]), "some", False),
        (amount(anyOf=[{"type": "number", "minimum": 1000}, {"const": "all"}]), [5000], True),
        ({"$defs": {"n": {"type": "number", "minimum": 9}}, **amount(**{"$ref": "#/$defs/n"})}, "10", True),
        ({"patternProperties": {"^am": {"type": "number", "minimum": 9}}}, "10", True),
        (amount(contains={"type": "number", "minimum": 9}), ["10"], True),
        (amount(contains={"type": "number", "minimum": 9}), [1], False),
        (amount(type="string", pattern="^/etc"), "/tmp", False),
        (amount(type="string", pattern="^/etc"), ["/etc"], True),
    ],
)
def test_a_rule_takes_types_that_it_does_not_speak_of(schema: dict[str, Any], value: Any, falls: bool) -> None:
    policy = Policy((Rule(Ruling.DENY, tool="pay", arguments=schema),))
    assert bool(refused(one("pay", amount=value), APPROVED, policy=policy)) is falls


def test_an_earlier_rule_that_only_may_fit_does_not_hide_a_stricter_one() -> None:
    small = Rule(Ruling.ASK, tool="pay", arguments=amount(type="number", maximum=999))
    policy = Policy((small, Rule(Ruling.DENY, tool="pay")))
    assert refused(one("pay", amount=5), APPROVED, policy=policy) == ""
    assert refused(one("pay", amount="5000"), APPROVED, policy=policy).startswith("Rule 2 of the policy denies pay")


def test_a_call_that_is_asked_with_a_schema_is_judged_as_the_call_it_is() -> None:
    assert asked(one("pay", amount=5000), OPEN).terms.quorum == 2
    assert asked(one("pay", amount=5), OPEN).terms.quorum == 1
    for answer in (APPROVED, edited("pay", amount=6), {"ok": True}, {"ok": True, "message": "fine"}, {"amount": 6}):
        assert refused(one("pay", amount=5), answer, OPEN) == ""
    for answer in (edited("pay", amount=5000), {"amount": 5000}, {"ok": True, "sum": 6}, {**APPROVED, "sum": 6}):
        assert "wants 2 people" in refused(one("pay", amount=5), answer, OPEN)
    assert "denies wipe" in refused(one("pay", amount=5), {"ok": True, "then": {"tool": "wipe"}}, OPEN)


def test_where_an_answer_says_the_arguments_the_strictest_terms_count() -> None:
    form = {"type": "object", "properties": {"amount": {"type": "number"}}, "required": ["amount"]}
    assert asked({"tool": "pay", "args": {"amount": 5}}, form).terms.quorum == 2
    assert asked({"question": "Pay?", "tool": "pay", "args": {"amount": 5}}).terms.quorum == 1


def test_a_type_that_there_is_not_is_no_traceback() -> None:
    assert problem({"type": "bogus"}, 1) == ""
    from hitl_tui.core.interrupts.recognition import recognise

    shape = recognise({"question": "Name?"}, {"$ref": "#/x", "x": {"type": "bogus"}})
    assert "names an unknown type: bogus" in shape.notes[0]
    shape.check({"any": ["JSON"]})


BOB = Policy(
    (
        Rule(Ruling.DENY, tool="wipe", name="no wiping"),
        Rule(Ruling.DENY, tool="pay", arguments={"properties": {"to": {"const": "bob"}}, "required": ["to"]}),
    )
)


def shown(value: Any, policy: Policy = BOB) -> Shape:
    return form_of(asked(value, policy=policy))


def test_an_answer_that_a_rule_denies_is_not_offered_and_the_rule_is_named() -> None:
    of_call = shown(one("pay", to="bob"))
    said = "Rule 2 of the policy denies pay with these arguments; change them, or reject it."
    assert [a.why_not for a in of_call.actions if a.name in (APPROVE, EDIT)] == [said, ""]
    assert of_call.notes == (said,)
    assert "approve" not in commands_of(of_call, "1") and "edit" in commands_of(of_call, "1")
    assert answers_to(asked(one("pay", to="bob"), policy=BOB)) == ("edit", "reject")
    document: Any = shape_document(of_call)
    assert not document["actions"][0]["allowed"] and document["notes"] == [said]
    assert not any(action.why_not for action in shown(one("pay", to="ann")).actions if action.name != "respond")


@pytest.mark.parametrize("way", [way for way in WAYS if way not in ("an action alone", "arguments as a text")])
def test_what_can_only_be_refused_says_so(way: str) -> None:
    shape, value = shown(WAYS[way]), asked(WAYS[way], policy=BOB)
    for action in shape.actions:
        possible = action.name in (APPROVE, EDIT) and not action.why_not
        assert not possible, (way, action)
    if way in ("a batch", "one call", "agent-inbox", "an action"):
        said = 'Rule 1 "no wiping" of the policy denies wipe with these arguments; it can only be rejected.'
        assert shape.notes == (said,)
    assert value.about["denied"] or shape.action(APPROVE) is None


def test_of_several_calls_each_says_whether_it_can_be_approved() -> None:
    calls = [call("pay", to="ann"), call("wipe", path="/")]
    shape = shown(batch(calls, [["approve", "edit", "reject"]] * 2))
    together = shape.action(APPROVE)
    assert together is not None
    said = 'Call 2: Rule 1 "no wiping" of the policy denies wipe with these arguments; it can only be rejected.'
    assert together.why_not == f"{said} Decide one by one."
    assert shape.notes == (said,)
    first, second = shape.parts
    assert [a.name for a in first.actions if not a.why_not] == ["approve", "edit", "reject"]
    assert [a.name for a in second.actions if not a.why_not] == ["reject"]
    assert shape.answer("each", [("approve", None), ("reject", "no")])


def test_a_rule_that_allows_some_arguments_leaves_the_edit() -> None:
    small = Rule(Ruling.ALLOW, tool="pay", arguments=amount(type="number", maximum=9))
    policy = Policy((small, Rule(Ruling.DENY, tool="pay")))
    edit = shown(one("pay", amount=5000), policy).action(EDIT)
    assert edit is not None and not edit.why_not
    beside = Policy((small,), beside=Policy((Rule(Ruling.DENY, tool="pay"),)))
    edit = shown(one("pay", amount=5000), beside).action(EDIT)
    assert edit is not None and edit.why_not
