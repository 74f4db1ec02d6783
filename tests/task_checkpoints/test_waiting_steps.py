"""What waits in folders of task checkpoints: read anew whenever somebody wrote, and only then."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from hitl_tui.core.identity import Identity
from hitl_tui.core.policy import Policy, Rule, Ruling
from hitl_tui.core.requests import Terms, Verdict
from hitl_tui.ledger.entry_files import at_once
from hitl_tui.task_checkpoints.folders import NAME, entries_folder, register, store_of
from hitl_tui.task_checkpoints.service import TaskCheckpoints
from hitl_tui.task_checkpoints.task_inbox import TaskInbox

FILES = {"MASC_CHECKPOINT_BACKEND": "filesystem"}
PERSON = Identity("ann", "ann", "account", account="ann")


@pytest.fixture
def masc(tmp_path: Path) -> Path:
    """Return a folder that the data folder knows."""
    masc = tmp_path / "work" / NAME
    entries_folder(masc).mkdir(parents=True)
    register(tmp_path / "data", masc)
    return masc


def tasks(masc: Path) -> TaskCheckpoints:
    """Return what another process would use."""
    return TaskCheckpoints(store_of(masc, FILES))


def waiting(inbox: TaskInbox) -> list[str]:
    return [one.step.task_id for one in at_once(inbox.waiting())]


def settle(masc: Path) -> None:
    """Let the folder have been written a while ago, so that whoever writes next gives it another time."""
    then = time.time_ns() - 10**9
    os.utime(entries_folder(masc), ns=(then, then))


def test_what_others_write_is_there_at_the_next_look(masc: Path, tmp_path: Path) -> None:
    inbox, expected = TaskInbox(tmp_path / "data", FILES), []
    for number in range(20):
        at_once(tasks(masc).record(f"t{number:02d}", 1, "x", "agent", "Go on?"))
        expected.append(f"t{number:02d}")
        assert waiting(inbox) == expected, "however soon after the look before"
        if number % 5 == 0:
            settle(masc)
            assert waiting(inbox) == expected
    step = at_once(tasks(masc).the_waiting("t03", None))
    at_once(tasks(masc).decide(step, Verdict.APPROVE, PERSON, "cli"))
    assert waiting(inbox) == [name for name in expected if name != "t03"]


def test_a_folder_nobody_wrote_into_is_not_read_again(masc: Path, tmp_path: Path) -> None:
    at_once(tasks(masc).record("t", 1, "x", "agent", "Go on?"))
    inbox = TaskInbox(tmp_path / "data", FILES)
    settle(masc)
    assert waiting(inbox) == ["t"]
    (entries_folder(masc) / "t" / "000099.json").write_text("{", encoding="utf-8")  # the folder above is as it was
    assert waiting(inbox) == ["t"]


def test_what_expires_leaves_the_list_without_anybody_writing(masc: Path, tmp_path: Path) -> None:
    clock = ["2026-01-01T00:00:00.000000+00:00"]
    rule = Rule(Ruling.ASK, agent="*", terms=Terms(deadline=60.0))
    at_once(
        TaskCheckpoints(store_of(masc, FILES), Policy((rule,)), lambda: clock[0]).record("t", 1, "x", "agent", "Go?")
    )
    inbox = TaskInbox(tmp_path / "data", FILES, lambda: clock[0])
    assert waiting(inbox) == waiting(inbox) == ["t"]
    clock[0] = "2026-01-01T00:01:01.000000+00:00"
    assert waiting(inbox) == []


@pytest.mark.parametrize("make", [os.mkfifo, lambda path: path.symlink_to("/dev/zero"), lambda path: path.mkdir()])
def test_what_is_no_file_is_not_waited_for(masc: Path, make: Callable[[Path], None], tmp_path: Path) -> None:
    at_once(tasks(masc).record("t", 1, "x", "agent", "Go on?"))
    (entries_folder(masc) / "other").mkdir()
    make(entries_folder(masc) / "other" / "000001.json")
    inbox = TaskInbox(tmp_path / "data", FILES)
    at_once(inbox.waiting())
    assert len(inbox.problems) == 1 and "000001.json" in inbox.problems[0]


def test_a_broken_task_does_not_keep_others_from_asking(masc: Path) -> None:
    at_once(tasks(masc).record("broken", 1, "x", "agent", "Go on?"))
    for file in (entries_folder(masc) / "broken").iterdir():
        file.write_text("{", encoding="utf-8")
    at_once(tasks(masc).record("whole", 1, "x", "agent", "Go on?"))
    other = tasks(masc)
    step = at_once(other.the_waiting("whole", None))
    assert at_once(other.decide(step, Verdict.APPROVE, PERSON, "cli")).status == "completed"
