"""LangGraph's documentation, subgraphs: a compiled graph is a node, and asks from two levels down."""

from __future__ import annotations

from graph_world import act
from langgraph.graph import START, StateGraph
from langgraph.types import interrupt
from typing_extensions import TypedDict


class State(TypedDict, total=False):
    order: str
    stock: int
    answer: str


def look_up(state: State) -> State:
    act("looked up")
    return {"stock": 3}


def confirm(state: State) -> State:
    answer = interrupt({"question": "Reserve it?", "options": ["reserve", "leave"], "stock": state["stock"]})
    return {"answer": answer}


def reserve(state: State) -> State:
    if state["answer"] == "reserve":
        act(f"reserved {state['order']}")
    return {}


inner = (
    StateGraph(State)
    .add_node("look_up", look_up)
    .add_node("confirm", confirm)
    .add_edge(START, "look_up")
    .add_edge("look_up", "confirm")
    .compile()
)
middle = StateGraph(State).add_node("clerk", inner).add_edge(START, "clerk").compile()
graph = (
    StateGraph(State)
    .add_node("shop", middle)
    .add_node("reserve", reserve)
    .add_edge(START, "shop")
    .add_edge("shop", "reserve")
    .compile()
)
