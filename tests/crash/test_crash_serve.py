"""Kill -9 of a headless runtime at enumerated points: the benchmark, bounded (P2, P3, D12)."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[2] / "benchmarks" / "crash_serve.py"
OWN = ("journal.take.after", "journal.end.before", "journal.end.after", "event.tell.after", "store.publish.before",
       "store.remove.before", "store.remove.after", "file.rename.after")  # fmt: skip


@pytest.mark.slow
@pytest.mark.long
@pytest.mark.timeout(900)
def test_a_job_is_neither_lost_nor_repeated_wherever_its_runtime_dies(tmp_path: Path) -> None:
    command = [sys.executable, str(SCRIPT), "--root", str(tmp_path), "--json", "--points", "6", "--seed", "3"]
    ended = subprocess.run([*command, "--at", *OWN], capture_output=True, text=True, timeout=800, check=False)
    assert ended.stdout, ended.stderr
    report = json.loads(ended.stdout)
    assert report["violations"] == []
    assert (ended.returncode, report["lost"], report["repeated"]) == (0, 0, 0)
    assert report["kills"] == report["runs"] == 12
    assert report["points"] > 400
