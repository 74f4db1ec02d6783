"""One reader of a form's fields: the console's form and `name=value` after `/answer` understand the same."""

from __future__ import annotations

import shlex

import pytest

from hitl_tui.console.dialogs.form_model import wanted_form
from hitl_tui.core.errors import BadInput
from hitl_tui.core.interrupts.answer_parser import read
from hitl_tui.core.interrupts.recognition import recognise
from hitl_tui.core.json_types import Json

SCHEMA: dict[str, Json] = {
    "type": "object",
    "properties": {
        "tags": {"type": "array", "items": {"type": "string"}},
        "guests": {"type": "integer"},
        "price": {"type": "number"},
        "late": {"type": "boolean"},
        "note": {"type": "string"},
        "rows": {"type": "array", "items": {"type": "integer"}},
    },
}


@pytest.mark.parametrize(
    ("name", "text", "value"),
    [
        ("tags", "a, b", ["a", "b"]),
        ("tags", "a,b", ["a", "b"]),
        ("tags", "30", ["30"]),
        ("tags", '["a, b"]', ["a, b"]),
        ("guests", "+5", 5),
        ("guests", "5.0", 5),
        ("price", ".5", 0.5),
        ("price", "1e3", 1000.0),
        ("late", "True", True),
        ("note", "30", "30"),
        ("note", "true", "true"),
        ("rows", "[1, 2]", [1, 2]),
    ],
)
def test_a_field_is_read_alike_in_the_form_and_after_a_command(name: str, text: str, value: Json) -> None:
    shape = recognise({"question": "What is it?"}, SCHEMA)
    (fill,) = shape.actions
    form = wanted_form(fill.wants)
    assert form.values({**dict.fromkeys(SCHEMA["properties"], ""), name: text}) == {name: value}
    assert read(shape, shlex.quote(f"{name}={text}")).value == {name: value}


@pytest.mark.parametrize(
    ("name", "text"),
    [("tags", "[a"), ("guests", "5.5"), ("guests", "1_0"), ("price", "nan"), ("price", "1" * 5000), ("late", "yes")],
)
def test_what_is_no_value_of_a_field_is_refused_by_both(name: str, text: str) -> None:
    shape = recognise({"question": "What is it?"}, SCHEMA)
    (fill,) = shape.actions
    assert {field.name: field for field in wanted_form(fill.wants).fields}[name].problem(text)
    with pytest.raises(BadInput, match=name):
        read(shape, shlex.quote(f"{name}={text}"))


def test_without_a_schema_what_is_there_says_what_a_field_takes() -> None:
    shape = recognise({"action": "book", "message": "Book?", "guests": 4, "late": False, "tags": ["a"], "name": "Lee"})
    found = read(shape, "edit guests=5 late=TRUE tags='[\"b\"]' name=30").value
    assert found == {"action": "approve", "guests": 5, "late": True, "tags": ["b"], "name": "30"}


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ('tags=["a","b c"] guests=2', {"tags": ["a", "b c"], "guests": 2}),
        ("tags=[a,b]", {"tags": ["a", "b"]}),
        ("rows=1,2 note=[1]", {"rows": [1, 2], "note": "[1]"}),
        ("rows=3", {"rows": [3]}),
    ],
)
def test_a_list_in_a_command_is_written_in_json_or_with_commas(text: str, value: Json) -> None:
    assert read(recognise({"question": "What is it?"}, SCHEMA), text).value == value


def test_what_is_no_list_is_told_how_one_is_written() -> None:
    with pytest.raises(BadInput, match='"tags" must be a list') as refused:
        read(recognise({"question": "What is it?"}, SCHEMA), "tags=[a")
    assert refused.value.help == 'A list is written as tags=a,b or tags=["a","b"]'
