"""What processes of a graph and code in C write to the terminal reaches the stream, and never the screen (C10)."""

from __future__ import annotations

from pathlib import Path

import pytest
from terminal_support import F6
from test_hostile import Watched

from hitl_tui.supervisor.activity import read_activity

pytestmark = pytest.mark.long

GRAPH = "tests/terminal/straying_graph.py:graph"
WRITTEN = ("PWNED-ERR", "PWNED-OUT", "PWNED-C", "PWNED-END")


def test_what_a_graph_starts_cannot_write_over_the_screen(tmp_path: Path) -> None:
    work = tmp_path / "w"
    work.mkdir()
    command = ("attach", GRAPH, "--input", "{}", "--workspace", str(work))
    with Watched(tmp_path / "d", (120, 40), *command) as terminal:
        terminal.see("6 Details", "Go on?")
        terminal.keys(F6 * 3)
        terminal.see("PWNED-END")
        terminal.harmless()
        assert "\x1b[?1049l" not in terminal.raw and "owned" not in terminal.screen.title
        terminal.see("hitl-tui", "6 Details", "Go on?")  # the frame is whole
        said = [line.text for line in read_activity(next((tmp_path / "d" / "sessions").glob("*/activity.log")))]
        assert [word for word in WRITTEN if any(word in line for line in said)] == list(WRITTEN)
        assert any("␛[2J␛]0;owned␇␛[?1049lPWNED-ERR" in line for line in said), "shown as it is"
        assert len(said) < 5_000, "what floods the stream is bounded"
        assert not any("KEYS-TAKEN" in line for line in said)
        terminal.resize(150, 45)
        terminal.until(lambda: any(row[140:].strip() for row in terminal.screen.display), "all of the other size")
        terminal.keys("\x1a")  # stopped like any other program, with the descriptors as they were
        terminal.wait_until_stopped()
        terminal.go_on()
        terminal.see("6 Details", "Go on?")
        assert terminal.leave() == 0
