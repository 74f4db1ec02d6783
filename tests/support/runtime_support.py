"""`hitl-tui serve` in a process of its own, and what it told so far."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from jsonschema import Draft202012Validator

from hitl_tui.channels.runtime.events import schema

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
PATIENCE = 60.0
"""Seconds after which something surely doesn't come."""
QUESTION = "What is the deposit cap?"
RISKY = "sort the records"
_JUDGE = Draft202012Validator(schema())

Told = dict[str, Any]


class Place:
    """A data folder and a workspace with the lease example.

    Args:
        root: an empty folder.
    """

    def __init__(self, root: Path) -> None:
        self.data, self.work = root / "data", root / "work"
        shutil.copytree(EXAMPLES / "lease", self.work)
        ours = {name: value for name, value in os.environ.items() if not name.startswith("HITL_")}
        self.environ = {**ours, "HITL_DATA_DIR": str(self.data), "PYTHONUTF8": "1"}

    def declare(self, text: str) -> None:
        """Write the workspace's hitl.toml, and trust the workspace as it is then."""
        from trusting import trust_workspace

        (self.work / "hitl.toml").write_text(text, encoding="utf-8")
        trust_workspace(self.data, self.work)

    def run(self, *arguments: str, input: str = "") -> subprocess.CompletedProcess[str]:
        """Run `hitl-tui` until it ends."""
        return subprocess.run(
            [sys.executable, "-m", "hitl_tui", *arguments],
            input=input,
            capture_output=True,
            text=True,
            cwd=self.work,
            env=self.environ,
            timeout=PATIENCE,
            check=False,
        )

    def decide(self, request: Told, answer: str, *arguments: str) -> Told:
        """Decide a request in another process."""
        given = (request["request_id"], answer, "--digest", request["digest"][:16], *arguments)
        done = self.run("decide", *given, "--json")
        found: Told = json.loads(done.stdout)
        assert done.returncode == 0, found
        return found


class Served:
    """A runtime.

    Args:
        process: the process.
    """

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self.process = process
        self.told: list[Told] = []
        self.patience = PATIENCE
        self._news = threading.Condition()
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def _read(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            event = json.loads(line)
            _JUDGE.validate(event)
            with self._news:
                self.told.append(event)
                self._news.notify_all()
        with self._news:
            self._news.notify_all()

    def give(self, job: Mapping[str, object] | str) -> None:
        """Write a job to its standard input."""
        assert self.process.stdin is not None
        self.process.stdin.write((job if isinstance(job, str) else json.dumps(job)) + "\n")
        self.process.stdin.flush()

    def no_more(self) -> None:
        """Let it have no more jobs."""
        assert self.process.stdin is not None
        self.process.stdin.close()

    def of(self, type: str, **fits: object) -> list[Told]:
        """Return the events of a type so far that fit."""
        found = [event for event in self.told if event["type"] == type]
        return [event for event in found if all(event[key] == value for key, value in fits.items())]

    def until(self, type: str, number: int = 1, **fits: object) -> Told:
        """Return the event that comes as the so-manieth of a type that fits."""
        end = time.monotonic() + self.patience
        with self._news:
            while len(found := self.of(type, **fits)) < number:
                left = end - time.monotonic()
                assert left > 0, f"no {type} {fits}; there was {[(e['type'], e['job_id']) for e in self.told]}"
                if not self._reader.is_alive():
                    assert self.process.stderr is not None
                    raise AssertionError(f"it ended before {type} {fits}: {self.process.stderr.read()}; {self.told}")
                self._news.wait(min(left, 0.5))
        return found[number - 1]

    def ended(self) -> int:
        """Wait until it ends; return its exit code."""
        code = self.process.wait(self.patience)
        self._reader.join(self.patience)
        return code

    def kill(self) -> None:
        """Kill -9 it."""
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()


@contextmanager
def serving(place: Place, *arguments: str, **environ: str) -> Iterator[Served]:
    """Let a runtime run while the context lasts."""
    process = subprocess.Popen(
        [sys.executable, "-m", "hitl_tui", "serve", *arguments],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=place.work,
        env={**place.environ, **environ},
    )
    served = Served(process)
    try:
        yield served
    finally:
        if process.poll() is None:
            process.kill()
        process.wait()


@contextmanager
def listening(place: Place, *arguments: str, **environ: str) -> Iterator[tuple[Served, str]]:
    """Let a runtime listen; give its address."""
    with serving(place, "--listen", "127.0.0.1:0", *arguments, **environ) as served:
        assert served.process.stderr is not None
        line = served.process.stderr.readline()
        found = re.search(r"http://\S+", line)
        assert found is not None, line
        yield served, found[0]
