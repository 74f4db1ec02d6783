"""Arguments, settings, output and what loads when."""

from __future__ import annotations

import gc
import json
import os
import pwd
import re
import subprocess
import sys
import unicodedata
from collections.abc import Iterable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hitl_tui.cli.arguments import COMMANDS, parse
from hitl_tui.cli.fast_args import CONSOLE, plain
from hitl_tui.cli.output import json_text
from hitl_tui.cli.settings import data_folder, operator_name, workspace_folder
from hitl_tui.core.errors import BadInput
from hitl_tui.core.safe_text import MOST_MARKS, escaped_json, safe_text
from hitl_tui.supervisor.module_loading import importing

OPTIONS = ["--data", "--workspace", "--session", "--as", "--mode", "--lang"]
VALUES = ["", "x", "run", "do", "two words", "step", "risk", "en", "ko"]
OTHERS = ["--line", "--json", "--version", "--help", "-h", "--", "-", "--data=x", "--mode=step", "-x", "--nothing"]

HEAVY = ("textual", "langgraph", "pydantic", "asyncio", "prompt_toolkit", "sqlite3")


def loaded(code: str, among: Iterable[str] = HEAVY) -> set[str]:
    """Return which of some packages a fresh interpreter has loaded after some code."""
    probe = f"import sys\n{code}\nsys.stderr.write(' '.join(sorted({{m.partition('.')[0] for m in sys.modules}})))"
    done = subprocess.run([sys.executable, "-c", probe], capture_output=True, text=True, check=True)
    return set(done.stderr.split()) & set(among)


def test_version_loads_nothing_heavy() -> None:
    assert loaded("from hitl_tui.cli import main; assert main(['--version']) == 0") == set()


def test_a_starters_folder_is_made_without_the_engine(tmp_path: Path) -> None:
    code = f"from hitl_tui.cli import main; assert main(['starter', 'lease', '--data', {str(tmp_path)!r}]) == 0"
    assert loaded(code, ("textual", "langgraph", "langchain_core")) == set()
    assert (tmp_path / "starters" / "lease" / "hitl.toml").is_file()


def test_help_loads_nothing_heavy() -> None:
    assert loaded("from hitl_tui.cli import main; assert main(['run', '--help']) == 0") == set()


@pytest.mark.long
def test_do_needs_no_screen() -> None:
    assert not loaded("import hitl_tui.cli.session_jobs") & {"textual", "prompt_toolkit"}


def test_options_may_stand_before_or_behind_a_command() -> None:
    before = parse(["--data", "there", "do", "s1", "/todo approve", "--json"])
    behind = parse(["do", "--json", "s1", "/todo", "approve", "--data=there"])
    assert before == behind
    assert (before.command, before.session, before.text, before.data) == ("do", "s1", "/todo approve", "there")


def test_anything_else_is_a_question() -> None:
    assert parse(["why", "is", "it", "so"]).text == "why is it so"
    assert parse(["--line", "--", "run"]).text == "run"
    assert parse(["--session", "run"]).session == "run"
    assert parse([]).command == CONSOLE
    assert parse(["run", "-"]).text == "-"


def test_a_plain_line_is_understood_without_the_parser() -> None:
    assert not loaded("from hitl_tui.cli import dispatch; assert dispatch.plain(['--data', 'd'])", ["argparse"])
    assert plain([]) == parse([])


@given(st.lists(st.sampled_from([*OPTIONS, *VALUES, *OTHERS]), max_size=6))
@settings(max_examples=300, suppress_health_check=[HealthCheck.too_slow])
def test_what_is_plain_means_what_the_parser_says(argv: list[str]) -> None:
    assert (understood := plain(argv)) is None or understood == parse(argv)


@given(st.lists(st.tuples(st.sampled_from(OPTIONS), st.sampled_from(VALUES)), max_size=5))
def test_options_with_well_formed_values_are_plain(pairs: list[tuple[str, str]]) -> None:
    argv = [word for pair in pairs for word in pair]
    try:
        expected = parse(argv)
    except BadInput:
        assert plain(argv) is None
    else:
        understood = plain(argv)
        assert understood == expected or (understood is None and not all(argv)), "an empty value is left to the parser"


@pytest.mark.parametrize(
    ("argv", "said"),
    [
        (["--mode", "fast"], '--mode can\'t be "fast"; use one of step, plan, risk.'),
        (["export", "s1"], "The following arguments are required: FILE."),
        (["prune", "--keep"], "--keep: expected one argument."),
        (["approver", "\x1b[2J" * 99], '"␛[2J'),
    ],
)
def test_a_wrong_argument_is_told_in_the_words_of_a_person(argv: list[str], said: str) -> None:
    with pytest.raises(BadInput) as caught:
        parse(argv)
    assert caught.value.message.startswith(said) and len(caught.value.message) < 200
    assert caught.value.help.startswith("hitl-tui ")


