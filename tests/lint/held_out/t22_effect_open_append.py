import json
from pathlib import Path
from typing import TypedDict

from langgraph.graph import START, StateGraph
from langgraph.types import interrupt

LOG = Path("audit.jsonl")


class State(TypedDict):
    user: str
    role: str


async def grant(state: State) -> dict:
    with LOG.open("a", encoding="utf-8") as out:  # fault: HT006
        out.write(json.dumps({"asked": state["role"], "for": state["user"]}) + "\n")
    granted = interrupt({"question": "Grant?", "role": state["role"], "user": state["user"]})
    return {"role": state["role"] if granted else "none"}


g = StateGraph(State)
g.add_node("grant", grant)
g.add_edge(START, "grant")
graph = g.compile()
