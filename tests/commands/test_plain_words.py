"""Plain text that is no change of the plan: an answer, a call for help, another question, far too much (D10)."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from hitl_tui.commands.handler import CommandHandler
from hitl_tui.commands.plan_commands import LONGEST_TEXT
from hitl_tui.config.declared_graphs import GraphDeclaration
from hitl_tui.planning.replies import Reply, load_replies, reply_of
from hitl_tui.supervisor.open_session import open_session
from hitl_tui.supervisor.session import Session
from hitl_tui.supervisor.session_registry import SessionRegistry

CommandedSession = tuple[CommandHandler, Session]
GRAPHS = Path(__file__).with_name("shape_graphs.py")


@asynccontextmanager
async def at_work(folder: Path, query: str, graph: str = "", channel: str = "repl") -> AsyncIterator[CommandedSession]:
    work = folder / "work"
    work.mkdir()
    (work / "notes.md").write_text("The cap is 5 percent a year.\n", encoding="utf-8")
    declared = GraphDeclaration(graph, f"{GRAPHS}:{graph}", str(GRAPHS.parent)) if graph else None
    async with SessionRegistry.open(folder / "data", {}) as registry:
        setup = await registry.create(query, work, graph=declared)
        async with open_session(registry.store, setup, query) as opened:
            session = opened.view
            assert isinstance(session, Session)
            await session.settled()
            yield (
                CommandHandler(session, setup.planner, by="ann", channel=channel, terminal=True, admin=registry.admin),
                session,
            )


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        *((text, Reply.DECISION) for text in ("1", "１", "y", "Yes!", "OK.", "approve all", "approve todo_001", "1번")),
        *(
            (text, Reply.DECISION)
            for text in ("승인", "네, 승인해주세요", "ㅇㅇ", "아니요", "yes please", "skip", "취소")
        ),
        *((text, Reply.HELP) for text in ("help", "?", "？", "Help!", "도움말")),
        *((text, Reply.RECORD) for text in ("Who approved what?", "누가 승인했어?", "decisions")),
        *((text, None) for text in ("skip the report", "skip 2", "add an analysis", "분석도 추가해줘", "승인 보고서")),
        *((text, None) for text in ("no search", "", "…", "go to the moon", "yes " * 40, "What is the cap?")),
    ],
)
def test_what_answers_and_what_is_said(text: str, meant: Reply | None) -> None:
    assert reply_of(text, load_replies()) is meant


async def test_who_decided_what_is_told_when_it_is_asked(tmp_path: Path) -> None:
    async with at_work(tmp_path, "Find the cap.") as (handler, _):
        await handler.handle_command("/todo approve 1")
        told = await handler.handle_command("Who approved what?")
        assert [(d["todo_id"], d["verdict"], d["by"]) for d in told.data["decisions"]] == [
            ("todo_001", "approve", "ann")
        ]
        near = await handler.handle_command("/skip 1")
        assert "Did you mean /todo skip 1?" in near.message


async def test_an_answer_decides_nothing_and_the_command_that_does_is_named(tmp_path: Path) -> None:
    async with at_work(tmp_path, "Find the cap.") as (handler, _):
        for words in ("1", "yes", "승인"):
            refused = await handler.handle_command(words)
            assert refused.failed and words in refused.message
            assert "/todo approve 001" in refused.data["help"]
        helped = await handler.handle_command("help")
        assert helped.data["commands"] == (await handler.handle_command("/help")).data["commands"]
        proposed = await handler.handle_command("add an analysis")
        assert proposed.status == "proposed"
        assert (
            await handler.handle_command(str(refused.data["help"]).split(" with ")[1].split(" or ")[0])
        ).status == "resumed"
        assert "/proposal accept" in (await handler.handle_command("yes")).data["help"]


@pytest.mark.long
async def test_where_nothing_waits_an_answer_says_so(tmp_path: Path) -> None:
    async with at_work(tmp_path, "Find the cap.") as (handler, _):
        assert (await handler.handle_command("/todo skip 1")).status == "skipped"
        refused = await handler.handle_command("ok")
        assert refused.failed and "no question is open" in refused.message


@pytest.mark.parametrize(("channel", "way"), [("repl", "write /new before it;"), ("cli", "pass it to hitl-tui run;")])
async def test_another_question_is_told_the_way_out_first(tmp_path: Path, channel: str, way: str) -> None:
    async with at_work(tmp_path, "Find the cap.", channel=channel) as (handler, _):
        refused = await handler.handle_command("What is the hotel limit per night?")
        assert refused.message.startswith(f"To start another session, {way}")
        for example in str(refused.data["help"]).split('"')[1::2]:
            assert example.isascii()
        assert (await handler.handle_command("add an analysis")).status == "proposed", "as its example says"
        too_long = await handler.handle_command("x" * (LONGEST_TEXT + 1))
        assert too_long.failed and f"the limit is {LONGEST_TEXT:,}" in too_long.message


@pytest.mark.long
async def test_a_graph_that_waits_for_its_next_input_takes_such_words(tmp_path: Path) -> None:
    async with at_work(tmp_path, "{}", "yes_no") as (handler, session):
        await handler.handle_command("/todo approve")
        await session.settled()
        waiting = await handler.handle_command("yes")
        assert waiting.failed and "/answer 001" in waiting.data["help"]
        await handler.handle_command("/todo skip 1")
        await session.settled()
        assert "yes_no takes" in (await handler.handle_command("yes")).message, "it is judged as the graph's input"
