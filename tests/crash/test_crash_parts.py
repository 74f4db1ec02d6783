"""The benchmark's own instruments: what they say has to be so, or its zeros mean nothing."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sqlite3
from datetime import UTC, datetime
from pathlib import Path

import pytest


def write_rows_and_die(path: Path, rows: int, transferred: int) -> None:
    """Let a process commit numbered rows, move the log into the file after some of them, and die."""
    child = os.fork()
    if child == 0:
        database = sqlite3.connect(path, isolation_level=None)
        database.execute("PRAGMA journal_mode=WAL")
        database.execute("PRAGMA synchronous=NORMAL")
        database.execute("CREATE TABLE t (n INTEGER)")
        for number in range(1, rows + 1):
            database.execute("INSERT INTO t VALUES (?)", (number,))
            if number == transferred:
                database.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchone()
        os.kill(os.getpid(), signal.SIGKILL)
    os.waitpid(child, 0)


def rows_of(path: Path) -> list[int]:
    database = sqlite3.connect(path)
    try:
        assert database.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        return [row[0] for row in database.execute("SELECT n FROM t ORDER BY n")]
    finally:
        database.close()


@pytest.mark.parametrize(("stays", "torn", "left"), [(0.0, False, 4), (0.5, True, 7), (1.0, False, 10)])
def test_a_cut_takes_the_newest_commits_that_were_not_synced(
    tmp_path: Path, stays: float, torn: bool, left: int
) -> None:
    from crash_wal import cut_tail

    path = tmp_path / "some.db"
    write_rows_and_die(path, 10, transferred=4)
    assert cut_tail(path, stays, torn=torn) == 10 - left
    assert rows_of(path) == list(range(1, left + 1))


def test_what_was_done_before_its_process_died_is_counted(tmp_path: Path) -> None:
    from crash_world import World, served

    world = World(tmp_path)
    with served(world):
        child = os.fork()
        if child == 0:
            asyncio.run(world.act("todo_001", "act"))
            os.kill(os.getpid(), signal.SIGKILL)
        os.waitpid(child, 0)
        asyncio.run(world.act("todo_001", "act"))
        asyncio.run(world.settle())
        assert world.done() == {("todo_001", "act"): 2}


def test_a_process_dies_at_exactly_the_point_it_was_told(tmp_path: Path) -> None:
    from crash_faults import Faults

    child = os.fork()
    if child == 0:
        faults = Faults("write#2", tmp_path / "kills.jsonl")
        faults.flying.add("eff-1")
        for _ in range(3):
            faults.point("other")
            faults.point("write")
        os._exit(0)
    _, status = os.waitpid(child, 0)
    assert os.waitstatus_to_exitcode(status) == -signal.SIGKILL
    assert '"at": "write#2", "flying": ["eff-1"]' in (tmp_path / "kills.jsonl").read_text(encoding="utf-8")


@pytest.mark.long
def test_an_effect_that_was_done_twice_without_a_word_is_found(tmp_path: Path) -> None:
    from crash import Case, run_case
    from crash_judge import judge
    from crash_world import World

    outcome = run_case(Case("kill", ()), tmp_path, 60)
    assert outcome.verdicts.ok, outcome.verdicts
    root = tmp_path / outcome.case.name
    with World(root).file.open("a", encoding="utf-8") as file:
        line = {"op": "act", "todo": "todo_012", "effect": "act", "at": datetime.now(UTC).isoformat()}
        file.write(json.dumps(line) + "\n")
    assert judge(root).repeated == ("todo_012 act: act 2 after nobody said anything",)
