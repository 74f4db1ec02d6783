from typing import TypedDict

from langgraph.graph import END, START, StateGraph
from langgraph.types import interrupt


class Essay(TypedDict):
    text: str
    notes: list[str]


def collect(state: Essay) -> dict:
    return {"notes": [*state["notes"], interrupt("A note, please.")]}


def more(state: Essay) -> str:
    return END if len(state["notes"]) > 2 else "collect"


notes = StateGraph(Essay)
notes.add_node("collect", collect)
notes.add_edge(START, "collect")
notes.add_conditional_edges("collect", more)
notes_graph = notes.compile(checkpointer=False)  # fault: HT011

parent = StateGraph(Essay)
parent.add_node("notes", notes_graph)
parent.add_edge(START, "notes")
parent.add_edge("notes", END)
graph = parent.compile()
