"""A disk with hardly any room: what there is can be shown, and nothing is changed by half (T7)."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from trusting import trust_workspace

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


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


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
        assert names(small) == ["ballast", "data"]
    assert names(kept) == ["0.hitl", "60000.hitl"]
    taken = hitl(tmp_path / "other", "import", str(kept / "0.hitl"), "--workspace", str(EXAMPLE))
    assert taken.returncode in (0, 3), taken.stderr


@pytest.mark.long
def test_a_step_that_had_begun_on_a_full_disk_is_told_as_begun(small: Path, tmp_path: Path) -> None:
    """(D12) What it does fills the disk, so that how it ended can't be recorded."""
    data, workspace = small / "data", tmp_path / "w"
    workspace.mkdir()
    (workspace / "fill.sh").write_text(f"echo filling; dd if=/dev/zero of={small}/ballast bs=4k 2>/dev/null; true\n")
    (workspace / "hitl.toml").write_text('[teams.command_team.commands.fill]\nrun = ["sh", "fill.sh"]\nrisk = "high"\n')
    trust_workspace(data, workspace)
    asked = hitl(data, "run", "fill", "--workspace", str(workspace), "--session", "s1", "--json")
    (question,) = json.loads(asked.stdout)["questions"]
    told = hitl(data, "do", "s1", f"/todo approve {question['id']}", "--json")
    assert told.returncode == 1, (told.stdout, told.stderr)
    answer = json.loads(told.stdout)
    assert answer["status"] == "recorded" and answer["begun"] == ["todo_001"]
    assert answer["message"].endswith("001 had begun; opening the session again asks whether it happened.")
    (small / "ballast").unlink()
    again = hitl(data, "do", "s1", "/todos", "--json")
    (doubt,) = json.loads(again.stdout)["questions"]
    assert doubt["kind"] == "effect", again.stdout


def test_what_is_recorded_is_told_so_when_the_session_cannot_go_on() -> None:
    told = stopped_result(
        StorageError("There is no room."), (), CommandResult("resumed", "Approved 001.", {"todo_id": "todo_001"})
    )
    assert not told.failed
    assert told.to_dict()["status"] == "recorded"
    assert told.to_dict()["intended"] == "resumed"
    assert told.message.startswith("Recorded, but") and "takes effect" in told.message
    begun = stopped_result(StorageError("There is no room."), ["todo_001", "todo_003"])
    assert begun.message.endswith("001, 003 had begun; opening the session again asks whether it happened.")
    assert begun.to_dict()["begun"] == ["todo_001", "todo_003"]
