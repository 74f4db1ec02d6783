"""No Korean sentence leaves its particle to the reader: what a value is followed by doesn't depend on its sound."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import hitl_tui

_OPEN = re.compile(r"[을은이과]\([를는가와]\)|\(으\)로|[를는가와]\([을은이과]\)")
_FILES = sorted(p for p in Path(*hitl_tui.__path__).rglob("*") if p.suffix in (".py", ".toml", ".po"))


@pytest.mark.parametrize("suffix", [".py", ".toml", ".po"])
def test_no_sentence_offers_two_particles(suffix: str) -> None:
    found = [p for p in _FILES if p.suffix == suffix]
    assert found and not [p.name for p in found if _OPEN.search(p.read_text())]
