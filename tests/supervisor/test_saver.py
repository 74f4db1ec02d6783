"""`SessionSaver` gives what LangGraph's own saver gives, over loads, forks and reopening."""

from __future__ import annotations

import random
import sqlite3
from pathlib import Path
from typing import Annotated, Any, TypedDict

import pytest
from langgraph.channels.delta import DeltaChannel
from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver
from langgraph.graph import START, StateGraph
from langgraph.types import Command, interrupt

from hitl_tui.supervisor.checkpoint_saver import SessionSaver, create_checkpointer, serializer
from hitl_tui.supervisor.state import merge_todos


class State(TypedDict, total=False):
    todos: Annotated[dict[str, Any], DeltaChannel(merge_todos, dict, snapshot_frequency=7)]
    count: int


def gate(state: State) -> Command[str]:
    changes = interrupt({"gate": True})
    return Command(goto="gate", update={"todos": changes, "count": state.get("count", 0) + 1})


def graph_on(saver: BaseCheckpointSaver[str]) -> Any:
    builder = StateGraph(State)
    builder.add_node("gate", gate)
    builder.add_edge(START, "gate")
    return builder.compile(checkpointer=saver)


CONFIG: Any = {"configurable": {"thread_id": "session_s1"}}


@pytest.mark.parametrize("seed", range(4))
async def test_states_are_the_same_as_the_stock_savers(tmp_path: Path, seed: int) -> None:
    rng = random.Random(seed)
    path = tmp_path / "checkpoints.db"
    expected: dict[str, Any] = {}
    heads: list[tuple[str, dict[str, Any]]] = []
    for _ in range(4):
        async with create_checkpointer(path) as saver:
            graph = graph_on(saver)
            await graph.ainvoke(None if heads else {"count": 0}, CONFIG, durability="sync")
            for _ in range(rng.randint(3, 12)):
                if heads and rng.random() < 0.2:
                    checkpoint_id, expected = rng.choice(heads)
                    at: Any = {"configurable": {**CONFIG["configurable"], "checkpoint_id": checkpoint_id}}
                    await graph.aupdate_state(at, None, as_node="__copy__")
                    await graph.ainvoke(None, CONFIG, durability="sync")
                changes = {f"todo_{rng.randint(1, 6)}": rng.choice([None, {"n": rng.random()}]) for _ in range(2)}
                state = await graph.aget_state(CONFIG)
                answer: Command[Any] = Command(resume={state.interrupts[0].id: changes})
                found = await graph.ainvoke(answer, CONFIG, durability="sync")
                expected = merge_todos(expected, [changes])
                assert found["todos"] == expected
                head = await graph.aget_state(CONFIG)
                heads.append((head.config["configurable"]["checkpoint_id"], expected))
    async with AsyncSqliteSaver.from_conn_string(str(path)) as stock:
        stock.serde = serializer()
        plain = graph_on(stock)
        for checkpoint_id, todos in heads:
            at = {"configurable": {**CONFIG["configurable"], "checkpoint_id": checkpoint_id}}
            assert (await plain.aget_state(at)).values["todos"] == todos


def append_all(old: list[str], writes: list[list[str]]) -> list[str]:
    return [*old, *(item for write in writes for item in write)]


class Named(TypedDict, total=False):
    todos: Annotated[list[str], DeltaChannel(append_all, list, snapshot_frequency=2)]


def ask(state: Named) -> Command[str]:
    return Command(goto="ask", update={"todos": [interrupt("?")]})


async def test_a_team_may_have_a_delta_channel_of_the_same_name(tmp_path: Path) -> None:
    config: Any = {"configurable": {"thread_id": "s1/todo_001/0.1"}}
    async with create_checkpointer(tmp_path / "checkpoints.db") as saver:
        builder = StateGraph(Named)
        builder.add_node("ask", ask)
        builder.add_edge(START, "ask")
        graph = builder.compile(checkpointer=saver)
        found = await graph.ainvoke({"todos": ["a"]}, config)
        for word in "bcdefg":
            found = await graph.ainvoke(Command(resume=word), config)
    assert found["todos"] == list("abcdefg")


async def test_more_writes_than_one_statement_takes_are_all_there(tmp_path: Path) -> None:
    async with create_checkpointer(tmp_path / "checkpoints.db") as saver:
        assert isinstance(saver, SessionSaver)
        await saver.conn._execute(lambda: saver.conn._conn.setlimit(sqlite3.SQLITE_LIMIT_VARIABLE_NUMBER, 32_766))
        place: Any = {"configurable": {"thread_id": "session_s1", "checkpoint_ns": "", "checkpoint_id": "1"}}
        await saver.aput_writes(place, [("channel", n) for n in range(4_000)], "task")
        rows = await saver.conn.execute_fetchall("SELECT count(*) FROM writes")
    assert list(rows) == [(4_000,)]
