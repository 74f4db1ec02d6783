"""Line mode without a terminal: lines come through a pipe, one command or text a line."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from repl_support import SEARCH, Line

pytestmark = pytest.mark.long


@pytest.fixture
def line(tmp_path: Path) -> Line:
    return Line(tmp_path)


def test_a_session_from_question_to_answer_each_line_waiting_for_the_last(line: Line) -> None:
    text = f"{SEARCH}\n검색만으로 부족할 것 같아. 분석도 추가해줘.\n/proposal accept\n/todo approve\n/todo approve\n"
    code, out, err = line.pipe(text)
    assert (code, err) == (0, "")
    asked = [out.index("Approve 001?"), out.index("Change the plan?")]
    asked.append(out.index("Approve 002?"))
    assert asked == sorted(asked)
    assert "sample-apartment-prices.csv" in out
    assert out.rstrip().endswith("hitl-tui --session s1 comes back to it.")


def test_a_file_that_a_step_makes_is_printed_whole_before_it_is_approved(line: Line) -> None:
    _, out, _ = line.pipe("보증금 증액 상한을 찾아서 보고서로 써줘\n/todo approve\n")
    asked = out[out.index("Approve 002?") :]
    command = next(row.split("approve", 1)[1].strip() for row in asked.splitlines() if row.startswith("    approve "))
    code, _, _ = line.pipe(f"{command}\n", "--line", "--session", "s1")
    (made,) = (line.workspace / "reports").iterdir()
    shown = {row.strip().removeprefix("+") for row in asked.splitlines() if row.strip().startswith("+")}
    assert code == 0
    assert [row for row in made.read_text().splitlines() if row and row.rstrip() not in shown] == []
    assert "U+27E8" not in asked, "a mark of what was cut is made once"


def test_the_end_of_input_decides_nothing(line: Line) -> None:
    code, out, err = line.pipe("", "--line", SEARCH)
    assert (code, err) == (3, "")
    assert "s1 waits for your decision: 001." in out
    code, out, _ = line.pipe("/todos", "--line", "--session", "s1")
    assert code == 3, "a last line without an end is a line"
    assert out.count("? asks") == 2


@pytest.mark.parametrize("given", ["", "\n \n"])
def test_no_line_at_all_says_what_to_do(line: Line, given: str) -> None:
    code, out, err = line.pipe(given)
    assert (code, out) == (2, "")
    assert err.startswith("hitl-tui: No question, and no terminal to ask on.\n") and "hitl-tui run" in err


def test_wrong_lines_are_told_and_the_next_is_taken(line: Line) -> None:
    text = f"/todos\n\n{SEARCH}\n/todo aprove\n\udcff\n/todo skip 1\n/quit\n/never read\n"
    done = subprocess.run(
        [sys.executable, "-m", "hitl_tui"],
        input=text.encode(errors="surrogateescape"),
        capture_output=True,
        cwd=line.workspace,
        env=line.env,
        check=False,
    )
    out = done.stdout.decode()
    assert done.returncode == 2
    assert "Error: No session is open" in out
    assert 'Error: Unknown command "/todo aprove"' in out
    assert "Error: That line isn't UTF-8 text" in out
    assert "Skipped 001." in out
    assert "never read" not in out


def test_a_line_that_never_ends_is_left_out(line: Line) -> None:
    code, out, _ = line.pipe(f"{SEARCH}\n{'x' * 3_000_000}\n/todo skip 1\n")
    assert code == 2
    assert "Error: That line is longer than 1,000,000 bytes" in out
    assert "Skipped 001." in out


def test_words_that_answer_or_call_for_help_say_how_it_is_done(line: Line) -> None:
    code, out, _ = line.pipe(f"help\n{SEARCH}\nyes\nWhat is the hotel limit?\n?\n")
    assert code == 2, "two of the lines came to nothing"
    assert out.count("Show commands") == 2, "with a session and without"
    assert 'Error: "yes" decides nothing here; answer with a command.\n' in out
    assert "\n  Answer 001 with /todo approve 001 or /todo reject 001.\n" in out
    assert "Error: To start another session, write /new before it" in out
    assert "Approved 001" not in out


def test_new_leaves_one_session_for_another(line: Line) -> None:
    code, out, _ = line.pipe(f"{SEARCH}\n/new 표본 파일 목록\n/todos\n")
    assert code == 3
    assert "s1 is left as it stands." in out
    assert "Session s2: 표본 파일 목록" in out
    code, out, _ = line.pipe("", "--line", "--session", "s1")
    assert "Approve 001?" in out


def test_a_starter_works_at_once(line: Line) -> None:
    code, out, _ = line.pipe("1\n")
    assert code == 3
    assert "300 million won" in out
    assert (line.data / "starters" / "lease" / "summary-en.md").is_file()


def test_what_it_cannot_begin_with(line: Line) -> None:
    code, out, err = line.pipe("/todos\n", "--line", "--session", "none")
    assert (code, out) == (2, "")
    assert err.startswith('hitl-tui: No session "none"')


@pytest.mark.long
def test_sessions_are_listed_deleted_and_opened_by_command(line: Line) -> None:
    code, out, _ = line.pipe(
        f"{SEARCH}\n/new 표본 파일 목록\n/sessions 강남구\n/delete s1\n/delete s2 s2\n/open s1\n/quit\n"
    )
    assert code == 2, "one of the commands was refused"
    assert "1 session." in out and "Nothing was deleted yet; to delete it: /delete s1 s1" in out
    assert "s2 is the session you are in" in out
    assert "Session s1: 강남구" in out
    code, out, _ = line.pipe("/delete s1 s1\n/sessions\n", "--line")
    assert "Deleted s1; the record of its decisions stays." in out and "1 session." in out


def test_a_folder_is_indexed_when_somebody_says_so(line: Line) -> None:
    _, out, err = line.pipe("/index\n")
    assert err == ""
    assert "Indexed" in out
