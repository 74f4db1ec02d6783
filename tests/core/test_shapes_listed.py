"""Questions that list their choices or actions as texts, and edits of tool calls without a schema."""

from __future__ import annotations

from typing import Any

import pytest

from hitl_tui.core.errors import BadInput
from hitl_tui.core.interrupts.answer_parser import read
from hitl_tui.core.interrupts.recognition import recognise
from hitl_tui.core.interrupts.shape import ShapeKind, commands_of

ACTIONS = {"message": "Send this?", "actions": ["approve", "edit", "reject"], "draft": "Dear Ann", "copies": 2}


@pytest.mark.parametrize(
    ("text", "sent"),
    [
        ("approve", {"action": "approve"}),
        ("reject", {"action": "reject"}),
        ("reject too long", {"action": "reject", "reason": "too long"}),
        ('edit draft="Dear Bob"', {"action": "edit", "draft": "Dear Bob"}),
        ("edit copies=3", {"action": "edit", "copies": 3}),
        ('{"action": "edit", "draft": "x"}', {"action": "edit", "draft": "x"}),
    ],
)
def test_listed_actions_are_answered_by_name_with_their_fields(text: str, sent: dict[str, Any]) -> None:
    shape = recognise(ACTIONS)
    assert shape.kind is ShapeKind.ACTION
    assert read(shape, text).value == sent


@pytest.mark.parametrize("text", ["yes please", "true", '{"action": "escalate"}', '{"draft": "x"}', "edit copies=many"])
def test_what_names_none_of_the_listed_actions_is_refused(text: str) -> None:
    with pytest.raises(BadInput):
        read(recognise(ACTIONS), text)


def test_listed_words_are_sent_as_the_graph_wrote_them() -> None:
    shape = recognise({"question": "Go on?", "actions": ["Accept", "Escalate to legal", "Deny"]})
    assert read(shape, "approve").value == {"action": "Accept"}
    assert read(shape, "reject no budget").value == {"action": "Deny", "reason": "no budget"}
    assert read(shape, "Escalate to legal").value == {"action": "Escalate to legal"}
    assert read(shape, "respond 1").value == {"action": "Escalate to legal"}


def test_every_printed_command_of_listed_actions_can_be_read() -> None:
    shape = recognise({"message": "Go on?", "actions": ["approve", "edit", "reject", "feedback", "later"], "n": 1})
    assert set(commands_of(shape, "todo_001")) == {"approve", "edit", "reject", "respond"}
    assert read(shape, "feedback").value == {"action": "feedback"}
    assert read(shape, "later").value == {"action": "later"}


@pytest.mark.parametrize(
    "value",
    [
        {"question": "Which?", "choices": ["a", "b"]},
        {"message": "Which?", "allowed_responses": ["a", "b"]},
        {"choices": ["a", "b"]},
    ],
)
def test_listed_choices_are_answered_by_the_bare_text(value: dict[str, Any]) -> None:
    shape = recognise(value)
    assert shape.kind is ShapeKind.OPTIONS
    assert read(shape, "b").value == "b"
    assert read(shape, "2").value == "b"
    with pytest.raises(BadInput):
        read(shape, "c")


def test_a_tool_that_asks_for_itself_keeps_its_form_beside_a_list() -> None:
    value = {"action": "send_mail", "message": "Send?", "to": "ann", "allowed_domains": ["example.com"]}
    assert read(recognise(value), "approve").value == {"action": "approve"}


PAY = {"name": "pay", "args": {"amount": 5, "to": "ann", "note": None}}
FORMS = [
    {"type": "tool_approval", **PAY},
    {
        "action_requests": [PAY, {"name": "mail", "args": {}}],
        "review_configs": [
            {"action_name": "pay", "allowed_decisions": ["approve", "edit", "reject"]},
            {"action_name": "mail", "allowed_decisions": ["approve", "reject"]},
        ],
    },
    {
        "action_request": {"action": "pay", "args": PAY["args"]},
        "config": {"allow_accept": True, "allow_edit": True, "allow_respond": False, "allow_ignore": True},
    },
]


@pytest.mark.parametrize("value", FORMS, ids=["one call", "batch", "agent-inbox"])
@pytest.mark.parametrize("edit", ["amount=x", "amount=true", "amount=null", "to=[1]", '{"amount": "5"}'])
def test_an_edit_that_changes_an_arguments_type_sends_nothing(value: dict[str, Any], edit: str) -> None:
    text = f"1 edit {edit} 2 approve" if "action_requests" in value else f"edit {edit}"
    shape = recognise(value)
    if edit == "to=[1]":  # a text stays a text, whatever it looks like
        assert "[1]" in str(read(shape, text).value)
        return
    with pytest.raises(BadInput, match="amount must be a number"):
        read(shape, text)


@pytest.mark.parametrize("value", FORMS, ids=["one call", "batch", "agent-inbox"])
def test_an_edit_of_the_same_type_and_of_what_was_null_goes_through(value: dict[str, Any]) -> None:
    text = "1 edit amount=7.5 note=late 2 approve" if "action_requests" in value else "edit amount=7.5 note=late"
    sent = str(read(recognise(value), text).value)
    assert "7.5" in sent and "late" in sent
