"""Hostile questions from inside a graph, in every dialog that answers one, and what is said of it on a command line."""

from __future__ import annotations

import json
import os
import pty
import select
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest
from terminal_support import CTRL_G, F6, PAGE_DOWN, ROOT
from test_hostile import _FORBIDDEN, CTRL_P, ESC, F1, F3, Watched

pytestmark = pytest.mark.long

GRAPH = "tests/terminal/hostile_graph.py:graph"
BEGINS = "␛[2J␛[31m␛]0;pwned␇"
PASTED = "\x1b[200~\u202ewhy\u200b [@click=app.quit]x[/] \x9b2J\x1b[201~"
RESTS, PATIENCE = 0.5, 60.0
F5, DOWN = "\x1b[15~", "\x1b[B"


def look(terminal: Watched, key: str, title: str, typed: str) -> None:
    """Open a dialog of the question, type into it, and leave it."""
    terminal.keys(CTRL_G)
    terminal.ready()
    terminal.keys(key)
    terminal.see(f"{title} ─")
    terminal.keys(typed)
    terminal.rest()
    terminal.keys(ESC)
    terminal.see("ready ━", without=f"{title} ─")
    terminal.keys(ESC)
    terminal.see("Enter send")


def answer(terminal: Watched, name: str, value: str, *seen: str) -> None:
    """Answer the question of this name by a command; the next one has these words."""
    terminal.send(f"/answer {name} {value}")
    terminal.see("6 Details", *seen)


@pytest.mark.slow
def test_every_dialog_of_a_hostile_question(tmp_path: Path) -> None:
    work = tmp_path / "w"
    work.mkdir()
    command = ("attach", GRAPH, "--input", "{}", "--workspace", str(work))
    with Watched(tmp_path / "d", (80, 24), *command) as terminal:
        terminal.see("6 Details", BEGINS)
        look(terminal, "2", "Fill in · 001", f"{PASTED}\t" * 4)
        look(terminal, "6", "Question · 001", PAGE_DOWN * 6)
        look(terminal, "3", "Stop step · 001", PASTED)
        answer(terminal, "1", '{"count": 2}', "Approve", "delete")
        look(terminal, "2", "· 001.2", f"{PASTED}\t" * 3)
        look(terminal, "3", "· 001.2", PASTED)
        look(terminal, "5", "· 001.2", PASTED)
        answer(terminal, "1.2", "approve", "Choose")
        look(terminal, "5", "· 001.3", DOWN * 2)
        answer(terminal, "1.3", "1", "a draft")
        look(terminal, "2", "· 001.4", PASTED)
        answer(terminal, "1.4", "edit better", "Say something")
        look(terminal, "5", "· 001.5", PASTED)
        answer(terminal, "1.5", "words", "Go on?")
        look(terminal, "6", "Question · 001.6", PAGE_DOWN * 40)
        for line in ("/graph 1", "/state show 1", "/state diff 1", "/rules", "/checkpoint list"):
            terminal.send(line)
            terminal.rest()
            terminal.keys(ESC)
            terminal.rest()
        for key in (F5, ESC, F3, ESC, F6, F6, F6, F1, ESC, CTRL_P, ESC):
            terminal.keys(key)
            terminal.rest()
        terminal.harmless()
        assert terminal.leave() == 0
    for log in (tmp_path / "d").glob("*.log"):
        assert not _FORBIDDEN.search(log.read_text(encoding="utf-8"))


def in_terminal(*arguments: str, said: Sequence[str] = ()) -> str:
    """Run a command in a dumb terminal of its own, and type lines as a person does; return all that it wrote there."""
    master, slave = pty.openpty()
    environ = {**os.environ, "TERM": "dumb", "HITL_USER": "ops"}
    command = [sys.executable, "-m", "hitl_tui", *arguments]
    child = subprocess.Popen(command, stdin=slave, stdout=slave, stderr=slave, cwd=ROOT, env=environ)
    os.close(slave)
    written, left = b"", list(said)
    try:
        while True:
            quiet = not select.select([master], [], [], RESTS if left and written else PATIENCE)[0]
            if not quiet:
                written += os.read(master, 65_536)
                continue
            assert left and written, written
            os.write(master, f"{left.pop(0)}\n".encode())  # after all it said: not part of a paste
    except OSError:  # the other end is closed
        assert child.wait(60) in (0, 1, 2, 3)
    finally:
        child.kill()
        child.wait()
        os.close(master)
    return written.decode("utf-8")


@pytest.mark.slow
def test_every_command_about_a_hostile_graph_in_a_terminal(tmp_path: Path) -> None:
    work, data = tmp_path / "w", ("--data", str(tmp_path / "d"))
    work.mkdir()
    said = in_terminal("attach", GRAPH, "--input", "{}", "--workspace", str(work), "--json", *data)
    assert '"status": "waiting"' in said
    typed = ("/todos", "/todo show 1", "/graph 1", "/state show 1", "/checkpoint list", "/quit")
    commands = [
        (["rename", "s1", "x \u202e [@click=app.quit]x[/] \x9b2J"], ()),
        (["--line", "--session", "s1"], typed),
        (["do", "s1", '/answer 1 {"count": 2}'], ()),
        (["do", "s1", '/answer ID {"count": 2}'], ()),
        (["show", "s1"], ()),
        (["do", "s1", "/todo reject ID \u202ewhy\x9b2J"], ()),
        (["sessions"], ()),
        (["audit", "export", "s1"], ()),
        (["lint", GRAPH], ()),
        (["export", "s1", str(tmp_path / "s1.md")], ()),
    ]
    shown = ""
    for command, lines in commands:
        asked = json.loads(in_terminal("show", "s1", "--json", *data))["questions"]
        given = [word.replace("ID", asked[0]["id"]) if asked else word for word in command]
        written = in_terminal(*given, *data, said=lines)
        found = _FORBIDDEN.search(written)
        assert found is None and "\x1b" not in written and "\x07" not in written, (command, written)
        shown += written
    assert BEGINS in shown and "⟨U+202E⟩" in shown and "delete ␛" in shown
    text = (tmp_path / "s1.md").read_text(encoding="utf-8")
    assert not _FORBIDDEN.search(text) and "\x1b" not in text
