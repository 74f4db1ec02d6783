"""The files that a preview listed beside a question are those that its step takes, or it asks anew (T1)."""

from __future__ import annotations

from pathlib import Path

import pytest
from cli_support import Shell

SETTINGS = """
[teams.command_team.commands.clean]
run = ["find", "d", "-name", "*.gz", "-delete"]
preview = ["find", "d", "-name", "*.gz"]
description = "Clean up the folder"
risk = "high"
"""


@pytest.fixture
def shell(tmp_path: Path) -> Shell:
    made = Shell(tmp_path)
    (made.workspace / "hitl.toml").write_text(SETTINGS, encoding="utf-8")
    (made.workspace / "d").mkdir()
    (made.workspace / "d" / "old.gz").write_bytes(b"old")
    seen = made.run("trust", "--show", "--json").json["digest"]
    assert made.run("trust", "--digest", seen).code == 0
    return made


def digest(shell: Shell) -> str:
    (question,) = shell.run("show", "s1", "--json").json["questions"]
    return str(question["digest"])


def approve(shell: Shell) -> int:
    return shell.run("do", "s1", f"/todo approve 1 --digest {digest(shell)}", "--json").code


def left(shell: Shell) -> list[str]:
    return sorted(path.name for path in (shell.workspace / "d").iterdir())


def test_a_file_that_came_meanwhile_is_asked_about(shell: Shell) -> None:
    assert shell.run("run", "clean up the folder", "--json").code == 3
    (shell.workspace / "d" / "precious.gz").write_bytes(b"precious")
    assert approve(shell) != 0
    assert left(shell) == ["old.gz", "precious.gz"]
    said = shell.run("show", "s1").out
    assert "CHANGED: d/precious.gz, since it was asked before" in said and "would delete 2 files" in said
    assert approve(shell) == 0
    assert left(shell) == []


def test_a_file_that_is_another_by_now_is_asked_about(shell: Shell) -> None:
    assert shell.run("run", "clean up the folder", "--json").code == 3
    (shell.workspace / "d" / "old.gz").write_bytes(b"much more than it was")
    assert approve(shell) != 0
    assert left(shell) == ["old.gz"]


def test_what_was_shown_is_carried_out(shell: Shell) -> None:
    assert shell.run("run", "clean up the folder", "--json").code == 3
    assert approve(shell) == 0
    assert left(shell) == []
