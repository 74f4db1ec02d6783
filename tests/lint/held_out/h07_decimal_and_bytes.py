"""Money as Decimal, in a list of rows built in a loop."""

from decimal import Decimal
from typing import TypedDict

from langgraph.graph import START, StateGraph
from langgraph.types import interrupt


class Basket(TypedDict):
    prices: list[str]
    accepted: bool


def checkout(state: Basket) -> dict:
    rows = []
    for price in state["prices"]:
        rows.append({"net": Decimal(price), "gross": Decimal(price) * Decimal("1.19")})
    accepted = interrupt({"question": "Pay?", "rows": rows})  # fault: HT004
    return {"accepted": accepted}


builder = StateGraph(Basket)
builder.add_node("checkout", checkout)
builder.add_edge(START, "checkout")
graph = builder.compile()
