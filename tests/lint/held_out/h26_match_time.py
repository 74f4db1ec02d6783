"""The clock, behind a helper and a match, decides whether to ask."""

import time
from typing import TypedDict
from langgraph.graph import START, StateGraph
from langgraph.types import interrupt


class S(TypedDict):
    x: str


def shift():
    return "night" if time.localtime().tm_hour < 6 else "day"


def ask(state: S):
    match shift():
        case "night":
            return {"x": "later"}
        case _:
            return {"x": interrupt("now?")}  # fault: HT002


graph = StateGraph(S).add_node(ask).add_edge(START, "ask").compile()
