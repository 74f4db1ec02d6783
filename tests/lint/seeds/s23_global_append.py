"""Counts and remembers in the module, once more for every answer."""

from typing import TypedDict

from langgraph.graph import START, StateGraph
from langgraph.types import interrupt

AUDIT: list[str] = []


class Access(TypedDict):
    user: str
    granted: bool


def grant(state: Access) -> dict:
    AUDIT.append(f"{state['user']} asked for access")  # fault: HT006
    granted = interrupt({"question": "Grant access?", "user": state["user"]})
    return {"granted": granted}


builder = StateGraph(Access)
builder.add_node("grant", grant)
builder.add_edge(START, "grant")
graph = builder.compile()
