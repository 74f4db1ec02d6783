"""Files of a folder are asked about in whatever order the file system has them now."""

import os
from pathlib import Path
from typing import TypedDict

from langgraph.graph import END, START, StateGraph
from langgraph.types import interrupt


class Cleanup(TypedDict):
    folder: str
    doomed: list[str]


def choose(state: Cleanup) -> dict:
    doomed = []
    names = os.listdir(state["folder"])
    for name in names:
        if name.endswith(".log"):
            verdict = interrupt({"question": "Delete it?", "file": str(Path(state["folder"]) / name)})  # fault: HT003
            if verdict:
                doomed.append(name)
    return {"doomed": doomed}


builder = StateGraph(Cleanup)
builder.add_node("choose", choose)
builder.add_edge(START, "choose")
builder.add_edge("choose", END)
graph = builder.compile()
