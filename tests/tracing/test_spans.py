"""Sessions as OpenTelemetry spans, received over HTTP and decoded (I8)."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from cli_support import S1_EN, Shell
from otlp_receiver import Receiver, otlp_receiver

from hitl_tui.config.extras import install_command

pytestmark = pytest.mark.long

SECRET = "hunter2-very-secret"
SLOW = '''
import pathlib, time

def slow(word: str = "") -> str:
    """Waits until somebody says go."""
    pathlib.Path("began").touch()
    while not pathlib.Path("go").exists():
        time.sleep(0.05)
    return "went"
'''
DECLARED = """
[secrets]
names = ["PASSWORD_OF_DB"]

[teams.slow]
kind = "function"
function = "slow.py:slow"
"""


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    with otlp_receiver() as found:
        yield found


@pytest.fixture
def shell(tmp_path: Path, receiver: Receiver) -> Shell:
    made = Shell(tmp_path)
    made.env |= {"HITL_LANG": "en", "OTEL_EXPORTER_OTLP_ENDPOINT": receiver.url, "PASSWORD_OF_DB": SECRET}
    return made


def do(shell: Shell, *lines: str) -> dict[str, Any]:
    return shell.process("do", "s1", *lines, "--json").json


def test_a_session_is_one_trace_across_processes(shell: Shell, receiver: Receiver) -> None:
    assert shell.process("run", S1_EN, "--json").code == 3
    assert do(shell, "/todo approve")["status"] == "resumed"
    done = do(shell, "/todo approve")
    receiver.until(lambda: receiver.named("session"))
    root, planned = receiver.one("session"), receiver.one("plan")
    assert {span.trace for span in receiver.spans} == {root.trace}
    assert (root.parent, planned.parent) == ("", root.id)
    assert {span.service for span in receiver.spans} == {"hitl-tui"}
    for todo in done["todos"]:
        step = receiver.one(todo["name"][:200])
        assert (step.parent, step.about["hitl.agent"]) == (root.id, todo["agent_name"])
        assert step.about["hitl.status"] == "completed"
        below = [span for span in receiver.spans if span.parent == step.id]
        waits = [span for span in below if span.name.startswith("wait for a person")]
        assert [span.about["hitl.verdict"] for span in waits] == ["approve"]
        assert waits[0].about["hitl.by"].startswith("tester")
        nodes = [span for span in below if span not in waits and span.about.get("hitl.attempt")]
        assert nodes, "its team's own steps"
        for span in below:
            assert step.began <= span.began <= span.ended <= max(step.ended, root.ended)
        assert all(waits[0].ended <= node.began for node in nodes)
    assert len(receiver.named("session")) == 1
    do(shell, "/todos")
    assert len(receiver.named("session")) == 1, "what arrived isn't sent again"


@pytest.mark.slow
def test_what_a_killed_process_leaves_joins_the_same_trace(shell: Shell, receiver: Receiver) -> None:
    (shell.workspace / "slow.py").write_text(SLOW)
    shell.declare(DECLARED)
    assert shell.process("run", f"What is the deposit cap? My password is {SECRET}", "--json").code == 3
    do(shell, "/todo add slow word=x")
    (asked,) = do(shell, "/todo skip 1")["questions"]
    first = shell.start("do", "s1", f"/todo approve {asked['todo_id']} --digest {asked['digest']}", "--json")
    deadline = time.monotonic() + 60
    while not (shell.workspace / "began").exists():
        assert time.monotonic() < deadline, first.communicate()
        time.sleep(0.05)
    killed = time.time_ns()
    os.kill(first.pid, signal.SIGKILL)
    first.wait()
    first.communicate()
    (shell.workspace / "go").touch()
    told = do(shell, "/todos")
    while not (doubts := [q for q in told["questions"] if q["kind"] == "effect"]):
        assert time.monotonic() < deadline, told["questions"]
        told = do(shell, "/todos")
    done = do(shell, f"/todo again {asked['todo_id']} --digest {doubts[0]['digest']}")
    assert done["status"] == "resumed", done
    name = next(t["name"] for t in done["todos"] if t["id"] == asked["todo_id"])
    receiver.until(lambda: receiver.named(name))
    step = receiver.one(name)
    assert {span.trace for span in receiver.spans} == {step.trace}
    assert step.began < killed < step.ended
    waits = {s.about["hitl.asked"]: s for s in receiver.spans if s.parent == step.id and "hitl.asked" in s.about}
    assert set(waits) == {"todo", "effect"}
    assert waits["todo"].ended < killed < waits["effect"].ended
    assert waits["effect"].about["hitl.verdict"] == "do_again"
    assert not any(SECRET.encode() in body for body in receiver.raw)
    assert any(b"PASSWORD_OF_DB" in body for body in receiver.raw)


GRAPH = """
from typing import TypedDict
from langgraph.graph import END, START, StateGraph
from langgraph.types import interrupt

class State(TypedDict, total=False):
    text: str

