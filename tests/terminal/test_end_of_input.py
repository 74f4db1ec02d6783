"""The terminal goes away while a question stands there: that decides nothing, and the console doesn't stay behind."""

from __future__ import annotations

import signal
from collections.abc import Callable
from pathlib import Path

import pytest
from terminal_support import CTRL_G, EXAMPLE, Terminal, shown

from hitl_tui.terminal.textual_driver import HUNG_UP

pytestmark = pytest.mark.long


def unheard() -> None:
    """As `nohup` and some supervisors start a program."""
    signal.signal(signal.SIGHUP, signal.SIG_IGN)


@pytest.mark.parametrize(
    ("before", "code"),
    [(None, HUNG_UP), pytest.param(unheard, HUNG_UP, marks=pytest.mark.slow)],
    ids=["told by a signal", "not told"],
)
def test_a_terminal_that_goes_away_decides_nothing(
    tmp_path: Path, before: Callable[[], None] | None, code: int
) -> None:
    question = ("--workspace", str(EXAMPLE), "How high may the deposit rise be?")
    with Terminal(tmp_path, (100, 30), *question, before=before) as terminal:
        terminal.see("Approve 001?")
        terminal.keys(CTRL_G)
        terminal.ready()
        assert terminal.hang_up() == code
    told = shown(tmp_path, "s1")
    assert [todo["status"] for todo in told["todos"]][:1] == ["waiting_approval"]
    with Terminal(tmp_path, (100, 30), "--workspace", str(EXAMPLE)) as again:
        again.decide("1", "Approve 001?")
        again.see("✓ done")
        assert again.leave() == 0
