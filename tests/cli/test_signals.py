"""A signal always ends the program: the first cleanly, with its document and exit code, a second one at once (T11)."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

import pytest
from cli_support import DEADLINE, Shell, obeying_signals

SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
DEAF = """
import asyncio, sys
from hitl_tui.supervisor.termination import Termination, run_until_terminated

async def main():
    print("ready", flush=True)
    while True:
        try:
            await asyncio.sleep(600)
        except asyncio.CancelledError:
            print("cancelled", flush=True)

ending = Termination(float(sys.argv[1]))
ending.last_words = lambda stop: print(type(stop).__name__, flush=True)
with ending.noting():
    run_until_terminated(main())
"""
"""A program that loses every cancellation; its argument: how many seconds a clean stop may take."""
BREAK_IN = """
import os, sys, weakref

class Finder:
    def find_spec(self, name, path=None, target=None):
        if name == "langgraph.pregel":
            sys.meta_path.remove(self)
            thing = type("Thing", (), {{}})()
            kept = weakref.ref(thing, self.signal)
            del thing
        return None

    def signal(self, _):
        os.kill(os.getpid(), {number})
        for _ in range(10_000):
            pass

sys.meta_path.insert(0, Finder())
"""
"""Signals the process within a callback of an import, where an exception is printed and lost."""


def popen(arguments: Sequence[str], shell: Shell | None = None, **changes: str) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        arguments,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        cwd=shell.workspace if shell else None,
        env={**(shell.env if shell else os.environ), **changes},
        preexec_fn=obeying_signals,
    )


@pytest.fixture
def shell(tmp_path: Path) -> Shell:
    shell = Shell(tmp_path)
    assert shell.run("run", "What is the cap?").code == 3
    return shell


@pytest.mark.long
@pytest.mark.parametrize("number", SIGNALS)
def test_a_signal_while_modules_load_is_not_lost(shell: Shell, tmp_path: Path, number: signal.Signals) -> None:
    (tmp_path / "sitecustomize.py").write_text(BREAK_IN.format(number=int(number)))
    process = popen(shell.command("do", "s1", "/todos", "--json"), shell, PYTHONPATH=str(tmp_path))
    out, err = process.communicate(timeout=DEADLINE)
    assert (process.returncode, err) == (128 + number, b"")
    assert json.loads(out)["kind"] == ("interrupted" if number == signal.SIGINT else "terminated")


@pytest.mark.parametrize("number", SIGNALS)
@pytest.mark.parametrize(("patience", "signals"), [(0.1, 1), (600.0, 2)])
def test_what_loses_its_cancellation_ends_all_the_same(number: signal.Signals, patience: float, signals: int) -> None:
    process = popen([sys.executable, "-c", DEAF, str(patience)])
    assert process.stdout is not None and process.stdout.readline() == b"ready\n"
    process.send_signal(number)
    assert process.stdout.readline() == b"cancelled\n"
    for _ in range(signals - 1):
        process.send_signal(number)
    out, err = process.communicate(timeout=DEADLINE)
    assert (process.returncode, err) == (128 + number, b"")
    assert out.decode().split() == ["KeyboardInterrupt" if number == signal.SIGINT else "Terminated"]


def test_signals_that_do_not_stop_coming_end_it_once() -> None:
    process = popen([sys.executable, "-c", DEAF, "600"])
    assert process.stdout is not None and process.stdout.readline() == b"ready\n"
    ends = time.monotonic() + DEADLINE
    while process.poll() is None and time.monotonic() < ends:
        process.send_signal(signal.SIGTERM)
    out, err = process.communicate(timeout=DEADLINE)
    assert (process.returncode, err) == (143, b"")
    assert [word for word in out.decode().split() if word != "cancelled"] == ["Terminated"]


@pytest.mark.long
def test_a_second_signal_ends_a_step_that_nothing_can_stop(shell: Shell) -> None:
    (shell.workspace / "stuck.py").write_text(
        "import time\nfrom langgraph.graph import StateGraph\n"
        "def node(state):\n    open('begun', 'w').close()\n"
        "    time.sleep(600)\n"
        "graph = StateGraph(dict).add_node('node', node).set_entry_point('node')\n"
    )
    os.mkfifo(shell.workspace / "begun")
    process = popen(shell.command("attach", "stuck.py:graph", "--input", "{}", "--mode", "risk", "--json"), shell)
    with (shell.workspace / "begun").open("rb") as begun:
        assert begun.read() == b""
    ends = time.monotonic() + 8
    while process.poll() is None and time.monotonic() < ends:  # two that come at once may be one
        process.send_signal(signal.SIGTERM)
        os.sched_yield()
    out, _ = process.communicate(timeout=0.1)
    assert process.returncode == 143
    assert json.loads(out)["kind"] == "terminated"


@pytest.mark.long
def test_why_it_stopped_is_said_once(shell: Shell, tmp_path: Path) -> None:
    (tmp_path / "sitecustomize.py").write_text(BREAK_IN.format(number=int(signal.SIGTERM)))
    process = popen(shell.command("do", "s1", "/todos"), shell, PYTHONPATH=str(tmp_path))
    out, err = process.communicate(timeout=DEADLINE)
    assert (process.returncode, out) == (143, b"")
    assert err.decode() == "Stopped by SIGTERM; session s1 continues when opened again.\n"


LEFT = """
import hitl_tui.cli.dispatch


class Left:
    def __del__(self):
        raise RuntimeError("Event loop is closed")


kept = Left()
main = hitl_tui.cli.dispatch.run
raise SystemExit(main(["sessions", "--data", {data!r}]) if {runs} else 0)
"""


@pytest.mark.parametrize("runs", [True, False])
def test_what_is_left_at_the_end_writes_nothing_on_the_screen(tmp_path: Path, runs: bool) -> None:
    code = LEFT.format(data=str(tmp_path / "d"), runs=runs)
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 0 and ("Event loop is closed" in done.stderr) is not runs


@pytest.mark.sampled(5)
@pytest.mark.long
@pytest.mark.parametrize("seed", range(12))
def test_a_signal_at_any_moment_ends_the_program(shell: Shell, seed: int) -> None:
    drawn = random.Random(seed)
    number = SIGNALS[seed % 3]
    process = popen(shell.command("do", "s1", "/todo approve 1", "--json"), shell)
    moment = time.monotonic() + drawn.uniform(0.1, 2.0)
    while process.poll() is None and time.monotonic() < moment:
        os.sched_yield()
    process.send_signal(number)
    out, err = process.communicate(timeout=DEADLINE)
    if process.returncode in (0, 3):
        assert "session_id" in json.loads(out), "it was done before"
        return
    # Before any line of the program has run, the system or Python itself ends it.
    assert process.returncode in (128 + number, -number)
    assert process.returncode < 0 or (err == b"" and (not out or json.loads(out)))
