"""The payload has a member of an enumeration."""

import enum
from typing import TypedDict
from langgraph.graph import START, StateGraph
from langgraph.types import interrupt


class Risk(enum.Enum):
    LOW = 1
    HIGH = 2


class S(TypedDict):
    amount: int


def ask(state: S):
    risk = Risk.HIGH if state["amount"] > 100 else Risk.LOW
    return {"amount": interrupt({"question": "ok?", "risk": risk})}  # fault: HT004


graph = StateGraph(S).add_node(ask).add_edge(START, "ask").compile()
