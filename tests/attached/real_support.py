"""Graphs that are attached from the command line, and what a person would answer them."""

from __future__ import annotations

import io
import json
import os
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Mapping
from contextlib import ExitStack, chdir, redirect_stderr, redirect_stdout
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest

from hitl_tui.cli import main

GRAPHS = Path(__file__).parent / "graphs"
DEADLINE = 120
"""Seconds after which a process is surely stuck."""


@dataclass(frozen=True)
class Case:
    """One graph, taken to its end.

    Args:
        name: what the test is called.
        target: file and attribute.
        given: its input, as a person writes it.
        talk: what is seen of each question (its number after a dot, where several wait) and what is answered to it.
        done: what it does to the world, all in all.
        ends: part of its answer.
        needs: modules that the plain environment may lack.
        again: what the nodes that a question is in do once more whenever it is answered: it is shown before.
        within: what is finished within the same step of the graph as its first question, in subgraphs, tasks and
            nodes beside it: going back to that step does it again.
    """

    name: str
    target: str
    given: str
    talk: tuple[tuple[str, str], ...]
    done: Mapping[str, int]
    ends: str = ""
    needs: tuple[str, ...] = ()
    again: tuple[str, ...] = ()
    within: tuple[str, ...] = ()


OPENAI = ("langchain_openai",)
CASES = (
    Case(
        "approve",
        "approve.py",
        '{"action_details": "pay"}',
        (("Do you want to proceed with this action?", "yes"),),
        {"prepared pay": 1, "did pay": 1},
        '"approved"',
    ),
    Case(
        "refuse",
        "approve.py",
        '{"action_details": "pay"}',
        (("Do you want to proceed with this action?", "no"),),
        {"prepared pay": 1},
        '"rejected"',
    ),
    Case(
        "review",
        "review.py:graph",
        "cats",
        (("Review and edit this content", "edit Cats, at last."),),
        {"drafted": 1, "published Cats, at last.": 1},
        "Cats, at last.",
    ),
    Case(
        "validate",
        "validate.py:builder",
        '{"age": null}',
        (
            ("What is your age?", "thirty"),
            ("'thirty' is not a valid age", "-3"),
            ("'-3' is not a valid age", "30"),
        ),
        {"registered 30": 1},
        "30",
    ),
    Case(
        "parallel",
        "parallel.py",
        '{"vals": []}',
        ((".2 question_b", "bee"), ("question_a", "ay")),
        {"quiet": 1, "a ay": 1, "b bee": 1},
        "a:ay",
        within=("quiet",),
    ),
    Case(
        "subgraph_node",
        "subgraph_node.py:graph",
        '{"order": "desk"}',
        (("Reserve it?", "reserve"),),
        {"looked up": 1, "reserved desk": 1},
        "reserve",
        within=("looked up",),
    ),
    Case(
        "subgraph_called",
        "subgraph_called.py:graph",
        '{"person": "ann"}',
        (("How do you greet ann?", "Hello"),),
        {"host entered": 2, "fetched": 1, "told Hello, ann": 1},
        "Hello, ann",
        again=("host entered",),
        within=("host entered", "fetched"),
    ),
    Case(
        "functional",
        "functional.py:workflow",
        "cats",
        (("Please approve or reject the essay", "true"),),
        {"wrote": 1, "published": 1},
        "published 26 characters",
        within=("wrote",),
    ),
    Case(
        "inbox",
        "inbox.py",
        '{"email": "a question"}',
        (("May write_email run?", "edit to=bob@example.org"),),
        {"drafted": 1, "sent bob@example.org": 1},
        "sent to bob@example.org",
    ),
    Case(
        "typed",
        "typed.py",
        "lunch",
        (("Pay for lunch?", "edit approved=true amount=12"),),
        {"paid 12": 1},
        "12",
    ),
    Case(
        "discussion",
        "discussion.py:graph",
        '{"chapters": ["one", "two"]}',
        (
            ("Round 1: what does the writer answer?", "edit not yet"),
            ("Round 2: what does the writer answer?", "edit agreed"),
            ("Round 1: what does the writer answer?", "edit agreed"),
        ),
        {
            "reviewed one": 2,
            "wrote one": 2,
            "kept one after 4 messages": 1,
            "reviewed two": 1,
            "wrote two": 1,
            "kept two after 2 messages": 1,
        },
        '"two"',
        within=("reviewed one",),
    ),
    Case(
        "email_tool",
        "email_tool.py:graph",
        "Send an email to alice about the meeting",
        (("Approve sending this email?", "edit subject=Tomorrow"),),
        {"sent alice@example.com: Tomorrow": 1},
        "Email sent to alice@example.com",
        OPENAI,
    ),
    Case(
        "batched",
        "hitl_agent.py:batched",
        "Clean up",
        (("May these 2 tool calls run?", "1 reject too dangerous 2 edit content=mine"),),
        {"wrote notes.txt: mine": 1},
        "too dangerous",
        (*OPENAI, "langchain"),
    ),
    Case(
        "per_call",
        "hitl_agent.py:per_call",
        "Clean up",
        ((".2 May write_note run?", "approve"), ("May execute_sql run?", "approve")),
        {"wrote notes.txt: cleaned": 1, "ran DELETE FROM people WHERE age > 90": 1},
        "Came of it",
        (*OPENAI, "langchain"),
    ),
    Case(
        "deep",
        "deep.py",
        "Write a report and send it",
        (("May write_file run?", "approve"), ("May send_report run?", "edit to=me@example.com")),
        {"sent me@example.com: All is well.": 1},
        "Finished",
        (*OPENAI, "deepagents"),
    ),
    Case(
        "chief",
        "chief.py:graph",
        "Buy a desk",
        (("May pay run?", "edit amount=99"),),
        {"looked up desk": 1, "paid 99 to desk shop": 1},
        "Researched and paid.",
        (*OPENAI, "langchain", "langgraph_supervisor"),
    ),
)


