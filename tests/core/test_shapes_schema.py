"""JSON Schemas of answers: forms from them, and those that are broken or hostile."""

from __future__ import annotations

import socket
from typing import Any

import pytest

from hitl_tui.core.errors import BadInput
from hitl_tui.core.interrupts.answer_parser import read
from hitl_tui.core.interrupts.recognition import recognise
from hitl_tui.core.interrupts.shape import Form, ShapeKind

BOOKING: dict[str, Any] = {
    "$defs": {"Room": {"enum": ["garden", "hall"], "type": "string"}},
    "type": "object",
    "properties": {
        "guests": {"type": "integer", "minimum": 1, "maximum": 12},
        "room": {"$ref": "#/$defs/Room", "default": "hall"},
        "note": {"anyOf": [{"type": "string"}, {"type": "null"}], "default": None},
        "mail": {"type": "string", "format": "email"},
        "day": {"type": "string", "format": "date"},
    },
    "required": ["guests"],
}


def test_a_schema_becomes_a_form_with_what_is_known_already() -> None:
    shape = recognise({"question": "Book?", "guests": 4}, BOOKING)
    assert shape.kind is ShapeKind.SCHEMA
    (fill,) = shape.actions
    assert fill.wants.form is Form.FIELDS and fill.wants.schema is not None
    assert fill.wants.schema["properties"]["room"]["enum"] == ["garden", "hall"]
    assert fill.wants.schema["properties"]["note"]["type"] == "string"
    assert fill.wants.present == {"guests": 4, "room": "hall"}
    assert read(shape, "guests=5 note=30").value == {"guests": 5, "room": "hall", "note": "30"}


@pytest.mark.parametrize(
    ("value", "why"),
    [
        ({}, "lacks guests"),
        ({"guests": "4"}, "a whole number"),
        ({"guests": 40}, "guests can't be used: 40 is greater than the maximum of 12"),
        ({"guests": 4, "room": "attic"}, 'one of "garden", "hall"'),
        ({"guests": 4, "mail": "nobody"}, "of the form email"),
        ({"guests": 4, "day": "2026-02-30"}, "of the form YYYY-MM-DD, but it is"),
        ([], "an object"),
    ],
)
def test_what_does_not_fit_is_named(value: Any, why: str) -> None:
    with pytest.raises(BadInput) as error:
        recognise("Book?", BOOKING).check(value)
    assert why in error.value.message


def test_a_union_of_decisions_becomes_actions_in_their_places() -> None:
    schema = {
        "oneOf": [
            {"type": "object", "properties": {"type": {"const": "approve"}}, "required": ["type"]},
            {
                "type": "object",
                "properties": {"type": {"const": "reject"}, "message": {"type": "string"}},
                "required": ["type", "message"],
            },
        ]
    }
    shape = recognise("Go?", schema)
    assert [(a.place, a.name, a.wants.form) for a in shape.actions] == [
        (1, "approve", Form.NONE),
        (3, "reject", Form.TEXT),
    ]
    assert shape.answer("reject", "no") == {"type": "reject", "message": "no"}
    with pytest.raises(BadInput):
        shape.answer("reject", "")


def test_consent_with_a_comment_is_approved_or_rejected_by_one_key() -> None:
    schema = {
        "type": "object",
        "properties": {"approved": {"type": "boolean"}, "comment": {"type": "string"}},
        "required": ["approved"],
    }
    shape = recognise("Go?", schema)
    assert shape.answer("approve") == {"approved": True}
    assert shape.answer("reject", "too big") == {"approved": False, "comment": "too big"}


def test_a_text_that_is_wanted_stays_a_text() -> None:
    shape = recognise("Your code?", {"type": "string"})
    assert read(shape, "007").value == "007"
    assert read(shape, "30").value == "30"
    assert read(shape, '"30"').value == "30"
    assert read(recognise("Age?", {"type": "integer"}), "30").value == 30


def test_an_edit_is_checked_against_the_tools_schema() -> None:
    schema = {
        "oneOf": [
            {"type": "object", "properties": {"type": {"const": "approve"}}, "required": ["type"]},
            {
                "type": "object",
                "properties": {"type": {"const": "edit"}, "edited_action": {"$ref": "#/$defs/Edited"}},
                "required": ["type", "edited_action"],
            },
        ],
        "$defs": {
            "Edited": {
                "type": "object",
                "properties": {"name": {"const": "pay"}, "args": {"$ref": "#/$defs/pay"}},
                "required": ["name", "args"],
            },
            "pay": {"type": "object", "properties": {"amount": {"type": "integer"}}, "required": ["amount"]},
        },
    }
    value = {"type": "tool_approval", "tool_call_id": "1", "name": "pay", "args": {"amount": 5}, "description": ""}
    shape = recognise(value, schema)
    assert shape.kind is ShapeKind.TOOL_APPROVAL
    assert {a.name for a in shape.actions if not a.why_not} == {"approve", "edit"}
    assert read(shape, "edit amount=7").value["edited_action"]["args"] == {"amount": 7}
    with pytest.raises(BadInput, match="amount must be a whole number"):
        read(shape, "edit amount=much")


