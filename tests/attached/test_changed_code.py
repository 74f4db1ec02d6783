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
from hitl_tui.core.errors import Refused
from hitl_tui.core.events import EventKind
from hitl_tui.core.policy import Mode
from hitl_tui.core.requests import Kind, Verdict
from hitl_tui.policy.standing_rules import load_rules
from hitl_tui.supervisor.open_session import open_session
from hitl_tui.supervisor.session import Session
from hitl_tui.supervisor.session_registry import SessionRegistry
from hitl_tui.supervisor.snapshot import Question
from hitl_tui.wording.subject_rows import input_rows

TOML = '[teams.mailer]\nkind = "graph"\ngraph = "mail_agent.py:graph"\n'
AGENT = """
from typing import TypedDict
from langgraph.graph import StateGraph, START, END
from langgraph.types import interrupt
from mail_sender import send

class Mail(TypedDict, total=False):
    to: str
    ask: bool
    tidy: str

def act(state):
    if state.get("tidy"):
        open(state["tidy"], "w").write("#!/bin/sh")
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
        self.writes(f'def send(to):\n    open({str(self.root / "sent")!r}, "a").write("{what} ")\n')

    def writes(self, code: str) -> None:
        (self.root / "w" / "mail_sender.py").write_text(code, encoding="utf-8")

    def changes_at(self, look: int) -> None:
        """Change the module right before the graph's files are looked at for the so-manieth time from now."""
        team = self.session.setup.team("mailer")
        source = team.source  # type: ignore[attr-defined]
        looks: list[None] = []

        def changes_first() -> object:
            looks.append(None)
            if len(looks) == look:
                self.sends("second")
            return source()

        team.source = changes_first  # type: ignore[attr-defined]

    async def asks_inside(self) -> Question:
        """Let a graph run to the question that it asks from inside."""
        first = await self.asked(await self.add(ask=True))
        await self.handler.decide(first, Verdict.APPROVE)
        return await self.asked(first.todo_id, first.id)

    @property
    def sent(self) -> str:
        path = self.root / "sent"
        return path.read_text(encoding="utf-8") if path.exists() else ""

    async def add(self, **given: object) -> str:
        result = await self.handler.handle_command(f"/todo add mailer {json.dumps({'to': 'ann', **given})}")
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
    async with SessionRegistry.open(root / "d") as bench:
        setup = await bench.create("The cap", workspace, mode=mode)
        async with open_session(bench.store, setup, "The cap") as opened:
            session = opened.view
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
        known = arguments["programs"]["mail_sender.py"][:12]
        assert f"mail_sender.py as it is now · sha256 {known}" in "\n".join(map(str, rows))
        d.sends("second")
        with pytest.raises(Refused, match=r"^mail_sender\.py changed since you were asked") as refused:
            await d.handler.decide(first, Verdict.APPROVE)
        assert refused.value.reason == "stale"
        second = await d.asked(first.todo_id, first.id)
        assert (await d.handler.decide(second, Verdict.APPROVE)).status == "resumed"
        await d.status(first.todo_id, "completed")
        assert d.sent == "second ", "this process had loaded what it was before"


async def test_code_that_changed_after_it_was_approved_is_asked_anew_and_not_run(tmp_path: Path) -> None:
    async with desk(tmp_path) as d:
        first = await d.asked(await d.add())
        d.changes_at(2)  # its beginning looked at it before
        await d.handler.decide(first, Verdict.APPROVE)
        second = await d.asked(first.todo_id, first.id)
        assert (second.kind, second.view.request.about["changed"]) == (Kind.TODO, ["mail_sender.py"])
        assert d.sent == ""
        await d.handler.decide(second, Verdict.APPROVE)
        await d.status(first.todo_id, "completed")
        assert d.sent == "second "


