"""Kill -9 of a runtime and its reviewer while a plan is revised twice through S3: the benchmark, bounded (P1 to P6)."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[2] / "benchmarks" / "crash_review.py"


@pytest.mark.slow
@pytest.mark.long
@pytest.mark.timeout(900)
@pytest.mark.parametrize(
    ("sides", "at"),
    [
        (("runtime",), "s3.DeleteObject"),
        pytest.param(("0", "2"), "s3.PutObject", marks=pytest.mark.slow),
    ],
)
def test_a_plan_is_revised_by_what_was_said_whoever_dies(tmp_path: Path, sides: tuple[str, ...], at: str) -> None:
    command = [sys.executable, str(SCRIPT), "--root", str(tmp_path), "--points", "3", "--sides", *sides, "--at", at]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=800, check=False)
    assert ended.stdout, ended.stderr
    report = json.loads(ended.stdout.splitlines()[-1])
    assert report["violations"] == []
    assert (ended.returncode, report["kills"], report["runs"]) == (0, 3, 4)
