"""The terminal goes away in the middle of something: nothing is decided, and the session opens in the same place."""

from __future__ import annotations

from pathlib import Path

import pytest
from terminal_support import CTRL_G, EXAMPLE, F6, Terminal, shown
from trusting import trust_workspace

from hitl_tui.terminal.textual_driver import HUNG_UP

pytestmark = pytest.mark.long

COMMAND = """
[teams.command_team.commands.keep]
run = ["touch", "{file}"]
description = "Make a file."
parameters.file = { type = "string", default = "made" }
risk = "high"
"""


def waits_still(data: Path, todo: str) -> None:
    """Assert that a TODO waits as before and nobody said anything about it."""
    found = next(t for t in shown(data, "s1")["todos"] if t["id"] == todo)
    assert found["status"] == "waiting_approval" and not found["error"] and not found["approval"]


@pytest.mark.sampled(1)
@pytest.mark.parametrize(
    ("keys", "seen", "typed"),
    [
        (("3",), ("Reject · 001", "Reason (optional, recorded"), "because it is half "),
        pytest.param(("6",), ("Question · 001",), "", marks=pytest.mark.slow),
        ((F6, "s"), ("Esc No",), ""),
    ],
    ids=["reason", "details", "confirm"],
)
def test_a_hang_up_over_a_dialog_decides_nothing(
    tmp_path: Path, keys: tuple[str, ...], seen: tuple[str, ...], typed: str
) -> None:
    question = ("--workspace", str(EXAMPLE), "How high may the deposit rise be?")
    with Terminal(tmp_path, (100, 30), *question) as terminal:
        terminal.decide(keys[0], "Approve 001?")
        for key in keys[1:]:
            terminal.until(lambda: True, "a pause, as a person makes")
            terminal.keys(key)
        terminal.see(*seen)
        terminal.keys(typed)
        terminal.see(typed.strip())
        assert terminal.hang_up() == HUNG_UP
    waits_still(tmp_path, "todo_001")
    with Terminal(tmp_path, (100, 30)) as again:
        again.decide("1", "Approve 001?")
        again.see("✓ done")
        assert again.leave() == 0
    assert shown(tmp_path, "s1")["todos"][0]["attempt"] == 1


@pytest.mark.slow
def test_a_hang_up_while_an_edit_is_half_done_changes_nothing(tmp_path: Path) -> None:
    workspace = tmp_path / "w"
    workspace.mkdir()
    (workspace / "hitl.toml").write_text(COMMAND, encoding="utf-8")
    (workspace / "a.md").write_text("# A\n\nNothing.\n", encoding="utf-8")
    data = tmp_path / "d"
    trust_workspace(data, workspace)
    with Terminal(data, (100, 30), "--workspace", str(workspace), "What is A?") as terminal:
        terminal.see("Approve 001?")
        terminal.send("/todo skip 1")
        terminal.see("skipped")
        terminal.send("/todo add command_team keep")
        terminal.decide("2", "Approve 002?")
        terminal.see("Edit · 002")
        terminal.keys("other-")
        terminal.see("other-")
        assert terminal.hang_up() == HUNG_UP
    waits_still(data, "todo_002")
    with Terminal(data, (100, 30)) as again:
        again.see("Approve 002?", "touch made", without="other-")
        again.keys(CTRL_G)
        again.ready()
        again.keys("1")
        again.see("1 done, 1 skipped")
        assert again.leave() == 0
    assert (workspace / "made").exists() and not list(workspace.glob("other*"))
