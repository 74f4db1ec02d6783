"""Random races with the program itself, in a pseudo-terminal (C3)."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from benchmarks.races_terminal import through_terminal


@pytest.mark.slow
@pytest.mark.timeout(400)
def test_no_race_with_the_program_decides_anything_or_loses_a_character() -> None:
    outcomes = asyncio.run(through_terminal("ci", range(3)))
    assert [(o.number, o.wrong, o.lost, o.moved) for o in outcomes if o.bad] == []
    assert sum(o.keys for o in outcomes) > 20
