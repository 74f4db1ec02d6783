"""What sessions keep is for their owner alone."""

from __future__ import annotations

import stat
import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLE = Path(__file__).resolve().parents[2] / "examples" / "lease"


@pytest.mark.long
def test_the_data_folder_is_made_for_its_owner_alone(tmp_path: Path) -> None:
    data = tmp_path / "share" / "hitl"
    words = ["--data", str(data), "run", "The cap", "--workspace", str(EXAMPLE), "--json"]
    ran = [sys.executable, "-m", "hitl_tui", *words]
    assert subprocess.run(ran, capture_output=True, check=False, timeout=120, umask=0o022).returncode == 3
    made = [data.parent, data, *(path for path in data.iterdir() if path.is_dir()), *(data / "sessions").iterdir()]
    expected = {path: "0o700" if path.is_dir() else "0o600" for path in made}
    assert {path: oct(stat.S_IMODE(path.stat().st_mode)) for path in made} == expected
