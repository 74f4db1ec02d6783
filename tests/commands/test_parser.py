"""Lines become commands: what is given where, and what is said when it can't be."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hitl_tui.commands.parser import LONGEST_LINE, is_command, parse
from hitl_tui.commands.spec import SPECS, Takes, help_table, registry
from hitl_tui.commands.todo_input import edited_input
from hitl_tui.core.errors import BadInput, UnknownName
from hitl_tui.core.json_types import JsonObject
from hitl_tui.core.todos import SupervisorTodo


@pytest.mark.parametrize(
    ("line", "name", "values"),
    [
        ("/todos", "todos", {}),
        ("  /TODOS  ", "todos", {}),
        ("/todo list", "todos", {}),
        ("/todo approve", "todo approve", {}),
        ("/todo approve 1 2", "todo approve", {"id": ["1", "2"]}),
        ("/todo approve 1 --digest abc", "todo approve", {"id": ["1"], "digest": "abc"}),
        ("/todo skip 2 it's  not needed", "todo skip", {"id": "2", "reason": "it's  not needed"}),
        ("/todo add search_team", "todo add", {"agent": "search_team"}),
        (
            '/todo add search_team find  "x" --after 1,2 --priority high',
            "todo add",
            {"agent": "search_team", "text": 'find  "x"', "after": ["1", "2"], "priority": "high"},
        ),
        ("/todo add a find x --after=1", "todo add", {"agent": "a", "text": "find x", "after": ["1"]}),
        ("/todo move 2 before 1", "todo move", {"id": "2", "where": "before", "anchor": "1"}),
        ('/todo edit 1 {"limit": 3}', "todo edit", {"id": "1", "input": '{"limit": 3}'}),
        ("/checkpoint list --limit 5", "checkpoint list", {"limit": "5"}),
        ("/help todo skip", "help", {"command": ["todo", "skip"]}),
        ("/exit", "quit", {}),
    ],
)
def test_values_are_found(line: str, name: str, values: dict[str, object]) -> None:
    parsed = parse(line)
    assert parsed.spec.name == name
    assert parsed.values == values


@pytest.mark.parametrize(
    ("line", "error", "part"),
    [
        ("/", BadInput, "after the slash"),
        ("/tods", UnknownName, "Did you mean /todos?"),
        ("/todo", UnknownName, "After /todo comes one of list, approve"),
        ("/todo aprove 001", UnknownName, 'Unknown command "/todo aprove". Did you mean /todo approve 001?'),
        ("/todo frobnicate 1", UnknownName, "After /todo comes one of list, approve"),
        ("/skip 003 too slow", UnknownName, "Did you mean /todo skip 003 too slow?"),
        ("/restroe 4", UnknownName, "Did you mean /checkpoint restore 4?"),
        ("/chekpoint list --limit 5", UnknownName, "Did you mean /checkpoint list --limit 5?"),
        ("/wombat approved", UnknownName, "/help lists all commands."),
        ("/todo skip", BadInput, "/todo skip needs <step id>."),
        ("/todo add", BadInput, "/todo add needs <agent>."),
        ("/todo update 1", BadInput, "/todo update needs <status>."),
        ("/todo priority 1", BadInput, "/todo priority needs <level> (priority)."),
        ("/todo move 1", BadInput, "/todo move needs before|after."),
        ("/template run", BadInput, "/template run needs <name>."),
        ("/todo remove 1 now", BadInput, 'doesn\'t take "now"'),
        ("/todo add a x --afer 1", BadInput, 'no option "--afer"'),
        ("/todo add a x --priority", BadInput, "needs a value"),
        ("/todo add a x --priority high low", BadInput, "takes one value"),
        ("/" + "x" * LONGEST_LINE, BadInput, "the limit is 100,000"),
    ],
)
def test_what_is_wrong_is_said(line: str, error: type[BadInput], part: str) -> None:
    with pytest.raises(error) as caught:
        parse(line)
    assert part in caught.value.message
    assert len(caught.value.message) < 300


@given(st.text())
def test_any_text_is_a_command_or_a_complaint(text: str) -> None:
    try:
        parsed = parse(f"/{text}")
    except BadInput as error:
        assert error.message.strip()
    else:
        required = {a.name for a in parsed.spec.arguments if a.required}
        assert required <= parsed.values.keys()


@given(st.text(alphabet=st.characters(exclude_categories=["C", "Z"]), min_size=1).filter(lambda t: "--" not in t))
def test_a_reason_stays_as_it_was_written(reason: str) -> None:
    assert parse(f"/todo skip 1 {reason}  {reason}").values["reason"] == f"{reason}  {reason}"


def test_only_a_slash_makes_a_command() -> None:
    assert is_command(" /todos")
    assert not is_command("todos /todos")


def test_names_and_aliases_are_unique() -> None:
    names = [n for spec in SPECS for n in (spec.name, *spec.aliases)]
    assert len(names) == len(set(names)) == len(registry())


def test_every_usage_begins_with_its_command_and_names_its_arguments() -> None:
    for (usage, summary), spec in zip(help_table(), SPECS, strict=True):
        assert usage.startswith(f"/{spec.name}")
        assert summary
        for argument in spec.arguments:
            shown = str(argument.takes) if argument.takes in (Takes.WHERE, Takes.MODE) else argument.name
            assert shown in usage


def test_other_words_take_the_place_of_the_question_and_leave_the_rest() -> None:
    todo = SupervisorTodo("todo_002", "Rent", description="old", agent_name="a", arguments={"query": "old", "limit": 3})
    assert edited_input(todo, "who paid?") == ("who paid?", {"query": "who paid?", "limit": 3})


@pytest.mark.parametrize(
    ("arguments", "said", "then"),
    [
        ({"query": "old", "limit": 3}, "limit=5", {"query": "old", "limit": "5"}),
        ({"query": "old", "today": "2026-11-30"}, '{"today": "2026-03-15"}', {"query": "old", "today": "2026-03-15"}),
        (
            {"input": {"region": "eu", "year": 2025}, "context": {"user": "a"}},
            '{"year": 2026}',
            {"input": {"region": "eu", "year": 2026}, "context": {"user": "a"}},
        ),
        ({"input": {"region": "eu"}, "thread": "t"}, '{"input": {"year": 1}}', {"input": {"year": 1}, "thread": "t"}),
        ({"input": {"a": 1, "b": 2}, "calls": "f"}, '{"b": 3}', {"input": {"a": 1, "b": 3}, "calls": "f"}),
    ],
    ids=["search", "table question", "graph", "whole input of a graph", "function"],
)
def test_what_an_edit_does_not_name_stays(arguments: JsonObject, said: str, then: JsonObject) -> None:
    """(D10)"""
    todo = SupervisorTodo("todo_001", "Step", description="old", agent_name="a", arguments=arguments)
    assert edited_input(todo, said) == ("old", then)
