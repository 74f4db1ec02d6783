"""A graph of one's own in line mode, at a real pseudo-terminal: what it prints, what its children write and read."""

from __future__ import annotations

import contextlib
import sys
from pathlib import Path

import pexpect  # type: ignore[import-untyped]
import pytest
from repl_support import DEADLINE, Line, Terminal

pytestmark = pytest.mark.long

GRAPH = """
import subprocess
from typing import TypedDict

from langgraph.graph import END, START, StateGraph
from langgraph.types import interrupt


class State(TypedDict, total=False):
    text: str


def noisy(state):
    print("said by Python")
    subprocess.run(["sh", "-c", "echo said by a child; echo and aside >&2; sleep 2; read x; echo it read: $x."])
    return {}


def ask(state):
    return {"text": interrupt("Is that fine?")}


builder = StateGraph(State)
builder.add_node("noisy", noisy)
builder.add_node("ask", ask)
builder.add_edge(START, "noisy")
builder.add_edge("noisy", "ask")
builder.add_edge("ask", END)
graph = builder.compile()
"""

CHOICE = GRAPH.replace(
    'interrupt("Is that fine?")', 'str(interrupt({"question": "Which?", "options": ["red", "green", "blue"]}))'
).replace("    subprocess.run", "    return {}\n    subprocess.run")

KEPT_APART = """
import sys

from hitl_tui.cli import main
from hitl_tui.terminal.stdio_redirect import StdioRedirect
from hitl_tui.repl import app

run = app.run_line_mode
app.run_line_mode = lambda *given: run(*given[:3], StdioRedirect)
sys.exit(main())
"""


@pytest.fixture
def line(tmp_path: Path) -> Line:
    line = Line(tmp_path)
    (line.workspace / "agent.py").write_text(GRAPH)
    return line


def test_a_graph_runs_and_what_it_prints_is_said_once(line: Line) -> None:
    terminal = line.terminal()
    terminal.wait("hitl-tui>")
    terminal.send("4\r")
    terminal.wait("Answer with:")
    terminal.send("/todo approve\r")
    shown = terminal.wait("Answer with:", 2)
    assert "RecursionError" not in shown and "failed" not in shown
    assert shown.count("[001] started") == 1
    assert terminal.leave() == 0


def test_children_write_past_the_prompt_and_read_no_keys(line: Line) -> None:
    process = pexpect.spawn(
        sys.executable,
        ["-c", KEPT_APART, "attach", "agent.py:graph", "--line", "--input", "{}"],
        cwd=str(line.workspace),
        env={**line.env, "TERM": "xterm"},
        dimensions=(40, 120),
        timeout=DEADLINE,
        encoding="utf-8",
    )
    terminal = Terminal(process, 40, 120)
    terminal.wait("[001] said by a child")
    terminal.send("/mode\r")
    terminal.wait("The mode is step")
    shown = terminal.wait("Is that fine?")
    for said in ("said by Python", "said by a child", "and aside", "it read: ."):
        assert shown.count(f"[001] {said}\n") == 1, said
    process.setwinsize(40, 90)
    terminal.send("/answer 1 yes\r")
    terminal.wait("s1 is finished")
    assert terminal.leave() == 0


def test_the_number_of_an_option_alone_chooses_it(line: Line) -> None:
    (line.workspace / "agent.py").write_text(CHOICE)
    terminal = Terminal(line.started("attach", "agent.py:graph", "--line", "--input", "{}"), 40, 120)
    shown = terminal.wait("option 3  3 or /answer 001 3")
    assert "option 3: blue" in shown
    terminal.wait("1–3 choose")
    with contextlib.suppress(pexpect.TIMEOUT):  # a key answers what has stood there
        while True:
            terminal.wait_more(1.5)
    terminal.send("3\r")
    terminal.wait('Sent: the text "blue"')
    terminal.wait("s1 is finished")
    assert terminal.leave() == 0


STANDS = 1.0
"""Seconds for which a question has stood on the terminal before a key answers it."""
REVIEWED = GRAPH.replace('"Is that fine?"', '{"instruction": "Check it", "content": {"a": 1}}')


@pytest.mark.parametrize(
    ("source", "said"),
    [
        (REVIEWED, "Rejected 001"),
        (GRAPH.replace('"Is that fine?"', '{"question": "Delete 5 records?"}'), "Sent: false"),
    ],
)
def test_a_key_and_a_reason_refuse_what_a_graph_asks(line: Line, source: str, said: str) -> None:
    (line.workspace / "agent.py").write_text(source.replace("sleep 2; read x; ", ""))
    terminal = Terminal(line.started("attach", "agent.py:graph", "--line", "--input", "{}"), 40, 120)
    terminal.wait("n, n REASON, 3 or ")
    with contextlib.suppress(pexpect.TIMEOUT):
        while True:
            terminal.wait_more(STANDS)
    terminal.send("n we need them\r")
    terminal.wait(said)
    assert terminal.leave() == 0
    assert "we need them" in line.pipe("", "do", "s1", "/decisions")[1]


def test_a_graph_without_an_input_is_asked_for_it_and_says_what_it_takes(line: Line) -> None:
    (line.workspace / "agent.py").write_text(GRAPH.replace("sleep 2; read x; ", ""))
    terminal = Terminal(line.started("attach", "agent.py:graph", "--line"), 40, 120)
    shown = terminal.wait("/quit quits.")
    assert "Graph: agent (" in shown and 'Takes {"text": string}' in shown
    assert "Write its input" in shown and "Write a question" not in shown and "The landlord" not in shown
    terminal.send("1\r")  # no number of a starter
    asked = terminal.wait("Approve 001?")
    assert "agent" in asked and "landlord" not in asked
    assert terminal.leave() == 0
