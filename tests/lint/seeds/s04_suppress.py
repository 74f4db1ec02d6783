"""contextlib.suppress is a try/except as well."""

import contextlib
from typing import TypedDict

from langgraph.graph import START, StateGraph
from langgraph.types import interrupt as ask_human


class Ticket(TypedDict):
    title: str
    priority: str


class Triage:
    def __init__(self, default: str) -> None:
        self.default = default

    def __call__(self, state: Ticket) -> dict[str, str]:
        priority = self.default
        with contextlib.suppress(Exception):
            priority = ask_human({"title": state["title"], "options": ["low", "high"]})  # fault: HT001
        return {"priority": priority}


builder = StateGraph(Ticket)
builder.add_node("triage", Triage("low"))
builder.add_edge(START, "triage")
graph = builder.compile()
