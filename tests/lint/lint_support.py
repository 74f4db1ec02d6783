"""Small modules to check."""

from __future__ import annotations

import re
import textwrap
from pathlib import Path

from hitl_tui.lint.check import lint
from hitl_tui.lint.findings import Report

HERE = Path(__file__).parent

HEAD = """\
from typing import TypedDict

from langgraph.graph import START, MessagesState, StateGraph
from langgraph.types import Command, Send, interrupt


class State(TypedDict):
    name: str
    items: list[str]

"""
"""What the graphs of these tests begin with."""

_MARK = re.compile(r"# fault: (HT\d{3})")


def checked(folder: Path, source: str, name: str = "agent.py", attribute: str = "") -> Report:
    """Write a module with the usual imports and check it."""
    (folder / name).write_text(HEAD + textwrap.dedent(source), encoding="utf-8")
    return lint(f"{name}:{attribute}" if attribute else name, folder)


def node(folder: Path, body: str) -> Report:
    """Check a graph of one node `ask(state)` with this body, and what stands before it after a line `---`."""
    before, _, inner = body.rpartition("---\n")
    source = f"{textwrap.dedent(before)}\ndef ask(state: State):\n{textwrap.indent(textwrap.dedent(inner), '    ')}"
    return checked(
        folder, f'{source}\n\ngraph = StateGraph(State).add_node("ask", ask).add_edge(START, "ask").compile()'
    )


def rules(report: Report) -> list[str]:
    """Return the ids of what was found, in the order of the source."""
    return [finding.rule.id for finding in report.findings]


def found(report: Report) -> set[tuple[str, int]]:
    """Return rule and line of what was found."""
    return {(finding.rule.id, finding.place.line) for finding in report.findings}


def marked(path: Path) -> set[tuple[str, int]]:
    """Return rule and line of the faults that a file says it has."""
    lines = path.read_text(encoding="utf-8").splitlines()
    return {(mark[1], number) for number, line in enumerate(lines, start=1) if (mark := _MARK.search(line))}
