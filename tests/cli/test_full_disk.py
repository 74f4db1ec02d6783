"""A disk with hardly any room: what there is can be shown, and nothing is changed by half (T7)."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from hitl_tui.commands.command_context import stopped_result
from hitl_tui.commands.results import CommandResult
from hitl_tui.core.errors import StorageError
from hitl_tui.supervisor.open_session import open_session
from hitl_tui.supervisor.session import Session
from hitl_tui.supervisor.session_registry import SessionRegistry

EXAMPLE = Path(__file__).parent.parent.parent / "examples" / "lease"


@pytest.fixture
def small(tmp_path: Path) -> Iterator[Path]:
    """A file system of 3 MB."""
    folder = tmp_path / "small"
    folder.mkdir()
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=3m", "none", str(folder)], check=False)
    if mounted.returncode:
        pytest.skip("this account can't mount a file system")
    try:
        yield folder
    finally:
        subprocess.run(["umount", "-l", str(folder)], check=True)


async def made(data: Path) -> None:
    async with SessionRegistry.open(data, {}) as bench:
        setup = await bench.create("How high may the deposit rise be?", EXAMPLE)
        async with open_session(bench.store, setup, setup.info.query) as opened:
            session = opened.view
            assert isinstance(session, Session)
            await session.settled()


def fill(folder: Path, leave: int) -> None:
    """Leave so many bytes."""
    ballast = folder / "ballast"
    ballast.unlink(missing_ok=True)
    found = os.statvfs(folder)
    ballast.write_bytes(b"x" * max(0, found.f_bfree * found.f_frsize - leave))


def hitl(data: Path, *command: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "hitl_tui", "--data", str(data), *command],
        capture_output=True, text=True, check=False, timeout=100,
    )  # fmt: skip


@pytest.mark.slow
@pytest.mark.long
@pytest.mark.timeout(400)
def test_a_full_disk_shows_everything_and_takes_nothing_by_half(small: Path) -> None:
    data = small / "data"
    asyncio.run(made(data))
    assert hitl(data, "show", "s1", "--json").returncode in (0, 3)  # from here on its question was shown
    whole = hitl(data, "show", "s1", "--json")
    assert whole.returncode in (0, 3), whole.stderr
    for leave in (0, 20_000, 60_000, 300_000):
        fill(small, leave)
        seen = hitl(data, "show", "s1", "--json")
        assert (seen.returncode, seen.stdout) == (whole.returncode, whole.stdout), (leave, seen.stderr)
        refused = hitl(data, "do", "s1", "/todo approve")
        assert refused.returncode == 1, (leave, refused.stdout, refused.stderr)
        assert "is full" in refused.stderr + refused.stdout, (leave, refused.stderr)
        assert "Traceback" not in refused.stderr
    (small / "ballast").unlink()
    assert hitl(data, "do", "s1", "/todo approve").returncode in (0, 3)


@pytest.mark.long
def test_a_session_on_a_full_disk_is_exported_to_another(small: Path, tmp_path: Path) -> None:
    data, kept = small / "data", tmp_path / "kept"
    kept.mkdir()
    asyncio.run(made(data))
    for leave in (0, 60_000):
        fill(small, leave)
        done = hitl(data, "export", "s1", str(kept / f"{leave}.hitl"))
        assert done.returncode == 0, done.stderr
        refused = hitl(data, "export", "s1", str(small / "s1.hitl"))
        assert refused.returncode == 1 and "full" in refused.stderr, refused.stderr
        assert sorted(os.listdir(small)) == ["ballast", "data"]
    assert sorted(os.listdir(kept)) == ["0.hitl", "60000.hitl"]
    taken = hitl(tmp_path / "other", "import", str(kept / "0.hitl"), "--workspace", str(EXAMPLE))
    assert taken.returncode in (0, 3), taken.stderr


def test_what_is_recorded_is_told_so_when_the_session_cannot_go_on() -> None:
    told = stopped_result(
        StorageError("There is no room."), CommandResult("resumed", "Approved 001.", {"todo_id": "todo_001"})
    )
    assert not told.failed
    assert told.to_dict()["status"] == "recorded"
    assert told.to_dict()["intended"] == "resumed"
    assert told.message.startswith("Recorded, but")
