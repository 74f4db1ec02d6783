"""Goes on asking until ten minutes are over: how many questions there were depends on the clock."""

import time
from typing import TypedDict

from langgraph.graph import START, StateGraph
from langgraph.types import interrupt


class Interview(TypedDict):
    notes: list[str]


def talk(state: Interview) -> Interview:
    notes: list[str] = []
    end = time.monotonic() + 600
    while time.monotonic() < end:
        notes.append(interrupt({"question": "Anything else?", "so_far": len(notes)}))  # fault: HT005
    return {"notes": notes}


builder = StateGraph(Interview)
builder.add_node("talk", talk)
builder.add_edge(START, "talk")
graph = builder.compile()
