"""`show` of a session whose process was killed before anything was planned."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path

import pytest
from cli_support import DEADLINE, Shell

pytestmark = pytest.mark.long

QUESTION = "Which clauses deal with the deposit?"

DIES = """
import os, signal, sys
from hitl_tui.cli import main
from hitl_tui.supervisor import checkpoint_saver

def die(*given):
    os.kill(os.getpid(), signal.SIGKILL)

{}
main(sys.argv[1:])
"""

MOMENTS = {
    "without a checkpoint file": "checkpoint_saver._prepare = die",
    "with an empty one": "checkpoint_saver.prepare = lambda db: (db.execute('PRAGMA journal_mode = WAL'), die())",
    "before its first checkpoint": "checkpoint_saver.SessionSaver.aput = die",
    "before its plan": "checkpoint_saver.SessionSaver.aput_writes = die",
}


@pytest.mark.sampled(2)
@pytest.mark.parametrize("moment", MOMENTS)
def test_show_says_what_was_asked_and_that_nothing_was_planned(tmp_path: Path, moment: str) -> None:
    shell = Shell(tmp_path)
    program = [sys.executable, "-c", DIES.format(MOMENTS[moment]), "run", QUESTION]
    died = subprocess.run(
        program, cwd=shell.workspace, env=shell.env, capture_output=True, timeout=DEADLINE, check=False
    )
    assert died.returncode == -signal.SIGKILL
    seen = shell.run("show", "s1")
    assert (seen.code, seen.err) == (0, "")
    assert seen.out.splitlines()[0] == f"Question: {QUESTION}"
    assert seen.out.splitlines()[-2:] == [
        "s1 was interrupted before anything was planned.",
        "Go on with: hitl-tui --session s1",
    ]
    document = shell.run("show", "s1", "--json").json
    assert document["message"] == "s1 was interrupted before anything was planned."
    assert (document["query"], document["owned"], document["todos"]) == (QUESTION, False, [])
    assert document["next"] == 'hitl-tui do s1 "/todo list"'
    assert [s["session_status"] for s in shell.run("sessions", "--json").json["sessions"]] == ["interrupted"]
    went_on = shell.process("do", "s1", "/todo list", "--json").json
    assert [todo["status"] for todo in went_on["todos"]][:1] == ["waiting_approval"]
    assert "next" not in shell.run("show", "s1", "--json").json


EFFECT = """
import os, signal
from langgraph.graph import END, START, StateGraph

def send(state):
    os.kill(os.getpid(), signal.SIGKILL)

builder = StateGraph(dict)
builder.add_node("send", send)
builder.add_edge(START, "send")
builder.add_edge("send", END)
graph = builder.compile()
"""


def test_the_inbox_names_what_was_cut_off_in_an_effect_without_opening_it(tmp_path: Path) -> None:
    shell = Shell(tmp_path)
    (shell.workspace / "agent.py").write_text(EFFECT)
    died = shell.process("attach", "agent.py:graph", "--input", "{}")
    assert died.code == -signal.SIGKILL
    listed = shell.run("inbox")
    assert listed.out.splitlines() == [
        "s1 was interrupted and may have left something half done; to open it: hitl-tui --session s1",
        "0 questions wait.",
    ]
    document = shell.run("inbox", "--json").json
    (cut_off,) = document["interrupted"]
    assert (cut_off["session_id"], cut_off["command"]) == ("s1", "hitl-tui --session s1")
    assert document["requests"] == []
    assert [s["session_status"] for s in shell.run("sessions", "--json").json["sessions"]] == ["interrupted"]
    shell.process("do", "s1", "/todo list")
    asked = shell.run("inbox", "--json").json
    assert [one["kind"] for one in asked["requests"]] == ["effect"] and asked["interrupted"] == []
