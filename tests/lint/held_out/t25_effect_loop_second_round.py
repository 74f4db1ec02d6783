from typing import TypedDict

import requests
from langgraph.graph import START, StateGraph
from langgraph.types import interrupt


class Batch(TypedDict):
    payments: list[dict]
    done: list[str]


def pay_all(state: Batch) -> dict:
    done = []
    for payment in state["payments"]:
        ok = interrupt({"question": "Pay?", "to": payment["to"], "amount": payment["amount"]})
        if ok:
            requests.post("https://bank.example/pay", json=payment, timeout=5)  # fault: HT006
            done.append(payment["id"])
    return {"done": done}


b = StateGraph(Batch)
b.add_node("pay_all", pay_all)
b.add_edge(START, "pay_all")
graph = b.compile()
