"""Processes that decide the same thing at once: the first one wins, and the others are told who it was (T1)."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from cli_support import Shell

pytestmark = [pytest.mark.long, pytest.mark.timeout(900)]

QUESTION = "차임 증액의 상한"
PIPE = subprocess.PIPE
ENDS = {"skipped": "skipped", "rejected": "failed", "approved": "completed", "set to completed": "completed"}
"""What a TODO has to be in the end, by what was said first."""

ROUNDS = [
    ["reject 1 no", "skip 1", "approve 1", "update 1 skipped", "remove 1", "update 1 completed"] * 2,
    ["skip 1", "reject 1 no"] * 6,
    ["remove 1", "reject 1 no", "update 1 skipped", "edit 1 another question"] * 3,
    ["edit 1 another question", "approve 1", "skip 1", "cancel 1"] * 3,
]


@dataclass
class Told:
    """How one process ended: who, with what, and its document."""

    by: str
    line: str
    document: dict[str, Any]

    @property
    def won(self) -> bool:
        return self.document["status"] not in ("error", "asked")


@pytest.fixture
def shell(tmp_path: Path) -> Shell:
    """A data folder and a workspace of the test's own."""
    return Shell(tmp_path)


def at_once(shell: Shell, lines: list[str]) -> list[Told]:
    """Start a process for each line, all before the first of them can have said anything; return how each ended."""
    started = []
    for number, line in enumerate(lines):
        by = f"person{number}"
        command = [sys.executable, "-m", "hitl_tui", "do", "s1", f"/todo {line}", "--json", "--data", str(shell.data)]
        environ = {**os.environ, "HITL_USER": by, "PYTHONUTF8": "1"}
        process = subprocess.Popen(
            command, env=environ, cwd=shell.workspace, stdin=subprocess.DEVNULL, stdout=PIPE, stderr=PIPE
        )
        started.append((by, line, process))
    found = []
    for by, line, process in started:
        out, err = process.communicate(timeout=600)
        assert b"Traceback" not in err, err.decode()
        found.append(Told(by, line, json.loads(out)))
    return found


@pytest.mark.slow
@pytest.mark.parametrize(
    "lines",
    [
        pytest.param(lines, id=name, marks=[] if name == "all" else pytest.mark.slow)
        for lines, name in zip(ROUNDS, ["all", "skip-reject", "edit-remove", "edit-approve"], strict=True)
    ],
)
def test_the_record_and_the_end_agree_whoever_was_first(shell: Shell, lines: list[str]) -> None:
    assert shell.run("run", QUESTION).code == 3
    told = at_once(shell, lines)
    document = json.loads(shell.run("show", "s1", "--json").out)
    winners = [t for t in told if t.won]
    said = [(t.by, t.line, t.document.get("error", t.document["status"])) for t in told]
    assert len(winners) == 1, said
    (winner,) = winners
    todos = {todo["id"]: todo for todo in document["todos"]}
    verb = winner.line.split()[0]
    past = {"reject": "rejected", "skip": "skipped", "approve": "approved", "remove": "removed", "edit": "edited"}
    word = past.get(verb, "skipped" if winner.line.endswith("skipped") else "set to completed")
    if word == "removed":
        assert "todo_001" not in todos, said
    elif word == "edited":
        assert todos["todo_001"]["status"] == "waiting_approval" and len(document["questions"]) == 1, said
    else:
        assert todos["todo_001"]["status"] == ENDS[word], said
    for loser in told:
        if loser is not winner and not loser.line.startswith("cancel"):
            known = rf"Answered already: 001 was {word} by {winner.by}\b.* at \d\d:\d\d\."
            assert re.match(known, loser.document["error"]), (loser, said)
            assert loser.document["reason"] in ("late", "repeated", "superseded"), loser
