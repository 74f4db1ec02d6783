"""Asks only the first time this process sees a host: after the answer the host is known, and isn't asked about."""

from typing import TypedDict

from langgraph.graph import START, StateGraph
from langgraph.types import interrupt

SEEN = {}


class Visit(TypedDict):
    host: str
    trusted: bool


def trust(state: Visit):
    host = state["host"]
    if host not in SEEN:
        SEEN[host] = interrupt(f"May agents open {host}?")  # fault: HT002
    return {"trusted": SEEN[host]}


builder = StateGraph(Visit)
builder.add_node("trust", trust)
builder.set_entry_point("trust")
graph = builder.compile()
