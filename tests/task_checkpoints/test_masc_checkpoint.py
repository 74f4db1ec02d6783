"""`masc-checkpoint`, as scripts and people call it (M1, M2)."""

from __future__ import annotations

import getpass
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from people import write_approvers

from hitl_tui.cli.masc_checkpoint import main
from hitl_tui.ledger.entry_files import at_once
from hitl_tui.task_checkpoints.task_inbox import TaskInbox

Run = Callable[..., tuple[int, str, str]]
STEP = ("--action", "DELETE FROM customers", "--agent", "cleaner")


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    """Return what runs the command in a folder of its own: exit code, output, errors."""
    (tmp_path / "work").mkdir()
    monkeypatch.chdir(tmp_path / "work")
    monkeypatch.setenv("HITL_DATA_DIR", str(tmp_path / "data"))
    for name in ("HITL_USER", "NEO4J_URI", "MASC_CHECKPOINT_BACKEND"):
        monkeypatch.delenv(name, raising=False)

    def call(*arguments: str, task: str = "clean") -> tuple[int, str, str]:
        code = main(["--task-id", task, *arguments])
        out, err = capsys.readouterr()
        assert "Traceback" not in err
        return code, out, err

    return call


def document(out: str) -> dict[str, Any]:
    (line,) = out.splitlines()
    found = json.loads(line)
    assert isinstance(found, dict)
    return found


def test_a_step_that_asks_nothing_is_recorded(run: Run) -> None:
    code, out, _ = run("--step", "1", *STEP, "--json")
    assert code == 0
    assert document(out)["status"] == "recorded"
    assert document(out)["checkpoint"]["status"] == "completed"


def test_an_interrupt_waits_and_an_approval_carries_its_value(run: Run) -> None:
    code, out, _ = run("--step", "2", *STEP, "--interrupt", "10,000 records will be deleted")
    assert code == 3
    assert out.startswith("⏸️ Interrupt: 10,000 records will be deleted (task: clean, step: 2)\n")
    assert run("--status")[0] == 3
    code, out, _ = run("--approve", "--value", '{"limit": 500}')
    assert code == 0
    assert "DELETE FROM customers" in out  # what is approved is shown with it
    code, out, _ = run("--wait", "--json")
    assert code == 0
    assert document(out)["checkpoint"]["resume_value"] == {"limit": 500}


def test_who_waits_is_told_first_how_it_is_approved(run: Run) -> None:
    code, out, _ = run("--step", "2", *STEP, "--interrupt", "Delete?", "--wait", "0.1")
    assert (code, out.splitlines()[1:]) == (
        3,
        [
            "To approve it: masc-checkpoint --task-id clean --step 2 --approve",
            "Waiting for 1 more to decide about clean.2",
        ],
    )


def test_what_nobody_here_can_approve_is_named(run: Run, tmp_path: Path) -> None:
    Path("hitl.toml").write_text('[[policy]]\nagent = "cleaner"\ndecision = "ask"\nquorum = 2\n')
    why = "Nobody can approve this: it takes 2 approvers; known here: 1."
    assert why in run("--step", "1", *STEP, "--interrupt", "Delete?")[1]
    assert why in run("--approve")[1]
    write_approvers(tmp_path / "data", "ann")
    assert "Nobody" not in run("--step", "2", *STEP, "--interrupt", "Delete?")[1]


def test_a_rejection_ends_the_task(run: Run) -> None:
    run("--step", "1", *STEP, "--interrupt", "Delete?")
    assert run("--reject", "--reason", "no backup")[0] == 4
    code, out, _ = run("--status", "--json")
    assert code == 4
    found = document(out)["checkpoints"][0]
    assert (found["status"], found["reason"]) == ("rejected", "no backup")
    code, _, err = run("--step", "2", *STEP)
    assert (code, err) == (4, "masc-checkpoint: clean ended: its step 1 was rejected.\n")


