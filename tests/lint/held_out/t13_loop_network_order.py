from typing import TypedDict

import requests
from langgraph.graph import START, StateGraph
from langgraph.types import interrupt


class Cleanup(TypedDict):
    bucket: str
    deleted: list[str]


def open_orders(base: str) -> dict[str, dict]:
    response = requests.get(f"{base}/orders", params={"state": "open"}, timeout=10)
    response.raise_for_status()
    return response.json()


def review_orders(state: Cleanup) -> dict:
    orders = open_orders(state["bucket"])
    cancelled = []
    for order_id, order in orders.items():
        if interrupt({"question": "Cancel?", "order": order_id, "total": order["total"]}):  # fault: HT005
            cancelled.append(order_id)
    return {"deleted": cancelled}


b = StateGraph(Cleanup)
b.add_node("review_orders", review_orders)
b.add_edge(START, "review_orders")
graph = b.compile()
