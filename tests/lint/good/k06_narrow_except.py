import json
from typing import TypedDict

from langgraph.graph import START, StateGraph
from langgraph.types import interrupt


class State(TypedDict):
    raw: str
    data: dict


def parse(state: State) -> dict:
    try:
        data = json.loads(state["raw"])
    except Exception:
        data = {}
    try:
        data = interrupt({"instruction": "Correct the record", "content": data})
        data["id"] = int(data["id"])
    except (KeyError, ValueError):
        data = {}
    return {"data": data}


b = StateGraph(State)
b.add_node("parse", parse)
b.add_edge(START, "parse")
graph = b.compile()