def test_what_else_waits_ends_with_its_task(run: Run) -> None:
    (Path.cwd() / "hitl.toml").write_text('[[policy]]\nagent = "late"\ndecision = "ask"\ndeadline = "1s"\n')
    for task, agent in (("clean", "cleaner"), ("due", "late")):
        run("--step", "1", "--action", "x", "--agent", agent, "--interrupt", "First?", task=task)
        run("--step", "2", *STEP, "--interrupt", "Second?", task=task)
    run("--step", "1", "--reject", "--reason", "no backup")
    soon = time.monotonic() + 60
    while waits():
        assert time.monotonic() < soon, "the deadline ends what waits"
    for task, who in (("clean", getpass.getuser()), ("due", "deadline")):
        code, out, _ = run("--step", "2", "--wait", task=task)
        assert (code, out) == (4, f"Rejected {task}.2: {task} ended with another step\n")
        code, _, err = run("--step", "2", "--approve", task=task)
        assert code == 2 and f"{task}.2 was stopped by {who} at" in err
        assert run("--step", "2", "--status", task=task)[0] == 4
        assert document(run("--status", "--json", task=task)[1])["checkpoints"][1]["reason"] == "stopped"


def waits() -> list[str]:
    """Return the requests that another process finds waiting."""
    data = Path(os.environ["HITL_DATA_DIR"])
    return [one.request_id for one in at_once(TaskInbox(data, {}).waiting(Path.cwd()))]


def test_in_a_script_what_follows_runs_only_after_an_approval(run: Run, tmp_path: Path) -> None:
    command = [str(Path(sys.executable).with_name("masc-checkpoint")), "--task-id", "clean"]
    script = subprocess.Popen(
        [
            "sh",
            "-c",
            '"$@" --step 1 --action rm --agent cleaner --interrupt "Remove all?" --wait && touch removed',
            "sh",
            *command,
        ],
        env=dict(os.environ),
        stdout=subprocess.PIPE,
        text=True,
    )
    assert script.stdout is not None
    assert "Remove all?" in script.stdout.readline()
    assert run("--status")[0] == 3
    assert script.poll() is None and not Path("removed").exists()
    assert run("--approve")[0] == 0
    assert script.wait(30) == 0
    assert Path("removed").exists()


def test_a_deadline_expires_whoever_reads_it(run: Run) -> None:
    Path("hitl.toml").write_text('[[policy]]\nagent = "clean*"\ndecision = "ask"\ndeadline = "1s"\n')
    code, _, _ = run("--step", "1", *STEP, "--interrupt", "Delete?", "--wait", "10")
    assert code == 5
    assert run("--status")[0] == 5
    code, _, err = run("--approve")
    assert code == 2
    assert "expired" in err


def test_rules_of_the_workspace_count_for_the_steps_that_they_match(run: Run) -> None:
    Path("hitl.toml").write_text(
        '[[policy]]\naction = "drop *"\ndecision = "deny"\n'
        '[[policy]]\nagent = "cleaner"\ndecision = "ask"\nquorum = 2\n'
    )
    drop = ("--step", "1", "--action", "Drop table", "--agent", "cleaner", "--interrupt", "Drop?")
    code, out, _ = run(*drop, task="drop")
    assert code == 4
    assert "rule 1" in out
    assert run("--step", "1", *STEP, "--interrupt", "Delete?")[0] == 3
    code, out, _ = run("--approve", "--json")
    assert code == 3  # one of two
    assert document(out)["checkpoint"]["votes"] == 1
    assert run("--approve")[0] == 2  # the same person again
    run("--step", "1", "--action", "x", "--agent", "other", "--interrupt", "?", task="other")
    assert run("--approve", task="other")[0] == 0


def test_a_step_is_gone_on_with_where_exactly_this_was_recorded(run: Run) -> None:
    asks = ("--step", "1", *STEP, "--interrupt", "Delete?")
    assert run(*asks, "--again")[0] == 3
    assert run(*asks, "--again", "--wait", "0")[0] == 3
    for other in (
        ("--step", "1", "--action", "DELETE FROM orders", "--agent", "cleaner", "--interrupt", "Delete?"),
        ("--step", "1", "--action", "DELETE FROM customers", "--agent", "clean", "--interrupt", "Delete?"),
        ("--step", "1", *STEP, "--interrupt", "Delete all?"),
        ("--step", "1", *STEP),
    ):
        code, _, err = run(*other, "--again")
        assert code == 2
        assert "Step 1 of clean was recorded with another action, agent or message, as cp-clean-1-" in err
    assert run(*asks)[0] == 2
    run("--approve", "--value", "7")
    code, out, _ = run(*asks, "--again", "--json")
    assert (code, document(out)["checkpoint"]["resume_value"]) == (0, 7)
    assert run("--step", "2", *STEP, "--again")[0] == run("--step", "2", *STEP, "--again")[0] == 0
    assert run("--again", "--status")[0] == 2


