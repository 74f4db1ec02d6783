"""What Tab offers: from the command table and a real session's snapshot."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from types import MappingProxyType

import pytest
from hypothesis import given
from hypothesis import strategies as st
from trusting import trust_workspace

from hitl_tui.commands.completion import Completion, complete, usage_hint
from hitl_tui.commands.handler import CommandHandler
from hitl_tui.commands.parser import parse
from hitl_tui.commands.spec import SPECS
from hitl_tui.config.loader import load_config
from hitl_tui.core.board import PLAN_ACCEPTED, Board, Control, Rules
from hitl_tui.core.questions import questions
from hitl_tui.core.requests import resolve
from hitl_tui.core.todos import Priority, Status, SupervisorTodo
from hitl_tui.ledger.records import RequestView
from hitl_tui.supervisor.open_session import open_session
from hitl_tui.supervisor.session import Session
from hitl_tui.supervisor.session_registry import SessionRegistry
from hitl_tui.supervisor.snapshot import Snapshot, as_questions
from hitl_tui.threads.checkpoint_causes import CheckpointCauses
from hitl_tui.threads.session_thread import SessionThread
from hitl_tui.wording.history_rows import checkpoint_choices

LEASE = Path(__file__).resolve().parents[2] / "examples" / "lease"
QUESTION = "집주인이 전세금 3억을 10억으로 올려달래. 법적으로 해결방법 알려줘"


class Scene:
    """A session with what complete takes."""

    def __init__(self, session: Session, workspace: Path) -> None:
        self.session = session
        self.agents = session.setup.planner.agents
        self.commands = load_config(workspace).commands
        self.handler = CommandHandler(session, session.setup.planner, by="tester", channel="test", terminal=True)

    async def give(self, line: str) -> None:
        result = await self.handler.handle_command(line)
        assert not result.failed, result.message
        await self.session.settled()

    async def offer(self, line: str) -> list[Completion]:
        past, infos = SessionThread(self.session), await self.session.checkpoints(50)
        causes = await CheckpointCauses().of(past, infos)
        offered = checkpoint_choices(infos, await past.place(infos[0].checkpoint_id), causes)
        return complete(line, len(line), self.session.snapshot, self.agents, offered, self.commands)

    async def texts(self, line: str) -> list[str]:
        return [c.text for c in await self.offer(line)]


@pytest.fixture
async def scene(tmp_path: Path) -> AsyncIterator[Scene]:
    workspace = tmp_path / "lease"
    shutil.copytree(LEASE, workspace)
    trust_workspace(tmp_path / "data", workspace)
    async with SessionRegistry.open(tmp_path / "data") as registry:
        setup = await registry.create(QUESTION, workspace)
        async with open_session(registry.store, setup, QUESTION) as opened:
            session = opened.view
            assert isinstance(session, Session)
            await session.settled()
            yield Scene(session, workspace)


async def test_ids_of_todos_that_ask_come_first(scene: Scene) -> None:
    await scene.give("/todo priority 2 critical")
    assert await scene.texts("/todo approve ") == ["todo_001", "todo_002"]
    first = (await scene.offer("/todo approve "))[0]
    assert first.help.startswith("asks · search_team")


def test_todos_that_ask_come_in_the_order_they_ask_the_rest_in_the_plans() -> None:
    statuses = {"todo_001": Status.PENDING, "todo_002": Status.WAITING_APPROVAL, "todo_003": Status.WAITING_APPROVAL}
    todos = [
        SupervisorTodo(i, f"Task {i}", status=s, rank=n, priority=Priority.CRITICAL if n == 3 else Priority.LOW)
        for n, (i, s) in enumerate(statuses.items(), start=1)
    ]
    board = Board("s1", "why?", {t.id: t.to_state() for t in todos}, Control(plan=PLAN_ACCEPTED))
    views = [RequestView(r, (), resolve(r, (), ""), {}) for r in questions(board, Rules())]
    asked = as_questions(views, board.todos)
    seen = Snapshot("s1", "why?", "/w", "step", "approval", 0, 0, "c", board.todos, asked)

    offered = complete("/todo approve ", 14, seen)
    assert [(c.text, c.help.split(" ")[0]) for c in offered] == [
        ("todo_003", "asks"),
        ("todo_002", "asks"),
        ("todo_001", "pending"),
    ]
    assert [c.text for c in complete("/todo approve 2", 15, seen)] == ["todo_002"]


async def test_only_todos_that_fit_are_offered(scene: Scene) -> None:
    assert await scene.texts("/todo cancel ") == []
    assert await scene.texts("/todo retry ") == []
    assert await scene.texts("/answer ") == []
    assert await scene.texts("/todo remove ") == ["todo_001", "todo_002"]
    await scene.give("/todo approve 1")
    assert await scene.texts("/todo approve ") == ["todo_002"]


async def test_a_number_names_a_todo_and_given_ones_are_left_out(scene: Scene) -> None:
    assert await scene.texts("/todo show 2") == ["todo_002"]
    assert await scene.texts("/todo approve todo_001 ") == ["todo_002"]
    assert await scene.texts("/todo move todo_001 ") == ["before", "after"]
    assert await scene.texts("/todo move todo_001 after ") == ["todo_002"]


async def test_statuses_are_those_the_operator_may_give(scene: Scene) -> None:
    offered = await scene.texts("/todo update todo_001 ")
    assert "in_progress" not in offered
    assert "skipped" in offered
    for status in offered:
        assert parse(f"/todo update todo_001 {status}").values["status"] == status


async def test_agents_priorities_modes_and_options(scene: Scene) -> None:
    assert await scene.texts("/todo add s") == ["search_team"]
    assert "command_team" in await scene.texts("/todo add ")
    assert await scene.texts("/todo add search_team find --a") == ["--after"]
    assert await scene.texts("/todo add search_team find --after ") == ["todo_001", "todo_002"]
    assert await scene.texts("/todo add search_team find --priority h") == ["high"]
    assert await scene.texts("/mode ") == ["step", "plan", "risk"]
    assert await scene.texts("/todo approve --") == ["--digest"]


async def test_declared_commands_and_their_parameters(scene: Scene) -> None:
    assert await scene.texts("/todo add command_team ") == ["list-files"]
    assert await scene.texts("/todo add command_team list-files ") == ["dir="]
    assert await scene.texts("/todo add command_team list-files dir=. ") == []
    assert await scene.texts("/todo add li") == ["list-files"]
    assert await scene.texts("/todo add list-files ") == ["dir="]
    await scene.give("/todo add command_team list-files dir=.")
    assert await scene.texts("/todo edit todo_003 ") == ["dir="]
    await scene.give("/todo add list-files dir=.")
    assert await scene.texts("/todo edit todo_004 ") == ["dir="]
    assert await scene.texts("/todo add search_team ") == []


async def test_parameters_of_a_function(tmp_path: Path) -> None:
    workspace = tmp_path / "shop"
    workspace.mkdir()
    (workspace / "my.py").write_text(
        "from typing import Annotated\ndef vat(amount: Annotated[float, 'in won'], rate: float = 0.1): ...\n"
    )
    (workspace / "hitl.toml").write_text('[teams.vat]\nkind = "function"\nfunction = "my.py:vat"\n')
    trust_workspace(tmp_path / "data", workspace)
    async with SessionRegistry.open(tmp_path / "data") as registry:
        setup = await registry.create(QUESTION, workspace)
        async with open_session(registry.store, setup, QUESTION) as opened:
            session = opened.view
            assert isinstance(session, Session)
            await session.settled()
            scene = Scene(session, workspace)
            amount, rate = await scene.offer("/todo add vat ")
            assert (amount.text, amount.help, rate.text, rate.help) == ("amount=", "in won", "rate=", "a number")
            await scene.give("/todo add vat amount=3")
            added = session.snapshot.todos[-1].id
            assert await scene.texts(f"/todo edit {added} rate=1 ") == ["amount="]


async def test_checkpoints_and_proposals(scene: Scene) -> None:
    asked, planned = await scene.offer("/checkpoint restore ")
    assert asked.help.startswith("asked 001 · ") and planned.help.startswith("planned · ")
    assert asked.text == asked.display == str(int(planned.text) + 1)
    assert await scene.texts(f"/checkpoint restore {asked.text}") == [asked.text]
    named = await scene.session.find_checkpoint(asked.text)
    assert await scene.texts(f"/checkpoint restore {named[:20]}") == [named]
    await scene.give("보고서도 작성해줘.")
    (proposal,) = await scene.texts("/proposal accept ")
    assert proposal in scene.session.snapshot.proposals


async def test_what_is_offered_is_safe_and_leads_to_a_command(scene: Scene) -> None:
    await scene.give("/todo add search_team \u202eevil\x1b[31m")
    for spec in SPECS:
        for found in await scene.offer(f"/{spec.name} "):
            assert (found.display + found.help).isprintable()
            assert found.start == len(f"/{spec.name} ")


def test_command_names() -> None:
    def texts(line: str) -> list[str]:
        return [c.text for c in complete(line, len(line))]

    assert texts("/") == [f"/{spec.name}" for spec in SPECS]
    assert texts("/TODO  ap") == ["/todo approve"]
    assert texts("/todo l") == ["/todo list"]
    assert texts("/help todo a") == ["approve", "add", "again"]
    assert texts("find /todo") == []
    assert complete("  /chec", 7)[0].start == 2
    assert complete("/todo ap xyz", 8) == [Completion("/todo approve", 0, "/todo approve", SPECS[1].summary)]
    assert complete("/todo approve ", 14, None, MappingProxyType({})) == []


@given(st.text(), st.integers(min_value=0, max_value=40))
def test_any_line_can_be_completed(text: str, cursor: int) -> None:
    line = f"/{text}"
    for found in complete(line, min(cursor, len(line))):
        assert 0 <= found.start <= len(line)


def test_usage_is_hinted_once_the_command_is_known() -> None:
    assert usage_hint("/todo skip 1") == "/todo skip <id> [reason] [--digest DIGEST]"
    assert usage_hint("/todo ski") == ""
    assert usage_hint("todo skip") == ""


def test_completion_loads_no_engine() -> None:
    code = "import sys, hitl_tui.commands.completion; sys.exit('langgraph' in sys.modules or 'textual' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
