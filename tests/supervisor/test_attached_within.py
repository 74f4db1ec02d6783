"""Breakpoints that a graph was compiled with, in its subgraphs too, and what it needs after reopening."""

from __future__ import annotations

import os
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from attached_graphs import halts_after, halts_within
from attached_support import GRAPHS, attached, world
from langgraph.checkpoint.memory import InMemorySaver
from trusting import trust_workspace

from hitl_tui.config.declared_graphs import declared_graph
from hitl_tui.graphs.graph_source import source_of
from hitl_tui.graphs.graph_target import load_target
from hitl_tui.ledger.records import Effect
from hitl_tui.policy.workspace_trust import NeedsTrust
from hitl_tui.supervisor.attached_graphs.outcomes import Asks
from hitl_tui.supervisor.attached_graphs.run_segments import Told, next_segment
from hitl_tui.supervisor.attached_graphs.waiting_points import breakpoint_question
from hitl_tui.supervisor.session_registry import SessionRegistry
from hitl_tui.teams.graph_team import GraphTeam


@pytest.fixture(autouse=True)
def _world(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WORLD", str(tmp_path / "world.txt"))
    monkeypatch.delenv("DIE", raising=False)


def _stopped(place: str) -> dict[str, Any]:
    return {"breakpoint": "before", "nodes": [place], "next": [place]}


async def test_a_question_that_was_answered_is_not_asked_again_at_a_breakpoint_behind_it(tmp_path: Path) -> None:
    async with attached(tmp_path, "halts_within", "{}") as op:
        await op.ok("/todo approve")
        assert op.asked == [_stopped("sub/inside")]
        await op.ok("/continue")
        (question,) = op.asked
        assert question == "Inside?"
        await op.ok(f"/answer {op.questions[0].name} yes")
        assert op.asked == [_stopped("sub/finish")]
        assert "finish" not in world(tmp_path)
        await op.ok("/continue")
        assert op.now.status == "finished"
    assert world(tmp_path)["prepare"] == 1 and world(tmp_path)["finish"] == 2


def _effect(status: str, answers: dict[str, int]) -> Effect:
    return Effect("eff", "s1", "todo_001", "0", "run", "graph", {"answers": answers}, status, {})


@pytest.mark.parametrize("graph", [halts_after, halts_within], ids=["after", "within"])
async def test_a_breakpoint_that_was_not_on_record_yet_is_asked_about_after_a_crash(
    graph: Any,
) -> None:
    ready = graph.copy({"checkpointer": InMemorySaver()})
    config: Any = {"configurable": {"thread_id": "t"}, "metadata": {"hitl_run": "run"}}
    await ready.ainvoke({}, config)
    state = await ready.aget_state(config, subgraphs=True)
    todo = SimpleNamespace(arguments={"input": {}}, metadata={}, attempt=1)
    spec: Any = SimpleNamespace(run_id="run", todo=todo, step={}, stopped_on="")
    first = Told("run", (), [_effect("done", {})])
    assert isinstance(next_segment(spec, ready, state, first, {}, {}), Asks)
    asked = {
        **breakpoint_question(state, state.next),
        "asked": 1,
        "answer": {"value": {"action": "continue"}},
    }
    fresh = Told("run", (asked,), [_effect("done", {})])
    passed = next_segment(spec, ready, state, fresh, {}, {})
    assert not isinstance(passed, Asks) and passed.name == "pass"
    heard = Told("run", (asked,), [_effect("done", {}), _effect("done", {asked["id"]: 1})])
    assert isinstance(next_segment(spec, ready, state, heard, {}, {}), Asks)


@pytest.mark.parametrize("env", ['{"MODEL": "small"}', '".env"'])
async def test_the_environment_of_a_langgraph_json_is_there_after_reopening(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, env: str
) -> None:
    monkeypatch.delenv("MODEL", raising=False)
    workspace, data = tmp_path / "w", tmp_path / "d"
    workspace.mkdir()
    graphs = f'"mail": "{GRAPHS}:mail", "other": "{GRAPHS}:many"'
    (workspace / "langgraph.json").write_text(f'{{"graphs": {{{graphs}}}, "env": {env}}}')
    (workspace / ".env").write_text("MODEL=small\n")
    (workspace / "cap.md").write_text("# Cap\n\nThe cap.\n")
    trust_workspace(data, workspace)
    async with SessionRegistry.open(data) as bench:
        attached = declared_graph("mail", workspace)
        await bench.create("{}", workspace, session_id="s1", graph=attached)
    async with SessionRegistry.open(data) as bench:
        team = (await bench.setup("s1")).team("mail")
        assert isinstance(team, GraphTeam)
        load_target(team.declaration, source_of(team.declaration, str(workspace), {}))
        assert os.environ["MODEL"] == "small"
    monkeypatch.delenv("MODEL")
    (workspace / "langgraph.json").write_text(f'{{"graphs": {{{graphs}}}, "env": {{"MODEL": "large"}}}}')
    async with SessionRegistry.open(data) as bench:
        with pytest.raises(NeedsTrust, match="mail works only once this folder is trusted"):
            (await bench.setup("s1")).team("mail").build()
    assert "MODEL" not in os.environ
