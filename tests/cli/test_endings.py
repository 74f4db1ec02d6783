"""What ends a question by other means than an answer takes whom an answer takes (T2, T8)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from cli_support import Shell
from trusting import trust_workspace

pytestmark = pytest.mark.long

WIPE = """
[teams.command_team.commands.wipe]
description = "Wipe the store"
run = ["touch", "{effect}"]
risk = "high"

[teams.command_team.commands.peek]
description = "Peek"
run = ["touch", "{peeked}"]
risk = "low"
"""
TWO = '\n[[policy]]\nteam = "command_team"\ncommand = "wipe"\ndecision = "ask"\nquorum = 2\n'


class Store:
    """A workspace whose command is of high risk."""

    def __init__(self, folder: Path, rules: str = "") -> None:
        self.shell = Shell(folder)
        self.effect, self.peeked = folder / "EFFECT", folder / "PEEKED"
        text = WIPE.format(effect=self.effect, peeked=self.peeked) + rules
        (self.shell.workspace / "hitl.toml").write_text(text, encoding="utf-8")
        self.trust()

    def trust(self, data: Path | None = None) -> None:
        trust_workspace(data or self.shell.data, self.shell.workspace)

    def question(self, **changes: str) -> dict[str, Any]:
        (found,) = self.shell.run("show", "s1", "--json", **changes).json["questions"]
        return dict(found)

    def do(self, line: str, *options: str) -> dict[str, Any]:
        return dict(self.shell.run("do", "s1", line, *options, "--json").json)

    def refused(self, line: str, *options: str) -> str:
        """Give what must be refused: the question stays; return the sentence."""
        before = self.question()["id"]
        answer = self.do(line, *options)
        assert answer["status"] == "error", answer
        assert self.question()["id"] == before
        return str(answer["message"])


def test_completing_by_hand_takes_the_id_of_what_is_of_high_risk(tmp_path: Path) -> None:
    store = Store(tmp_path)
    assert store.shell.run("run", "wipe the store").code == 3
    assert store.refused("/todo update 1 completed").startswith("001 is high-risk; from here, give the id")
    found = store.question()
    answer = store.do("/todo update 1 completed")
    assert answer["give"] == [f"/todo update {found['id']} completed"]
    assert "The question changed since it was shown" in store.refused("/todo update 1 completed --digest 0123456789ab")
    assert store.do(f"/todo update 1 completed --digest {found['digest'][:12]}")["status"] == "updated"
    assert not store.effect.exists()


def test_nobody_completes_alone_what_takes_two(tmp_path: Path) -> None:
    store = Store(tmp_path, TWO)
    assert store.shell.run("approver", "add", "ann").code == 0
    assert store.shell.run("run", "wipe the store").code == 3
    assert store.do("/todo add command_team peek --after 1")["status"] == "added"
    request = store.question()["id"]
    for line in ("/todo update 1 completed", f"/todo update {request} completed"):
        for options in ((), ("--as", "mallory")):
            store.refused(line, *options)
    alone = "001 needs 2 people, so one alone can't set it to completed; approve or reject it."
    assert store.refused(f"/todo update {request} completed") == alone
    assert not store.peeked.exists()
    assert store.do("/todo update 1 failed", "--as", "mallory")["status"] == "rejected"  # one alone may refuse
    assert "so one alone can't set it to completed" in store.do("/todo update 1 completed")["message"]


def test_what_takes_two_to_refuse_is_taken_away_by_two(tmp_path: Path) -> None:
    store = Store(tmp_path, f"{TWO}veto = false\n")
    assert store.shell.run("approver", "add", "ann").code == 0
    assert store.shell.run("run", "wipe the store").code == 3
    for line in ("/todo remove 1", "/todo update 1 blocked"):
        assert store.refused(line).startswith("Rejecting 001 needs 2 people")
    assert store.do("/todo skip 1")["status"] == "recorded"
    proposed = store.do("skip todo_001")
    assert proposed["status"] == "proposed", proposed
    accepted = store.do(f"/proposal accept {proposed['proposal_id']}")
    assert accepted["message"].startswith("Rejecting 001 needs 2 people"), accepted


def test_nobody_completes_what_was_not_asked_yet(tmp_path: Path) -> None:
    store = Store(tmp_path, TWO)
    assert store.shell.run("approver", "add", "ann").code == 0
    store.shell.run("run", "peek", "--mode", "step")
    added = store.do("/todo add command_team wipe --after 1")
    assert added["status"] == "added", added
    assert "so one alone can't set it to completed" in store.do("/todo update 2 completed")["message"]


@pytest.mark.parametrize("kept", [pytest.param("id", marks=pytest.mark.slow), "digest"])
def test_a_digest_from_elsewhere_approves_nothing_in_a_pipe(tmp_path: Path, kept: str) -> None:
    store = Store(tmp_path)
    assert store.shell.run("run", "wipe the store").code == 3
    digest, other = store.question()["digest"], str(tmp_path / "other")
    store.trust(Path(other))
    lines = f"wipe the store\n/todo approve 1 --digest {digest}\n"
    piped = store.shell.process("--line", input=lines, HITL_DATA_DIR=other)
    found = store.question(HITL_DATA_DIR=other)
    assert not store.effect.exists() and found["digest"] == digest
    assert "was first shown after these commands began; from here, give its question id." in piped.out
    named = found["id"] if kept == "id" else f"1 --digest {digest}"  # it was shown before this one
    store.shell.process("--line", input=f"/open s1\n/todo approve {named}\n", HITL_DATA_DIR=other)
    assert store.effect.exists()


def test_an_edit_ignores_nothing_that_stands_beside_the_parameters(tmp_path: Path) -> None:
    store = Store(tmp_path)
    assert store.shell.run("run", "wipe the store").code == 3
    for beside in ('"timeout": 5', '"exit_codes": [0, 1]', '"nonsense": 1'):
        said = store.refused(f'/todo edit 1 {{"parameters": {{}}, {beside}}}')
        assert "can't be set" in said or "A command takes" in said
    assert store.do('/todo edit 1 {"parameters": {}}')["status"] == "edited"
