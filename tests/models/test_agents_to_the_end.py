"""S1 with a model that plans and three agents that work, changed by people, killed, and traced (D14, S1, P7, I8)."""

from __future__ import annotations

import json
import sys
import threading
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from cli_support import EXAMPLES, Shell
from otlp_receiver import Receiver, otlp_receiver
from scripted_model import Hangs, Reply, Says, ScriptedModel, scripted_model

sys.path.append(str(Path(__file__).resolve().parents[1] / "terminal"))

from terminal_support import Terminal

pytest.importorskip("langchain_openai")
pytestmark = [pytest.mark.slow, pytest.mark.long]

S1 = "집주인이 전세금 3억을 10억으로 올려달래. 법적으로 해결방법 알려줘"
CAP = "summary-ko.md:9"
STEPS = (
    {"id": "find", "agent": "search_team", "title": "Find the cap", "task": "전세금 인상 한도",
     "input": {"query": "전세금 인상 한도"}},
    {"id": "compute", "agent": "coder", "title": "Compute the rise", "task": "Compute the rise", "after": ["find"]},
    {"id": "check", "agent": "validator", "title": "Check it", "task": "Check the rise", "after": ["compute"]},
    {"id": "report", "agent": "reporter", "title": "Report", "task": "Write report.md", "after": ["check"]},
)  # fmt: skip
MORE = (
    {"id": "dispute", "agent": "search_team", "title": "Find the committee", "task": "분쟁조정위원회",
     "input": {"query": "분쟁조정위원회"}, "after": []},
    {"id": "again", "agent": "coder", "title": "Compute it twice", "task": "Compute it again", "after": ["todo_001"]},
)  # fmt: skip
WRONG, RIGHT = "print('rise', 1000 / 300)", "print('rise', round((1000-300)/300*100,1))"


class Counsel:
    """The model of S1: it plans, works as each of the three agents, and hangs where it is told to.

    Args:
        hangs: whether it hangs once the report is written.
        hung: it does.
    """

    def __init__(self) -> None:
        self.hangs = True
        self.hung = threading.Event()

    def __call__(self, body: Mapping[str, Any]) -> Reply:
        names = {tool["function"]["name"] for tool in body.get("tools", ())}
        said = [str(message.get("content")) for message in body["messages"]]
        returned = [str(message["content"]) for message in body["messages"] if message["role"] == "tool"]
        if "plan" in names:
            return called("plan", {"kind": "comprehensive", "steps": STEPS})
        if "changes" in names:
            found = "Step todo_001 has ended" in "\n".join(said)
            items = [{"kind": "add", "step": step} for step in MORE] if found else []
            return called("changes", {"reason": "The law names a committee.", "changes": items})
        if "answer" in names:
            statements = [{"text": "233.3% 인상은 한도 5%를 넘습니다.", "places": [CAP, "question"]}]
            return called("answer", {"statements": statements})
        if said[0].startswith("You write short Python"):
            return (called("run_python", {"code": WRONG}), Says(f"It printed: {returned[-1:]}"))[bool(returned)]
        if said[0].startswith("You check"):
            return (called("run_python", {"code": "import os; os.listdir('/')"}), Says("233.3 holds."))[bool(returned)]
        assert said[0].startswith("You write a report")
        if not returned:
            return called("document_team", {"title": "The rise"})
        if self.hangs:
            self.hung.set()
            return Hangs()
        return Says("The report is report.md.")


def called(name: str, arguments: Mapping[str, Any]) -> Says:
    return Says("", ((name, arguments),), usage=(300, 40))


@pytest.fixture
def counsel() -> Counsel:
    return Counsel()


@pytest.fixture
def model(counsel: Counsel) -> Iterator[ScriptedModel]:
    with scripted_model([counsel]) as found:
        yield found


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    with otlp_receiver() as found:
        yield found


@pytest.fixture
def shell(tmp_path: Path, model: ScriptedModel, receiver: Receiver) -> Shell:
    made = Shell(tmp_path)
    made.env |= {**model.environ, "HITL_LANG": "en", "OTEL_EXPORTER_OTLP_ENDPOINT": receiver.url}
    made.declare((EXAMPLES / "agents" / "hitl.toml").read_text(encoding="utf-8"))
    return made


def do(shell: Shell, line: str) -> dict[str, Any]:
    return shell.process("do", "s1", line, "--json").json


def pick(found: Mapping[str, Any], kind: str) -> dict[str, Any]:
    (one,) = [question for question in found["questions"] if question["kind"] == kind]
    return dict(one)


def answer(shell: Shell, found: Mapping[str, Any], words: str) -> dict[str, Any]:
    """Answer the call of a tool that waits."""
    asked = pick(found, "interrupt")
    return do(shell, f"/answer {asked['name']} {words} --digest {asked['digest']}")


