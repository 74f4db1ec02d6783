"""Deaths at some of the points that `benchmarks/crash_graphs.py` knows; it has all of them."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

DRIVER = Path(__file__).resolve().parents[2] / "benchmarks" / "crash_graphs.py"


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_nothing_is_done_twice_unasked_or_asked_twice() -> None:
    command = [sys.executable, str(DRIVER), "--points", "12", "--instants", "6", "--seed", "12"]
    ran = subprocess.run(command, capture_output=True, text=True, check=False, timeout=880)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert ran.stdout.count(" 0 wrong,") == 5
