"""The answer becomes a shell command."""

import subprocess
from typing import TypedDict

from langgraph.graph import START, StateGraph
from langgraph.types import interrupt


class Host(TypedDict):
    name: str
    output: str


def repair(state: Host) -> dict:
    command = interrupt({"question": f"What shall I run on {state['name']}?"})
    done = subprocess.run(f"ssh {state['name']} {command}", shell=True, capture_output=True, text=True)  # fault: HT014
    return {"output": done.stdout}


builder = StateGraph(Host)
builder.add_node("repair", repair)
builder.add_edge(START, "repair")
graph = builder.compile()
