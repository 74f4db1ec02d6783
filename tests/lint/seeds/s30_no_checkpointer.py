"""Compiled as a graph that never saves, although it asks."""

from typing import TypedDict

from langgraph.graph import START, StateGraph
from langgraph.types import interrupt


class Question(TypedDict):
    text: str
    answer: str


def ask(state: Question) -> Question:
    return {"answer": interrupt(state["text"])}


def build():
    builder = StateGraph(Question)
    builder.add_node("ask", ask)
    builder.add_edge(START, "ask")
    return builder.compile(checkpointer=False)  # fault: HT011


graph = build()
