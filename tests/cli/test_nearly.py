"""What was meant for a subcommand, and what is a question though its first word looks like one."""

from __future__ import annotations

from pathlib import Path

import pytest
from cli_support import Shell
from hypothesis import given
from hypothesis import strategies as st

from hitl_tui.cli.arguments import COMMANDS, is_slip, near_first, parse
from hitl_tui.cli.fast_args import CONSOLE
from hitl_tui.cli.subcommands import SUBCOMMANDS
from hitl_tui.core.errors import BadInput


@pytest.fixture
def shell(tmp_path: Path) -> Shell:
    return Shell(tmp_path)


@pytest.mark.parametrize(
    ("words", "meant"),
    [
        ("exprot s1 x", "export"),
        ("exprot s1 x.hitl", "export"),
        ("shwo s1", "show"),
        ("delte s1", "delete"),
        ("imoprt backup.hitl", "import"),
        ("lnit agent.py:graph", "lint"),
        ("opne ./store.db", "open"),
        ("adit verify", "audit"),
        ("reanme s1 The other cap", "rename"),
    ],
)
def test_a_slip_before_what_the_subcommand_takes_is_named(words: str, meant: str) -> None:
    with pytest.raises(BadInput, match=f"Did you mean hitl-tui {meant}") as caught:
        parse(words.split())
    assert caught.value.help.endswith(f"hitl-tui -- {words}")
    assert parse(["--", *words.split()]).text == words, "the way that the help shows"


@pytest.mark.parametrize(
    "words",
    [
        "show me the plan for May",
        "open the report and tell me its total",
        "shows me the plan",
        "list s1 and s2",
        "report on q3.csv",
        "form 1040",
        "how 3.5% is computed",
        "exprots are mine",
        "for s3 buckets what is the limit",
        "강남구 아파트 시세 조회",
        "exprot 가격 x",
    ],
)
def test_a_question_stays_one(words: str) -> None:
    found = parse(words.split())
    assert (found.command, found.text) == (CONSOLE, words)


@pytest.mark.parametrize("words", [["daemon"], ["deploy"], ["self-update"], ["daemon", "--help"], ["daemon", "--json"]])
def test_a_word_that_looks_like_a_subcommand_opens_nothing(words: list[str]) -> None:
    with pytest.raises(BadInput, match=f'Unknown command "{words[0]}". .*hitl-tui --help lists all') as caught:
        parse([word for word in words if word != "--json"])
    assert caught.value.help == f"To ask just this word: hitl-tui -- {words[0]}"
    assert parse(["--", words[0]]).text == words[0]


def test_the_nearest_subcommands_are_named() -> None:
    with pytest.raises(BadInput, match=r"Nearest: hitl-tui sessions, hitl-tui decide. hitl-tui --help lists all"):
        parse(["decisions"])


@pytest.mark.parametrize("words", [["전세금"], ["Why?"], ["what is mcp"], ["mcp", "is", "what"], ["Hello"]])
def test_other_single_words_are_questions(words: list[str]) -> None:
    assert (parse(words).command, parse(words).text) == (CONSOLE, " ".join(words))


@pytest.mark.parametrize("command", sorted(name for name in COMMANDS if SUBCOMMANDS[name].most_words is not None))
def test_a_subcommand_with_what_it_takes_is_that_subcommand(command: str) -> None:
    positional = [one for one in SUBCOMMANDS[command].options if one.positional]
    taken = [one.given.get("choices", ("the",))[0] for one in positional]
    assert parse([command, *taken]).command == command


@pytest.mark.parametrize("command", SUBCOMMANDS)
def test_a_subcommand_names_a_function_that_exists(command: str) -> None:
    assert callable(SUBCOMMANDS[command].load())


@given(st.sampled_from(COMMANDS), st.text("abcdefghijklmnopqrstuvwxyz", max_size=9))
def test_a_slip_is_one_letter_and_never_the_first(command: str, word: str) -> None:
    assert not is_slip(command, command)
    if is_slip(word, command):
        assert is_slip(command, word)
        assert word[0] == command[0] and abs(len(word) - len(command)) <= 1
    for place in range(1, len(command)):
        assert is_slip(command[:place] + command[place + 1 :], command)
        assert is_slip(command[:place] + "0" + command[place:], command)
        assert is_slip(command[:place] + "0" + command[place + 1 :], command)


@given(st.lists(st.text(min_size=1, max_size=12), min_size=1, max_size=4))
def test_any_words_are_judged(words: list[str]) -> None:
    assert near_first(words, COMMANDS) in ("", *COMMANDS)


def test_an_unknown_word_before_a_session_plans_nothing(shell: Shell) -> None:
    shell.run("run", "강남구 아파트 시세 조회")
    for words in (["bogus", "s1"], ["bogus", "s1", "x"], ["exprot", "s1", "x"]):
        refused = shell.run(*words)
        assert refused.code == 2
        assert refused.err.startswith(f'hitl-tui: Unknown command "{words[0]}"')
        assert f"To ask just these words: hitl-tui -- {' '.join(words)}" in refused.err
    korean = shell.run("bogus", "s1", "--lang", "ko")
    assert '"bogus" 명령이 없습니다' in korean.err and "이 말을 그대로 질문하려면" in korean.err
    assert [s["session_id"] for s in shell.run("sessions", "--json").json["sessions"]] == ["s1"]


@pytest.mark.long
@pytest.mark.parametrize(
    "words",
    [
        *[
            pytest.param(words, marks=pytest.mark.slow)
            for words in (["bogus", "s2"], ["bogus s1"], ["--", "bogus", "s1"])
        ],
        ["about", "s1", "and", "s2"],
    ],
)
def test_these_are_questions_though_a_session_is_called_so(shell: Shell, words: list[str]) -> None:
    shell.run("run", "강남구 아파트 시세 조회")
    asked = shell.process(*words)
    assert asked.code == 3, asked.err
    listed = shell.run("sessions", "--json").json["sessions"]
    assert [s["session_id"] for s in listed] == ["s1", "s2"]
