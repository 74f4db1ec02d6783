"""Several questions in one node, always the same, in the same order; the second depends on the first answer alone."""

from typing import TypedDict

from langgraph.graph import START, StateGraph
from langgraph.types import interrupt

FIELDS = ("name", "street", "city")


class Address(TypedDict):
    name: str
    street: str
    city: str
    company: str


def address(state: Address) -> dict:
    found = {}
    for field in FIELDS:
        found[field] = interrupt(f"What is the {field}?")
    kind = interrupt({"question": "Private or business?", "options": ["private", "business"]})
    if kind == "business":
        found["company"] = interrupt("Which company?")
    return found


builder = StateGraph(Address)
builder.add_node("address", address)
builder.add_edge(START, "address")
graph = builder.compile()
