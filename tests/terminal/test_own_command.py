"""The command that a message gives to go on is one that works where it stands."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from hitl_tui.terminal.own_command import own_command


def test_without_uv_it_is_the_program(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("UV_RUN_RECURSION_DEPTH", raising=False)
    assert own_command() == "hitl-tui"


def test_in_the_project_uv_finds_it_and_elsewhere_its_path_does(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("UV_RUN_RECURSION_DEPTH", "1")
    project = tmp_path / "a b"
    (project / ".venv" / "bin").mkdir(parents=True)
    monkeypatch.setattr(sys, "prefix", str(project / ".venv"))
    monkeypatch.chdir(project)
    assert own_command() == "uv run hitl-tui"
    monkeypatch.chdir(tmp_path)
    assert own_command() == "hitl-tui", "it isn't there"
    program = project / ".venv" / "bin" / "hitl-tui"
    program.write_text("#!/bin/sh\necho ran\n")
    program.chmod(0o755)
    assert subprocess.run(own_command(), shell=True, capture_output=True, text=True, check=True).stdout == "ran\n"
