"""Unions of sets decide the order."""

from typing import TypedDict

from langgraph.graph import START, StateGraph
from langgraph.types import interrupt as pause

DEFAULTS = frozenset({"privacy", "security"})


class Checks(TypedDict):
    wanted: list[str]
    results: dict[str, bool]


def run_checks(state: Checks) -> dict:
    names = DEFAULTS | set(state["wanted"])
    return {"results": {name: pause(f"Does it pass the {name} check?") for name in names}}  # fault: HT003


g = StateGraph(Checks)
g.add_node("run_checks", run_checks)
g.add_edge(START, "run_checks")
graph = g.compile()
