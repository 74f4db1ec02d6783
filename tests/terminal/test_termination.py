"""SIGTERM at the console and in line mode: the terminal is given back, nothing is decided, nothing keeps running."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest
from terminal_support import Terminal, shown
from trusting import trust_workspace

pytestmark = pytest.mark.long


@pytest.mark.sampled(1)
@pytest.mark.parametrize("options", [(), ("--line",)], ids=["console", "line mode"])
def test_sigterm_ends_what_runs_and_decides_nothing(tmp_path: Path, options: tuple[str, ...]) -> None:
    workspace, data = tmp_path / "w", tmp_path / "d"
    workspace.mkdir()
    alive = workspace / "alive"
    os.mkfifo(alive)
    (workspace / "hitl.toml").write_text(
        f"""[teams.command_team.commands.long]
run = ["sh", "-c", "setsid sh -c 'exec 9> {alive}; sleep 600' & sleep 600"]
risk = "low"
""",
        encoding="utf-8",
    )
    (workspace / "a.md").write_text("# A\n\nNothing.\n", encoding="utf-8")
    trust_workspace(data, workspace)
    with Terminal(data, (100, 30), "--workspace", str(workspace), *options, "What is A?") as terminal:
        terminal.see("001")
        terminal.send("/todo skip 1")
        terminal.see("skipped")
        terminal.send("/todo add command_team long")
        terminal.see("002")
        terminal.send("/todo approve 2")
        with alive.open("rb") as held:
            assert terminal.end(signal.SIGTERM) == 143
            assert held.read() == b""
        assert "Traceback" not in terminal.text
    told = {todo["id"]: todo["status"] for todo in shown(data, "s1")["todos"]}
    assert told["todo_001"] == "skipped"
    assert told["todo_002"] in ("failed", "in_progress", "waiting_approval")
