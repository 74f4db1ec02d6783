"""`audit export` and `audit attention`, over sessions and tasks outside of them."""

from __future__ import annotations

import getpass
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from cli_support import Shell

from hitl_tui.core.identity import Identity
from hitl_tui.core.requests import Verdict
from hitl_tui.ledger.entry_files import at_once
from hitl_tui.task_checkpoints.folders import store_of
from hitl_tui.task_checkpoints.service import TaskCheckpoints

QUESTION = "How many files are there?"


@pytest.fixture
def shell(tmp_path: Path) -> Shell:
    """A session in which one step was approved, and a task of which one step was rejected."""
    found = Shell(tmp_path)
    found.run("run", QUESTION, "--workspace", str(found.workspace), "--session", "s1")
    found.run("do", "s1", "/todo approve 1")
    step = ("--task-id", "deploy", "--step", "1", "--action", "rm -r build", "--agent", "bot", "--interrupt", "Delete?")
    checkpoint(found, *step)
    checkpoint(found, "--task-id", "deploy", "--reject", "--reason", "not today", "--as", "ann")
    return found


def checkpoint(shell: Shell, *arguments: str) -> None:
    command = [sys.executable, "-m", "hitl_tui.cli.masc_checkpoint", *arguments]
    script = "import sys; from hitl_tui.cli.masc_checkpoint import main; sys.exit(main())"
    command[1:3] = ["-c", script]
    done = subprocess.run(
        command, env={**os.environ, **shell.env}, cwd=shell.workspace, capture_output=True, check=False
    )
    assert done.returncode in (3, 4), done.stderr


def exported(shell: Shell, *arguments: str) -> list[dict[str, Any]]:
    done = shell.run("audit", "export", *arguments)
    assert done.code == 0, done.err
    return [json.loads(line) for line in done.out.splitlines()]


@pytest.mark.long
def test_every_source_is_exported_with_what_was_proposed_shown_and_decided(shell: Shell) -> None:
    lines = exported(shell)
    task = [line for line in lines if line["stream"] == "deploy"]
    assert [line["kind"] for line in task] == ["task_step", "request_opened", "request_shown", "decision"]
    assert {line["folder"] for line in task} == {str(shell.workspace)}
    session = {line["kind"] for line in lines if line["stream"] == "s1"}
    assert {"request_opened", "request_shown", "decision"} <= session
    assert exported(shell, "deploy") == task
    assert shell.run("audit", "export", "--json").json["entries"] == lines


def test_who_decided_what_and_why_is_one_plain_list(shell: Shell) -> None:
    done = shell.run("audit")
    assert done.code == 0, done.err
    approved, rejected, said = done.out.splitlines()
    assert "  s1  " in approved and "tester (claimed)" in approved and " approved 001 · Search" in approved
    assert "  deploy  ann " in rejected and rejected.endswith("rejected 1 · Delete? · “not today”")
    assert said == "2 decisions."
    (one,) = shell.run("audit", "decisions", "deploy", "--json").json["decisions"]
    assert (one["session"], one["by"], one["verdict"], one["reason"]) == (
        "deploy",
        rejected.split("  ")[2].rpartition(" (")[0],
        "reject",
        "not today",
    )
    by_tester, said = shell.run("audit", "decisions", "--by", "tester").out.splitlines()
    assert by_tester.split() == approved.split() and said == "1 decision."
    listed = shell.run("do", "s1", "/decisions").out
    assert "approved 001 · Search" in listed and "1 decision." in listed


def test_a_session_alone_lists_its_decisions(shell: Shell) -> None:
    assert shell.run("audit", "s1").out == shell.run("audit", "decisions", "s1").out
    assert shell.run("audit", "deploy", "--json").json == shell.run("audit", "decisions", "deploy", "--json").json
    allowed = "decisions, verify, head, export, attention, accept."
    nobody = shell.run("audit", "verfy")
    assert nobody.code == 2
    assert nobody.err.startswith(f'hitl-tui: "verfy" is neither a session or task on record nor one of {allowed}')
    assert f'"verfy" isn\'t allowed here; use one of {allowed}' in shell.run("audit", "verfy", "s1").err