def each(*names: str) -> pytest.MarkDecorator:
    """Run a test for each case, or for those of these names."""
    chosen = [case for case in CASES if not names or case.name in names]
    marks = {True: [pytest.mark.graphs], False: []}
    return pytest.mark.parametrize(
        "case", [pytest.param(case, id=case.name, marks=marks[bool(case.needs)]) for case in chosen]
    )


@dataclass(frozen=True)
class Ran:
    """How one command ended."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> dict[str, Any]:
        """Its one document; fails when there is anything else on standard output."""
        found = json.loads(self.out)
        assert isinstance(found, dict)
        return found


class Place:
    """Where a test attaches graphs.

    Args:
        root: an empty folder.
        environ: what its processes get besides.
    """

    def __init__(self, root: Path, environ: Mapping[str, str] | None = None) -> None:
        self.root = root
        self.data, self.workspace, self.world = (root / name for name in ("data", "workspace", "world"))
        for folder in (self.workspace, self.world):
            folder.mkdir()
        self.environ = {
            **{k: v for k, v in os.environ.items() if not k.startswith(("HITL_", "OPENAI_", "LANG"))},
            "HITL_DATA_DIR": str(self.data),
            "HITL_USER": "ann",
            "GRAPH_WORLD": str(self.world),
            "PYTHONUTF8": "1",
            "LANGSMITH_TRACING": "false",
            **(environ or {}),
        }

    def done(self) -> dict[str, int]:
        """How often each thing was done to the world."""
        path = self.world / "done.txt"
        return dict(Counter(path.read_text(encoding="utf-8").splitlines() if path.exists() else []))

    def command(self, *arguments: str) -> list[str]:
        return [sys.executable, "-m", "hitl_tui", *arguments]

    def here(self, *arguments: str) -> Ran:
        """Run a command line in this process."""
        out, err = (io.TextIOWrapper(io.BytesIO(), encoding="utf-8", write_through=True) for _ in range(2))
        with ExitStack() as stack:
            stack.enter_context(chdir(self.workspace))
            stack.enter_context(redirect_stdout(out))
            stack.enter_context(redirect_stderr(err))
            stack.enter_context(patch.dict(os.environ, self.environ, clear=True))
            code = main(arguments)
        return Ran(code, *(stream.buffer.getvalue().decode() for stream in (out, err)))

    def run(self, *arguments: str) -> Ran:
        """Run a command line in a process of its own."""
        done = subprocess.run(
            self.command(*arguments),
            capture_output=True,
            cwd=self.workspace,
            env=self.environ,
            timeout=DEADLINE,
            stdin=subprocess.DEVNULL,
            check=False,
        )
        return Ran(done.returncode, done.stdout.decode(), done.stderr.decode())

    def start(self, *arguments: str) -> subprocess.Popen[str]:
        """Start a command line with pipes."""
        return subprocess.Popen(
            self.command(*arguments),
            **dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE),
            cwd=self.workspace,
            env=self.environ,
            text=True,
            encoding="utf-8",
        )

    def attach(self, case: Case) -> Ran:
        """Attach a case's graph and let it run to its first question."""
        return self.run(*attaching(case))

    def do(self, line: str, code: int | None = None) -> dict[str, Any]:
        """Give a command to the session; return its document."""
        ran = self.run("do", "s", line, "--json")
        assert "Traceback" not in ran.err, ran.err
        assert code is None or ran.code == code, (line, ran)
        return ran.json

    def hold(self, gate: str) -> Path:
        """Put a pipe where a graph is to wait."""
        path = self.world / f"{gate}.gate"
        os.mkfifo(path)
        return path

    def kill_at(self, gate: Path, *arguments: str) -> None:
        """Start a command line and kill it -9 while its graph waits at a gate."""
        process = self.start(*arguments)
        try:
            with gate.open("w", encoding="utf-8"):  # opens when the graph does at its end
                process.send_signal(signal.SIGKILL)
                process.wait()
        finally:
            process.kill()
            process.communicate()
        gate.unlink()


