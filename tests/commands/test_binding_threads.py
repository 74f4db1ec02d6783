"""Files are bound in threads: whoever types meanwhile isn't held up, however many there are."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest
from people import verified
from trusting import trust_workspace

from hitl_tui.commands.handler import CommandHandler
from hitl_tui.core.policy import Mode
from hitl_tui.core.requests import Verdict
from hitl_tui.policy.workspace_digest import FileHashes, Scope, Tree
from hitl_tui.supervisor.open_session import open_session
from hitl_tui.supervisor.session import Session
from hitl_tui.supervisor.session_registry import SessionRegistry
from hitl_tui.supervisor.snapshot import Question

SETTINGS = """
[teams.command_team.commands.mark]
description = "Leave a mark"
run = ["sh", "mark.sh"]
preview = ["sh", "look.sh"]
risk = "high"

[teams.asker]
kind = "graph"
graph = "asker.py:graph"
"""
ASKER = """
from typing import TypedDict
from langgraph.graph import StateGraph, START
from langgraph.types import interrupt

class State(TypedDict, total=False):
    text: str

def ask(state):
    interrupt("Now?")
    return {}

graph = StateGraph(State).add_node("ask", ask).add_edge(START, "ask").compile()
"""


async def asked(session: Session, todo_id: str, but: str = "") -> Question:
    seen = session.snapshot
    while (question := seen.question_of(todo_id)) is None or question.id == but:
        seen = await session.changed(seen)
    return question


async def test_nothing_is_bound_in_the_event_loop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    workspace = tmp_path / "w"
    workspace.mkdir()
    for name, text in {"hitl.toml": SETTINGS, "mark.sh": "true", "look.sh": "true", "asker.py": ASKER}.items():
        (workspace / name).write_text(text, encoding="utf-8")
    trust_workspace(tmp_path / "d", workspace)
    bound: list[bool] = []
    tree = FileHashes.tree

    def watched(self: FileHashes, scope: Scope, named: frozenset[str] = frozenset()) -> Tree:
        bound.append(threading.current_thread() is threading.main_thread())
        return tree(self, scope, named)

    monkeypatch.setattr(FileHashes, "tree", watched)
    async with SessionRegistry.open(tmp_path / "d") as registry:
        setup = await registry.create("mark", workspace, mode=Mode.PLAN)
        async with open_session(registry.store, setup) as opened:
            session = opened.view
            assert isinstance(session, Session)
            by = verified("ann")
            handler = CommandHandler(session, setup.planner, by="ann", channel="test", acting=by, terminal=True)
            await session.settled()
            for line in ("/plan reject then mark again", "/plan approve", "/todo edit 2 {}"):
                result = await handler.handle_command(line)
                assert not result.failed, result.message
                await session.settled()
            await handler.decide(await asked(session, "todo_002"), Verdict.APPROVE)
            await session.settled()
            assert not (await handler.handle_command("mark once more")).failed
            added = await handler.handle_command('/todo add asker {"text": "x"}')
            question = await asked(session, added.data["todo_id"])
            await handler.decide(question, Verdict.APPROVE)
            inside = await asked(session, question.todo_id, question.id)
            (workspace / "look.sh").write_text("false", encoding="utf-8")
            result = await handler.handle_command(f"/answer {inside.name} true")
            assert "look.sh changed since you were asked" in result.message
            await session.settled()
    assert len(bound) > 10 and not any(bound)
