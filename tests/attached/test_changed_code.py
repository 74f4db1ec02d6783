"""What a graph's code says is approved with it: other code runs only after another question."""

from __future__ import annotations

import json
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest
from trusting import trust_workspace

from hitl_tui.commands.handler import CommandHandler
from hitl_tui.config.standing import load_rules
from hitl_tui.console.subject import input_rows
from hitl_tui.core.errors import Refused
from hitl_tui.core.events import EventKind
from hitl_tui.core.policy import Mode
from hitl_tui.core.requests import Kind, Verdict
from hitl_tui.supervisor.session import Session
from hitl_tui.supervisor.snapshot import Question
from hitl_tui.supervisor.workbench import Workbench

TOML = '[teams.mailer]\nkind = "graph"\ngraph = "mail_agent.py:graph"\n'
AGENT = """
from typing import TypedDict
from langgraph.graph import StateGraph, START, END
from langgraph.types import interrupt
from mail_sender import send

class Mail(TypedDict, total=False):
    to: str
    ask: bool

def act(state):
    if state.get("ask"):
        interrupt("Send it?")
    send(state["to"])
    return {}

builder = StateGraph(Mail)
builder.add_node("act", act)
builder.add_edge(START, "act")
builder.add_edge("act", END)
graph = builder.compile()
"""


@pytest.fixture(autouse=True)
def _imports() -> Iterator[None]:
    path, modules = list(sys.path), set(sys.modules)
    yield
    sys.path[:] = path
    for name in set(sys.modules) - modules:
        if name.startswith("mail_"):
            del sys.modules[name]


@dataclass
class Desk:
    """A session with a graph as a team, and who acts on it."""

    root: Path
    session: Session
    handler: CommandHandler

    def sends(self, what: str) -> None:
        """Write the module that the graph's file imports."""
        said = f'def send(to):\n    open({str(self.root / "sent")!r}, "a").write("{what} ")\n'
        (self.root / "w" / "mail_sender.py").write_text(said, encoding="utf-8")

    @property
    def sent(self) -> str:
        path = self.root / "sent"
        return path.read_text(encoding="utf-8") if path.exists() else ""

    async def add(self, **given: object) -> str:
        result = await self.handler.handle(f"/todo add mailer {json.dumps({'to': 'ann', **given})}")
        assert not result.failed, result.message
        return str(result.data["todo_id"])

    async def asked(self, todo_id: str, but: str = "") -> Question:
        """Wait for what a TODO asks, another question than one."""
        seen = self.session.snapshot
        while (question := seen.question_of(todo_id)) is None or question.id == but:
            seen = await self.session.changed(seen)
        return question

    async def status(self, todo_id: str, wanted: str) -> None:
        seen = self.session.snapshot
        while seen.raw[todo_id]["status"] != wanted:
            seen = await self.session.changed(seen)


@asynccontextmanager
async def desk(root: Path, mode: Mode = Mode.RISK) -> AsyncIterator[Desk]:
    workspace = root / "w"
    workspace.mkdir()
    for name, text in (("hitl.toml", TOML), ("mail_agent.py", AGENT), ("cap.md", "# Cap\n\nThe cap.\n")):
        (workspace / name).write_text(text, encoding="utf-8")
    trust_workspace(root / "d", workspace)
    async with Workbench.open(root / "d") as bench:
        setup = await bench.create("The cap", workspace, mode=mode)
        async with bench.session(setup, "The cap") as session:
            assert isinstance(session, Session)
            made = Desk(root, session, CommandHandler(session, setup.planner, by="ops", channel="cli", terminal=True))
            made.sends("first")
            yield made


