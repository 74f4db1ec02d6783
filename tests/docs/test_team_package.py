"""The package of the page about settings brings its team to a session, as the page says (D18)."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

PAGE = Path(__file__).resolve().parents[2] / "docs" / "configuration.md"


def written(kind: str, file: str) -> str:
    """Return the block of the page that is a file."""
    (text,) = re.findall(rf"```{kind}\n# {re.escape(file)}\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    return str(text)


@pytest.mark.long
def test_the_package_of_the_page_brings_its_team(tmp_path: Path) -> None:
    project = tomllib.loads(written("toml", "exchange/pyproject.toml"))["project"]
    site, work = tmp_path / "site", tmp_path / "work"
    known = site / "exchange_team-1.0.dist-info"  # as an installer leaves it
    known.mkdir(parents=True)
    work.mkdir()
    (site / "exchange_team.py").write_text(written("python", "exchange/exchange_team.py"), encoding="utf-8")
    (known / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {project['name']}\nVersion: {project['version']}\n")
    lines = [
        f"[{group}]\n" + "".join(f"{name} = {place}\n" for name, place in points.items())
        for group, points in project["entry-points"].items()
    ]
    (known / "entry_points.txt").write_text("\n".join(lines))
    (query,) = re.findall(r'`hitl-tui "(exchange [^"]*)"`', PAGE.read_text(encoding="utf-8"))
    done = subprocess.run(
        [sys.executable, "-m", "hitl_tui", "run", query, "--mode", "risk", "--workspace", str(work)],
        env={**os.environ, "PYTHONPATH": str(site), "HITL_DATA_DIR": str(tmp_path / "data"), "HITL_LANG": "en"},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert "100 EUR are 145,000 won." in done.stdout, done.stdout + done.stderr
