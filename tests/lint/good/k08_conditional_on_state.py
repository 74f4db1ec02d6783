from typing import TypedDict

from langgraph.graph import START, StateGraph
from langgraph.types import Command, interrupt

LIMIT = 10_000


class Expense(TypedDict):
    cents: int
    approved: bool


def gate(state: Expense) -> Command:
    if state["cents"] <= LIMIT:
        return Command(goto="pay", update={"approved": True})
    verdict = interrupt({"question": "Pay?", "cents": state["cents"]})
    match verdict:
        case True | "yes" | {"action": "approve"}:
            return Command(goto="pay", update={"approved": True})
        case _:
            return Command(goto="__end__", update={"approved": False})


def pay(state: Expense) -> dict:
    return {"approved": True}


b = StateGraph(Expense)
b.add_node("gate", gate)
b.add_node("pay", pay)
b.add_edge(START, "gate")
graph = b.compile()