def test_numbers_that_are_too_large_are_named_without_python(run: Run) -> None:
    run("--step", "1", *STEP, "--interrupt", "Delete?")
    code, _, err = run("--approve", "--value", "1" * 5_000)
    assert (code, err) == (2, "masc-checkpoint: --value isn't valid JSON: a number has more than 4300 digits.\n")
    for number in ("9" * 30, "1000000001"):
        code, _, err = run("--step", number, *STEP)
        assert code == 2 and "from 0 to 1000000000" in err


def test_the_second_of_two_approves_the_same_value_which_is_shown(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    Path("hitl.toml").write_text('[[policy]]\nagent = "*"\ndecision = "ask"\nquorum = 2\n')
    write_approvers(Path(os.environ["HITL_DATA_DIR"]), "ann", "bob")
    run("--step", "1", *STEP, "--interrupt", "Delete?")
    assert run("--approve", "--value", '{"limit": 500}')[0] == 3
    assert 'value: {"limit": 500}' in run("--status")[1]
    tokens = iter(["token of ann"] * 3)
    monkeypatch.setattr("hitl_tui.terminal.token_prompt.ask_token", lambda _words: next(tokens))
    for value in ((), ("--value", '{"limit": 5000}')):
        code, _, err = run("--approve", *value, "--approver", "ann")
        assert code == 2
        assert 'approved this with the value {"limit":500}' in err
    assert run("--approve", "--value", '{"limit": 500}', "--approver", "ann")[0] == 0


def test_what_a_rule_denies_is_on_record_and_ends_the_task(run: Run) -> None:
    deny = '[[policy]]\nname = "no deletions"\nagent = "clean*"\naction = "delete *"\ndecision = "deny"\n'
    Path("hitl.toml").write_text(deny)
    run("--step", "1", "--action", "count", "--agent", "cleaner")
    code, out, _ = run("--step", "2", *STEP, "--interrupt", "10,000 records will be deleted", "--wait")
    assert code == 4
    assert out == 'Policy rule 1 "no deletions" denies DELETE FROM customers of cleaner.\n'
    for arguments in (("--status",), ("--wait",), ("--step", "2", "--status")):
        code, out, _ = run(*arguments, "--json")
        assert code == 4
        found = document(out)
        step = found["checkpoint"] if "checkpoint" in found else found["checkpoints"][-1]
        assert (found["status"], step["status"]) == ("rejected", "rejected")
        assert step["ruled"] == {"ruling": "deny", "rule": 1, "name": "no deletions"}
        assert step["interrupt_message"] == "10,000 records will be deleted"
        assert "denies DELETE" in step["reason"] and step["rejected_at"]
    assert 'Policy rule 1 "no deletions" denies' in run("--status")[1]
    code, _, err = run("--approve")
    assert (code, err) == (2, "masc-checkpoint: No step of clean waits for a decision.\n")
    Path("hitl.toml").unlink()
    code, _, err = run("--step", "3", *STEP)
    assert (code, err) == (4, "masc-checkpoint: clean ended: its step 2 was rejected.\n")


def test_the_requester_is_no_approver_under_any_name(run: Run) -> None:
    run("--step", "1", *STEP, "--interrupt", "Delete?")
    run("--step", "1", "--action", "x", "--agent", "pay", "--interrupt", "Pay?", task="pay")
    for name in ("cleaner", "Cleaner", "CLEANER", "c1eaner", "\u0440\u0430\u0443"):  # the last looks like pay
        task = "clean" if name.isascii() else "pay"
        code, _, err = run("--approve", "--as", name, task=task)
        assert code == 2
        assert "can't decide it" in err
        assert run("--status", task=task)[0] == 3


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--step", "1", "--action", "x"], "--agent"),
        (["--approve"], 'No task "clean"'),
        (["--step", "-1", *STEP], "whole number"),
        (["--step", "9" * 30, *STEP], "whole number"),
        (["--step", "1", "--action", " ", "--agent", "a"], "must not be empty"),
        (["--step", "1", "--action", "x" * 30_000, "--agent", "a"], "the limit"),
        (["--step", "1", *STEP, "--approve"], "can't be given together"),
        (["--approve", "--reject", "--reason", "x"], "can't be given together"),
        (["--reject"], "--reason"),
        (["--value", "1"], "--value goes with --approve"),
        (["--wait", "soon"], "number of seconds"),
        (["--nonsense"], "--nonsense"),
    ],
)
def test_bad_input_is_one_sentence_and_changes_nothing(run: Run, arguments: list[str], words: str) -> None:
    code, out, err = run(*arguments)
    assert code == 2
    assert out == ""
    assert words in err.splitlines()[0]
    assert not Path(".masc").exists()


