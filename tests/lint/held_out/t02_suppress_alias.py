import contextlib as cl
from typing import TypedDict

import langgraph.types as lgt
from langgraph.graph import StateGraph


class Ticket(TypedDict, total=False):
    id: int
    priority: str


class Triage:
    """Ask a person for the priority; keep the old one when none is given."""

    def __init__(self, default: str) -> None:
        self.default = default

    def __call__(self, ticket: Ticket) -> Ticket:
        priority = ticket.get("priority", self.default)
        with cl.suppress(KeyError, Exception):
            priority = lgt.interrupt(f"Priority of ticket {ticket['id']}?")  # fault: HT001
        return {"priority": priority}


def build():
    g = StateGraph(Ticket)
    g.add_node("triage", Triage("low"))
    g.set_entry_point("triage")
    g.set_finish_point("triage")
    return g.compile()
