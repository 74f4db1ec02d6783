"""A helper asks in a comprehension over a list in state."""

from typing import TypedDict
from langgraph.graph import START, StateGraph
from langgraph.types import interrupt


class S(TypedDict):
    files: list[str]
    kept: list[str]


def confirm(name: str) -> bool:
    return bool(interrupt({"question": f"keep {name}?"}))


def review(state: S) -> S:
    kept = [f for f in state["files"] if confirm(f)]
    return {"kept": kept}


graph = StateGraph(S).add_node("review", review).add_edge(START, "review").compile()
