"""Approves a refund; the mail server is known to be flaky, so everything stands in one try."""

from typing import TypedDict

from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import END, START, StateGraph
from langgraph.types import interrupt


class Refund(TypedDict):
    order: str
    amount: float
    outcome: str


def review(state: Refund) -> dict:
    try:
        allowed = interrupt({"question": "Refund this order?", "order": state["order"]})  # fault: HT001
        outcome = "refunded" if allowed else "kept"
    except Exception as error:
        outcome = f"failed: {error}"
    return {"outcome": outcome}


builder = StateGraph(Refund)
builder.add_node("review", review)
builder.add_edge(START, "review")
builder.add_edge("review", END)
graph = builder.compile(checkpointer=InMemorySaver())
