"""Approve or reject: the node only asks and says where to go on; what is dangerous stands in a node of its own."""

from pathlib import Path
from typing import Literal, TypedDict

from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import END, START, StateGraph
from langgraph.types import Command, interrupt


class Removal(TypedDict):
    path: str
    status: str


def approval(state: Removal) -> Command[Literal["remove", "keep"]]:
    print("asking about", state["path"])
    allowed = interrupt({"question": "Remove this file?", "path": state["path"]})
    return Command(goto="remove" if allowed else "keep")


def remove(state: Removal) -> dict:
    Path(state["path"]).unlink(missing_ok=True)
    return {"status": "removed"}


def keep(state: Removal) -> dict:
    return {"status": "kept"}


builder = StateGraph(Removal)
builder.add_node("approval", approval)
builder.add_node("remove", remove)
builder.add_node("keep", keep)
builder.add_edge(START, "approval")
builder.add_edge("remove", END)
builder.add_edge("keep", END)
graph = builder.compile(checkpointer=InMemorySaver())
