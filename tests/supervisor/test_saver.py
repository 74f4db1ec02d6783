"""`SessionSaver` gives what LangGraph's own saver gives, over loads, forks and reopening."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Annotated, Any, TypedDict

import pytest
from langgraph.channels.delta import DeltaChannel
from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver
from langgraph.graph import START, StateGraph
from langgraph.types import Command, interrupt

from hitl_tui.supervisor.checkpointer import create_checkpointer, serializer
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
