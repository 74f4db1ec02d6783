"""What a command did before a restore: asked about, told or measured again (D11)."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from trusting import trust_workspace

from hitl_tui.commands.handler import CommandHandler
from hitl_tui.core.requests import Kind, Verdict
from hitl_tui.supervisor.open_session import open_session
from hitl_tui.supervisor.session import Session
from hitl_tui.supervisor.session_registry import SessionRegistry
from hitl_tui.supervisor.snapshot import Question

COMMANDS = """
[teams.command_team.commands.clean]
run = ["find", "logs", "-name", "{what}", "-print", "-delete"]
parameters.what = { type = "string" }
risk = "high"

[teams.command_team.commands.sizes]
run = ["wc", "-c", "logs/kept.log"]
risk = "low"
"""


class Console:
    """A session with two declared commands and somebody who decides."""

    def __init__(self, session: Session) -> None:
        self.session = session
        self.person = CommandHandler(session, session.setup.planner, by="ann", channel="test", terminal=True)

    async def say(self, line: str) -> None:
        result = await self.person.handle_command(line)
        assert not result.failed, result.message

    async def asks(self, todo_id: str) -> Question:
        async with asyncio.timeout(60):
            seen = self.session.snapshot
            while (question := seen.question_of(todo_id)) is None:
                seen = await self.session.changed(seen)
            return question

    async def decide(self, todo_id: str, verdict: Verdict = Verdict.APPROVE) -> Question:
        question = await self.asks(todo_id)
        await self.person.decide(question, verdict)
        return question

    async def ends(self, todo_id: str, status: str = "completed") -> None:
        async with asyncio.timeout(60):
            seen = self.session.snapshot
            while seen.raw[todo_id]["status"] != status or not (status != "completed" or seen.at_rest):
                seen = await self.session.changed(seen)


@asynccontextmanager
async def opened(tmp_path: Path) -> AsyncIterator[Console]:
    workspace = tmp_path / "w"
    (workspace / "logs").mkdir(parents=True)
    (workspace / "hitl.toml").write_text(COMMANDS, encoding="utf-8")
    for name in ("a.gz", "b.gz", "kept.log"):
        (workspace / "logs" / name).write_text("text", encoding="utf-8")
    trust_workspace(tmp_path / "d", workspace)
    async with SessionRegistry.open(tmp_path / "d") as registry:
        setup = await registry.create("sizes", workspace)
        async with open_session(registry.store, setup, "sizes") as found:
            assert isinstance(found.view, Session)
            yield Console(found.view)


async def test_what_ran_before_a_restore_is_warned_of_at_the_same_command_only(tmp_path: Path) -> None:
    async with opened(tmp_path) as console:
        await console.asks("todo_001")
        await console.say("/todo remove 1")
        await console.say("/todo add command_team clean what=a.gz")
        asked = await console.asks("todo_002")
        there = console.session.snapshot.checkpoint_id
        await console.decide("todo_002")
        await console.ends("todo_002")
        await console.say(f"/checkpoint restore {there}")
        again = await console.asks("todo_002")
        assert again.view.request.about["ran_before"] == {"status": "completed", "branch": 0}
        await console.say('/todo edit 2 {"parameters": {"what": "b.gz"}}')
        other = await console.asks("todo_002")
        assert other.subject["arguments"]["argv"] != asked.subject["arguments"]["argv"]
        assert not other.view.request.about["ran_before"]
        await console.say('/todo edit 2 {"parameters": {"what": "a.gz"}}')
        assert (await console.asks("todo_002")).view.request.about["ran_before"]["status"] == "completed"


async def test_after_a_restore_the_answer_names_what_stayed_deleted_and_measures_anew(tmp_path: Path) -> None:
    async with opened(tmp_path) as console:
        await console.asks("todo_001")
        await console.say("/todo add command_team clean what=a.gz")
        there = console.session.snapshot.checkpoint_id
        await console.decide("todo_001")
        await console.ends("todo_001")
        await console.decide("todo_002")
        await console.ends("todo_002")
        (tmp_path / "w/logs/kept.log").write_text("longer text", encoding="utf-8")
        await console.say(f"/checkpoint restore {there}")
        question = await console.decide("todo_001")
        assert question.kind is Kind.TODO
        await console.decide("todo_002", Verdict.REJECT)
        async with asyncio.timeout(60):
            seen = console.session.snapshot
            while not seen.concluded:
                seen = await console.session.changed(seen)
        assert seen.response is not None
        text = seen.response["text"]
        assert "11 logs/kept.log" in text, "what changes nothing is done again, not taken from before"
        assert "Not undone by going back" in text
        assert "- 002 `clean what=a.gz`: deleted 1 entry: `logs/a.gz`" in text