async def test_an_answer_stands_for_the_code_that_was_there_when_it_was_asked(tmp_path: Path) -> None:
    async with desk(tmp_path) as d:
        inside = await d.asks_inside()
        assert sorted(inside.view.request.subject["programs"]) == [".", "mail_agent.py", "mail_sender.py"]
        assert "changed" not in inside.view.request.about
        d.sends("second")
        with pytest.raises(Refused, match=r"^mail_sender\.py changed since you were asked") as refused:
            await d.handler.decide(inside, Verdict.RESPOND, value=True)
        assert refused.value.reason == "stale"
        again = await d.asked(inside.todo_id, inside.id)
        assert (again.kind, again.name) == (Kind.INTERRUPT, inside.name)
        assert again.view.request.about["changed"] == ["mail_sender.py"]
        old = await d.session.setup.ledger.request(inside.id, d.session.setup.now())
        assert old is not None and old.request.superseded
        await d.handler.decide(again, Verdict.RESPOND, value=True)
        await d.status(inside.todo_id, "completed")
        assert d.sent == "second "


async def test_an_answer_that_was_given_does_not_let_code_run_that_changed_since(tmp_path: Path) -> None:
    async with desk(tmp_path) as d:
        inside = await d.asks_inside()
        d.changes_at(2)  # the answer looked at it before
        await d.handler.decide(inside, Verdict.RESPOND, value=True)
        again = await d.asked(inside.todo_id, inside.id)
        assert (again.kind, again.name, d.sent) == (Kind.INTERRUPT, inside.name, "")
        assert again.view.request.about["changed"] == ["mail_sender.py"]
        notes = [line.text for line in d.session.activity.lines if line.kind == "note"]
        assert "mail_sender.py changed since you were asked; you are asked again about what it is now." in notes
        await d.handler.decide(again, Verdict.RESPOND, value=True)
        await d.status(inside.todo_id, "completed")
        assert d.sent == "second "


async def test_a_refusal_counts_whatever_became_of_the_code(tmp_path: Path) -> None:
    async with desk(tmp_path) as d:
        inside = await d.asks_inside()
        d.sends("second")
        await d.handler.decide(inside, Verdict.REJECT)
        await d.status(inside.todo_id, "failed")
        assert d.sent == ""


async def test_a_breakpoint_is_passed_with_the_code_that_was_there_when_it_was_asked_about(tmp_path: Path) -> None:
    async with desk(tmp_path) as d:
        todo_id = await d.add()
        assert not (await d.handler.handle_command(f"/break before act --todo {todo_id}")).failed
        first = await d.asked(todo_id)
        await d.handler.decide(first, Verdict.APPROVE)
        stop = await d.asked(todo_id, first.id)
        assert stop.kind is Kind.INTERRUPT
        d.changes_at(2)
        assert not (await d.handler.handle_command(f"/continue {stop.name}")).failed
        again = await d.asked(todo_id, stop.id)
        assert (again.name, again.view.request.about["changed"]) == (stop.name, ["mail_sender.py"])
        assert d.sent == ""
        assert not (await d.handler.handle_command(f"/continue {again.name}")).failed
        await d.status(todo_id, "completed")
        assert d.sent == "second "


async def test_code_that_changed_while_it_ran_is_named_by_the_question_behind_it(tmp_path: Path) -> None:
    async with desk(tmp_path) as d:
        first = await d.asked(await d.add(ask=True, tidy=str(tmp_path / "w" / "deploy.sh")))
        await d.handler.decide(first, Verdict.APPROVE)
        inside = await d.asked(first.todo_id, first.id)
        assert inside.view.request.about["changed"] == ["deploy.sh"]


