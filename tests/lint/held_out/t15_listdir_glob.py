from pathlib import Path
from typing import TypedDict

from langgraph.graph import START, StateGraph
from langgraph.types import interrupt


class Inbox(TypedDict):
    folder: str
    labels: dict[str, str]


def label(state: Inbox) -> dict:
    labels = {p.name: interrupt(f"Label for {p.name}?") for p in Path(state["folder"]).glob("*.eml")}  # fault: HT003
    return {"labels": labels}


graph = StateGraph(Inbox).add_node(label).add_edge(START, "label").compile()
