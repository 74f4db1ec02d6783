"""What a command on a session loads that another process has open: neither the engine nor a screen."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from cli_support import DEADLINE, Shell

from hitl_tui.supervisor.storage import DataFolder

GRAPHS = Path(__file__).resolve().parents[1] / "supervisor" / "attached_graphs.py"
HEAVY = {"langgraph", "langchain_core", "langchain", "langsmith", "textual", "prompt_toolkit", "rich", "httpx"}

pytestmark = [pytest.mark.long, pytest.mark.slow]


@pytest.fixture
def shell(tmp_path: Path) -> Shell:
    return Shell(tmp_path)


@contextmanager
def owned(shell: Shell, session: str) -> Iterator[subprocess.Popen[str]]:
    """Have a process of its own that owns a session while the context lasts."""
    process = shell.start("--line", "--session", session)
    folder = DataFolder(shell.data).session(session)
    try:
        end = time.monotonic() + DEADLINE
        while not folder.is_owned():
            assert process.poll() is None and time.monotonic() < end
            time.sleep(0.05)
        yield process
    finally:
        process.communicate("/exit\n", timeout=DEADLINE)


def give(shell: Shell, *arguments: str) -> tuple[int, set[str], str]:
    """Give a command in a process of its own; return its exit code, the packages it loaded, and what it printed."""
    code = (
        "import json, sys\n"
        "from hitl_tui.cli import main\n"
        "code = main(sys.argv[1:])\n"
        "print(json.dumps([code, sorted({name.partition('.')[0] for name in sys.modules})]), file=sys.stderr)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, *arguments],
        cwd=shell.workspace,
        env=shell.env,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=DEADLINE,
        check=True,
    )
    found: tuple[int, list[str]] = json.loads(done.stderr.splitlines()[-1])
    return found[0], set(found[1]), done.stdout


def document(shell: Shell, *arguments: str) -> dict[str, Any]:
    """Return the one document of a command, which loaded nothing heavy."""
    code, loaded, out = give(shell, *arguments, "--json")
    assert not loaded & HEAVY, arguments
    found: dict[str, Any] = json.loads(out)
    assert code == 0 and found["status"] not in ("error", "asked"), found
    return found


def test_looking_and_deciding_take_no_engine(shell: Shell) -> None:
    assert shell.run("run", "--session", "s1", "Search the documents for the deposit").code == 3
    (question,) = shell.run("show", "s1", "--json").json["questions"]
    with owned(shell, "s1"):
        for arguments in (["show", "s1"], ["sessions"], ["do", "s1", "/todos"], ["do", "s1", "/todo show 1"]):
            code, loaded, out = give(shell, *arguments)
            assert (code, loaded & HEAVY) == (0, set()) and out, arguments
        assert [one["id"] for one in document(shell, "do", "s1", "/todos")["questions"]] == [question["id"]]
        assert document(shell, "do", "s1", "/todo priority 1 high")["status"] == "recorded"
        approved = document(shell, "do", "s1", f"/todo approve {question['id']}")
        assert (approved["status"], approved["verdict"]) == ("recorded", "approve")
    assert shell.process("do", "s1", "/todos", "--json").json["todos"][0]["status"] == "completed"


def test_what_a_graph_asks_is_shown_without_the_engine(shell: Shell, tmp_path: Path) -> None:
    """To answer it takes the graph: whether it is still what asked is looked up before the answer counts."""
    shell.env["WORLD"] = str(tmp_path / "world")
    asked = shell.process("attach", f"{GRAPHS}:loud", "--input", '{"to": "ann"}', "--json").json
    with owned(shell, "s1"):
        for arguments in (["show", "s1"], ["do", "s1", "/todos"]):
            (question,) = document(shell, *arguments)["questions"]
            assert (question["id"], question["subject"]["value"]) == (asked["questions"][0]["id"], {"question": "Go?"})
        __, ___, out = give(shell, "do", "s1", f"/answer {question['id']} yes", "--json")
        assert json.loads(out)["status"] == "recorded"


def test_a_session_whose_owner_has_ended_meanwhile_is_opened_here(
    shell: Shell, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The owner ends after it was found: what is approved is carried out, and not left for somebody else."""
    assert shell.run("run", "--session", "s1", "Search the documents for the deposit").code == 3
    (question,) = shell.run("show", "s1", "--json").json["questions"]
    looked = 0

    def is_owned(folder: Any) -> bool:
        nonlocal looked
        looked += 1
        return looked <= 2

    monkeypatch.setattr("hitl_tui.supervisor.storage.SessionFolder.is_owned", is_owned)
    done = shell.run("do", "s1", f"/todo approve {question['id']}", "--json")
    assert (done.code, done.json["status"], done.json["session_status"]) == (0, "resumed", "finished")
