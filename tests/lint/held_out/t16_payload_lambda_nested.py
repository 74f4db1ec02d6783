from typing import TypedDict

from langgraph.graph import START, StateGraph
from langgraph.types import interrupt


class State(TypedDict):
    amount: int
    ok: bool


def check_amount(value):
    return isinstance(value, int) and value > 0


def ask(state: State) -> dict:
    request = {
        "question": "How much?",
        "default": state["amount"],
        "validate": check_amount,
    }
    amount = interrupt(request)  # fault: HT004
    return {"amount": amount}


b = StateGraph(State)
b.add_node("ask", ask)
b.add_edge(START, "ask")
graph = b.compile()
