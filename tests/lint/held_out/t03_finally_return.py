from typing import TypedDict

from langgraph.graph import StateGraph
from langgraph.types import interrupt as ask_person


class State(TypedDict):
    draft: str
    final: str


def review(state: State):
    result = {"final": state["draft"]}
    try:
        edited = ask_person({"instruction": "Edit the text", "content": state["draft"]})  # fault: HT001
        if edited:
            result["final"] = edited
    finally:
        return result


g = StateGraph(State)
g.add_node("review", review)
g.add_edge("__start__", "review")
app = g.compile()
