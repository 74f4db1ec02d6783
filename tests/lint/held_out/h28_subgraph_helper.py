"""A graph that is kept in an object is run by a method."""

from pathlib import Path
from typing import TypedDict
from langgraph.graph import START, StateGraph
from langgraph.types import interrupt


class S(TypedDict):
    x: str


class Inner:
    def __init__(self):
        b = StateGraph(S)
        b.add_node("ask", self.ask)
        b.add_edge(START, "ask")
        self.graph = b.compile()

    def ask(self, state: S):
        return {"x": interrupt("x?")}

    def run(self, text: str) -> str:
        return self.graph.invoke({"x": text})["x"]


inner = Inner()


def outer(state: S) -> S:
    Path("started.txt").touch()
    Path("log.txt").write_text("begun")  # fault: HT007
    return {"x": inner.run(state["x"])}


graph = StateGraph(S).add_node("outer", outer).add_edge(START, "outer").compile()
