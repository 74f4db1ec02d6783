"""What the examples' pages say can be typed as it stands there."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

AGENTS = Path(__file__).resolve().parents[2] / "examples" / "agents"


def test_the_agents_get_a_folder_with_what_they_are_asked_about(tmp_path: Path) -> None:
    (lines,) = re.findall(r"```sh\n(.*?)```", (AGENTS / "README.md").read_text(encoding="utf-8"), re.DOTALL)
    copying, trusting, asking = lines.strip().splitlines()
    for _ in range(2):  # it can be typed again
        subprocess.run(["sh", "-c", copying], cwd=AGENTS, env={**os.environ, "HOME": str(tmp_path)}, check=True)
    folder = tmp_path / "my-folder"
    (asked,) = re.findall(r"[\w-]+\.csv", asking)
    assert trusting == "hitl-tui trust ." and {"hitl.toml", asked} == {file.name for file in folder.iterdir()}
