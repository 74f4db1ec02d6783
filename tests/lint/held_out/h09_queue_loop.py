"""Asks about jobs until a queue is empty, which others fill meanwhile."""

import queue
from typing import TypedDict

from langgraph.graph import START, StateGraph
from langgraph.types import interrupt

JOBS: queue.Queue[str] = queue.Queue()


class State(TypedDict):
    done: list[str]


def drain(state: State) -> State:
    done = []
    while not JOBS.empty():
        done.append(interrupt({"question": "What about the next job?"}))  # fault: HT005
    return {"done": done}


builder = StateGraph(State)
builder.add_node("drain", drain)
builder.add_edge(START, "drain")
graph = builder.compile()
