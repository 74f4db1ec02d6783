"""A file is opened for writing by keyword."""

import json
from typing import TypedDict
from langgraph.graph import START, StateGraph
from langgraph.types import interrupt


class S(TypedDict):
    n: int


async def snapshot(state: S) -> S:
    with open(f"snapshot-{state['n']}.json", mode="w") as file:  # fault: HT006
        json.dump(state, file)
    if interrupt("use it?"):
        return {"n": state["n"] + 1}
    return {}


graph = StateGraph(S).add_sequence([("snapshot", snapshot)]).add_edge(START, "snapshot").compile()
