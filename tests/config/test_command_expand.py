"""Parameters fill their holes in an argument vector, and do nothing else."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hitl_tui.config.declared_commands import CommandDeclaration, Parameter, Part, parse_template
from hitl_tui.core.errors import BadInput, UnknownName

CLEAN = CommandDeclaration(
    name="clean-logs",
    run=("find", "{dir}", "-name", "*.gz", "-mtime", "+{days}", "-delete"),
    preview=("find", "{dir}", "-mtime", "+{days}"),
    parameters={"dir": Parameter("path"), "days": Parameter("integer", default=14, minimum=1, maximum=3650)},
)
ONE_OF_EACH = CommandDeclaration(
    name="all",
    run=("tool", "s={s}", "{i}", "{n}", "--flag={b}", "in/{p}/out", "{c}", "{{s}}", "{s}{i}"),
    parameters={
        "s": Parameter("string", default=""),
        "i": Parameter("integer", default=1),
        "n": Parameter("number", default=0.5),
        "b": Parameter("boolean", default=False),
        "p": Parameter("path", default="."),
        "c": Parameter("choice", choices=("fast", "-slow"), default="fast"),
    },
)


def one(type: str, value: object, **more: Any) -> str:
    """Expand a command whose second argument is the one parameter."""
    command = CommandDeclaration("c", ("tool", "{value}"), parameters={"value": Parameter(type, **more)})
    return command.expand({"value": value}).argv[1]


def test_placeholders_fill_whole_arguments_and_parts_of_them() -> None:
    expanded = CLEAN.expand({"dir": "logs/old", "days": 30})
    assert expanded.argv == ("find", "logs/old", "-name", "*.gz", "-mtime", "+30", "-delete")
    assert expanded.preview == ("find", "logs/old", "-mtime", "+30")
    assert expanded.parameters == {"dir": "logs/old", "days": 30}


def test_defaults_stand_in_and_no_preview_stays_none() -> None:
    expanded = ONE_OF_EACH.expand({})
    assert expanded.argv == ("tool", "s=", "1", "0.5", "--flag=false", "in/./out", "fast", "{s}", "1")
    assert expanded.preview is None


@pytest.mark.parametrize(
    ("type", "value", "written"),
    [
        ("string", "two words; $(rm) `x` | > * ~", "two words; $(rm) `x` | > * ~"),
        ("string", "{value} {{value}}", "{value} {{value}}"),
        ("string", "\t\x1b[31m한", "\t\x1b[31m한"),
        ("string", "bytes \udcff", "bytes \udcff"),
        ("string", "", ""),
        ("integer", 30, "30"),
        ("integer", "30", "30"),
        ("integer", "+007", "7"),
        ("integer", "-3", "-3"),
        ("number", 3, "3"),
        ("number", "2.50", "2.5"),
        ("number", 1e-7, "0.0000001"),
        ("number", "1e3", "1000.0"),
        ("boolean", True, "true"),
        ("boolean", "No", "false"),
        ("path", ".", "."),
        ("path", "a b/..c/d..", "a b/..c/d.."),
        ("path", "./x//y/", "./x//y/"),
        ("path", "-rf", "./-rf"),
    ],
)
def test_values_are_written_as_they_are(type: str, value: object, written: str) -> None:
    assert one(type, value) == written


@pytest.mark.parametrize(
    ("type", "value", "message"),
    [
        ("string", 5, '"value" of c must be text, but it is 5.'),
        ("string", None, '"value" of c must be text, but it is null.'),
        ("string", "a\nb", '"value" of c must not hold a line break or NUL, but it is "a␊b".'),
        ("string", "a\rb", '"value" of c must not hold a line break or NUL, but it is "a␍b".'),
        ("string", "a\0b", '"value" of c must not hold a line break or NUL, but it is "a␀b".'),
        ("string", "\ud800", '"value" of c must be text that can be encoded, but it is "⟨U+D800⟩".'),
        ("string", "-delete", '"value" of c must not begin with "-", which could be read as an option'),
        ("integer", "3.0", '"value" of c must be a whole number, but it is "3.0".'),
        ("integer", 3.0, '"value" of c must be a whole number, but it is 3.0.'),
        ("integer", "3_0", '"value" of c must be a whole number, but it is "3_0".'),
        ("integer", "٣", '"value" of c must be a whole number, but it is "٣".'),
        ("integer", " 3", '"value" of c must be a whole number, but it is " 3".'),
        ("integer", True, '"value" of c must be a whole number, but it is true.'),
        pytest.param(
            "integer", 10**5000, '"value" of c must be a whole number, but it is a very large number.', id="huge"
        ),
        ("integer", [1], '"value" of c must be a whole number, but it is a list.'),
        ("number", "nan", '"value" of c must be a number, but it is "nan".'),
        ("number", float("inf"), '"value" of c must be a number, but it is inf.'),
        ("number", "1e999", '"value" of c must be a number, but it is "1e999".'),
        ("number", {}, '"value" of c must be a number, but it is a table.'),
        ("boolean", 1, '"value" of c must be true or false, but it is 1.'),
        ("boolean", "maybe", '"value" of c must be true or false, but it is "maybe".'),
        ("path", "", '"value" of c must not be empty, but it is "".'),
        ("path", "/etc", '"value" of c must be a path relative to the workspace, but it is "/etc".'),
        ("path", "~/x", '"value" of c must not begin with "~", but it is "~/x".'),
        ("path", "..", '"value" of c must stay within the workspace, without "..", but it is "..".'),
        ("path", "a/../../b", '"value" of c must stay within the workspace, without "..", but it is "a/../../b".'),
        ("path", "a\0/b", '"value" of c must not hold a line break or NUL, but it is "a␀/b".'),
    ],
)
def test_values_that_cannot_be_used_are_refused(type: str, value: object, message: str) -> None:
    with pytest.raises(BadInput) as refused:
        one(type, value)
    assert refused.value.message.startswith(message)


def test_values_that_are_too_long_are_refused() -> None:
    assert len(one("string", "x" * 32_768)) == 32_768
    with pytest.raises(BadInput, match="at most 32768 bytes"):
        one("string", "한" * 20_000)


def test_ranges_hold() -> None:
    assert one("integer", 10, minimum=1, maximum=10) == "10"
    with pytest.raises(BadInput, match=r'^"value" of c must be at most 10, but it is 11\.$'):
        one("integer", "11", minimum=1, maximum=10)
    with pytest.raises(BadInput, match=r'^"value" of c must be at least 0\.5, but it is 0\.25\.$'):
        one("number", 0.25, minimum=0.5)


def test_a_choice_is_one_of_its_choices() -> None:
    assert one("choice", "-slow", choices=("fast", "-slow")) == "-slow"
    with pytest.raises(BadInput, match=r'must be one of "fast", "-slow", but it is "slow"\.$'):
        one("choice", "slow", choices=("fast", "-slow"))


@pytest.mark.parametrize(
    ("given_parameters", "error", "message"),
    [
        ({}, BadInput, 'clean-logs needs the parameter "dir" (a path within the workspace).'),
        ({"dir": "x", "day": 3}, UnknownName, 'clean-logs has no parameter "day"; did you mean "days"?'),
        ({"dir": "x", "zzz": 3}, UnknownName, 'clean-logs has no parameter "zzz"; it takes dir, days.'),
        ({"\x1b[2J": 3}, UnknownName, 'clean-logs has no parameter "␛[2J"; it takes dir, days.'),
        ({"dir": "x", "days": "0"}, BadInput, '"days" of clean-logs must be at least 1, but it is 0.'),
    ],
)
def test_unknown_and_missing_parameters(given_parameters: dict[str, Any], error: type[BadInput], message: str) -> None:
    with pytest.raises(error) as refused:
        CLEAN.expand(given_parameters)
    assert refused.value.message == message


def test_a_command_without_parameters_says_so() -> None:
    with pytest.raises(UnknownName, match="it takes none"):
        CommandDeclaration("c", ("ls",)).expand({"x": 1})


def test_text_may_begin_with_a_dash_where_it_cannot_be_an_option() -> None:
    parameters = {"words": Parameter("string")}
    after = CommandDeclaration("c", ("grep", "-r", "--", "{words}"), parameters=parameters)
    assert after.expand({"words": "-v"}).argv[-1] == "-v"
    within = CommandDeclaration("c", ("grep", "--regexp={words}"), parameters=parameters)
    assert within.expand({"words": "-v"}).argv[-1] == "--regexp=-v"
    in_preview = CommandDeclaration("c", ("x", "--", "{words}"), ("y", "{words}"), parameters=parameters)
    with pytest.raises(BadInput, match="read as an option"):
        in_preview.expand({"words": "-v"})


def test_text_cannot_become_an_option_behind_an_empty_value() -> None:
    command = CommandDeclaration("c", ("x", "{a}{b}"), parameters={"a": Parameter(), "b": Parameter()})
    with pytest.raises(BadInput, match='"b" of c must not begin with "-"'):
        command.expand({"a": "", "b": "-x"})


@pytest.mark.parametrize(
    ("argument", "values"),
    [
        (".{a}", {"a": "."}),
        (".{a}", {"a": "./etc"}),
        ("{a}{b}", {"a": "x/.", "b": "./y"}),
        ("--at=.{a}", {"a": "./y"}),
        ("{a}.", {"a": "x/."}),
    ],
)
def test_harmless_paths_cannot_climb_together(argument: str, values: dict[str, str]) -> None:
    command = CommandDeclaration("c", ("x", argument), parameters={name: Parameter("path") for name in values})
    with pytest.raises(BadInput, match="within the workspace"):
        command.expand(values)


def test_a_declaration_may_itself_climb() -> None:
    command = CommandDeclaration("c", ("x", "../shared/{a}"), parameters={"a": Parameter("path")})
    assert command.expand({"a": "y"}).argv == ("x", "../shared/y")


def test_a_declaration_made_in_code_is_checked_too() -> None:
    with pytest.raises(BadInput, match="no declared parameter"):
        CommandDeclaration("c", ("x", "{a}")).expand({})
    with pytest.raises(BadInput, match="literal braces"):
        CommandDeclaration("c", ("x", "{")).expand({})


@pytest.mark.parametrize(
    ("argument", "parts"),
    [
        ("", ()),
        ("plain", (Part("plain", False),)),
        ("+{days}", (Part("+", False), Part("days", True))),
        ("{a}{b-c_2}", (Part("a", True), Part("b-c_2", True))),
        ("{{a}}", (Part("{", False), Part("a", False), Part("}", False))),
        ("{{{a}}}", (Part("{", False), Part("a", True), Part("}", False))),
        ("{a}}}", (Part("a", True), Part("}", False))),
    ],
)
def test_template(argument: str, parts: tuple[Part, ...]) -> None:
    assert parse_template(argument) == parts


@pytest.mark.parametrize(
    "argument", ["{", "}", "{}", "{a", "a}", "{A}", "{a b}", "{0}", "{a}}", "{{a}", "{a!r}", "{{{}}}"]
)
def test_stray_braces_are_refused(argument: str) -> None:
    with pytest.raises(ValueError, match="literal braces"):
        parse_template(argument)


HOSTILE = st.text(st.characters() | st.sampled_from("-{}/.~ \n\0sinbpc=\"'"), max_size=12)
VALUES = HOSTILE | st.integers() | st.floats() | st.booleans() | st.none() | st.lists(HOSTILE, max_size=2)
SAFE = st.fixed_dictionaries(
    {},
    optional={
        "s": st.text(st.sampled_from("ab {}sip$;'\"한="), max_size=10),
        "i": st.integers(-(10**17), 10**17) | st.integers(-99, 99).map(str),
        "n": st.floats(allow_nan=False, allow_infinity=False) | st.integers(-99, 99),
        "b": st.booleans() | st.sampled_from(["yes", "FALSE"]),
        "p": st.lists(st.text("ab-{}s한 ", min_size=1), min_size=1, max_size=3).map("/".join),
        "c": st.sampled_from(["fast", "-slow"]),
    },
)


@given(SAFE)
def test_values_never_change_the_number_of_arguments(given_parameters: dict[str, Any]) -> None:
    expanded = ONE_OF_EACH.expand(given_parameters)
    assert len(expanded.argv) == len(ONE_OF_EACH.run)
    text = expanded.parameters["s"]
    assert expanded.argv[:2] == ("tool", f"s={text}")
    assert expanded.argv[7] == "{s}"
    assert expanded.argv[8] == f"{text}{expanded.parameters['i']}"
    assert float(expanded.argv[3]) == expanded.parameters["n"]
    assert not expanded.argv[5].startswith(("/", "~", "-"))


@given(SAFE)
def test_expanding_again_changes_nothing(given_parameters: dict[str, Any]) -> None:
    once = ONE_OF_EACH.expand(given_parameters)
    assert ONE_OF_EACH.expand(json.loads(json.dumps(once.parameters))) == once


@given(st.dictionaries(st.sampled_from("sinbpc"), VALUES))
def test_whatever_is_given_is_filled_in_or_refused(given_parameters: dict[str, Any]) -> None:
    try:
        expanded = ONE_OF_EACH.expand(given_parameters)
    except BadInput as refused:
        assert "\n" not in refused.message
        return
    assert len(expanded.argv) == len(ONE_OF_EACH.run)
    assert not [argument for argument in expanded.argv if set(argument) & set("\0\r\n")]
    assert ".." not in str(expanded.parameters["p"]).split("/")