def approve(shell: Shell, found: Mapping[str, Any], todo: str) -> dict[str, Any]:
    """Approve a step that waits."""
    (asked,) = [q for q in found["questions"] if q["kind"] == "todo" and q["todo_id"] == todo]
    return do(shell, f"/todo approve {todo} --digest {asked['digest']}")


def test_s1(
    shell: Shell, counsel: Counsel, model: ScriptedModel, receiver: Receiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun = shell.process("run", S1, "--json")
    assert begun.code == 3, begun
    assert [t["agent_name"] for t in begun.json["todos"]] == ["search_team", "coder", "validator", "reporter"]
    found = approve(shell, begun.json, "todo_001")

    proposal = pick(found, "proposal")
    found = do(shell, f"/proposal keep {proposal['name']} 1")
    assert [t["name"] for t in found["todos"]][-1] == "Find the committee", found
    found = approve(shell, found, "todo_005")

    found = approve(shell, found, "todo_002")
    assert pick(found, "interrupt")["subject"]["value"]["args"] == {"code": WRONG}
    found = answer(shell, found, f"edit {json.dumps({'code': RIGHT})}")
    found = approve(shell, found, "todo_003")
    found = answer(shell, found, "reject it looks at all files")

    for name, value in shell.env.items():
        monkeypatch.setenv(name, value)
    with Terminal(shell.data, (120, 40), "--session", "s1") as terminal:
        terminal.decide("1", "Approve 004?")
        terminal.decide("1", "document_team")
        terminal.until(counsel.hung.is_set, "the model is asked again")
        terminal.kill()
    written = reports(shell)
    counsel.hangs = False
    with Terminal(shell.data, (120, 40), "--session", "s1") as terminal:
        terminal.see("Answer ready", "finished")
        assert terminal.leave() == 0

    assert [name for name, _ in written] == ["the-rise.md"]
    assert reports(shell) == written, "it was written once"
    shown = shell.process("show", "s1", "--json").json
    assert [(t["status"], t["attempt"]) for t in shown["todos"]] == [("completed", 1)] * 5
    assert "233.3% 인상은 한도 5%를 넘습니다" in shown["response"]
    asked = [str(body["messages"][-1]["content"]) for body in model.asked]
    assert any("rise 233.3" in text for text in asked)
    assert any("A person rejected this call. it looks at all files" in text for text in asked)
    assert shell.process("audit", "verify").code == 0
    told(receiver)


def told(receiver: Receiver) -> None:
    """Check that one trace tells all of it."""
    receiver.until(lambda: receiver.named("session"))
    root = receiver.one("session")
    assert {span.trace for span in receiver.spans} == {root.trace}
    assert receiver.one("plan").parent == root.id
    steps = {title: receiver.one(title) for title in [*(str(s["title"]) for s in STEPS), "Find the committee"]}
    assert {step.parent for step in steps.values()} == {root.id}
    assert all(step.about["gen_ai.usage.output_tokens"] for step in steps.values())
    below = {title: [span for span in receiver.spans if span.parent == step.id] for title, step in steps.items()}

    proposal = receiver.one("wait for a person: proposal")
    assert (proposal.about["hitl.verdict"], proposal.about["hitl.changes"]) == ("approve", "1")
    waits = {title: [s for s in spans if s.about.get("hitl.asked") == "interrupt"] for title, spans in below.items()}
    assert {
        t: [(s.about["hitl.action"], s.about["gen_ai.tool.name"]) for s in found] for t, found in waits.items()
    } == {
        "Find the cap": [],
        "Find the committee": [],
        "Compute the rise": [("edit", "run_python")],
        "Check it": [("reject", "run_python")],
        "Report": [("approve", "document_team")],
    }
    effects = {t: [s.about["hitl.outcome"] for s in spans if "hitl.effect" in s.about] for t, spans in below.items()}
    assert [effects[t] for t in ("Compute the rise", "Check it", "Report")] == [["done"], [], ["done"]]
    for title in ("Compute the rise", "Check it", "Report"):
        work = {span.id for span in below[title] if span.name == "work"}
        within = [s for s in receiver.spans if s.about.get("hitl.todo") == steps[title].about["hitl.todo"]]
        assert {s.name for s in within if s.parent in work} >= {"model"}, "the agent's own steps"
    called = {s.about.get("gen_ai.tool.name") for s in receiver.named("tools")}
    assert called == {"run_python", "document_team"}

    (stopped,) = receiver.named("stopped")  # nobody worked on it between the kill and the next process
    (written,) = [s for s in below["Report"] if "hitl.effect" in s.about]
    last = max(s.began for s in below["Report"] if s.name == "work")
    assert stopped.parent == steps["Report"].id
    assert written.ended <= stopped.began < stopped.ended <= last


def reports(shell: Shell) -> list[tuple[str, int]]:
    return [(path.name, path.stat().st_mtime_ns) for path in (shell.workspace / "reports").glob("*")]