def test_an_error_as_json_has_its_kind_as_those_of_the_other_commands(run: Run) -> None:
    code, out, err = run("--step", "1", "--action", "x", "--json")
    found = document(out)
    assert (code, err) == (2, "")
    assert (found["status"], found["kind"], found["error"]) == ("error", "bad_input", "bad_input")
    assert "--agent" in found["message"]
    run("--step", "1", *STEP, "--interrupt", "Delete?")
    run("--reject", "--reason", "no")
    found = document(run("--step", "2", *STEP, "--json")[1])
    assert (found["kind"], found["error"], found["reason"]) == ("refused", "refused", "rejected")


@pytest.mark.parametrize("task", ["../up", "a/b", "", ".", "..", "\x00", "x" * 4_096, "a\u202eb"])
def test_a_task_id_leads_nowhere(run: Run, task: str) -> None:
    code, _, err = run("--step", "1", *STEP, task=task)
    assert code == 2
    assert "can't be a task id" in err
    assert [path.name for path in Path.cwd().parent.iterdir()] == ["work"]


def test_steps_go_forward_and_ask_once(run: Run) -> None:
    run("--step", "3", *STEP)
    run("--step", "5", *STEP, "--interrupt", "Delete?")
    assert "would go back" in run("--step", "4", *STEP)[2]
    assert "waits for a decision already" in run("--step", "5", *STEP, "--interrupt", "Again?")[2]
    assert "No step of other waits" in (run("--step", "1", *STEP, task="other"), run("--approve", task="other"))[1][2]
    run("--approve")
    assert "recorded already" in run("--step", "5", *STEP)[2]
    assert "Answered already" in run("--reject", "--reason", "late")[2]


def test_neo4j_is_never_replaced_silently(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NEO4J_URI", "bolt://127.0.0.1:1")
    assert run("--step", "1", *STEP)[0] == 1
    assert not Path(".masc").exists()
    monkeypatch.setenv("MASC_CHECKPOINT_BACKEND", "filesystem")
    assert run("--step", "1", *STEP)[0] == 0
    monkeypatch.setenv("MASC_CHECKPOINT_BACKEND", "sqlite")
    assert run("--step", "2", *STEP)[0] == 2


def test_hostile_words_are_shown_harmlessly(run: Run) -> None:
    _, out, _ = run("--step", "1", "--action", "x", "--agent", "a", "--interrupt", "\x1b[2J\u202eevil\nsecond")
    assert "\x1b" not in out and "\u202e" not in out
    assert len(out.splitlines()) == 2


def test_the_nearest_folder_upwards_is_taken(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    run("--step", "1", *STEP, "--interrupt", "Delete?")
    Path("deep/er").mkdir(parents=True)
    monkeypatch.chdir("deep/er")
    assert run("--approve")[0] == 0


def test_it_speaks_korean(run: Run) -> None:
    _, out, _ = run("--step", "1", *STEP, "--lang", "ko")
    assert any("가" <= letter <= "힣" for letter in out)
