"""A function within the node within a factory charges a card."""

import stripe
from typing import TypedDict
from langgraph.graph import START, StateGraph
from langgraph.types import interrupt


class S(TypedDict):
    cents: int


def build_graph(key: str):
    stripe.api_key = key

    def charge(state: S):
        def do():
            return stripe.PaymentIntent.create(amount=state["cents"], currency="eur")  # fault: HT006

        intent = do()
        answer = interrupt({"question": "send a receipt?"})
        return {"cents": 0 if answer else state["cents"]}

    g = StateGraph(S)
    g.add_node("charge", charge)
    g.add_edge(START, "charge")
    return g.compile()