async def test_a_graph_that_was_mended_is_asked_about_and_goes_on(tmp_path: Path) -> None:
    async with desk(tmp_path) as d:
        d.writes('def send(to):\n    raise RuntimeError("no")\n')
        inside = await d.asks_inside()
        await d.handler.decide(inside, Verdict.RESPOND, value=True)
        await d.status(inside.todo_id, "failed")
        failed = await d.asked(inside.todo_id, inside.id)
        d.sends("mended")
        with pytest.raises(Refused, match=r"^mail_sender\.py changed since you were asked"):
            await d.handler.decide(failed, Verdict.RETRY)
        again = await d.asked(inside.todo_id, failed.id)
        assert (again.kind, again.view.request.about["changed"]) == (Kind.FAILURE, ["mail_sender.py"])
        await d.handler.decide(again, Verdict.RETRY)
        await d.status(inside.todo_id, "completed")
        assert d.sent == "mended "


async def test_a_retry_does_not_let_code_run_that_changed_since(tmp_path: Path) -> None:
    async with desk(tmp_path) as d:
        d.writes('def send(to):\n    raise RuntimeError("no")\n')
        inside = await d.asks_inside()
        await d.handler.decide(inside, Verdict.RESPOND, value=True)
        await d.status(inside.todo_id, "failed")
        failed = await d.asked(inside.todo_id, inside.id)
        d.changes_at(3)  # the retry looked at it before, and so did its beginning
        await d.handler.decide(failed, Verdict.RETRY)
        again = await d.asked(inside.todo_id, failed.id)
        assert (again.kind, again.view.request.about["changed"]) == (Kind.TODO, ["mail_sender.py"])
        assert again.view.request.subject["from_step"]["thread"], "it goes on where it stood"
        assert d.sent == ""
        await d.handler.decide(again, Verdict.APPROVE)
        await d.status(inside.todo_id, "completed")
        assert d.sent == "second "


async def test_going_back_to_a_step_is_asked_about_with_the_code_of_now(tmp_path: Path) -> None:
    async with desk(tmp_path) as d:
        inside = await d.asks_inside()
        (step,) = [s for s in await d.session.steps(inside.todo_id, 20) if "act" in s.node or s.node == "__start__"][:1]
        d.sends("second")
        result = await d.handler.handle_command(f"/checkpoint restore {step.checkpoint_id}")
        assert not result.failed, result.message
        again = await d.asked(inside.todo_id, inside.id)
        while again.view.request.about.get("changed") != ["mail_sender.py"]:
            again = await d.asked(inside.todo_id, again.id)
        assert again.kind is Kind.TODO and again.view.request.subject["from_step"]
        await d.handler.decide(again, Verdict.APPROVE)
        more = await d.asked(inside.todo_id, again.id)
        assert more.kind is Kind.INTERRUPT
        await d.handler.decide(more, Verdict.RESPOND, value=True)
        await d.status(inside.todo_id, "completed")
        assert d.sent == "second "


async def test_a_step_that_comes_without_its_code_is_asked_about_with_it(tmp_path: Path) -> None:
    async with desk(tmp_path) as d:
        first = await d.asked(await d.add())
        data = {"todo_id": first.todo_id, "arguments": {"input": {"to": "ann"}}}
        await d.session.writer.post(EventKind.EDIT, data, by="ops")
        old = await d.asked(first.todo_id, first.id)
        assert "mail_sender.py" in old.view.request.subject["arguments"]["programs"]
        d.sends("second")
        with pytest.raises(Refused, match="changed since you were asked"):
            await d.handler.decide(old, Verdict.APPROVE)
        assert d.sent == ""


async def test_a_standing_rule_lets_no_other_code_run(tmp_path: Path) -> None:
    async with desk(tmp_path) as d:
        first = await d.asked(await d.add())
        saved = await d.handler.handle_command(f"/rules allow {first.todo_id} --digest {first.digest}")
        assert (saved.status, len(load_rules(tmp_path / "d" / "rules.toml"))) == ("allowed", 1), saved.message
        await d.status(first.todo_id, "completed")
        await d.status(await d.add(), "completed")
        d.sends("second")
        assert (await d.asked(await d.add())).kind is Kind.TODO
        assert d.sent == "first first "
