"""The example of the page about the library runs as it stands there."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import hitl_tui

PAGE = Path(__file__).resolve().parents[2] / "docs" / "library.md"


def test_the_example_drives_a_session_to_its_answer(tmp_path: Path) -> None:
    (example,) = re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    done = subprocess.run(
        [sys.executable, "-c", example], capture_output=True, text=True, cwd=tmp_path, timeout=60, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert "The cap is 5 percent." in done.stdout


def test_every_name_of_the_library_is_there_and_on_the_page() -> None:
    page = PAGE.read_text(encoding="utf-8")
    names = [name for name in hitl_tui.__all__ if name != "__version__"]
    assert all(getattr(hitl_tui, name).__name__ == name and f"`{name}`" in page for name in names)
