"""A command that outlived its console: it is asked about at once, and ended by who stops or skips its step (T11)."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from cli_support import DEADLINE, Shell, obeying_signals

from hitl_tui.supervisor import orphan_processes
from hitl_tui.supervisor.orphan_processes import Orphan, command_of, end_orphans, find_orphans
from hitl_tui.supervisor.storage import DataFolder

pytestmark = [
    pytest.mark.long,
    pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells who holds a file"),
]


class Alone:
    """A command that still runs after its console was killed.

    Args:
        shell: where.
        risk: of the command.
    """

    def __init__(self, shell: Shell, risk: str) -> None:
        self.shell = shell
        self.alive = shell.workspace / "alive"
        os.mkfifo(self.alive)
        script = f"setsid sh -c 'exec 9> {self.alive}; exec sleep 600' & exec sleep 600"
        run = json.dumps(["sh", "-c", script])
        shell.declare(f'[teams.command_team.commands.long]\nrun = {run}\nrisk = "{risk}"\n')
        shell.run("run", "What is the cap?")
        shell.run("do", "s1", "/todo add command_team long")
        shell.run("do", "s1", "/todo move 2 before 1")
        console = subprocess.Popen(
            shell.command("do", "s1", "/todo approve 2", "--json"),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            cwd=shell.workspace,
            env=shell.env,
            preexec_fn=obeying_signals,
        )
        self.held = self.alive.open("rb", buffering=0)  # opens when the child of the command has opened it
        console.kill()
        console.wait()
        self.lock = DataFolder(shell.data).session("s1").run_lock("todo_002")

    def asked(self) -> dict[str, Any]:
        """Return the question that opening the session leads to."""
        found = self.shell.run("do", "s1", "/todos", "--json").json["questions"]
        (question,) = [q for q in found if q["todo_id"] == "todo_002"]
        assert question["kind"] == "effect"
        return dict(question)

    def say(self, line: str) -> dict[str, Any]:
        """Give a command, and return what it answers."""
        done = self.shell.run("do", "s1", line, "--json").json
        assert done["status"] != "error", done
        return done

    def is_over(self) -> bool:
        """Return whether the command and all that it started are gone, once they had time to."""
        over = threading.Event()
        reader = threading.Thread(target=lambda: self.held.read() or over.set(), daemon=True)
        reader.start()
        return over.wait(DEADLINE)


@pytest.fixture
def alone(tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[Alone]:
    found = Alone(Shell(tmp_path), getattr(request, "param", "medium"))
    with closing(found.held):
        yield found
        end_orphans(found.lock)


def test_show_and_the_list_say_that_it_still_runs(alone: Alone) -> None:
    said = "Still running: 002. Open the session to decide."
    shell = alone.shell
    assert shell.run("show", "s1").out.endswith(f"{said}\n")
    assert shell.run("show", "s1", "--json").json["message"] == f"s1 waits for your decision: 001. {said}"
    (listed,) = shell.run("sessions", "--json").json["sessions"]
    assert listed["message"] == said and listed["still_running"] == ["todo_002"]
    assert "waiting, a command still runs" in shell.run("sessions").out
    end_orphans(alone.lock)
    told = shell.run("show", "s1").out + shell.run("sessions").out
    assert "Still running" not in told and "still runs" not in told


@pytest.mark.parametrize(
    "line",
    ["/todo reject {id} no", *[pytest.param(line, marks=pytest.mark.slow) for line in ("/todo skip 2", "/stop")]],
)
def test_it_is_asked_about_at_once_and_ended_with_its_step(alone: Alone, line: str) -> None:
    process = command_of(find_orphans(alone.lock))
    question = alone.asked()
    assert f"process {process.pid}" in question["about"]["why"] and process.clock in question["about"]["why"]
    assert question["about"]["effect"]["subject"]["argv"][:2] == ["sh", "-c"]
    assert find_orphans(alone.lock)[1:], "nobody said yet that it is to end"
    alone.say(line.format(id=question["id"]))
    assert alone.is_over()
    assert find_orphans(alone.lock) == []
    assert alone.shell.run("audit", "verify").code == 0


def test_what_counts_as_done_is_left_alone_and_holds_nothing_up(alone: Alone) -> None:
    done = alone.say(f"/todo done {alone.asked()['id']}")
    assert {todo["id"]: todo["status"] for todo in done["todos"]}["todo_002"] == "completed"
    assert find_orphans(alone.lock)


def test_nothing_is_done_again_while_it_runs(alone: Alone) -> None:
    question = alone.asked()
    again = subprocess.Popen(
        alone.shell.command("do", "s1", f"/todo again {question['id']}", "--json"),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        cwd=alone.shell.workspace,
        env=alone.shell.env,
        preexec_fn=obeying_signals,
    )
    activity = DataFolder(alone.shell.data).session("s1").activity
    while "is done again once process" not in activity.read_text(encoding="utf-8"):
        assert again.poll() is None
        os.sched_yield()
    first = find_orphans(alone.lock)
    assert len({orphan.parent for orphan in first if orphan.watches}) == 1, "there is one command"
    recorded = alone.say("/todo cancel 2")
    assert recorded["status"] == "recorded"
    assert alone.is_over(), "who cancels the step ends it"
    again.send_signal(signal.SIGTERM)
    again.communicate(timeout=DEADLINE)
    assert find_orphans(alone.lock) == []


@pytest.mark.parametrize("alone", ["low"], indirect=True)
def test_what_is_declared_to_change_nothing_is_ended_and_done_again_unasked(alone: Alone) -> None:
    first = {orphan.pid for orphan in find_orphans(alone.lock)}
    again = subprocess.Popen(
        alone.shell.command("do", "s1", "/todos", "--json"),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        cwd=alone.shell.workspace,
        env=alone.shell.env,
        preexec_fn=obeying_signals,
    )
    assert alone.is_over()
    with alone.alive.open("rb", buffering=0):  # opens when the command has begun once more
        assert first.isdisjoint(orphan.pid for orphan in find_orphans(alone.lock))
        again.send_signal(signal.SIGTERM)
        again.communicate(timeout=DEADLINE)


def test_what_holds_no_lock_or_is_ours_is_none(tmp_path: Path) -> None:
    lock = tmp_path / "lock"
    with lock.open("w") as held, subprocess.Popen(["sleep", "600"], pass_fds=[held.fileno()]) as ours:
        assert find_orphans(lock) == []
        assert end_orphans(lock) == ([], [])
        assert ours.poll() is None
        ours.kill()


def test_what_is_another_process_by_now_is_left_alone(alone: Alone) -> None:
    found = find_orphans(alone.lock)
    for orphan in found:
        another = Orphan(orphan.pid, str(int(orphan.began) + 1), orphan.since, orphan.parent, orphan.watches)
        orphan_processes._send(alone.lock, another, signal.SIGKILL)
    other = alone.lock.with_name("other")
    other.touch()
    orphan_processes._send(other, found[0], signal.SIGKILL)
    assert find_orphans(alone.lock) == found
