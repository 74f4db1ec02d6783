"""A deletion and a payment by scripts that stop before it, are killed at any point, and go on where they were (S4, S5).

Two of three approvers decide, each with their own token. What happens to the world is counted by the world itself.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pexpect  # type: ignore[import-untyped]
import pytest
from people import write_approvers

pytestmark = pytest.mark.long

BIN = Path(sys.executable).parent
RULE = '[[policy]]\nagent = "*"\ndecision = "ask"\nquorum = 2\n'
SCRIPT = """
# Each step is recorded once; a run that comes after another one asks what became of the step instead.
step() { n=$1; shift; masc-checkpoint --task-id "$TASK" --step "$n" --agent "$AGENT" --again "$@"; }
set -e
step 1 --action "find what it would be"
step 2 --action "$DEED" --interrupt "$ASKED" --wait
[ -e began ] && { echo "it began before: a person has to look"; exit 7; }
: > began; sync
echo "$DEED" >> world
step 3 --action "report"
echo reported
"""


class Place:
    """A folder with a script, its world, and people beside it."""

    def __init__(self, root: Path, task: str, deed: str, asked: str) -> None:
        self.folder, self.task = root / "work", task
        self.folder.mkdir()
        (self.folder / "hitl.toml").write_text(RULE, encoding="utf-8")
        (self.folder / "script.sh").write_text(SCRIPT, encoding="utf-8")
        write_approvers(root / "data", "ann", "bob", "kim")
        self.environ = {
            name: text for name, text in os.environ.items() if not name.startswith(("HITL_", "MASC_", "NEO"))
        }
        self.environ |= {"PATH": f"{BIN}:{os.environ['PATH']}", "HITL_DATA_DIR": str(root / "data")}
        self.environ |= {"TASK": task, "AGENT": "runner", "DEED": deed, "ASKED": asked, "HITL_LANG": "en"}

    def start(self) -> subprocess.Popen[str]:
        """Run the script in a process group of its own."""
        command = ["sh", "script.sh"]
        out = subprocess.PIPE
        return subprocess.Popen(
            command, cwd=self.folder, env=self.environ, stdout=out, stderr=out, text=True, start_new_session=True
        )

    def status(self) -> dict[str, object]:
        command = [str(BIN / "masc-checkpoint"), "--task-id", self.task, "--status", "--json"]
        ran = subprocess.run(command, cwd=self.folder, env=self.environ, capture_output=True, text=True, check=False)
        return dict(json.loads(ran.stdout)) if ran.stdout else {}

    def waits(self) -> bool:
        return self.status().get("status") == "waiting"

    def say(self, name: str, *what: str) -> str:
        """Decide as an approver, who gives their token at a terminal."""
        command = ["--task-id", self.task, *what, "--approver", name]
        at = pexpect.spawn(
            str(BIN / "masc-checkpoint"), command, cwd=self.folder, env=self.environ, encoding="utf-8", timeout=30
        )
        at.expect("Token of")
        at.sendline(f"token of {name}")
        said = at.read()
        at.wait()
        return str(said)

    @property
    def done(self) -> list[str]:
        world = self.folder / "world"
        return world.read_text(encoding="utf-8").splitlines() if world.exists() else []


def kill(process: subprocess.Popen[str]) -> None:
    """Kill a script and whatever it started, as a crash would."""
    os.killpg(process.pid, signal.SIGKILL)
    process.communicate()


def until(true: Callable[[], object], seconds: float = 30) -> None:
    end = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < end, "it never came"
        time.sleep(0.05)


@pytest.fixture
def deletion(tmp_path: Path) -> Place:
    return Place(tmp_path, "purge", "delete 10,000 records", "10,000 records will be deleted")


@pytest.fixture
def payment(tmp_path: Path) -> Place:
    return Place(tmp_path, "pay", "pay 1,250,000 won", "1,250,000 won to Hanbit Ltd")


def test_a_script_killed_while_it_waits_goes_on_after_two_of_three_said_yes(deletion: Place) -> None:
    first = deletion.start()
    until(deletion.waits)
    kill(first)
    assert "1 more" in deletion.say("ann", "--approve")
    second = deletion.start()
    time.sleep(0.5)
    assert second.poll() is None and not deletion.done, "one of two is no approval"
    kill(second)
    deletion.say("bob", "--approve")
    third = deletion.start()
    out, err = third.communicate(timeout=60)
    assert third.returncode == 0, err
    assert "reported" in out
    assert deletion.done == ["delete 10,000 records"]
    assert len(deletion.status()["checkpoints"]) == 3  # type: ignore[arg-type]


def test_it_is_done_at_most_once_wherever_the_script_is_killed(payment: Place) -> None:
    first = payment.start()
    until(payment.waits)
    payment.say("ann", "--approve")
    payment.say("kim", "--approve")
    until(lambda: payment.done)
    kill(first)  # between the payment and its record, or anywhere after
    again = payment.start()
    again.communicate(timeout=60)
    assert again.returncode in (0, 7)
    assert payment.done == ["pay 1,250,000 won"]


def test_one_rejection_ends_the_workflow_for_good(payment: Place) -> None:
    script = payment.start()
    until(payment.waits)
    payment.say("ann", "--approve")
    assert "Rejected" in payment.say("bob", "--reject", "--reason", "wrong account")
    _, err = script.communicate(timeout=60)
    assert script.returncode == 4, err
    again = payment.start()
    again.communicate(timeout=60)
    assert again.returncode == 4
    assert payment.done == []


def test_what_was_approved_under_the_same_number_stands_for_nothing_else(payment: Place) -> None:
    command = [str(BIN / "masc-checkpoint"), "--task-id", "pay"]
    planted = ("--step", "2", "--agent", "runner", "--action", "look at the invoice", "--interrupt", "May I look?")
    subprocess.run([*command, *planted], cwd=payment.folder, env=payment.environ, check=False)
    payment.say("ann", "--approve")
    payment.say("bob", "--approve")
    script = payment.start()
    _, err = script.communicate(timeout=60)
    assert script.returncode == 2
    assert "would go back" in err or "another action" in err
    assert payment.done == []


def test_who_asks_and_who_has_no_token_decide_nothing(payment: Place) -> None:
    script = payment.start()
    until(payment.waits)
    command = [str(BIN / "masc-checkpoint"), "--task-id", "pay", "--approve", "--as", "runner"]
    asked = subprocess.run(
        command, cwd=payment.folder, env=payment.environ, capture_output=True, text=True, check=False
    )
    assert asked.returncode == 2
    at = pexpect.spawn(
        str(BIN / "masc-checkpoint"),
        ["--task-id", "pay", "--approve", "--approver", "bob"],
        cwd=payment.folder, env=payment.environ, encoding="utf-8", timeout=30,
    )  # fmt: skip
    at.expect("Token of")
    at.sendline("token of ann")
    at.read()
    at.wait()
    assert at.exitstatus == 2
    assert payment.waits() and script.poll() is None and payment.done == []
    kill(script)
