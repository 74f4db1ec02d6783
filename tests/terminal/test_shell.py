"""The console beside a shell: it can be suspended and comes back whole, and Ctrl+C only says how to leave (C1)."""

from __future__ import annotations

from pathlib import Path

import pyte
import pytest
from terminal_support import EXAMPLE, Terminal

pytestmark = pytest.mark.long


def test_ctrl_z_suspends_and_what_was_there_is_drawn_again(tmp_path: Path) -> None:
    with Terminal(tmp_path, (80, 24), "--workspace", str(EXAMPLE)) as terminal:
        terminal.see("your question or job")
        terminal.keys("half a question")
        terminal.see("half a question")
        before = terminal.text
        terminal.keys("\x1a")
        terminal.wait_until_stopped()
        terminal.scribble("\x1b[2J\x1b[3;3Hanother program")
        terminal.go_on()
        terminal.see("half a question", without="another program")
        assert terminal.text == before
        terminal.keys("!")
        terminal.see("half a question!")
        assert terminal.leave() == 0


def test_ctrl_c_says_how_to_leave_in_the_language_of_the_console(tmp_path: Path) -> None:
    with Terminal(tmp_path, (80, 24), "--lang", "ko", "--workspace", str(EXAMPLE)) as terminal:
        terminal.see("질문")
        terminal.keys("\x03\x03")
        terminal.see("Ctrl+Q")
        assert "Do you want" not in terminal.text
        assert terminal.leave() == 0


def test_the_folder_that_is_named_is_the_one_that_opens(tmp_path: Path) -> None:
    other = tmp_path / "docs"
    other.mkdir()
    with Terminal(tmp_path / "d", (80, 24), "--workspace", str(EXAMPLE), "The cap") as terminal:
        terminal.see("6 Details")
        assert terminal.leave() == 0
    with Terminal(tmp_path / "d", (80, 24), "--workspace", str(other)) as terminal:
        terminal.see("your question or job", "docs")
        assert terminal.leave() == 0
    with Terminal(tmp_path / "d", (80, 24), "--workspace", str(EXAMPLE)) as terminal:
        terminal.see("6 Details")
        assert terminal.leave() == 0


@pytest.mark.slow
def test_what_was_left_out_at_the_start_is_said_over_a_session_too(tmp_path: Path) -> None:
    with Terminal(tmp_path, (120, 40), "--workspace", str(EXAMPLE), "The cap") as terminal:
        terminal.see("6 Details")
        assert terminal.leave() == 0
    (tmp_path / "keys.toml").write_text('"nosuch.key" = "z"\n', encoding="utf-8")
    with Terminal(tmp_path, (120, 40)) as terminal:
        terminal.see("6 Details", "nosuch.key")
        assert terminal.leave() == 0


def test_who_leaves_reads_in_the_shell_what_waits_and_how_to_come_back(tmp_path: Path) -> None:
    with Terminal(tmp_path, (80, 24), "--workspace", str(EXAMPLE), "What is the cap on a rent increase?") as terminal:
        terminal.see("Approve 001?")
        assert terminal.leave() == 0
        assert f"1 question waits in s1. To continue: hitl-tui --data {tmp_path} --session s1" in terminal.left


def test_the_first_picture_is_as_large_as_the_terminal(tmp_path: Path) -> None:
    """Standard streams lead elsewhere by then: who asks them for the size is told 80 by 24."""
    wanted = "a change, or / for"
    command = ("attach", "examples/attach/mail.py:graph", "--input", "ann: hi", "--workspace", str(tmp_path))
    with Terminal(tmp_path / "d", (160, 50), *command) as terminal:
        terminal.see(wanted)
        screen = pyte.Screen(160, 50)
        pyte.Stream(screen).feed(terminal.written[: terminal.written.index(wanted)])
        assert screen.cursor.y > 40
        assert terminal.leave() == 0
