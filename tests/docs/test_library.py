"""The example of the page about the library runs as it stands there."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

import hitl_tui

PAGE = Path(__file__).resolve().parents[2] / "docs" / "library.md"


EXAMPLES = re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)


def run(example: str, folder: Path) -> subprocess.CompletedProcess[str]:
    line = [sys.executable, "-c", example]
    return subprocess.run(line, capture_output=True, text=True, cwd=folder, timeout=120, check=False)


@pytest.mark.long
def test_the_example_drives_a_session_to_its_answer(tmp_path: Path) -> None:
    done = run(EXAMPLES[0], tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    assert "The cap is 5 percent." in done.stdout


@pytest.mark.long
def test_the_example_ends_where_a_command_is_refused(tmp_path: Path) -> None:
    refused = EXAMPLES[0].replace("/todo approve {question.id}", "/todo approve todo_777")
    assert refused != EXAMPLES[0]
    done = run(refused, tmp_path)
    assert done.returncode == 0 and 'No step "todo_777"' in done.stdout, done


@pytest.mark.long
def test_the_other_example_trusts_plans_edits_and_answers(tmp_path: Path) -> None:
    done = run(EXAMPLES[1], tmp_path)
    assert done.returncode == 0, done.stderr
    for said in ("edited Edited 001", "resumed Approved 001.", '"guests": 5', "7000 won"):
        assert said in done.stdout, done.stdout


def test_every_name_of_the_library_is_there_and_on_the_page() -> None:
    page = PAGE.read_text(encoding="utf-8")
    names = [name for name in hitl_tui.__all__ if name != "__version__"]
    assert all(getattr(hitl_tui, name).__name__ == name and f"`{name}`" in page for name in names)
