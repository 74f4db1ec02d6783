"""Which argument is a step's question, by its schema."""

from __future__ import annotations

from typing import Any

import pytest

from hitl_tui.core.question_field import question_of, question_path, with_question

TEXT = {"type": "string"}


def schema(required: tuple[str, ...] = (), **parts: Any) -> dict[str, Any]:
    return {"type": "object", "properties": parts, "required": list(required)}


@pytest.mark.parametrize(
    ("given", "path"),
    [
        (schema(("query",), query=TEXT, limit={"type": "integer"}), ("query",)),
        (schema(("task",), task=TEXT, tools={"type": "array"}), ("task",)),
        (schema(("goal",), goal=TEXT, depth={"type": "integer"}), ("goal",)),
        (schema(("sql",), sql=TEXT, question=TEXT), ()),
        (schema(title=TEXT, path=TEXT, if_exists={"type": "string", "enum": ["x"], "readOnly": True}), ()),
        (schema(("to", "instruction"), to=TEXT, instruction=TEXT), ("instruction",)),
        (schema(("input",), input=schema(question=TEXT, n={"type": "integer"})), ("input", "question")),
        (schema(("input",), input=schema(question=TEXT, n={"type": "integer"}), thread=TEXT), ("input", "question")),
        (schema(("input",), input=schema(to=TEXT, text=TEXT), thread=TEXT), ()),
        (schema(("input",), input={}, thread=TEXT), ()),
        (schema(("input",), input=TEXT), ("input",)),
        (schema(when={"type": "string", "format": "date"}), ()),
        ({"properties": {"query": 7}, "required": 7}, ()),
        ({}, ()),
    ],
)
def test_the_question_is_where_the_schema_says(given: dict[str, Any], path: tuple[str, ...]) -> None:
    assert question_path(given) == path


def test_another_question_takes_its_place() -> None:
    arguments = {"input": {"question": "a?", "n": 1}, "calls": "x"}
    path = ("input", "question")
    assert question_of(arguments, path) == "a?" and question_of({"input": 7}, path) == "" and question_of({}, ()) == ""
    assert with_question(arguments, path, "b?") == {"input": {"question": "b?", "n": 1}, "calls": "x"}
