"""Teams made of one async function."""

from __future__ import annotations

import functools
import re
from typing import Any

import pytest
from team_support import make_context, run_team

from hitl_tui.core.errors import BadInput
from hitl_tui.core.policy import Risk
from hitl_tui.teams.contract import Citation, Team, TeamContext, TeamFailure, TeamResult
from hitl_tui.teams.function_team import FunctionTeam

SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "text": {"type": "string"},
        "count": {"type": "integer", "minimum": 1, "maximum": 9, "default": 2},
        "ratio": {"type": "number"},
        "loud": {"type": "boolean"},
        "colour": {"enum": ["red", "green"]},
        "tags": {"type": "array", "items": {"type": "string"}},
        "place": {
            "type": ["object", "null"],
            "properties": {"city": {"type": "string"}},
            "required": ["city"],
        },
    },
    "required": ["text"],
    "additionalProperties": False,
}


async def repeat(context: TeamContext) -> str:
    arguments = context.task.arguments
    return " ".join([arguments["text"]] * arguments["count"])


def team(function: Any = repeat, schema: Any = SCHEMA, **more: Any) -> FunctionTeam:
    return FunctionTeam("repeat_team", "repeats", Risk.LOW, function, schema, **more)


async def test_a_text_becomes_the_result(tmp_path: Any) -> None:
    made = team(text_argument="text")
    assert isinstance(made, Team)
    arguments = made.bind("hey", {})
    assert arguments == {"text": "hey", "count": 2}
    result = await run_team(made, make_context(tmp_path, arguments))
    assert result == TeamResult(text="hey hey")


async def test_a_result_and_a_dict_are_taken(tmp_path: Any) -> None:
    whole = TeamResult("t", {"a": [1]}, (Citation("a.md", 1, 2, "q"),), ("f",), "s", False)

    async def give(context: TeamContext) -> TeamResult:
        return whole

    async def give_dict(context: TeamContext) -> dict[str, Any]:
        return {"값": (1, 2)}

    assert await run_team(team(give), make_context(tmp_path, {})) == whole
    result = await run_team(team(give_dict), make_context(tmp_path, {}))
    assert result.data == {"값": [1, 2]}
    assert '"값"' in result.text


async def test_effects_reach_the_function(tmp_path: Any) -> None:
    async def pay(context: TeamContext) -> dict[str, Any]:
        async def act() -> dict[str, Any]:
            return {"paid": context.task.arguments["amount"]}

        return await context.effects("pay", {"amount": 3}, act)

    context = make_context(tmp_path, {"amount": 3})
    made = team(pay, {"properties": {"amount": {"type": "integer"}}})
    for _ in range(2):
        assert (await run_team(made, context)).data == {"paid": 3}
    assert context.effects.acted == 1  # type: ignore[attr-defined]


@pytest.mark.parametrize("returned", [None, 3, b"x"])
async def test_what_is_no_result_is_a_failure(tmp_path: Any, returned: Any) -> None:
    async def give(context: TeamContext) -> Any:
        return returned

    with pytest.raises(TeamFailure, match="must return a TeamResult, a text or a dict"):
        await run_team(team(give), make_context(tmp_path, {}))


@pytest.mark.parametrize("returned", [{"a": object()}, {"a": float("nan")}, TeamResult("t", {"a": {1, 2}})])
async def test_what_is_not_json_is_a_failure(tmp_path: Any, returned: Any) -> None:
    async def give(context: TeamContext) -> Any:
        return returned

    with pytest.raises(TeamFailure, match="isn't JSON"):
        await run_team(team(give), make_context(tmp_path, {}))


def test_synchronous_functions_are_refused() -> None:
    with pytest.raises(BadInput, match="can't be stopped"):
        team(lambda context: "x")

    async def many(context: TeamContext) -> Any:
        yield "x"

    with pytest.raises(BadInput, match="async def"):
        team(many)


def test_async_callables_are_taken() -> None:
    class Caller:
        async def __call__(self, context: TeamContext) -> str:
            return "x"

    async def two(word: str, context: TeamContext) -> str:
        return word

    team(Caller())
    team(functools.partial(two, "x"))


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({}, 'needs the parameter "text"'),
        ({"text": 3}, "text must be a text, but it is the number 3."),
        ({"text": "x", "count": "three"}, "count must be a whole number"),
        ({"text": "x", "count": True}, "count must be a whole number, but it is true."),
        ({"text": "x", "count": 0}, "less than the minimum of 1"),
        ({"text": "x", "count": 10}, "greater than the maximum of 9"),
        ({"text": "x", "ratio": "a"}, "ratio must be a number"),
        ({"text": "x", "loud": 1}, "loud must be true or false"),
        ({"text": "x", "colour": "blue"}, 'one of "red", "green"'),
        ({"text": "x", "tags": ["a", 1]}, "tags[2] must be a text"),
        ({"text": "x", "place": {}}, "place lacks city"),
        ({"text": "x", "place": 1}, "place must be an object or null"),
        ({"text": "x", "cuont": 1}, 'no parameter "cuont"; did you mean "count"?'),
        ({"text": object()}, "can't be written as JSON"),
    ],
)
def test_input_that_does_not_fit_is_refused(arguments: dict[str, Any], words: str) -> None:
    with pytest.raises(BadInput) as raised:
        team().bind("", arguments)
    assert words in raised.value.message


