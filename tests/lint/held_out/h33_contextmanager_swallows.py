"""A context manager of one's own forgives everything."""

from contextlib import contextmanager
from typing import TypedDict
from langgraph.graph import START, StateGraph
from langgraph.types import interrupt


class S(TypedDict):
    x: str


@contextmanager
def forgiving(what):
    try:
        yield
    except Exception as error:
        print(what, error)


def ask(state: S):
    answer = ""
    with forgiving("asking"):
        answer = interrupt("x?")  # fault: HT001
    return {"x": answer}


graph = StateGraph(S).add_node(ask).add_edge(START, "ask").compile()
