"""The options are a set."""

from typing import TypedDict

from langgraph.graph import START, StateGraph
from langgraph.types import interrupt


class Route(TypedDict):
    target: str


def choose_target(state: Route) -> Route:
    target = interrupt(  # fault: HT004
        {
            "question": "Where to?",
            "options": {"staging", "production"},
        }
    )
    return {"target": target}


builder = StateGraph(Route)
builder.add_node("choose_target", choose_target)
builder.add_edge(START, "choose_target")
graph = builder.compile()
