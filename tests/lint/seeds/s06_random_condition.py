"""One in ten payments is sampled for a check by hand."""

import random
from typing import TypedDict

from langgraph.graph import START, StateGraph
from langgraph.types import interrupt


class Payment(TypedDict):
    amount: int
    checked: bool


def sample(state: Payment) -> dict:
    checked = True
    if random.random() < 0.1:
        checked = interrupt({"question": "Is this payment right?", "amount": state["amount"]})  # fault: HT002
    return {"checked": checked}


builder = StateGraph(Payment)
builder.add_node("sample", sample)
builder.add_edge(START, "sample")
graph = builder.compile()
