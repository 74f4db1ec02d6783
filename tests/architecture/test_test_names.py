"""Test modules are imported by their bare names, so each name is there once."""

from __future__ import annotations

from collections import Counter
from pathlib import Path


def test_no_two_test_modules_have_one_name() -> None:
    names = Counter(path.name for path in Path(__file__).parents[1].rglob("test_*.py"))
    assert [name for name, count in names.items() if count > 1] == []
