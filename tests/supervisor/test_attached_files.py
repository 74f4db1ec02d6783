"""Files that a killed process left half made: a session is opened all the same (D12)."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path

import pytest
from attached_support import attached

from hitl_tui.core.errors import StorageError
from hitl_tui.supervisor.checkpoint_file import check_file

CODE = """
import os, signal, sqlite3, sys
db = sqlite3.connect(sys.argv[1], isolation_level=None)
db.execute("PRAGMA cache_size = 1")
db.execute("BEGIN IMMEDIATE")
db.execute("CREATE TABLE checkpoints (thread_id TEXT)")
db.executemany("INSERT INTO checkpoints VALUES (?)", [("x" * 1000,) for _ in range(1000)])
os.kill(os.getpid(), signal.SIGKILL)
"""


def killed_while_it_makes(path: Path) -> None:
    """Leave the checkpoints' file as a process does that dies before it has its log."""
    for left in path.parent.glob("checkpoints.db*"):
        left.unlink()
    died = subprocess.run([sys.executable, "-c", CODE, str(path)], check=False, timeout=60)
    assert died.returncode == -signal.SIGKILL
    with pytest.raises(StorageError):  # only who may write can undo it
        check_file(path)


async def test_a_process_killed_while_it_made_the_checkpoints_leaves_a_session_that_begins(tmp_path: Path) -> None:
    async with attached(tmp_path, "chat", '{"text": "one"}'):
        pass
    killed_while_it_makes(tmp_path / "data" / "sessions" / "s1" / "checkpoints.db")
    async with attached(tmp_path, "chat") as op:
        await op.ok("/todo approve")
        assert op.now.status == "finished"
