"""Runs the command line as a person's shell does."""

from __future__ import annotations

import io
import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Sequence
from contextlib import ExitStack, chdir, redirect_stderr, redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pexpect  # type: ignore[import-untyped]
from trusting import trust_workspace

from hitl_tui.cli import main

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
S1_KO = "집주인이 전세금 3억을 10억으로 올려달래. 법적으로 해결방법 알려줘"
S1_EN = (
    "The landlord wants to raise my jeonse deposit from 300 million won to 1 billion won. "
    "How can I resolve this legally?"
)
DEADLINE = 60
"""Seconds after which a process is surely stuck."""


@dataclass(frozen=True)
class Ran:
    """How one process ended."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> dict[str, Any]:
        """Its one document; fails when there is anything else on standard output."""
        found = json.loads(self.out)
        assert isinstance(found, dict)
        return found


class Shell:
    """A data folder and a workspace with the lease example.

    Args:
        root: an empty folder.
    """

    def __init__(self, root: Path) -> None:
        self.data = root / "data"
        self.workspace = root / "lease"
        shutil.copytree(EXAMPLES / "lease", self.workspace)
        self.env = {
            **{k: v for k, v in os.environ.items() if not k.startswith("HITL_")},
            "HITL_DATA_DIR": str(self.data),
            "HITL_USER": "tester",
            "PYTHONUTF8": "1",
            "PROMPT_TOOLKIT_NO_CPR": "1",
        }

    def declare(self, text: str) -> None:
        """Write the workspace's hitl.toml, and trust the workspace as it is then."""
        (self.workspace / "hitl.toml").write_text(text, encoding="utf-8")
        trust_workspace(self.data, self.workspace)

    def command(self, *arguments: str) -> list[str]:
        return [sys.executable, "-m", "hitl_tui", *arguments]

    def run(self, *arguments: str, input: str | bytes = b"", **changes: str) -> Ran:
        """Run the command line in this process, as `process` does in another: same streams, folder, environment."""
        given = input.encode() if isinstance(input, str) else input
        out, err = (io.TextIOWrapper(io.BytesIO(), encoding="utf-8", write_through=True) for _ in range(2))
        with ExitStack() as stack:
            stack.enter_context(chdir(self.workspace))
            stack.enter_context(redirect_stdout(out))
            stack.enter_context(redirect_stderr(err))
            stack.enter_context(patch.object(sys, "stdin", io.TextIOWrapper(io.BytesIO(given), encoding="utf-8")))
            stack.enter_context(patch.dict(os.environ, {**self.env, **changes}, clear=True))
            code = main(arguments)
        return Ran(code, *(stream.buffer.getvalue().decode() for stream in (out, err)))

    def process(self, *arguments: str, input: str | bytes = b"", **changes: str) -> Ran:
        """Run `hitl-tui` in the workspace until it ends."""
        given = input.encode() if isinstance(input, str) else input
        done = subprocess.run(
            self.command(*arguments),
            input=given,
            capture_output=True,
            cwd=self.workspace,
            env={**self.env, **changes},
            timeout=DEADLINE,
            check=False,
        )
        return Ran(done.returncode, done.stdout.decode(), done.stderr.decode())

    def start(self, *arguments: str) -> subprocess.Popen[str]:
        """Start `hitl-tui` with pipes."""
        return subprocess.Popen(
            self.command(*arguments),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            cwd=self.workspace,
            env=self.env,
            text=True,
            encoding="utf-8",
        )

    def terminal(self, *arguments: str, **changes: str) -> pexpect.spawn[str]:
        """Start `hitl-tui` at a pseudo-terminal of 24 rows and 100 columns."""
        program, *rest = self.command(*arguments)
        return pexpect.spawn(
            program,
            rest,
            cwd=str(self.workspace),
            env={"TERM": "xterm", **self.env, **changes},
            dimensions=(24, 100),
            timeout=DEADLINE,
            encoding="utf-8",
            preexec_fn=obeying_signals,
        )


def obeying_signals() -> None:
    """Let signals count in a new process: what runs in the background of a shell begins with some ignored."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_DFL)


def read_until(process: subprocess.Popen[str], text: str) -> str:
    """Return what a process prints up to the line that holds `text`."""
    assert process.stdout is not None
    seen = []
    for line in process.stdout:
        seen.append(line)
        if text in line:
            return "".join(seen)
    raise AssertionError(f"{text!r} never came; there was:\n{''.join(seen)}")


def by_id(document: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """Return a document's TODOs by id."""
    return {todo["id"]: todo for todo in document["todos"]}


def statuses(document: dict[str, Any]) -> Sequence[str]:
    """Return the statuses of a document's TODOs in plan order."""
    return [todo["status"] for todo in document["todos"]]