@pytest.mark.long
def test_a_long_command_that_was_allowed_is_listed_whole(shell: Shell) -> None:
    command = "find logs -name '*.gz' " + " ".join(f"-not -name {n}.gz" for n in range(60)) + " -print -delete"
    step = ("--task-id", "clean", "--step", "1", "--action", command, "--agent", "bot", "--interrupt", command)
    checkpoint(shell, *step)
    checkpoint(shell, "--task-id", "clean", "--reject", "--reason", "not today", "--as", "ann")
    line = shell.run("audit", "clean").out.splitlines()[0]
    assert command in line and "…" not in line


def test_risk_and_person_narrow_it(shell: Shell) -> None:
    assert {line["stream"] for line in exported(shell, "--risk", "high")} == {"deploy"}
    assert [line["kind"] for line in exported(shell, "--by", "bot")] == ["request_shown"]
    (said,) = [line for line in exported(shell, "s1", "--by", "tester") if line["kind"] == "decision"]
    assert said["data"]["decision"]["verdict"] == "approve"
    assert exported(shell, "--by", "nobody") == []


def test_times_narrow_it(shell: Shell) -> None:
    lines = exported(shell)
    middle = sorted(line["at"] for line in lines)[len(lines) // 2]
    before, after = exported(shell, "--until", middle), exported(shell, "--since", middle)
    assert before
    assert after
    assert all(line["at"] < middle for line in before)
    assert len(before) + len(after) == len(lines)
    assert exported(shell, "--since", "1h") == lines
    assert exported(shell, "--until", "1h") == []


@pytest.mark.sampled(3)
@pytest.mark.long
@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("export", "--since", "soon"), '--since must be a day ("2026-03-01")'),
        (("export", "--since", "2026-03-02", "--until", "2026-03-01"), "--since must be before --until."),
        (("verify", "--risk", "high"), "--risk goes with audit decisions, export and attention"),
        (("export", "nothing"), 'The record has no session or task "nothing".'),
        (("attention", "nothing"), 'The record has no session or task "nothing".'),
        (("export", "--risk", "huge"), "--risk"),
    ],
)
def test_bad_input_gets_one_sentence(shell: Shell, arguments: tuple[str, ...], said: str) -> None:
    done = shell.run("audit", *arguments)
    assert done.code == 2
    assert said in done.err
    assert not done.out


def test_attention_counts_each_approver_of_all_sources(shell: Shell) -> None:
    def of(*arguments: str) -> list[dict[str, Any]]:
        found = shell.run("audit", "attention", *arguments, "--json").json["approvers"]
        assert isinstance(found, list)
        return found

    (one,) = of()  # two claimed names of one account are one approver
    assert (one["approver"], one["approvals"], one["refusals"]) == (getpass.getuser(), 1, 1)
    assert (one["approvals_in_a_row"], one["longest_row"]) == (0, 1)
    (refused,) = of("--by", "ann")
    assert (refused["approvals"], refused["refusals"]) == (0, 1)
    (approved,) = of("--risk", "low")
    assert (approved["approvals"], approved["refusals"]) == (1, 0)
    assert of("s1") == [approved]
    assert of("--until", "1h") == []
    assert len(shell.run("audit", "attention").out.splitlines()) == 5 + 1


def test_the_inbox_names_a_pattern_of_fatigue(shell: Shell) -> None:
    tasks = TaskCheckpoints(store_of(shell.workspace / ".masc", {}))
    for number in range(20):
        step = at_once(tasks.record("hurry", number, "rm -r build " * 40, "bot", "Delete?"))
        at_once(tasks.was_shown(step, "bot", "cli"))
        at_once(tasks.decide(step, Verdict.APPROVE, Identity("kim", "kim", "token"), "cli"))
    said = (
        "kim approved 20 in a row, and at least 10 of the last 20 faster than they can be read; a pause, "
        "somebody else, or a rule for what does no harm would help."
    )
    assert shell.run("inbox").err.splitlines() == [said]
    assert shell.run("inbox", "--json").json["warnings"] == [said]
