"""`hitl-tui do` ends with 0 after a command that only shows, in any session, and a new command can't forget it."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from cli_support import Shell

from hitl_tui.commands.parser import parse
from hitl_tui.commands.spec import SPECS, CommandSpec

GIVEN = {
    "todo reject": "/todo reject 1",
    "todo skip": "/todo skip 1",
    "todo add": "/todo add search_team deposit cap",
    "todo edit": "/todo edit 1 rent cap",
    "todo update": "/todo update 1 skipped",
    "todo remove": "/todo remove 1",
    "todo putback": "/todo putback 1",
    "todo priority": "/todo priority 1 high",
    "todo move": "/todo move 1 before 1",
    "todo retry": "/todo retry 1",
    "todo cancel": "/todo cancel 1",
    "todo done": "/todo done 1",
    "todo again": "/todo again 1",
    "todo show": "/todo show 1",
    "answer": "/answer 1 yes",
    "approve": "/approve clean-logs",
    "reject": "/reject clean-logs",
    "proposal keep": "/proposal keep p 1",
    "checkpoint restore": "/checkpoint restore 1",
    "state edit": "/state edit 1 {}",
    "break": "/break before *",
    "template show": "/template show documents",
    "template save": "/template save cap",
    "template run": '/template run documents topic="deposit cap"',
    "rules allow": "/rules allow 1",
    "rules edit": "/rules edit 1 --until never",
    "rules revoke": "/rules revoke 1",
    "title": "/title Another",
    "export": "/export session.hitl",
    "import": "/import nowhere.hitl",
    "delete": "/delete s1",
}
"""A line of each command that takes something."""


@pytest.fixture(scope="module")
def waiting(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a data folder with a session that waits."""
    shell = Shell(tmp_path_factory.mktemp("waiting"))
    assert shell.run("run", "What is the deposit cap?", "--json").code == 3
    return shell.data


def recorded(shell: Shell) -> object:
    """Return what the record of every session is now, and which files the data folder has."""
    files = sorted(str(path) for path in shell.data.rglob("*") if not path.name.endswith(("-wal", "-shm", "-journal")))
    return shell.run("audit", "head", "--json").json["anchors"], files


@pytest.mark.parametrize("spec", [spec for spec in SPECS if not spec.local], ids=lambda spec: spec.name)
def test_what_leaves_everything_as_it_was_ends_with_0(spec: CommandSpec, waiting: Path, tmp_path: Path) -> None:
    shell = Shell(tmp_path)
    shutil.copytree(waiting, shell.data)
    shell.run("show", "s1")
    line, before = GIVEN.get(spec.name, f"/{spec.name}"), recorded(shell)
    changes = parse(line).changes
    ran = shell.run("do", "s1", line, "--json")
    if "error" in ran.json:
        assert ran.code in (1, 2)
    elif recorded(shell) == before:
        assert (changes, ran.code) == (False, 0)
    else:
        assert changes
