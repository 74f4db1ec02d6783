"""A helper counts in the module."""

from typing import TypedDict
from langgraph.graph import START, StateGraph
from langgraph.types import interrupt


class S(TypedDict):
    x: str


asked = 0


def count():
    global asked
    asked += 1  # fault: HT006


def ask(state: S):
    count()
    return {"x": interrupt(f"question {asked}")}


graph = StateGraph(S).add_node(ask).add_edge(START, "ask").compile()
