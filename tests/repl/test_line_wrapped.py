"""Line mode in a narrow terminal: lines are broken between words there, and nowhere else (C9)."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pexpect  # type: ignore[import-untyped]
import pytest
from repl_support import CTRL_D, DEADLINE, Line, Terminal

from hitl_tui.core.safe_text import cell_width
from hitl_tui.policy.approvers import ApproverFile
from hitl_tui.repl import line_session
from hitl_tui.supervisor.open_options import OpenOptions

QUERY = "The landlord wants to raise my jeonse deposit from 300 million won to 1 billion won. What does the law say?"
COLUMNS = 50


@pytest.fixture
def line(tmp_path: Path) -> Line:
    return Line(tmp_path)


def spawn(line: Line, term: str) -> pexpect.spawn[str]:
    return pexpect.spawn(
        sys.executable,
        ["-m", "hitl_tui", "--line", QUERY],
        cwd=str(line.workspace),
        env={**line.env, "TERM": term},
        dimensions=(40, COLUMNS),
        timeout=DEADLINE,
        encoding="utf-8",
    )


@pytest.mark.long
def test_a_prompt_gets_words_whole(line: Line) -> None:
    terminal = Terminal(spawn(line, "xterm"), 40, COLUMNS)
    shown = terminal.wait("/todo skip 001")
    words = {word for text in shown.split("\n") for word in text.split()}
    assert set(QUERY.split()) <= words
    assert "\n  query: " in shown and "\n    " in shown
    assert terminal.leave() == 0


@pytest.mark.slow
@pytest.mark.long
def test_a_terminal_without_a_cursor_gets_words_whole_too(line: Line) -> None:
    process = spawn(line, "dumb")
    process.expect("/todo skip 001")
    seen = process.before.replace("\r\n", "\n")
    assert all(cell_width(text) <= COLUMNS or len(text.split()) == 1 for text in seen.split("\n"))
    assert QUERY in " ".join(seen.split())
    process.send(CTRL_D)
    process.expect("Press Ctrl-D again")
    process.send(CTRL_D)
    process.expect(pexpect.EOF)
    process.wait()


@pytest.mark.long
def test_a_pipe_gets_lines_whole(line: Line) -> None:
    line.env["COLUMNS"] = str(COLUMNS)
    _, out, _ = line.pipe("", "--line", QUERY)
    assert f"\n  query: {QUERY}\n" in out


async def test_all_that_is_said_at_first_is_in_the_persons_language(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(line_session, "_", lambda text: f"translated: {text}")

    async def none() -> list[Any]:
        return []

    said: list[str] = []

    def say(lines: Sequence[str]) -> None:
        said.extend(lines)

    async def token(_: str) -> str:
        return ""

    bench: Any = SimpleNamespace(admin=SimpleNamespace(sessions=none), approvers=ApproverFile(tmp_path))
    one = line_session.LineSession(OpenOptions(tmp_path, tmp_path, by="t"), bench, say, str, lambda: None, token)
    source: Any = SimpleNamespace(waits=False)
    await one._home(source)
    assert said[-1] == "translated: /help lists all commands, /quit quits."
