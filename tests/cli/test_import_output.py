"""What a graph's module writes while it is imported never stands on standard output."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from cli_support import Shell
from trusting import trust_workspace

pytestmark = pytest.mark.long

GRAPH = r"""
import os, sys
os.write(1, b'{"status": "finished"}\n\x1b]0;title\x07past\nunended')
print('{"status": "printed"}\x1b[31m')
from typing import TypedDict
from langgraph.graph import StateGraph, START, END

class S(TypedDict):
    to: str

def node(state):
    os.write(1, b'\x1b]0;node\x07')
    print("\x1b[31mnode")
    return {}

b = StateGraph(S)
b.add_node("n", node)
b.add_edge(START, "n")
b.add_edge("n", END)
graph = b.compile()

def made():
    os.write(1, b'\x1b]0;factory\x07\n')
    return graph
"""
DECLARED = '[teams.pay]\nkind = "graph"\ngraph = "g.py:graph"\nrisk = "low"\n'


@pytest.fixture
def shell(tmp_path: Path) -> Shell:
    found = Shell(tmp_path)
    (found.workspace / "g.py").write_text(GRAPH, encoding="utf-8")
    return found


@pytest.mark.parametrize("target", ["g.py:graph", "g.py:made"])
def test_a_document_stays_one_where_its_graph_writes_while_it_is_imported(shell: Shell, target: str) -> None:
    done = shell.process("attach", target, "--input", '{"to": "x"}', "--session", "s1", "--mode", "risk", "--json")
    assert done.json["session_id"] == "s1", done
    assert "\x1b" not in done.out and "past" not in done.out
    assert "unended" in (shell.data / "hitl-tui.log").read_text()
    assert "past" in (shell.data / "hitl-tui.log").read_text()
    assert "\x1b" not in (shell.data / "hitl-tui.log").read_text()


def test_a_graph_that_langgraph_json_names_is_imported_so_too(shell: Shell) -> None:
    named = json.dumps({"graphs": {"pay": "./g.py:graph"}, "dependencies": ["."]})
    (shell.workspace / "langgraph.json").write_text(named, encoding="utf-8")
    trust_workspace(shell.data, shell.workspace)
    assert shell.process("attach", "pay", "--input", '{"to": "x"}', "--mode", "risk", "--json").json["status"]
    added = shell.process("run", "What is the deposit cap?", "--session", "s1", "--json")
    assert added.json["status"]
    assert shell.process("do", "s1", '/todo add pay {"to": "y"}', "--json").json["status"] == "added"


def test_line_mode_in_a_pipe_passes_no_sequences_on(shell: Shell) -> None:
    lines = "/todo approve 1\n/todos\n/quit\n"
    done = shell.process("attach", "g.py:graph", "--input", '{"to": "x"}', "--line", input=lines)
    assert "\x1b" not in done.out and "completed" in done.out, done
    shell.declare(DECLARED)
    lines = '/todo add pay {"to": "y"}\n/quit\n'
    added = shell.process("--line", "--session", "s2", "What is the deposit cap?", input=lines)
    assert "\x1b" not in added.out and "Added" in added.out, added
