"""A list that lives as long as the function does is appended to before the question."""

from typing import TypedDict

from langgraph.graph import START, StateGraph
from langgraph.types import interrupt


class Desk:
    history: list[str] = []

    def ask(self, state: dict) -> dict:
        self.history.append(state["topic"])  # fault: HT006
        return {"answer": interrupt(state["topic"])}


class Topic(TypedDict):
    topic: str
    answer: str


desk = Desk()
builder = StateGraph(Topic)
builder.add_node("ask", desk.ask)
builder.add_edge(START, "ask")
graph = builder.compile()