@pytest.mark.parametrize(
    ("argv", "part"),
    [
        (["sesions"], "Did you mean hitl-tui sessions?"),
        (["run"], "QUERY"),
        (["do", "s1"], "COMMAND"),
        (["run", "x", "--mode", "fast"], "--mode"),
        (["run", "x", "--line"], "--line"),
        (["--nonsense"], "--nonsense"),
        (["approver", "burn"], "burn"),
        (["run", "x", "--\x1b[31m"], "␛[31m"),
        (["--session"], "--session"),
    ],
)
def test_wrong_arguments_are_one_sentence(argv: list[str], part: str) -> None:
    with pytest.raises(BadInput) as caught:
        parse(argv)
    assert part in caught.value.message
    assert "\n" not in caught.value.message
    assert "\x1b" not in caught.value.message


@pytest.mark.parametrize("command", [CONSOLE, *COMMANDS])
def test_every_command_explains_itself(command: str) -> None:
    shown = parse([*([] if command == CONSOLE else [command]), "--help"]).help
    assert shown.startswith("usage: hitl-tui")
    assert "--data DIR" in shown


@pytest.mark.long
@settings(suppress_health_check=[HealthCheck.too_slow])
@given(st.recursive(st.text(), lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner)))
def test_escaped_json_means_the_same_and_shows_nothing_harmful(value: object) -> None:
    line = json_text({"value": value})
    assert json.loads(line) == {"value": value}
    assert all(c.isprintable() for c in line)
    own_glyphs = re.compile("[\u2400-\u2421\u27e8\u27e9]")
    assert all(safe_text(f"a{c}") == f"a{c}" for c in own_glyphs.sub("", line))
    assert escaped_json(line) == line


@pytest.mark.parametrize("text", ["a\u3164b", "a\ufe0fb", "e" + "\u0301" * 200, "\u0301 alone", "\U000e0041", "\ud800"])
def test_json_holds_nothing_that_a_terminal_hides_or_stacks(text: str) -> None:
    line = json_text({"value": text})
    assert json.loads(line) == {"value": text}
    assert sum(unicodedata.category(c)[0] in "MC" for c in line) <= MOST_MARKS
    assert not {"\u3164", "\ufe0f", "\U000e0041"} & set(line)


def test_json_shows_letters_as_they_are() -> None:
    line = json_text({"value": "한글 é ⟨U+202E⟩ 🙂"})
    assert line == '{"value": "한글 é ⟨U+202E⟩ 🙂"}'


def test_the_data_folder_is_chosen_in_order(tmp_path: Path) -> None:
    environ = {"HITL_DATA_DIR": str(tmp_path / "by-environment")}
    assert data_folder(str(tmp_path / "given"), environ) == tmp_path / "given"
    assert data_folder(None, environ) == tmp_path / "by-environment"
    assert data_folder(None, {"HITL_DATA_DIR": " "}).name == "hitl-tui"
    with pytest.raises(BadInput, match="--data needs a folder"):
        data_folder(" ", environ)
    with pytest.raises(BadInput):
        data_folder("a\0b", environ)


def test_the_workspace_is_the_current_folder_unless_given(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert workspace_folder(None) == tmp_path
    assert workspace_folder("sub") == tmp_path / "sub"


def test_a_current_folder_that_is_gone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()
    try:
        with pytest.raises(BadInput, match="current folder no longer exists"):
            workspace_folder(None)
    finally:
        os.chdir(tmp_path)


def test_the_name_is_the_account_s_or_shown_as_claimed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    account = pwd.getpwuid(os.getuid()).pw_name
    assert operator_name("kim", {"HITL_USER": "lee"}, tmp_path) == f"kim (claimed) through {account}"
    assert operator_name(None, {"HITL_USER": " lee "}, tmp_path) == f"lee (claimed) through {account}"
    assert operator_name(account.upper(), {}, tmp_path) == account
    for variable in ("LOGNAME", "USER", "LNAME", "USERNAME"):
        monkeypatch.setenv(variable, "somebody")
    assert operator_name(None, {}, tmp_path) == account
    monkeypatch.setattr("pwd.getpwuid", lambda uid: (_ for _ in ()).throw(KeyError(uid)))
    assert operator_name(None, {}, tmp_path) == f"uid-{os.getuid()}"


def test_garbage_is_looked_for_again_after_an_import_whatever_came_of_it() -> None:
    with pytest.raises(ImportError), importing():
        assert not gc.isenabled()
        raise ImportError
    assert gc.isenabled()
