"""A date reaches the payload by way of a variable and a helper."""

from datetime import date, timedelta
from typing import TypedDict

from langgraph.graph import START, StateGraph
from langgraph.types import interrupt


class Invoice(TypedDict):
    number: str
    issued: str
    paid: bool


def payload_for(number: str, issued: str) -> dict:
    due = date.fromisoformat(issued) + timedelta(days=30)
    return {"question": "Was it paid?", "number": number, "due": due}


def confirm(state: Invoice) -> dict:
    payload = payload_for(state["number"], state["issued"])
    paid = interrupt(payload)  # fault: HT004
    return {"paid": paid}


builder = StateGraph(Invoice)
builder.add_node("confirm", confirm)
builder.add_edge(START, "confirm")
graph = builder.compile()
