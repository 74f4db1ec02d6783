"""A return in finally drops whatever was raised."""

from langgraph.graph import START, StateGraph
from langgraph.types import interrupt


def confirm(state: dict) -> dict:
    outcome = "unknown"
    try:
        outcome = interrupt({"question": "Go on?"})  # fault: HT001
    finally:
        return {"outcome": outcome}


builder = StateGraph(dict)
builder.add_node("confirm", confirm)
builder.add_edge(START, "confirm")
graph = builder.compile()