def test_input_that_fits_is_kept_exactly() -> None:
    fitting = {
        "text": "x",
        "count": 3,
        "ratio": 0.5,
        "loud": True,
        "colour": "red",
        "tags": [],
        "place": None,
    }
    assert team().bind("ignored", fitting) == fitting
    assert team(text_argument="text").bind("words", {"text": "given"})["text"] == "given"


def test_a_text_is_read_as_what_is_due() -> None:
    assert team().bind("", {"text": "x", "count": "3"}) == {"text": "x", "count": 3}
    assert team().bind("text=x ratio=0.5", {}) == {"text": "x", "count": 2, "ratio": 0.5}


@pytest.mark.parametrize(
    ("schema", "words"),
    [
        ({"properties": {"a": {"pattern": "("}}}, "isn't valid"),
        ({"type": "array"}, "must describe an object"),
        ({"properties": {"a": {"type": "text"}}}, "'text' is not valid"),
        ({"properties": {"a": 1}}, "1 is not of type"),
        ({"properties": {"a": {"$ref": "https://example.com/a"}}}, "never fetched"),
        ({"required": "a"}, "'a' is not of type 'array'"),
        ([], "must be an object"),
    ],
)
def test_a_schema_that_can_not_be_used_is_refused(schema: Any, words: str) -> None:
    with pytest.raises(BadInput) as raised:
        team(schema=schema)
    assert words in raised.value.message


@pytest.mark.parametrize("name", ["", "Team", "a b", "a" * 65, "1team"])
def test_a_team_name_has_to_be_plain(name: str) -> None:
    with pytest.raises(BadInput, match="name is lower-case"):
        FunctionTeam(name, "d", Risk.LOW, repeat, {})


def test_the_schema_can_not_be_changed_from_outside() -> None:
    made = team()
    made.input_schema["properties"].clear()
    assert made.input_schema == SCHEMA


LISTS: dict[str, Any] = {
    "properties": {
        "names": {"type": "array", "items": {"type": "string"}},
        "counts": {"anyOf": [{"type": "array", "items": {"type": "integer"}}, {"type": "null"}]},
        "places": {"type": "array", "items": {"type": "object"}},
        "subject": {"type": "string"},
    },
    "required": ["names", "subject"],
}


@pytest.mark.parametrize(
    ("text", "arguments"),
    [
        ('names=["Ann","Bob"] subject=Offsite', {"names": ["Ann", "Bob"], "subject": "Offsite"}),
        ('names=["Ann", "Bob Lee"] subject=x', {"names": ["Ann", "Bob Lee"], "subject": "x"}),
        ("names=Ann,Bob subject=a,b", {"names": ["Ann", "Bob"], "subject": "a,b"}),
        ("names='Ann, Bob' subject=x", {"names": ["Ann", "Bob"], "subject": "x"}),
        ("names=[Ann,Bob] subject=x", {"names": ["Ann", "Bob"], "subject": "x"}),
        ("names=Ann subject=x counts=1,2", {"names": ["Ann"], "subject": "x", "counts": [1, 2]}),
        ("names= subject=[1] counts=[3]", {"names": [], "subject": "[1]", "counts": [3]}),
        ("names=1 subject=x counts=null", {"names": ["1"], "subject": "x", "counts": None}),
        ('names=a subject=x places=[{"a": 1}]', {"names": ["a"], "subject": "x", "places": [{"a": 1}]}),
    ],
)
def test_a_list_is_written_in_json_or_with_commas(text: str, arguments: dict[str, Any]) -> None:
    assert team(schema=LISTS).bind(text, {}) == arguments


@pytest.mark.parametrize(
    ("text", "says", "how"),
    [
        ('names={"a":1} subject=x', "names must be a list", 'A list is written as names=a,b or names=["a","b"]'),
        ("names=a subject=x places=a,b", "places must be a list", "A list is written in JSON: places=[…]"),
        ("names=a subject=x counts={}", "counts must be", "A list is written as counts=1,2 or counts=[1,2]"),
        ("subject=x", 'needs the parameter "names" (a list)', "For example: names=a,b subject=…"),
    ],
)
def test_an_error_says_how_a_list_is_written(text: str, says: str, how: str) -> None:
    with pytest.raises(BadInput, match=re.escape(says)) as refused:
        team(schema=LISTS).bind(text, {})
    assert refused.value.help == how