def test_an_edit_names_another_tool_only_where_the_schema_says_so() -> None:
    name: dict[str, Any] = {"enum": ["pay", "refund"]}
    edited = {"type": "object", "properties": {"name": name, "args": {"type": "object"}}, "required": ["name", "args"]}
    schema = {"type": "object", "properties": {"type": {"const": "edit"}, "edited_action": edited}}
    value = {"type": "tool_approval", "tool_call_id": "1", "name": "pay", "args": {}, "description": ""}
    answer = {"type": "edit", "edited_action": {"name": "refund", "args": {}}}
    recognise(value, schema).check(answer)
    name["enum"] = ["pay"]
    with pytest.raises(BadInput, match="keep the tool's name"):
        recognise(value, schema).check(answer)


def deep(levels: int) -> dict[str, Any]:
    schema: dict[str, Any] = {"type": "string"}
    for _ in range(levels):
        schema = {"anyOf": [schema, schema]}
    return schema


def bomb(levels: int) -> dict[str, Any]:
    """A schema that is small, and takes 2 ** levels steps."""
    names = {f"d{n}": {"anyOf": [{"$ref": f"#/$defs/d{n + 1}"}] * 2} for n in range(levels)}
    return {"$ref": "#/$defs/d0", "$defs": {**names, f"d{levels}": {"type": "string"}}}


BROKEN: dict[str, Any] = {
    "no object": ["type"],
    "a text": "string",
    "an unknown type": {"type": "whole"},
    "a bad keyword": {"type": "object", "required": "name"},
    "elsewhere": {"$ref": "https://example.org/schema.json"},
    "elsewhere, deep down": {"properties": {"a": {"items": {"$ref": "file:///etc/passwd"}}}},
    "nowhere": {"$ref": "#/$defs/missing"},
    "itself": {"$ref": "#"},
    "each other": {"$ref": "#/$defs/a", "$defs": {"a": {"$ref": "#/$defs/b"}, "b": {"$ref": "#/$defs/a"}}},
    "huge": {"enum": [str(n) for n in range(20_000)]},
    "deep": deep(70),
    "a number too large": {"const": 2**70},
}


@pytest.mark.parametrize("name", BROKEN)
def test_a_schema_that_cannot_be_used_is_said_and_any_json_is_taken(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def no_network(*args: object, **kwargs: object) -> None:
        raise AssertionError("nothing is ever fetched")

    monkeypatch.setattr(socket, "create_connection", no_network)
    monkeypatch.setattr(socket.socket, "connect", no_network)
    shape = recognise({"question": "Your name?"}, BROKEN[name])
    assert shape.notes and "isn't used and any JSON is taken" in shape.notes[0]
    assert shape.question == "Your name?"
    for value in ("Kim", 3, None, {"a": [1]}):
        shape.check(value)


def test_a_schema_that_explodes_does_not_stop_an_answer() -> None:
    shape = recognise("What?", bomb(40))
    shape.check("text")
    shape.check(5)


@pytest.mark.parametrize("pattern", ["(a+)+$", "(a|a)*$", "(a*)*b", "^(([a-z])+.)+[A-Z]([a-z])+$", "(.*a){20}", "["])
def test_a_pattern_that_takes_for_ever_is_not_tried(pattern: str) -> None:
    recognise("What?", {"type": "string", "pattern": pattern}).check("a" * 50_000 + "!")


def test_a_usual_pattern_is_checked() -> None:
    shape = recognise("Your mail?", {"type": "string", "pattern": r"^[^@\s]+@[^@\s]+\.[a-z]{2,}$"})
    shape.check("kim@example.org")
    with pytest.raises(BadInput, match="pattern"):
        shape.check("nobody")


def test_a_tool_approval_keeps_its_form_when_its_schema_is_broken() -> None:
    value = {"type": "tool_approval", "tool_call_id": "1", "name": "pay", "args": {}, "description": ""}
    shape = recognise(value, {"$ref": "#"})
    assert shape.kind is ShapeKind.TOOL_APPROVAL and shape.notes
    assert shape.answer("reject") == {"type": "reject"}