def draft(state): return {"text": "hello"}
def confirm(state): return {"text": interrupt("send it?")}

inner = StateGraph(State)
inner.add_node("draft", draft)
inner.add_node("confirm", confirm)
inner.add_edge(START, "draft")
inner.add_edge("draft", "confirm")
outer = StateGraph(State)
outer.add_node("write", inner.compile())
outer.add_edge(START, "write")
graph = outer.compile()
"""


def test_nodes_of_an_attached_graph_are_within_each_other(shell: Shell, receiver: Receiver) -> None:
    (shell.workspace / "g.py").write_text(GRAPH)
    begun = shell.process("attach", "g.py:graph", "--input", "{}", "--json").json
    (asked,) = begun["questions"]
    begun = do(shell, f"/todo approve 1 --digest {asked['digest']}")
    (asked,) = begun["questions"]
    assert do(shell, f"/answer {asked['id']} yes")["status"] == "resumed"
    receiver.until(lambda: receiver.named("session"))
    step = next(span for span in receiver.spans if span.about.get("hitl.status") == "completed")
    outside = receiver.named("write")
    assert [span.parent for span in outside] == [step.id, step.id]
    assert [span.about.get("hitl.interrupted", False) for span in outside] == [True, False]
    assert receiver.one("draft").parent == outside[0].id
    assert {span.parent for span in receiver.named("confirm")} == {span.id for span in outside}
    waits = [span for span in receiver.spans if span.about.get("hitl.asked") == "interrupt"]
    assert [(span.parent, span.about["hitl.verdict"]) for span in waits] == [(step.id, "respond")]


def test_a_rejected_and_a_failed_step_say_so(shell: Shell, receiver: Receiver) -> None:
    shell.process("run", S1_EN, "--json")
    do(shell, "/todo reject 1 not today")
    receiver.until(lambda: [s for s in receiver.spans if s.about.get("hitl.status") == "rejected"])
    (rejected,) = [s for s in receiver.spans if s.about.get("hitl.status") == "rejected"]
    assert rejected.error == ""
    (wait,) = [s for s in receiver.spans if s.parent == rejected.id and "hitl.asked" in s.about]
    assert wait.about["hitl.verdict"] == "reject"


def test_what_did_not_arrive_is_sent_by_the_next_process(shell: Shell, receiver: Receiver) -> None:
    receiver.status = 400
    shell.process("run", S1_EN, "--json")
    do(shell, "/todo approve")
    assert receiver.spans == []
    receiver.status = 200
    do(shell, "/todos")
    receiver.until(lambda: [s for s in receiver.spans if s.about.get("hitl.agent") == "search_team"])
    assert [s.about["hitl.verdict"] for s in receiver.spans if "hitl.verdict" in s.about] == ["approve"]


@pytest.mark.parametrize("address", ["http://127.0.0.1:9", "http://10.255.255.1:4318"])
def test_a_dead_endpoint_holds_nothing_up(shell: Shell, address: str) -> None:
    began = time.monotonic()
    assert shell.process("run", S1_EN, "--json", OTEL_EXPORTER_OTLP_ENDPOINT="").code == 3
    without, began = time.monotonic() - began, time.monotonic()
    ran = shell.process("run", S1_EN, "--json", "--session", "b", OTEL_EXPORTER_OTLP_ENDPOINT=address)
    assert (ran.code, ran.err) == (3, "")
    assert time.monotonic() - began < without * 2 + 5


def test_nothing_is_loaded_unless_it_is_wanted(shell: Shell) -> None:
    code = (
        "import sys; from hitl_tui.cli import main; main(['run', 'What is the cap?', '--json']); "
        "print([m for m in sys.modules if m.startswith('opentelemetry.exporter')], file=sys.stderr)"
    )
    command = [shell.command()[0], "-c", code]
    for more, found in (({"OTEL_EXPORTER_OTLP_ENDPOINT": ""}, "[]"), ({"OTEL_SDK_DISABLED": "true"}, "[]")):
        done = subprocess.run(
            command, cwd=shell.workspace, env={**shell.env, **more}, capture_output=True, text=True, check=False
        )
        assert done.stderr.strip() == found


def test_a_sentence_names_the_extra(shell: Shell, tmp_path: Path) -> None:
    (tmp_path / "without" / "opentelemetry").mkdir(parents=True)
    (tmp_path / "without" / "opentelemetry" / "__init__.py").write_text("raise ImportError('not here')")
    ran = shell.process("run", S1_EN, "--json", PYTHONPATH=str(tmp_path / "without"))
    assert ran.code == 3
    said = (shell.data / "sessions" / "s1" / "activity.log").read_text()
    assert f"No traces are sent without OpenTelemetry; install it with: {install_command('traces')}" in said
    ran = shell.process("do", "s1", "/todos", "--json", OTEL_EXPORTER_OTLP_PROTOCOL="grpc")
    assert "must be http/protobuf, not grpc" in (shell.data / "sessions" / "s1" / "activity.log").read_text()
