"""Graphs with one seeded fault each, and graphs as they should be (I6)."""

from __future__ import annotations

from pathlib import Path

import pytest
from lint_support import HERE, marked

from hitl_tui.lint.check import lint
from hitl_tui.lint.rules import RULES

SEEDED = sorted([*(HERE / "seeds").glob("*.py"), *(HERE / "held_out").glob("*.py")])
GOOD = sorted((HERE / "good").glob("*.py"))


def test_there_are_enough_of_both() -> None:
    assert len(SEEDED) >= 45
    assert len(GOOD) >= 15
    assert {rule for path in SEEDED for rule, _ in marked(path)} >= set(RULES) - {"HT013", "HT015"}


@pytest.mark.parametrize("path", SEEDED, ids=lambda path: path.stem)
def test_a_seeded_fault_is_found_in_its_line(path: Path) -> None:
    report = lint(str(path), HERE)
    found = {(finding.rule.id, finding.place.line) for finding in report.findings}
    assert marked(path)
    assert marked(path) <= found


@pytest.mark.parametrize("path", GOOD, ids=lambda path: path.stem)
def test_nothing_is_found_in_a_good_pattern(path: Path) -> None:
    report = lint(str(path), HERE)
    assert [f"{f.rule.id} {f.place.line} {f.message}" for f in report.findings] == []
    assert any(row.interrupts for row in report.rows) or "middleware" in path.name
    assert not any(row.repeated for row in report.rows)
