"""How long a TODO ran is the time in which it could run, whatever became of the process meanwhile."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
from functools import partial
from pathlib import Path

from session_support import Place, step

from hitl_tui.core.todos import SupervisorTodo
from hitl_tui.supervisor.snapshot import Snapshot

HOUR = 3600.0


def _idle(least: float, seen: Snapshot) -> bool:
    return float(seen.raw["todo_001"].get("idle", 0.0)) > least


async def test_the_time_in_which_no_process_had_the_session_open_does_not_count(tmp_path: Path) -> None:
    place = Place(tmp_path, step("low", "a"))
    place.world.hold("todo_001")
    async with place.open() as op:
        await op.rest()
        await op.say("/todo approve 1")
        await place.world.began("todo_001")
        place.clock.forward(7.0)
        await op.say("/todo priority 1 high")  # a sign of life that is on record: these seconds count
    for n in range(2):
        place.clock.forward(HOUR)
        async with place.open() as op:
            await op.until(partial(_idle, n * HOUR))
            running = SupervisorTodo.from_state(op.now.raw["todo_001"])
            place.clock.forward(5.0)
            if n:
                place.world.release("todo_001")
                await op.finish()
                done = op.now.todo("todo_001")
    assert done is not None and done.duration is not None
    assert 2 * HOUR < running.idle < 2 * HOUR + 20
    assert 12.0 <= done.duration < 20.0
    assert SupervisorTodo.from_dict(done.to_dict()) == done


CHILD = """
import asyncio, sys
from pathlib import Path
sys.path[:0] = sys.argv[2:]
from session_support import Place, step

async def main():
    place = Place(Path(sys.argv[1]), step("low", "a"))
    place.world.hold("todo_001")
    async with place.open() as op:
        await op.rest()
        await op.say("/todo approve 1")
        await place.world.began("todo_001")
        print("running", flush=True)
        await asyncio.sleep(600)

asyncio.run(main())
"""


def killed_while_it_runs(root: Path) -> None:
    """Let another process run the TODO, and kill it meanwhile."""
    tests = Path(__file__).parents[1]
    arguments = [sys.executable, "-c", CHILD, str(root), str(tests), str(tests / "supervisor"), str(tests / "support")]
    with subprocess.Popen(arguments, stdout=subprocess.PIPE, text=True) as child:
        assert child.stdout is not None and child.stdout.readline() == "running\n"
        os.kill(child.pid, signal.SIGKILL)


async def test_a_killed_run_does_not_count_the_time_it_was_dead(tmp_path: Path) -> None:
    await asyncio.to_thread(killed_while_it_runs, tmp_path)
    place = Place(tmp_path, step("low", "a"))
    place.clock.forward(HOUR)
    async with place.open() as op:
        await op.finish()
        done = op.now.todo("todo_001")
    assert done is not None and done.duration is not None
    assert done.idle > HOUR - 60 and done.duration < 60