def attaching(case: Case, *more: str) -> list[str]:
    """Return the command line that attaches a case's graph."""
    return ["attach", str(GRAPHS / case.target), "--input", case.given, "--session", "s", *(more or ("--json",))]


def asked(document: Mapping[str, Any]) -> list[str]:
    """Return what is asked, each as `NAME: words`."""
    found = []
    for question in document["questions"]:
        words = [str(question.get(key) or "") for key in ("asks", "kind")]
        words.append(json.dumps(question["subject"].get("value"), ensure_ascii=False))
        found.append(f"{question['name']}: {' '.join(words)}")
    return found


def named(document: Mapping[str, Any], seen: str) -> str:
    """Return the name of the question that says what is to be seen; `.2 words` means the second of several."""
    for line in asked(document):
        name, _, words = line.partition(": ")
        number, _, rest = seen.partition(" ") if seen.startswith(".") else ("", "", seen)
        if rest in words and name.endswith(number):
            return name
    raise AssertionError(f"nobody asks {seen!r}; what is asked: {asked(document)}")


@dataclass
class Talk:
    """Answers a case's questions one by one.

    Args:
        place: where.
        case: whose.
        left: what hasn't been answered.
    """

    place: Place
    case: Case
    left: list[tuple[str, str]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.left = list(self.case.talk)

    def answer(self, document: Mapping[str, Any]) -> dict[str, Any]:
        """Answer the next question."""
        seen, words = self.left.pop(0)
        return self.place.do(f"/answer {named(document, seen)} {words}")

    def to_the_end(self, document: Mapping[str, Any]) -> dict[str, Any]:
        """Answer what is left; the session is finished then, and the world is as it has to be."""
        found = dict(document)
        while self.left:
            found = self.answer(found)
        assert found["session_status"] == "finished", (found["message"], asked(found), found["todos"])
        assert self.case.ends in json.dumps(found["response"], ensure_ascii=False).replace('\\"', '"'), found[
            "response"
        ]
        return found


def seen_in(process: subprocess.Popen[str], seen: str) -> None:
    """Wait until a process prints some words; a number before them is left out."""
    words = seen.split(" ", 1)[1] if seen.startswith(".") else seen
    assert process.stdout is not None
    for line in process.stdout:
        if words in line:
            return
    raise AssertionError(f"{words!r} was never seen: {process.communicate()[1]}")
