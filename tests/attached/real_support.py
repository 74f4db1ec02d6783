"""Attaches graphs from the command line, answers them as a person does, and looks at what they did."""

from __future__ import annotations

import io
import json
import os
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import ExitStack, chdir, redirect_stderr, redirect_stdout, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from unittest.mock import patch

from real_cases import GRAPHS, Case

from hitl_tui.cli import main

DEADLINE = 120
"""Seconds after which a process is surely stuck."""


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
        ran = Ran(code, *(stream.buffer.getvalue().decode() for stream in (out, err)))
        following = with_digest(arguments, ran)
        return self.here(*following) if following else ran

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
        ran = Ran(done.returncode, done.stdout.decode(), done.stderr.decode())
        following = with_digest(arguments, ran)
        return self.run(*following) if following else ran

    def start(self, *arguments: str) -> subprocess.Popen[str]:
        """Start a command line with pipes."""
        return subprocess.Popen(
            self.command(*arguments),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
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
            opened = opened_by(process, gate)
            if opened is not None:
                process.send_signal(signal.SIGKILL)
                process.wait()
                os.close(opened)
        finally:
            process.kill()
            out, err = process.communicate()
        if opened is None:
            following = with_digest(arguments, Ran(process.returncode, out, err))
            assert following, (arguments, process.returncode, out, err)
            self.kill_at(gate, *following)
            return
        gate.unlink()


def opened_by(process: subprocess.Popen[str], gate: Path) -> int | None:
    """Return a gate's other end once a process waits at it; None when the process ended before that."""
    while True:
        try:
            return os.open(gate, os.O_WRONLY | os.O_NONBLOCK)
        except OSError:  # nobody reads yet
            with suppress(subprocess.TimeoutExpired):
                process.wait(0.02)
                return None


def with_digest(arguments: Sequence[str], ran: Ran) -> list[str]:
    """Return the command line that a script gives after one by name was refused: with the digest it was shown."""
    if "--json" not in arguments or '"reason": "digest"' not in ran.out:
        return []
    (line,) = ran.json["give"]
    return [arguments[0], arguments[1], line, *arguments[3:]]


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
    place, _, rest = seen.partition(" ") if seen.startswith(".") else ("", "", seen)
    for number, line in enumerate(asked(document), start=1):
        name, _, words = line.partition(": ")
        if rest in words and place in ("", f".{number}"):
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
