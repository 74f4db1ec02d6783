from __future__ import annotations

from typing import TypedDict

from langgraph.graph import END, START, StateGraph
from langgraph.types import interrupt


class Order(TypedDict):
    lines: list[str]
    approved: bool
    error: str


async def validate(state: Order) -> dict:
    bad = [line for line in state["lines"] if not line.strip()]
    return {"error": f"{len(bad)} empty lines" if bad else ""}


async def approve(state: Order) -> dict:
    try:
        answer = interrupt({"question": "Send this order?", "lines": state["lines"]})  # fault: HT001
        if answer not in (True, False):
            raise ValueError("yes or no, please")
    except Exception as exc:
        return {"approved": False, "error": str(exc)}
    return {"approved": answer}


builder = StateGraph(Order)
builder.add_node("validate", validate)
builder.add_node("approve", approve)
builder.add_edge(START, "validate")
builder.add_edge("validate", "approve")
builder.add_edge("approve", END)
graph = builder.compile()
