"""Line mode at a real pseudo-terminal."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path

import pexpect  # type: ignore[import-untyped]
import pytest
from repl_support import CTRL_C, CTRL_D, CTRL_U, SEARCH, Line, Terminal
from trusting import trust_workspace

pytestmark = pytest.mark.long


@pytest.fixture
def line(tmp_path: Path) -> Line:
    return Line(tmp_path)


def test_a_question_is_whole_and_only_a_command_answers_it(line: Line) -> None:
    terminal = line.terminal(SEARCH)
    shown = terminal.wait("skip     4 or /todo skip 001")
    assert f"query: {SEARCH}" in shown
    assert "Approve 001?" in shown
    terminal.wait("1 needs you · y approve · n reject · /help")
    for harmless in ("\r", "\r", CTRL_C, "1", CTRL_C, "a", CTRL_C):
        terminal.send(harmless)
    terminal.send("/mode\r")
    terminal.wait("The mode is step")
    terminal.send("/todo appr\t")
    terminal.wait("> /todo approve")
    terminal.send("\r")
    terminal.wait("Approved 001")
    assert "sample-apartment-prices.csv" in terminal.wait("s1 is finished.")
    assert terminal.leave() == 0
    assert "hitl-tui --line --session s1 comes back to it." in terminal.text
    history = line.data / "line-history"
    assert "+/todo approve" in history.read_text()
    assert history.stat().st_mode & 0o077 == 0


@pytest.mark.slow
def test_home_offers_starters_and_sessions_and_leaving_decides_nothing(line: Line) -> None:
    assert line.pipe("", "--line", SEARCH)[0] == 3
    terminal = line.terminal()
    shown = terminal.wait("/quit quits.")
    assert "nothing runs until you approve it" in shown
    assert "300 million won" in shown
    assert "s1  ? waiting" in shown
    terminal.wait("hitl-tui>")
    terminal.send("s1\r")
    terminal.wait("Approve 001?")
    assert terminal.leave() == 0
    code, out, _ = line.pipe("", "--line", "--session", "s1")
    assert code == 3
    assert "? asks" in out


def at_a_gate(line: Line) -> tuple[Path, Terminal]:
    """Return a pipe that step 002 will wait at, and a terminal in which 002 and 003 after it are asked."""
    (line.workspace / "hitl.toml").write_text(
        '[teams.command_team.commands.gate]\nrun = ["cat", "gate"]\nrisk = "low"\n'
    )
    trust_workspace(line.data, line.workspace)
    gate = line.workspace / "gate"
    terminal = line.terminal(SEARCH)
    terminal.wait("s1>")
    for command, answer in (
        ("/todo add command_team gate", "Added 002 for"),
        ("/todo add search_team 전세 --after 2", "Added 003 for"),
        ("/todo skip 1", "Skipped 001"),
    ):
        terminal.send(f"{command}\r")
        terminal.wait(answer)
    os.mkfifo(gate)
    return gate, terminal


def test_a_question_that_came_while_a_line_was_typed_is_not_answered_by_it(line: Line) -> None:
    gate, terminal = at_a_gate(line)
    terminal.send("/todo approve 2\r")
    terminal.wait("[002] started")
    terminal.send("/todo approve 3")
    terminal.wait("> /todo approve 3")
    gate.write_text("open\n")
    terminal.wait("Approve 003?")
    terminal.send("\r")
    terminal.wait("003 was asked after you began that line")
    assert "Approved 003" not in terminal.text
    terminal.send("/todo approve 3\r")
    terminal.wait("Approved 003")
    assert terminal.leave() == 0


def test_a_dumb_terminal_gets_lines_without_escape_codes(line: Line) -> None:
    process = line.spawn(SEARCH, term="dumb")
    process.expect("Answer with:")
    seen = process.before
    process.send("/todo approve\r")
    process.expect("s1 is finished")
    seen += process.before
    process.send(CTRL_D)
    process.expect("Press Ctrl-D again")
    process.send(CTRL_D)
    process.expect(pexpect.EOF)
    seen += process.before
    process.wait()
    assert process.exitstatus == 0
    assert "\x1b" not in seen


def test_ctrl_c_at_a_dumb_terminal_closes_cleanly(line: Line) -> None:
    process = line.spawn(SEARCH, term="dumb")
    process.expect("Answer with:")
    process.sendintr()
    process.expect("Interrupted")
    process.expect(pexpect.EOF)
    process.wait()
    assert process.exitstatus == 130
    assert line.pipe("", "--line", "--session", "s1")[0] == 3


@pytest.mark.sampled(1)
@pytest.mark.parametrize("text", ["hello\r/todo approve\r", "/todo approve\r", "\n/todo approve\n"])
def test_lines_that_come_all_at_once_are_a_paste_and_nothing_is_sent(line: Line, text: str) -> None:
    terminal = line.terminal(SEARCH)
    terminal.wait("1 needs you · y approve · n reject · /help")
    terminal.paste(text)
    terminal.wait("That arrived all at once, like a paste")
    terminal.send(CTRL_U)
    terminal.send("/todos\r")
    terminal.wait("1 step, 0 completed, 1 waiting for you.")
    assert "Approved" not in terminal.text
    assert terminal.leave() == 0


def test_a_line_typed_while_the_session_opens_is_not_sent(line: Line) -> None:
    terminal = line.terminal(SEARCH)
    terminal.paste("/todo approve\r")
    terminal.wait("1 needs you · y approve · n reject · /help")
    terminal.wait("> /todo approve")
    assert line.pipe("", "--line", "--session", "s1")[0] == 3
    assert "Approved" not in terminal.text


@pytest.mark.slow
def test_lines_that_come_all_at_once_at_a_dumb_terminal_are_refused(line: Line) -> None:
    process = line.spawn(SEARCH, term="dumb")
    process.expect("Answer with:")
    process.send("hello\r/todo approve\r")
    process.expect("2 lines arrived all at once, like a paste")
    process.send(CTRL_D)
    process.expect("Press Ctrl-D again")
    process.send(CTRL_D)
    process.expect(pexpect.EOF)
    process.wait()
    assert line.pipe("", "--line", "--session", "s1")[0] == 3


SEEN = "y approve · n reject"
STANDS = 1.0
"""Seconds after which a question that was shown takes a key, with what the terminal takes to show it."""


def stand(terminal: Terminal) -> None:
    """Let a question stand on the terminal; what comes meanwhile is drawn."""
    terminal.wait(SEEN)
    with contextlib.suppress(pexpect.TIMEOUT):
        while True:
            terminal.wait_more(STANDS)


@pytest.mark.parametrize("key", [*[pytest.param(key, marks=pytest.mark.slow) for key in "y1"], "ㅛ"])
def test_a_key_alone_approves_the_question_that_stood_there(line: Line, key: str) -> None:
    terminal = line.terminal(SEARCH)
    stand(terminal)
    terminal.send(f"{key}\r")
    terminal.wait("Approved 001")
    terminal.wait("s1 is finished.")
    assert terminal.leave() == 0


@pytest.mark.parametrize(
    ("key", "said"),
    [
        ("n", "1 rejected"),
        *[pytest.param(key, "1 rejected", marks=pytest.mark.slow) for key in "ㅜ3"],
        pytest.param("4", "1 skipped", marks=pytest.mark.slow),
    ],
)
def test_a_key_alone_rejects_or_skips_it(line: Line, key: str, said: str) -> None:
    terminal = line.terminal(SEARCH)
    stand(terminal)
    terminal.send(f"{key}\r")
    terminal.wait(said)
    assert terminal.leave() == 0


def test_a_reason_behind_the_key_rejects_with_it(line: Line) -> None:
    terminal = line.terminal(SEARCH)
    stand(terminal)
    terminal.send("n not the whole folder\r")
    terminal.wait("Rejected 001")
    assert terminal.leave() == 0
    shown = line.pipe("", "show", "s1")[1]
    assert "not the whole folder" in shown


def test_a_pasted_key_decides_nothing(line: Line) -> None:
    terminal = line.terminal(SEARCH)
    stand(terminal)
    terminal.paste("\x1b[200~y\x1b[201~")
    terminal.wait("> y")
    stand(terminal)
    terminal.send("\r")
    terminal.wait('"y" was typed before the question was shown, or all at once with more')
    assert "Approved" not in terminal.text
    assert terminal.leave() == 0
    assert line.pipe("", "--line", "--session", "s1")[0] == 3


def test_a_key_typed_before_the_question_decides_nothing(line: Line) -> None:
    gate, terminal = at_a_gate(line)
    terminal.send("/todo approve 2\r")
    terminal.wait("002] started")
    terminal.send("y")
    gate.write_text("open\n")
    terminal.wait("Approve 003?")
    stand(terminal)
    terminal.send("\r")
    terminal.wait("That was typed before 003 was shown; type it again")
    terminal.send("y\r")
    terminal.wait("Approved 003")
    assert terminal.leave() == 0


@pytest.mark.slow
def test_a_key_at_a_pipe_decides_nothing(line: Line) -> None:
    assert line.pipe("y\n", "--line", SEARCH)[0] in (2, 3)
    assert "Approved" not in line.pipe("y\n1\nn\n", "--line", "--session", "s1")[1]


@pytest.mark.slow
def test_a_source_of_the_answer_opens_in_the_editor_and_nothing_is_printed_over_it(line: Line, tmp_path: Path) -> None:
    editor = tmp_path / "nano"
    editor.write_text('#!/bin/sh\necho "opened $1 ${2##*/}"; read line; echo "got $line"\n')
    editor.chmod(0o700)
    line.env["EDITOR"] = str(editor)
    terminal = line.terminal(SEARCH)
    terminal.wait("1 needs you")
    terminal.send("/todo approve 1\r")
    terminal.wait("s1 is finished.")
    terminal.send("/source\r")
    terminal.wait("1  sample-apartment-prices.csv:")
    terminal.send("/source 99\r")
    terminal.wait("The answer has")
    terminal.send("/source 1\r")
    terminal.wait("opened +")
    terminal.paste("words\r")
    terminal.wait("got words")
    assert terminal.leave() == 0


def test_a_key_with_its_number_answers_one_of_several_questions(line: Line) -> None:
    terminal = line.terminal(SEARCH)
    stand(terminal)
    terminal.send("also search for the notice period\r")
    terminal.wait("y 2 or /proposal accept")
    with contextlib.suppress(pexpect.TIMEOUT):
        while True:
            terminal.wait_more(STANDS)
    terminal.send("y\r")
    terminal.wait("2 questions are open, so say which one")
    terminal.send("n 2 not now\r")
    terminal.wait("Rejected")
    terminal.send("y\r")
    terminal.wait("Approved 001")
    assert terminal.leave() == 0
