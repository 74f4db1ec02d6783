from typing import TypedDict

from langgraph.graph import START, StateGraph
from langgraph.types import interrupt


class Transfer:
    def __init__(self, source: str, target: str, cents: int) -> None:
        self.source, self.target, self.cents = source, target, cents


class Bank(TypedDict):
    source: str
    target: str
    cents: int
    state: str


def propose(state: Bank) -> Transfer:
    return Transfer(state["source"], state["target"], state["cents"])


def approve(state: Bank) -> dict:
    proposal = propose(state)
    verdict = interrupt({"question": "Transfer?", "transfer": proposal})  # fault: HT004
    return {"state": "sent" if verdict else "refused"}


b = StateGraph(Bank)
b.add_node("approve", approve)
b.add_edge(START, "approve")
graph = b.compile()
