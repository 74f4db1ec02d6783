"""Approvers on the command line, and what makes no second person for a quorum (T8)."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path
from typing import Any

import pexpect  # type: ignore[import-untyped]
import pytest
from cli_support import Shell

from hitl_tui.policy.accounts import account_name
from hitl_tui.policy.approvers import FILE_NAME, STREAM

TWO = '[[policy]]\ndecision = "ask"\nquorum = 2\n'
QUESTION = "deposit rules"
ME = account_name()


@pytest.fixture
def shell(tmp_path: Path) -> Shell:
    found = Shell(tmp_path)
    (found.workspace / "hitl.toml").write_text(TWO, encoding="utf-8")
    return found


def add(shell: Shell, name: str, *options: str) -> str:
    """Add an approver with a token; return the token."""
    added = shell.run("approver", "add", name, *options, "--json")
    assert added.code == 0, added.out
    return str(added.json["token"])


def question(shell: Shell) -> dict[str, Any]:
    (found,) = shell.run("show", "s1", "--json").json["questions"]
    return dict(found)


def refused(shell: Shell, *arguments: str, **changes: str) -> str:
    """Run what must be refused: one sentence, nothing recorded; return it."""
    before = question(shell)["decisions"]
    done = shell.run(*arguments, **changes)
    assert done.code in (1, 2) and not done.out, done.out
    assert question(shell)["decisions"] == before
    return done.err.strip().removeprefix("hitl-tui: ").removeprefix("Error: ")


def test_one_account_is_one_person_whatever_it_calls_itself(shell: Shell) -> None:
    add(shell, "bob")
    assert shell.run("run", QUESTION).code == 3
    first = shell.run("do", "s1", "/todo approve", "--json", HITL_USER="").json
    assert (first["status"], first["needed"]) == ("recorded", 1)
    (decision,) = question(shell)["decisions"]
    assert {key: decision[key] for key in ("by", "person", "proof", "account")} == {
        **dict.fromkeys(("by", "person", "account"), ME),
        "proof": "account",
    }
    for changes in ({"HITL_USER": "eve"}, {"HITL_USER": "", "LOGNAME": "eve", "USER": "eve"}):
        assert "already said approve; this needs another person" in refused(
            shell, "do", "s1", "/todo approve", **changes
        )
    assert "another person" in refused(shell, "do", "s1", "/todo approve", "--as", "eve")
    for name in ("b0b", "bob", f"{ME}.", "policy rule 1", "r\u043e\u043et", "\u0431\u043e\u0431\u0430.", "supervisor"):
        refused(shell, "do", "s1", "/todo approve", "--as", name)


@pytest.mark.long
def test_a_claimed_name_is_shown_as_one(shell: Shell) -> None:
    (shell.workspace / "hitl.toml").unlink()
    shell.run("run", QUESTION)
    done = shell.run("do", "s1", "/todo approve", "--as", "ann", "--json")
    approval, shown = done.json["todos"][0]["approval"], f"ann (claimed) through {ME}"
    assert approval["by"] == shown
    parts = {"by": shown, "person": ME, "proof": "account", "account": ME, "claimed": "ann"}
    assert approval["people"] == [parts]
    lines = [json.loads(line) for line in shell.run("audit", "export", "s1").out.splitlines()]
    (decision,) = [e["data"]["decision"] for e in lines if e["kind"] == "decision"]
    assert {key: decision[key] for key in parts} == parts
    shell.run("run", QUESTION, "--session", "s2")
    done = shell.run("do", "s2", "/todo approve", "--json", HITL_USER="")
    assert done.json["todos"][0]["approval"]["by"] == ME
    people = done.json["todos"][0]["approval"]["people"]
    assert people == [{"by": ME, "person": ME, "proof": "account", "account": ME}]


def test_what_nobody_can_satisfy_is_named_and_cant_be_approved_but_refused(shell: Shell) -> None:
    begun = shell.run("run", QUESTION)
    assert begun.code == 3 and begun.err.startswith("hitl.toml rule 1: Nobody can approve this: it takes 2 approvers")
    assert "known here: 1. Add one with: hitl-tui approver add NAME" in begun.out
    assert "hitl-tui approver add NAME" in question(shell)["obstacle"]
    assert question(shell)["obstacle"] in question(shell)["about"]["notes"]
    assert "it takes 2 approvers; known here: 1" in refused(shell, "do", "s1", "/todo approve")
    checked = shell.run("policy", "check", "--json")
    (found,) = checked.json["findings"]
    assert (checked.code, checked.json["status"], found["rule"], found["line"]) == (1, "findings", 1, 1)
    assert "line 1, rule 1" in shell.run("policy", "check").out
    (shell.workspace / "hitl.toml").write_text(TWO.replace("quorum = 2", "level = 1"), encoding="utf-8")
    assert "approver add NAME --level 1" in shell.run("policy", "check", str(shell.workspace)).out
    shell.run("run", QUESTION, "--session", "s2")
    assert shell.run("do", "s2", "/todo reject 1").code == 0
    assert shell.run("do", "s1", "/todo skip 1").code == 0
    add(shell, "bob", "--level", "1")
    assert shell.run("policy", "check").code == 0
    assert shell.run("policy", "check", "nowhere").code == 2


def test_approvers_are_added_listed_and_removed_on_record(shell: Shell) -> None:
    token = add(shell, "bob", "--level", "2")
    assert len(token) > 40 and token not in (shell.data / FILE_NAME).read_text(encoding="utf-8")
    assert (shell.data / FILE_NAME).stat().st_mode & 0o077 == 0
    text = shell.run("approver", "add", "kim lee").out
    assert re.search(r"hitl_[\w-]{43}", text)
    listed = shell.run("approver", "list", "--json").json["approvers"]
    assert [(a["name"], a["level"], a["token"], a["owner"]) for a in listed] == [
        (ME, 0, False, True),
        ("bob", 2, True, False),
        ("kim lee", 0, True, False),
    ]
    assert shell.run("approver", "remove", "bob").code == 0
    assert "bob" not in shell.run("approver", "list").out
    (shell.data / FILE_NAME).write_text(f'[[approver]]\nname = "eve"\naccount = "{ME}"\n', encoding="utf-8")
    shell.run("sessions")
    entries = [json.loads(line) for line in shell.run("audit", "export", STREAM).out.splitlines()]
    kinds = ["approver_added", "approver_added", "approver_removed", "approvers_edited"]
    assert [entry["kind"] for entry in entries] == kinds
    assert {entry["data"]["by"] for entry in entries} == {ME}
    assert entries[3]["data"]["approvers"][0]["name"] == "eve"
    assert token not in json.dumps(entries)
    shell.run("sessions")
    assert len(shell.run("audit", "export", STREAM).out.splitlines()) == 4
    assert shell.run("audit", "verify").code == 0


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("add", "b0b"), "can't be told from bob"),
        (("add", "bob"), "Approver bob already exists"),
        (("add", "policy rule 1"), "the record calls something else"),
        (("add", "b\u043eb"), "mixes Cyrillic and Latin"),
        (("add", "kim", "--account", "no-such-account"), 'no account "no-such-account"'),
        (("add", "kim", "--level", "101"), "from 0 to 100"),
        (("add", " "), "needs a name"),
        (("remove", "kim"), 'No approver "kim"'),
        (("list", "kim"), "takes no name"),
        (("remove", "bob", "--level", "2"), "go with approver add"),
    ],
)
def test_what_makes_no_approver_is_one_sentence(shell: Shell, arguments: tuple[str, ...], says: str) -> None:
    add(shell, "bob")
    before = (shell.data / FILE_NAME).read_bytes()
    done = shell.run("approver", *arguments)
    assert done.code == 2 and says in done.err and done.err.count("\n") == 1 and not done.out
    assert (shell.data / FILE_NAME).read_bytes() == before


def test_who_is_removed_is_told_with_the_open_questions_that_their_vote_counts_for(shell: Shell) -> None:
    add(shell, "bob")
    assert shell.run("approver", "add", "boss", "--account", ME, "--json").code == 0
    shell.run("run", QUESTION)
    assert shell.run("do", "s1", "/todo approve", "--json").json["needed"] == 1
    done = shell.run("approver", "remove", "boss")
    assert "Their vote on 001 of s1 doesn't count any more." in done.out
    assert shell.run("approver", "remove", "bob", "--json").json["votes"] == []


def test_a_list_that_was_edited_badly_counts_nobody_and_names_the_line(shell: Shell) -> None:
    add(shell, "bob")
    shell.run("run", QUESTION)
    with (shell.data / FILE_NAME).open("a", encoding="utf-8") as file:
        file.write("level = high\n")
    line = len((shell.data / FILE_NAME).read_text(encoding="utf-8").splitlines())
    for arguments in (("approver", "list"), ("approver", "add", "kim"), ("policy", "check")):
        done = shell.run(*arguments)
        assert done.code == 2 and f"approvers.toml line {line}: this isn't valid TOML" in done.err
    assert f"approvers.toml line {line}" in refused(shell, "do", "s1", "/todo approve")
    assert shell.run("show", "s1").code == 3 or shell.run("show", "s1").code == 0


def test_a_token_is_not_taken_without_a_terminal_of_its_own(shell: Shell) -> None:
    token = add(shell, "bob")
    shell.run("run", QUESTION)
    pid = os.fork()  # without a controlling terminal, whoever runs the tests has one
    if not pid:
        os.setsid()
        done = shell.run("do", "s1", "/todo approve", "--approver", "bob", input=f"{token}\n", HITL_TOKEN=token)
        said = "A token is only taken at the controlling terminal" in done.err
        os._exit(0 if said and done.code == 2 else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0
    assert question(shell)["decisions"] == []


def give(at: pexpect.spawn[str], line: str, answer: str) -> None:
    """Type a line, and end it once it is seen; what came before the prompt was there is taken for a paste."""
    at.send(line)
    at.expect_exact(line)
    for _ in range(10):
        at.send("\r")
        if at.expect([answer, pexpect.TIMEOUT], timeout=6) == 0:
            return
    raise AssertionError(f"{answer!r} never came")


@pytest.mark.long
def test_two_people_at_one_terminal_make_a_quorum(shell: Shell) -> None:
    token, other = add(shell, "bob"), add(shell, "kim")
    shell.run("run", QUESTION)
    assert shell.run("do", "s1", "/todo approve", "--as", "eve").code == 0
    for wrong in (other, "hitl_x"):
        at = shell.terminal("do", "s1", "/todo approve", "--approver", "bob")
        at.expect("Token of bob: ")
        at.sendline(wrong)
        at.expect("This isn't the token of an approver bob.")
        at.wait()
        assert at.exitstatus == 2
    at = shell.terminal("do", "s1", "/todo approve", "--approver", "bob", HITL_USER="")
    at.expect("Token of bob: ")
    at.sendline(token)
    rest = at.read()
    at.wait()
    assert token not in rest
    (decisions,) = [q for q in [json.loads(shell.run("show", "s1", "--json").out)] if q]
    assert decisions["todos"][0]["approval"]["by"] == f"eve (claimed) through {ME}, bob"
    lines = [json.loads(line) for line in shell.run("audit", "export", "s1").out.splitlines()]
    assert [e["data"]["decision"]["proof"] for e in lines if e["kind"] == "decision"] == ["account", "token"]
    assert token not in shell.run("audit", "export").out


@pytest.mark.long
def test_the_first_screens_name_what_nobody_can_satisfy(shell: Shell) -> None:
    at = shell.terminal("--line")
    at.expect("hitl.toml rule 1: Nobody can approve this")
    at.close(force=True)
    at = shell.terminal()
    at.expect("hitl.toml rule 1: Nobody")
    at.close(force=True)


@pytest.mark.slow
@pytest.mark.long
def test_line_mode_takes_one_command_of_another_approver(shell: Shell) -> None:
    token = add(shell, "bob")
    shell.run("run", QUESTION)
    at = shell.terminal("--line", "--session", "s1")
    at.expect("s1>")
    give(at, "/todo approve 1", "1 more needed to approve")
    give(at, "/as bob /todo approve 1", "Token of bob: ")
    at.sendline("wrong")
    at.expect("This isn't the token")
    give(at, "/as bob /quit", "can't run /quit")
    give(at, "/as bob /todo approve 1", "Token of bob: ")
    at.sendline(token)
    at.expect("Approved 001")
    at.close(force=True)
    assert "bob" in shell.run("show", "s1", "--json").json["todos"][0]["approval"]["by"]


def test_a_question_that_takes_a_level_names_who_has_it_and_how_they_answer(shell: Shell) -> None:
    """(T8)"""
    shell.declare('[[policy]]\nname = "cleaning"\nteam = "search_team"\ndecision = "ask"\nlevel = 1\n')
    add(shell, "carol", "--level", "1")
    asked = shell.run("run", QUESTION).out
    assert 'an approver of level 1 or higher: carol · rule 1 "cleaning"' in asked
    assert "add --approver carol" in asked
    assert question(shell)["approvers"] == ["carol"]
    assert question(shell)["about"]["rule_name"] == "cleaning"
    said = refused(shell, "do", "s1", "/todo approve")
    assert "Who can: carol. With their token: add --approver carol." in said
