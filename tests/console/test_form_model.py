"""What the fields of a form stand for, without a screen."""

from __future__ import annotations

import json

import pytest

from hitl_tui.console.dialogs.form_model import (
    Field,
    Form,
    area_text,
    field_text,
    needs_area,
    schema_fields,
    wanted_form,
)
from hitl_tui.core.errors import BadInput
from hitl_tui.core.interrupts.shape import Form as Wanted
from hitl_tui.core.interrupts.shape import Wants
from hitl_tui.language import using

SCHEMA = {
    "properties": {
        "guests": {"type": "integer", "minimum": 1, "maximum": 12},
        "note": {"type": "string"},
        "tags": {"type": "array"},
    }
}
PRESENT = {"note": "by the window", "tags": ["a"]}


def form(*, empties: bool) -> Form:
    return Form(schema_fields(SCHEMA, PRESENT), PRESENT, empties)


@pytest.mark.parametrize(("empties", "found"), [(True, {"guests": 5, "note": ""}), (False, {"guests": 5})])
def test_a_text_that_is_taken_away_is_empty_or_left_out(empties: bool, found: dict[str, object]) -> None:
    assert form(empties=empties).values({"guests": "5", "note": "", "tags": ""}) == found


def test_an_empty_text_that_was_there_stays() -> None:
    assert Form((Field("note"), Field("more")), {"note": ""}, empties=False).values({"note": "", "more": ""}) == {
        "note": ""
    }


def test_the_first_field_that_is_wrong_is_named() -> None:
    with pytest.raises(BadInput, match="guests must be a whole number from 1 to 12"):
        form(empties=True).values({"guests": "40", "note": "x", "tags": "["})


def test_the_editor_gets_what_is_right_as_values_and_what_is_wrong_as_it_was_written() -> None:
    text = form(empties=True).to_json({"guests": "40", "note": "", "tags": "[1]"}, {"more": None})
    assert text.endswith("}\n")
    assert json.loads(text) == {"guests": "40", "tags": [1], "more": None}
    assert form(empties=True).unknown(json.loads(text)) == {"more": None}


def test_values_of_a_choice_are_shown_in_the_persons_language_and_sent_as_they_are() -> None:
    schema = {"properties": {"analysis_type": {"type": "string", "enum": ["comprehensive", "change"]}}}
    with using("ko"):
        (field,) = schema_fields(schema, {})
        shown = field_text(field, {"analysis_type": "change"})
        assert (shown, field.value(shown), field.value("change")) == ("변동만", "change", "change")
        assert "comprehensive" not in field.hint
        assert field.problem("summary")


def test_a_form_without_a_schema_takes_what_is_there() -> None:
    fields = wanted_form(Wants(Wanted.FIELDS, None, {"n": 3, "on": True, "of": {"a": 1}})).fields
    assert [(field.name, field.type) for field in fields] == [("n", "number"), ("on", "boolean"), ("of", "json")]


@pytest.mark.parametrize(
    ("kind", "value", "several"),
    [
        ("string", "short", False),
        ("string", "two\nlines", True),
        ("string", "w" * 61, True),
        ("json", {"a": 1}, False),
        ("json", {"a": "w" * 61}, True),
        ("integer", 3, False),
    ],
)
def test_long_values_get_several_lines(kind: str, value: object, several: bool) -> None:
    field = Field("x", kind)
    assert needs_area(field, {"x": value}) is several
    assert area_text(field, {}) == ""
    if kind == "json":
        assert json.loads(area_text(field, {"x": value})) == value


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (["."], "the whole folder"),
        (["notes", "old mails/a b.md"], "notes, old mails/a b.md"),
        (["a,b.md"], '["a,b.md"]'),
        (["the whole folder"], '["the whole folder"]'),
        ([" spaced "], '[" spaced "]'),
        ([], "[]"),
    ],
)
def test_a_list_of_texts_is_written_as_people_write_one(value: list[str], shown: str) -> None:
    schema = {"properties": {"documents": {"type": "array", "items": {"type": "string"}}}}
    (field,) = schema_fields(schema, {"documents": value})
    assert field_text(field, {"documents": value}) == shown
    assert field.value(shown) == value


def test_a_text_of_a_form_says_how_it_is_written() -> None:
    schema = {"properties": {"due": {"type": "string", "format": "date"}, "to": {"type": "string", "format": "email"}}}
    due, to = schema_fields({**schema, "required": ["due"]}, {})
    assert due.hint == "text of the form YYYY-MM-DD, needed"
    assert to.hint == "text of the form email"
