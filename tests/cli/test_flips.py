"""A flipped bit in any file of a session is said, or changes nothing of what is shown (T7)."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from pathlib import Path

import pytest

from hitl_tui.supervisor.open_session import open_session
from hitl_tui.supervisor.session import Session
from hitl_tui.supervisor.session_registry import SessionRegistry

HERE = Path(__file__).parent
EXAMPLE = HERE.parent.parent / "examples" / "lease"


async def made(data: Path) -> None:
    """Begin a session that waits for its first decision."""
    async with SessionRegistry.open(data, {}) as bench:
        setup = await bench.create("How high may the deposit rise be?", EXAMPLE)
        async with open_session(bench.store, setup, setup.info.query) as opened:
            session = opened.view
            assert isinstance(session, Session)
            await session.settled()


@pytest.mark.slow
@pytest.mark.long
@pytest.mark.timeout(600)
@pytest.mark.parametrize("seed", [1, pytest.param(2, marks=pytest.mark.slow), pytest.param(3, marks=pytest.mark.slow)])
def test_a_flipped_bit_is_said_or_changes_nothing(tmp_path: Path, seed: int) -> None:
    asyncio.run(made(tmp_path / "data"))
    command = [sys.executable, str(HERE / "flip_worker.py"), str(tmp_path / "data"), str(seed), "60"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=550)
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    assert told["wrong"] == []
    assert told["found"] > 5
