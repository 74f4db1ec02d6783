"""A graph that asks stands in another one as a node; effects stand behind it."""

import json
from pathlib import Path
from typing import TypedDict

from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import START, StateGraph
from langgraph.types import interrupt


class State(TypedDict):
    text: str
    approved: bool


def ask(state: State) -> dict:
    return {"approved": bool(interrupt({"question": "Is this right?", "content": state["text"]}))}


child = StateGraph(State)
child.add_node("ask", ask)
child.add_edge(START, "ask")


def prepare(state: State) -> dict:
    Path("prepared.json").write_text(json.dumps({"text": state["text"]}))
    return {"text": state["text"].strip()}


def store(state: State) -> dict:
    if state["approved"]:
        Path("approved.txt").write_text(state["text"])
    return {}


builder = StateGraph(State)
builder.add_node("prepare", prepare)
builder.add_node("child", child.compile())
builder.add_node("store", store)
builder.add_edge(START, "prepare")
builder.add_edge("prepare", "child")
builder.add_edge("child", "store")
graph = builder.compile(checkpointer=InMemorySaver())