async def test_code_that_changed_while_it_was_asked_about_is_asked_anew(tmp_path: Path) -> None:
    async with desk(tmp_path) as d:
        first = await d.asked(await d.add())
        arguments = first.view.request.subject["arguments"]
        assert sorted(arguments["programs"]) == [".", "mail_agent.py", "mail_sender.py"]
        rows = [row.text for row in input_rows(arguments, "", "")]
        assert f"mail_sender.py · sha256 {arguments['programs']['mail_sender.py'][:12]}" in "\n".join(map(str, rows))
        d.sends("second")
        with pytest.raises(Refused, match=r"^mail_sender\.py changed since this was asked; it asks anew") as refused:
            await d.handler.decide(first, Verdict.APPROVE)
        assert refused.value.reason == "stale"
        second = await d.asked(first.todo_id, first.id)
        assert (await d.handler.decide(second, Verdict.APPROVE)).status == "resumed"
        await d.status(first.todo_id, "completed")
        assert d.sent == "second ", "this process had loaded what it was before"


async def test_code_that_changed_after_it_was_approved_is_not_run(tmp_path: Path) -> None:
    async with desk(tmp_path) as d:
        first = await d.asked(await d.add())
        team = d.session.setup.team("mailer")
        source = team.source  # type: ignore[attr-defined]
        calls: list[None] = []

        def changes_first() -> object:
            calls.append(None)
            if len(calls) == 3:  # the approval looked at it before, and so did its beginning
                d.sends("second")
            return source()

        team.source = changes_first  # type: ignore[attr-defined]
        await d.handler.decide(first, Verdict.APPROVE)
        await d.status(first.todo_id, "failed")
        failed = await d.asked(first.todo_id, first.id)
        assert failed.kind is Kind.FAILURE and d.sent == ""
        assert d.session.snapshot.raw[first.todo_id]["error"].startswith("mail_sender.py changed since this step was")
        with pytest.raises(Refused, match="changed since this was asked"):
            await d.handler.decide(failed, Verdict.RETRY)
        assert (await d.asked(first.todo_id, failed.id)).kind is Kind.TODO, "what is run again is asked about anew"


@pytest.mark.long
async def test_a_graph_that_was_mended_goes_on_and_says_so(tmp_path: Path) -> None:
    async with desk(tmp_path) as d:
        first = await d.asked(await d.add(ask=True))
        await d.handler.decide(first, Verdict.APPROVE)
        inside = await d.asked(first.todo_id, first.id)
        broken = 'def send(to):\n    raise RuntimeError("no")\n'
        (tmp_path / "w" / "mail_sender.py").write_text(broken, encoding="utf-8")
        assert not (await d.handler.handle(f"/answer {inside.todo_id} true")).failed
        await d.status(first.todo_id, "failed")
        notes = [line.text for line in d.session.activity.lines if line.kind == "note"]
        assert "mail_sender.py changed since this was approved; it goes on with what is there now." in notes
        d.sends("mended")
        failed = await d.asked(first.todo_id, inside.id)
        await d.handler.decide(failed, Verdict.RETRY)
        await d.status(first.todo_id, "completed")
        assert d.sent == "mended "


async def test_a_step_that_comes_without_its_code_is_asked_about_with_it(tmp_path: Path) -> None:
    async with desk(tmp_path) as d:
        first = await d.asked(await d.add())
        data = {"todo_id": first.todo_id, "arguments": {"input": {"to": "ann"}}}
        await d.session.desk.post(EventKind.EDIT, data, by="ops")
        old = await d.asked(first.todo_id, first.id)
        assert "mail_sender.py" in old.view.request.subject["arguments"]["programs"]
        d.sends("second")
        with pytest.raises(Refused, match="changed since this was asked"):
            await d.handler.decide(old, Verdict.APPROVE)
        assert d.sent == ""


async def test_a_standing_rule_lets_no_other_code_run(tmp_path: Path) -> None:
    async with desk(tmp_path) as d:
        first = await d.asked(await d.add())
        saved = await d.handler.handle(f"/rules allow {first.todo_id} --digest {first.digest}")
        assert (saved.status, len(load_rules(tmp_path / "d" / "rules.toml"))) == ("allowed", 1), saved.message
        await d.status(first.todo_id, "completed")
        await d.status(await d.add(), "completed")
        d.sends("second")
        assert (await d.asked(await d.add())).kind is Kind.TODO
        assert d.sent == "first first "
