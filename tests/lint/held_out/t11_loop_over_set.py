from typing import TypedDict

from langgraph.graph import StateGraph
from langgraph.types import interrupt


class State(TypedDict):
    files: list[str]
    keep: dict[str, bool]


def choose(state: State) -> dict:
    folders = {f.rsplit("/", 1)[0] for f in state["files"]}
    keep = {}
    for folder in folders:
        keep[folder] = interrupt({"question": "Keep this folder?", "folder": folder})  # fault: HT003
    return {"keep": keep}


sg = StateGraph(State)
sg.add_node("choose", choose)
sg.set_entry_point("choose")
sg.set_finish_point("choose")
graph = sg.compile()
