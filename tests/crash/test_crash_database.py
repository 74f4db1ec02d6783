"""Kill -9 of a worker at enumerated points of what it writes to a database: the benchmark, bounded (X2)."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from postgres_server import server_programs

SCRIPT = Path(__file__).parents[2] / "benchmarks" / "crash_database.py"


@pytest.mark.slow
@pytest.mark.long
@pytest.mark.timeout(600)
@pytest.mark.skipif(server_programs() is None, reason="no PostgreSQL server is installed here")
def test_nothing_is_lost_or_repeated_wherever_a_worker_dies() -> None:
    at = (
        "effect.act.after#3",
        "ledger.begin_effect.within#5",
        "saver.aput.plan.within#20",
        "job.session.finish.before#1",
    )
    command = [sys.executable, str(SCRIPT), "--deaths", "2", "--at-once", "2", "--at", *at]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=550, check=False)
    assert ended.returncode == 0, (ended.stdout, ended.stderr)
    report = json.loads(ended.stdout)
    assert report["points_died_at"] == report["points"] == len(at)
    assert (report["lost"], report["repeated"], report["asked_outside"], report["damaged"]) == (0, 0, 0, 0)
