"""Line mode looks on while another process drives a session, and goes on with it when that is gone (D12)."""

from __future__ import annotations

import json
import signal
from pathlib import Path

import pytest
from repl_support import SEARCH, Line


@pytest.mark.long
def test_line_mode_goes_on_with_a_session_whose_owner_was_killed(tmp_path: Path) -> None:
    line = Line(tmp_path)
    owner = line.terminal(SEARCH)
    owner.wait("/todo approve")
    other = line.terminal("--session", "s1")
    other.wait("Another process has it open")
    owner.process.kill(signal.SIGKILL)
    other.wait("The process that had s1 open is gone.")
    other.send("/todo approve\r")
    other.wait("s1 is finished.")
    assert other.leave() == 0
    code, out, __ = line.pipe("", "show", "s1", "--json")
    assert (code, [todo["status"] for todo in json.loads(out)["todos"]]) == (0, ["completed"])
