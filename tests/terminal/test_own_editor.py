"""Opening a file at a line: each editor is told the line in its own way, and the console steps aside meanwhile (C1)."""

from __future__ import annotations

import shlex
from pathlib import Path

import pytest
from terminal_support import EXAMPLE, Terminal

from hitl_tui.core.errors import BadInput
from hitl_tui.terminal.own_editor import open_at, place_arguments

FILE = Path("/w/a b.md")


@pytest.mark.parametrize(
    ("command", "line", "given"),
    [
        (["vim"], 7, ["+7", "/w/a b.md"]),
        (["/usr/bin/less", "-N"], 7, ["+7", "/w/a b.md"]),
        (["code", "--wait"], 7, ["--goto", "/w/a b.md:7"]),
        (["hx"], 7, ["/w/a b.md:7"]),
        (["kate"], 7, ["--line", "7", "/w/a b.md"]),
        (["vim"], 0, ["/w/a b.md"]),
        (["an-editor-nobody-knows"], 7, ["/w/a b.md"]),
    ],
)
def test_an_editor_is_told_the_line_in_its_own_way(command: list[str], line: int, given: list[str]) -> None:
    assert place_arguments(command, FILE, line) == given


def editor(folder: Path, name: str, script: str) -> Path:
    """Write an editor that a person could have."""
    path = folder / name
    path.write_text(f"#!/bin/sh\n{script}\n", encoding="utf-8")
    path.chmod(0o700)
    return path


async def test_the_editor_comes_before_the_pager_and_what_fails_is_said(tmp_path: Path) -> None:
    told = tmp_path / "told"
    vim = editor(tmp_path, "vim", f'printf "%s|" "$@" > {shlex.quote(str(told))}')
    await open_at(tmp_path / "a b.md", 7, {"EDITOR": str(vim), "PAGER": "false"})
    assert told.read_text() == f"+7|{tmp_path}/a b.md|"
    for environ in ({"EDITOR": "false"}, {"PAGER": "false"}, {"EDITOR": str(tmp_path / "none")}, {"VISUAL": "'"}):
        with pytest.raises(BadInput):
            await open_at(tmp_path / "a b.md", 7, environ)


@pytest.mark.long
def test_a_cited_line_opens_in_the_editor_and_the_console_comes_back_whole(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    screen = 'printf "\\033[2J\\033[Hopened %s" "${1##*/}"; test -t 0 && read line && printf "%s" "$line" > '
    kept = "trap 'printf interrupted' INT; shift; "  # Ctrl+C interrupts `read`, and so the script ends with an error
    name = editor(tmp_path, "nano", f"{kept}{screen}{shlex.quote(str(tmp_path / 'read'))}")
    monkeypatch.setenv("EDITOR", str(name))
    query = "How much may the deposit rise?"
    with Terminal(tmp_path / "data", (80, 24), "--workspace", str(EXAMPLE), "--mode", "risk", query) as terminal:
        terminal.see("Answer ready")
        terminal.keys("\x1b[17~")  # F6
        terminal.see("o open")
        before = terminal.text
        terminal.keys("o")
        terminal.see("Sources of the answer", "summary-en.md")
        terminal.keys("\r")
        terminal.see("opened ", without="Sources of the answer")
        terminal.keys("typed to the editor\r")
        terminal.see("o open", without="opened ")
        assert (tmp_path / "read").read_text() == "typed to the editor"
        assert terminal.text.splitlines()[:15] == before.splitlines()[:15]
        terminal.keys("o")
        terminal.see("Sources of the answer")
        terminal.keys("1")
        terminal.see("opened ", without="Sources of the answer")
        terminal.keys("\x03")
        terminal.see("ended with exit code", without="opened ")
        assert terminal.leave() == 0
