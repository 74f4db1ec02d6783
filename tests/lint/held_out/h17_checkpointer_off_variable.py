"""A subgraph that asks is compiled so that it keeps nothing."""

from typing import TypedDict

from langgraph.graph import START, StateGraph
from langgraph.types import interrupt


class S(TypedDict):
    x: str


def inner_ask(state: S) -> S:
    return {"x": interrupt("x?")}


def make_inner():
    return StateGraph(S).add_node(inner_ask).add_edge(START, "inner_ask").compile(checkpointer=False)  # fault: HT011


outer = StateGraph(S)
outer.add_node("inner", make_inner())
outer.add_edge(START, "inner")
graph = outer.compile()
