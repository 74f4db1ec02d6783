"""A data folder that this account can't write is looked at all the same, and nothing in it changes (C8)."""

from __future__ import annotations

import json
import os
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest
from cli_support import S1_EN, Ran, Shell

DRIVER = Path(__file__).with_name("unwritable_driver.py")
BOUND = ("setpriv", "--bounding-set=-dac_override", "--inh-caps=-dac_override")
"""Takes from root what lets it write where nobody may."""


@contextmanager
def unwritable(folder: Path) -> Iterator[None]:
    """Let nobody write a folder and what is in it."""
    paths = [folder, *folder.rglob("*")]
    modes = {path: path.stat().st_mode for path in paths}
    for path, mode in modes.items():
        path.chmod(mode & ~0o222)
    try:
        yield
    finally:
        for path, mode in modes.items():
            path.chmod(mode)


def bound() -> tuple[str, ...]:
    if os.geteuid():
        return ()
    if shutil.which(BOUND[0]) is None:
        pytest.skip("root can write everywhere here")
    return BOUND


def carried_out(shell: Shell, *lines: tuple[str, ...]) -> list[Ran]:
    """Carry command lines out in one process that can't write the data folder."""
    command = [*bound(), sys.executable, str(DRIVER), json.dumps(lines)]
    with unwritable(shell.data):
        done = subprocess.run(
            command, cwd=shell.workspace, env=shell.env, capture_output=True, text=True, timeout=100, check=False
        )
    assert done.returncode == 0, done.stderr
    return [Ran(**found) for found in json.loads(done.stdout)]


def contents(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def killed(shell: Shell) -> None:
    """Add a TODO and leave both databases as a killed process does: what was written last is in their logs alone."""
    files = [shell.data / "ledger.db", shell.data / "sessions" / "s1" / "checkpoints.db"]
    parts = [Path(f"{file}{part}") for file in files for part in ("", "-wal", "-shm")]
    with closing(sqlite3.connect(files[0])) as ledger, closing(sqlite3.connect(files[1])) as checkpoints:
        for db in (ledger, checkpoints):  # while somebody has it open, the log stays
            db.execute("SELECT count(*) FROM sqlite_master").fetchone()
        assert shell.run("do", "s1", "/todo add search_team logged", "--json").code == 3
        for part in parts:
            shutil.copyfile(part, f"{part}.kept")
    for part in parts:
        Path(f"{part}.kept").replace(part)


@pytest.fixture
def shell(tmp_path: Path) -> Shell:
    shell = Shell(tmp_path)
    assert shell.run("run", S1_EN, "--json").code == 3
    return shell


@pytest.mark.long
@pytest.mark.parametrize("left", ["nothing", "log and index", "log"])
def test_everything_can_be_looked_at(shell: Shell, tmp_path: Path, left: str) -> None:
    if left != "nothing":
        killed(shell)
    if left == "log":
        for path in shell.data.rglob("*-shm"):
            path.unlink()
    before = contents(shell.data)
    whole, readable = tmp_path / "s1.hitl", tmp_path / "s1.md"
    looks = [
        ("show", "s1"),
        ("sessions",),
        ("audit", "verify"),
        ("audit", "export"),
        ("export", "s1", str(whole)),
        ("export", "s1", str(readable)),
        ("do", "s1", "/todos"),
        ("do", "s1", "/checkpoint list"),
    ]
    looked = carried_out(shell, *looks)
    for line, ran in zip(looks, looked, strict=True):
        assert ran.code == 0, (line, ran)
        assert ran.err.count("\n") == 1, (line, ran)
        assert "can't be written by this account: nothing in it can be changed." in ran.err
    assert contents(shell.data) == before
    for ran in (looked[0], looked[3], looked[6]):
        assert ("logged" in ran.out) == (left != "nothing")
    assert readable.stat().st_size
    assert shell.run("import", str(whole), "--json").json["session_status"] == "waiting"


@pytest.mark.long
def test_what_would_change_something_is_refused_in_one_sentence(shell: Shell) -> None:
    before = contents(shell.data)
    changes = [
        ("run", "another"),
        ("rename", "s1", "other"),
        ("fork", "s1"),
        ("delete", "s1", "--yes"),
        ("prune", "--keep", "0", "--yes"),
        ("do", "s1", "/todo approve"),
        ("do", "s1", "/checkpoint restore 1"),
        ("do", "s1", "/fork"),
    ]
    for line, ran in zip(changes, carried_out(shell, *[(*line, "--json") for line in changes]), strict=True):
        if line[0] == "prune":  # nothing in it is finished
            assert ran.json["message"] == "Nothing to prune."
            continue
        assert ran.code in (1, 2), (line, ran)
        assert ran.json["status"] == "error", (line, ran)
    assert contents(shell.data) == before


@pytest.mark.long
def test_who_may_not_write_follows_who_does(shell: Shell) -> None:
    follow = (
        "import asyncio, sys\n"
        "from pathlib import Path\n"
        "from hitl_tui.ledger.sqlite_ledger import SqliteLedger\n"
        "async def follow():\n"
        "    async with SqliteLedger.open(Path(sys.argv[1]), read_only=True) as ledger:\n"
        "        while True:\n"
        "            print((await ledger.head('s1')).n, flush=True)\n"
        "            if not sys.stdin.readline(): return\n"
        "asyncio.run(follow())\n"
    )
    ledger = shell.data / "ledger.db"
    with unwritable(shell.data):
        command = [*bound(), sys.executable, "-c", follow, str(ledger)]
        reader = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        assert reader.stdin is not None and reader.stdout is not None
        first = int(reader.stdout.readline())
    with reader:
        for _ in range(2):  # somebody opens it, decides, and closes it; the next time it is followed already
            assert shell.run("rename", "s1", "another title", "--json").code == 0
            reader.stdin.write("again\n")
            reader.stdin.flush()
            assert int(reader.stdout.readline()) == (first := first + 1)
        reader.stdin.close()
    assert reader.returncode == 0
