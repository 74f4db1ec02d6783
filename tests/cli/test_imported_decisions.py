"""Decisions that came with an import are shown as such: whoever exports chooses the names in them."""

from __future__ import annotations

from pathlib import Path

import pytest
from cli_support import Shell

from hitl_tui.policy.accounts import account_name

pytestmark = pytest.mark.long

QUESTION, ME = "What is the deposit cap?", account_name()


@pytest.fixture
def shell(tmp_path: Path) -> Shell:
    """A session with a step that was approved and done, one that was skipped, and one that was rejected."""
    made = Shell(tmp_path)
    del made.env["HITL_USER"]
    made.run("run", QUESTION, "--session", "s1", "--json")
    made.run("do", "s1", "/todo add search_team moving out")
    made.run("do", "s1", "/todo add search_team rent")
    for line in ("/todo approve 1", "/todo skip 2 not now", "/todo reject 3 never"):
        assert made.run("do", "s1", line).code in (0, 3, 4), line
    return made


def moved(shell: Shell, tmp_path: Path, *more: str) -> Shell:
    """Return the same session in another data folder."""
    shell.run("export", "s1", str(tmp_path / "s1.hitl"))
    shell.data = tmp_path / "other"
    shell.env["HITL_DATA_DIR"] = str(shell.data)
    assert shell.run("import", str(tmp_path / "s1.hitl"), *more).code == 0
    return shell


def exported(shell: Shell, name: str, session: str = "s1") -> str:
    target = shell.workspace.parent / name
    assert shell.run("export", session, str(target)).code == 0
    return target.read_text(encoding="utf-8")


def test_what_was_decided_elsewhere_says_so_wherever_it_is_shown(shell: Shell, tmp_path: Path) -> None:
    before, read = shell.run("show", "s1").out, exported(shell, "before.md")
    assert "(cli)" in before and f"approved by {ME} (cli)" in read and "imported" not in before + read
    moved(shell, tmp_path)
    shown = shell.run("show", "s1").out
    assert f"by {ME} (cli, imported)" in shown and "(cli)" not in shown
    assert f"rejected by {ME}: never (imported)" in shown, shown
    read = exported(shell, "after.md")
    assert f"approved by {ME} (cli, imported)" in read and f"approved by {ME} (cli)" not in read
    assert f"skipped by {ME} (imported)" in read and f"rejected by {ME}: never (imported)" in read, read
    todos = shell.run("show", "s1", "--json").json["todos"]
    assert todos[0]["approval"]["imported"] is True
    assert [todo["metadata"].get("imported", False) for todo in todos] == [False, True, True]
    assert "(cli, imported)" in shell.run("do", "s1", "/todo show 1").out


def test_it_stays_so_in_forks_and_after_going_back(shell: Shell, tmp_path: Path) -> None:
    moved(shell, tmp_path)
    assert shell.run("fork", "s1", "--json").json["session_id"] == "s2"
    assert f"approved by {ME} (cli, imported)" in exported(shell, "fork.md", "s2")
    listed = shell.run("do", "s1", "/checkpoint list", "--json").json["checkpoints"]
    before = listed[len(listed) // 2]["checkpoint_id"]
    assert shell.run("do", "s1", f"/checkpoint restore {before}").code in (0, 3)
    assert "(cli)" not in shell.run("show", "s1").out


def test_what_is_decided_here_is_not_marked(shell: Shell, tmp_path: Path) -> None:
    moved(shell, tmp_path)
    assert shell.run("do", "s1", "/todo update 3 pending").code in (0, 3)
    asked = shell.run("show", "s1", "--json").json
    assert "imported" not in asked["todos"][2]["metadata"]
    assert shell.run("do", "s1", "/todo skip 3 here").code in (0, 3)
    todo = shell.run("show", "s1", "--json").json["todos"][2]
    assert todo["status"] == "skipped" and "imported" not in todo["metadata"]
    assert f"skipped by {ME} (cli)" in exported(shell, "here.md")
