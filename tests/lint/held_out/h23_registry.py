"""Nodes register themselves with a decorator."""

from typing import TypedDict
from langgraph.graph import START, StateGraph
from langgraph.types import interrupt


class S(TypedDict):
    n: int


NODES = {}


def node(function):
    NODES[function.__name__] = function
    return function


@node
def first(state: S):
    try:
        return {"n": interrupt("n?")}  # fault: HT001
    except:  # noqa
        return {"n": 0}


@node
def second(state: S):
    return {}


builder = StateGraph(S)
for name, function in NODES.items():
    builder.add_node(name, function)
builder.add_edge(START, "first")
graph = builder.compile()
