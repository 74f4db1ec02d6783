"""LangGraph's documentation, interrupts: several at once. Two branches ask side by side; each does its own deed."""

from __future__ import annotations

import operator
from typing import Annotated

from graph_world import act, gate
from langgraph.graph import END, START, StateGraph
from langgraph.types import interrupt
from typing_extensions import TypedDict


class State(TypedDict):
    vals: Annotated[list[str], operator.add]


async def node_a(state: State) -> State:
    answer = interrupt("question_a")
    act(f"a {answer}")
    return {"vals": [f"a:{answer}"]}


def node_b(state: State) -> State:
    answer = interrupt("question_b")
    act(f"b {answer}")
    gate("b")
    return {"vals": [f"b:{answer}"]}


def quiet(state: State) -> State:
    act("quiet")
    return {"vals": ["quiet"]}


graph = (
    StateGraph(State)
    .add_node("a", node_a)
    .add_node("b", node_b)
    .add_node("quiet", quiet)
    .add_edge(START, "a")
    .add_edge(START, "b")
    .add_edge(START, "quiet")
    .add_edge("a", END)
    .add_edge("b", END)
    .add_edge("quiet", END)
    .compile()
)
