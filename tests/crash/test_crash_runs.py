"""Kill -9 and power cuts on a real session in real processes: the benchmark, bounded (D12)."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.long

SCRIPT = Path(__file__).parents[2] / "benchmarks" / "crash.py"


def crash(tmp_path: Path, *arguments: str, seconds: float = 300.0) -> dict[str, Any]:
    """Run the benchmark; return its report, which has to be free of violations."""
    command = [sys.executable, str(SCRIPT), "--root", str(tmp_path), "--json", *arguments]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=seconds, check=False)
    assert ended.stdout, ended.stderr
    report: dict[str, Any] = json.loads(ended.stdout)
    assert report["violations"] == []
    assert ended.returncode == 0, ended.stderr
    return report


def test_nothing_is_lost_or_repeated_wherever_a_process_dies(tmp_path: Path) -> None:
    report = crash(tmp_path, "--rounds", "twice", "stop", "--points", "1", "--seed", "12")
    for name, least in (("twice", 2), ("stop", 1)):
        figures = report["rounds"][name]
        assert figures["points"] > 500
        assert figures["kills"] >= least
        assert (figures["lost"], figures["repeated"], figures["asked_outside"], figures["damaged"]) == (0, 0, 0, 0)


@pytest.mark.slow
def test_a_power_cut_that_takes_every_checkpoint_loses_nothing_that_the_ledger_knows(tmp_path: Path) -> None:
    report = crash(tmp_path, "--rounds", "cut", "--at", "effect.behind.after", "ledger.begin_restore.after")
    figures = report["rounds"]["cut"]
    assert figures["cut"] > 0
    assert set(report["killed_at"]) == {"effect.behind.after", "ledger.begin_restore.after"}
    assert (figures["lost"], figures["repeated"], figures["asked_outside"]) == (0, 0, 0)


# On a busy machine the command may end as its owner is killed, and then there is nothing to ask: that is tried again.
@pytest.mark.slow
@pytest.mark.flaky(reruns=2, only_rerun=["assert 0 >= 1"])
def test_nothing_starts_while_an_orphaned_command_is_alive(tmp_path: Path) -> None:
    report = crash(tmp_path, "--rounds", "kill", "--at", "command.alive")
    figures = report["rounds"]["kill"]
    assert report["killed_at"] == {"command.alive": figures["runs"]}
    assert figures["asked"] >= 1  # nobody can know whether the command ended
    assert (figures["repeated"], figures["damaged"]) == (0, 0)


@pytest.mark.slow
@pytest.mark.timeout(3_600)
def test_points_of_every_round(tmp_path: Path) -> None:
    """All of them take a night: `benchmarks/crash.py`."""
    crash(tmp_path, "--points", "40", "--seed", "7", seconds=3_000.0)
