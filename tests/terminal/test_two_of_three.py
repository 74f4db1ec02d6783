"""Two of three people decide about a deletion and a payment (S4, S5), killed in the middle of each.

Once it is a step of a session, once a script beside it; one of them is at the console, the other at the command line.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pexpect  # type: ignore[import-untyped]
import pytest
from people import write_approvers
from terminal_support import Terminal, shown
from trusting import trust_workspace

pytestmark = [pytest.mark.long, pytest.mark.timeout(400)]

BIN = Path(sys.executable).parent
SETTINGS = """
[teams.command_team.commands.{name}]
description = "{says}"
run = ["sh", "deed.sh"]
risk = "high"

[[policy]]
team = "command_team"
decision = "ask"
quorum = 2

[[policy]]
agent = "*"
decision = "ask"
quorum = 2
"""
DEED = "echo begun >> world\nwhile [ ! -e go ]; do sleep 0.1; done\necho done >> world\n"
CASES = [("purge", "Delete 10,000 duplicate records"), ("pay", "Pay 1,250,000 won to Hanbit")]


class Place:
    """A workspace in which one command acts on the world, and people who decide about it."""

    def __init__(self, root: Path, name: str, says: str) -> None:
        self.data, self.folder = root / "data", root / "work"
        self.folder.mkdir()
        (self.folder / "hitl.toml").write_text(SETTINGS.format(name=name, says=says), encoding="utf-8")
        (self.folder / "deed.sh").write_text(DEED, encoding="utf-8")
        write_approvers(self.data, "ann", "bob", "kim")
        trust_workspace(self.data, self.folder)
        known = {key: text for key, text in os.environ.items() if not key.startswith(("HITL_", "MASC_", "NEO"))}
        self.environ = {**known, "HITL_DATA_DIR": str(self.data), "HITL_LANG": "en"}

    @property
    def world(self) -> list[str]:
        """What happened."""
        file = self.folder / "world"
        return file.read_text(encoding="utf-8").split() if file.exists() else []

    def say(self, name: str, program: str, *arguments: str) -> str:
        """Decide at a shell, as an approver who types their token."""
        command = [*arguments, "--approver", name]
        at = pexpect.spawn(
            str(BIN / program), command, cwd=str(self.folder), env=self.environ, encoding="utf-8", timeout=60
        )
        at.expect("Token of")
        at.sendline(f"token of {name}")
        said = at.read()
        at.wait()
        return str(said)

    def say_in(self, at: Terminal, name: str, command: str, answer: str) -> None:
        """Decide at the console, as an approver who types their token."""
        at.send(f"/as {name} {command}")
        at.see(f"Token of {name}", "decides")
        at.keys(f"token of {name}")
        time.sleep(1)  # the dialog takes nothing that comes too soon after the last key
        at.keys("\r")
        at.see(answer, without=f"Token of {name}")


def until(true: Callable[[], object]) -> None:
    end = time.monotonic() + 90
    while not true():
        assert time.monotonic() < end, "it never came"
        time.sleep(0.1)


@pytest.mark.sampled(1)
@pytest.mark.parametrize(("name", "says"), CASES)
def test_a_session_killed_in_the_middle_does_it_once(tmp_path: Path, name: str, says: str) -> None:
    place = Place(tmp_path, name, says)
    with Terminal(place.data, (120, 40), "--workspace", str(place.folder), says) as at:
        at.see("Approve 001?")
        place.say_in(at, "ann", "/todo approve 1", "1 more needed")
        at.kill()
    assert place.world == []
    (question,) = shown(place.data, "s1")["questions"]
    assert [one["person"] for one in question["decisions"]] == ["ann"]
    assert "already said approve" in place.say("ann", "hitl-tui", "do", "s1", f"/todo approve {question['id']}")
    with Terminal(place.data, (120, 40), "--workspace", str(place.folder)) as at:
        at.see("Approve 001?")
        place.say("bob", "hitl-tui", "do", "s1", f"/todo approve {question['id']}")
        until(lambda: place.world == ["begun"])
        at.kill()
    (place.folder / "go").touch()
    until(lambda: "done" in place.world)  # a command may outlive the console that is killed; it is done by itself then
    with Terminal(place.data, (120, 40), "--workspace", str(place.folder)) as at:
        at.see("001")
        until(lambda: shown(place.data, "s1")["questions"])
        (doubt,) = shown(place.data, "s1")["questions"]
        assert doubt["kind"] == "effect", "nobody knows what became of it, so people are asked"
        at.kill()
    for person in ("kim", "bob"):
        place.say(person, "hitl-tui", "do", "s1", doubt["commands"]["use_as_done"])
    after = shown(place.data, "s1")
    assert [todo["status"] for todo in after["todos"]] == ["completed"]
    assert place.world == ["begun", "done"]


@pytest.mark.parametrize(("name", "says"), CASES)
def test_a_script_is_let_go_on_from_the_console_and_the_shell(tmp_path: Path, name: str, says: str) -> None:
    place = Place(tmp_path, name, says)
    (place.folder / "go").touch()
    step = f"masc-checkpoint --task-id {name} --step 2 --agent runner --action '{says}' --interrupt '{says}?'"
    script = f"{step} --again --wait && {{ [ -e began ] && exit 7; : > began; sync; sh deed.sh; }}"
    environ = {**place.environ, "PATH": f"{BIN}:{os.environ['PATH']}"}

    def start() -> subprocess.Popen[bytes]:
        return subprocess.Popen(["sh", "-c", script], cwd=place.folder, env=environ, start_new_session=True)

    def waits() -> bool:
        status = ["--task-id", name, "--status", "--json"]
        ran = subprocess.run(
            [BIN / "masc-checkpoint", *status], cwd=place.folder, env=environ, capture_output=True, check=False
        )
        return bool(ran.stdout) and json.loads(ran.stdout)["status"] == "waiting"

    first = start()
    until(waits)
    os.killpg(first.pid, 9)
    first.wait()
    with Terminal(place.data, (120, 40), "--workspace", str(place.folder), says) as at:
        at.see("Approve 001?")
        place.say_in(at, "ann", f"/approve {name}", "1 more needed")
        at.kill()
    second = start()
    place.say("bob", "masc-checkpoint", "--task-id", name, "--approve")
    assert second.wait(60) == 0
    assert place.world == ["begun", "done"]
    assert start().wait(60) == 7, "an approval lets it go on once, and a second run looks first"
    assert place.world == ["begun", "done"]
