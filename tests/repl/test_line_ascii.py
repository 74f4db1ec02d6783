"""Where only ASCII can be written, our signs have stand-ins, and what others wrote is escaped exactly (C9, C10)."""

from __future__ import annotations

from pathlib import Path

import pytest
from repl_support import Line

pytestmark = pytest.mark.long

ASKED = "Which cap ✓ applies → to · rents…?"
ESCAPED = r"Which cap \u2713 applies \u2192 to \xb7 rents\u2026?"
LINES = ("add analysis_team compare --after 1", "approve 1", "skip 2")
SCRIPT = "".join(f"/todo {line}\n/todos\n" for line in LINES) + "/help\n/quit\n"


@pytest.fixture
def line(tmp_path: Path) -> Line:
    line = Line(tmp_path)
    del line.env["PYTHONUTF8"]
    line.env.update(PYTHONIOENCODING="ascii", HITL_LANG="en")
    return line


def test_a_pipe_gets_signs_in_ascii_and_texts_escaped(line: Line) -> None:
    code, out, err = line.pipe(SCRIPT, "--line", ASKED)
    assert (code, err) == (0, "") and out.isascii()
    assert f"Session s1: {ESCAPED}\n" in out
    assert "Approve 001? . " in out
    for said in ("\n? asks     001", "\n+ done     001", "\n. waits    002", "\n- skipped  002"):
        assert said in out
    assert "  < 001\n" in out and "low risk . after 001\n" in out and "/todo approve [id~]" in out
    ours = out.replace(ESCAPED, "").replace(ESCAPED.removesuffix("?"), "")
    for word in ESCAPED.split():
        ours = ours.replace(word, "")
    ours = "\n".join(row for row in ours.splitlines() if not row.startswith(">"))  # what documents say
    assert r"\xb7" not in ours and r"\u2192" not in ours and r"\u2026" not in ours
    code, out, _ = line.pipe("", "do", "s1", "/todos")
    assert code == 0 and "\n+ done     001" in out and "\n- skipped  002" in out
    code, out, _ = line.pipe("", "sessions")
    assert code == 0 and out.rstrip().endswith(ESCAPED)
    code, out, _ = line.pipe("", "run", "--help")
    assert code == 0 and "(default: s1, s2, ~)" in out


@pytest.mark.slow
def test_a_terminal_gets_them_too(line: Line) -> None:
    terminal = line.terminal(ASKED)
    shown = terminal.wait("1 needs you . y approve . n reject . /help")
    assert "s1 . ASK EVERY STEP . * 1 needs you . y approve . n reject . /help" in shown
    assert f"Session s1: {ESCAPED}" in shown and "Approve 001?" in shown
    terminal.send("/todo approve\r")
    terminal.wait("s1 is finished")
    terminal.send("/todos\r")
    terminal.wait("+ done     001")
    assert terminal.leave() == 0


def test_a_wish_for_ascii_counts_where_everything_could_be_written(line: Line) -> None:
    line.env.update(PYTHONIOENCODING="utf-8", HITL_ASCII="1")
    _code, out, _ = line.pipe("/todos\n", "--line", ASKED)
    assert f"Session s1: {ASKED}\n" in out and "Approve 001?" in out
