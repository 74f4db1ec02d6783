"""One question that is asked only above an amount in state, with nothing after it that asks."""

from typing import TypedDict

import requests
from langgraph.graph import START, StateGraph
from langgraph.types import interrupt

LIMIT = 1_000


class Payment(TypedDict):
    amount: int
    payee: str
    paid: bool


def pay(state: Payment) -> dict:
    if state["amount"] > LIMIT:
        answer = interrupt({"question": "Pay this much?", "amount": state["amount"], "payee": state["payee"]})
        if answer is not True:
            return {"paid": False}
    requests.post("https://bank.example/payments", json={"to": state["payee"], "amount": state["amount"]}, timeout=10)
    return {"paid": True}


builder = StateGraph(Payment)
builder.add_node("pay", pay)
builder.add_edge(START, "pay")
graph = builder.compile()
