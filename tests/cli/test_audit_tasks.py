"""`audit verify` and `audit head`, over the records of tasks outside of sessions."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from cli_support import Shell

from hitl_tui.core.identity import Identity
from hitl_tui.core.requests import Verdict
from hitl_tui.ledger.entry_files import at_once
from hitl_tui.task_checkpoints.folders import entries_folder, register, store_of
from hitl_tui.task_checkpoints.service import TaskCheckpoints

ANN = Identity("ann", "ann", "token")


@pytest.fixture
def shell(tmp_path: Path) -> Shell:
    """Two folders with a task of the same name, and another one."""
    found = Shell(tmp_path)
    for folder, task in (("one", "deploy"), ("one", "clean up"), ("two", "deploy")):
        masc = tmp_path / folder / ".masc"
        tasks = TaskCheckpoints(store_of(masc, {}))
        step = at_once(tasks.record(task, 1, f"rm -r {folder}", "bot", "Delete?"))
        at_once(tasks.decide(step, Verdict.APPROVE, ANN, "cli"))
        register(Path(found.env["HITL_DATA_DIR"]), masc)
    return found


def document(shell: Shell, *arguments: str, code: int = 0) -> dict[str, Any]:
    done = shell.run("audit", *arguments, "--json")
    assert done.code == code, done.out + done.err
    found = json.loads(done.out)
    assert isinstance(found, dict)
    return found


def entry_of(shell: Shell, folder: str, n: int, task: str = "deploy") -> Path:
    return entries_folder(shell.workspace.parent / folder / ".masc") / task / f"{n:06}.json"


def test_tasks_are_verified_with_the_sessions(shell: Shell) -> None:
    done = shell.run("audit", "verify")
    assert done.code == 0
    assert done.out.splitlines()[-1].endswith("12 entries of 3 tasks: intact.")
    assert (document(shell, "verify")["entries"], document(shell, "verify", "deploy")["entries"]) == (12, 8)


@pytest.mark.parametrize("harm", ["changed", "gone", "cut", "moved"])
def test_what_was_done_to_an_entry_is_named_and_hides_nothing_else(shell: Shell, harm: str) -> None:
    entry = entry_of(shell, "one", 3)
    if harm == "gone":
        entry.unlink()
    elif harm == "cut":
        entry.write_bytes(entry.read_bytes()[:-20])
    elif harm == "moved":
        shutil.copy(entry_of(shell, "two", 3), entry)
    else:
        entry.write_text(entry.read_text().replace('"cli"', '"repl"').replace("masc", "mast"))
        entry.write_text(entry.read_text().replace('"ann"', '"bob"'))
    found = document(shell, "verify", code=1)
    (problem,) = found["problems"]
    assert problem["stream"] == str(shell.workspace.parent / "one" / ".masc" / "deploy")
    assert "deploy" in problem["what"]
    assert document(shell, "verify", "clean up")["entries"] == 4
    said = shell.run("audit", "verify")
    assert said.code == 1 and said.out.splitlines()[-1].endswith(": 1 problem.")
    anchors = shell.run("audit", "head")
    assert anchors.code == 1 and len(anchors.out.splitlines()) == 2
    assert "deploy" in anchors.err


def test_an_anchor_names_the_folder_and_finds_a_tail_that_was_cut(shell: Shell) -> None:
    anchors = [str(line) for line in shell.run("audit", "head").out.splitlines()]
    assert [line.rsplit(" ", 2)[0].rsplit("/", 3)[1:] for line in anchors] == [
        ["one", ".masc", "clean up"], ["one", ".masc", "deploy"], ["two", ".masc", "deploy"],
    ]  # fmt: skip
    given = [part for line in anchors for part in ("--anchor", line)]
    assert document(shell, "verify", *given)["ok"]
    entry_of(shell, "one", 4).unlink()  # the same name elsewhere doesn't stand in for it
    assert document(shell, "verify")["ok"]
    broken = document(shell, "verify", *given, code=1)
    assert [one["ok"] for one in broken["anchors"]] == [True, False, True]
    shutil.rmtree(shell.workspace.parent / "one")
    assert [one["ok"] for one in document(shell, "verify", *given, code=1)["anchors"]] == [False, False, True]


def test_a_name_that_nothing_has_is_refused(shell: Shell) -> None:
    for what in ("verify", "head"):
        done = shell.run("audit", what, "nothing")
        assert done.code == 2 and "nothing" in done.err
    assert len(document(shell, "head", "deploy")["anchors"]) == 2
