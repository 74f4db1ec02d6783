"""What is called is looked up in a table."""

import shutil as sh
from typing import TypedDict
from langgraph.graph import START, StateGraph
from langgraph.types import interrupt


class S(TypedDict):
    kind: str
    path: str


def archive(path):
    sh.move(path, "archive/")  # fault: HT006


def keep(path):
    pass


ACTIONS = {"archive": archive, "keep": keep}


def act(state: S):
    ACTIONS[state["kind"]](state["path"])
    return {"path": interrupt({"question": "and next?"})}


b = StateGraph(S)
b.add_node("act", act)
b.add_edge(START, "act")
graph = b.compile()
