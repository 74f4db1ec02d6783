"""Errors are handled, but never around the question; where they are, what LangGraph raises goes on first."""

from typing import TypedDict

import httpx
from langgraph.errors import GraphBubbleUp
from langgraph.graph import START, StateGraph
from langgraph.types import interrupt


class Order(TypedDict):
    id: str
    outcome: str


def cancel(state: Order) -> dict:
    if not interrupt({"question": "Cancel this order?", "id": state["id"]}):
        return {"outcome": "kept"}
    try:
        httpx.delete(f"https://shop.example/orders/{state['id']}").raise_for_status()
    except httpx.HTTPError as error:
        return {"outcome": f"failed: {error}"}
    return {"outcome": "cancelled"}


def remark(state: Order) -> dict:
    try:
        text = interrupt("Any remark?")
    except GraphBubbleUp:
        raise
    except Exception as error:
        return {"outcome": str(error)}
    return {"outcome": text}


def number(state: Order) -> dict:
    try:
        return {"id": str(int(interrupt("Which order next?")))}
    except ValueError:
        return {"id": ""}


builder = StateGraph(Order)
builder.add_node("cancel", cancel)
builder.add_node("remark", remark)
builder.add_node("number", number)
builder.add_edge(START, "cancel")
builder.add_edge("cancel", "remark")
builder.add_edge("remark", "number")
graph = builder.compile()
