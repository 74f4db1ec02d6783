"""Each reviewer is asked by name, in the order of a set of strings: another one in every process."""

from typing import TypedDict

from langgraph.graph import START, StateGraph
from langgraph.types import interrupt


class Contract(TypedDict):
    text: str
    opinions: dict


def collect(state: Contract) -> dict:
    reviewers = {"legal", "finance", "security"}
    opinions = {}
    for reviewer in reviewers:
        opinions[reviewer] = interrupt({"reviewer": reviewer, "content": state["text"]})  # fault: HT003
    return {"opinions": opinions}


builder = StateGraph(Contract)
builder.add_node("collect", collect)
builder.add_edge(START, "collect")
graph = builder.compile()
