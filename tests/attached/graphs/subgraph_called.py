"""LangGraph's documentation, subgraphs: a graph is called in a node, which runs again whole when it is answered."""

from __future__ import annotations

from graph_world import act
from langgraph.graph import START, StateGraph
from langgraph.types import interrupt
from typing_extensions import TypedDict


class Child(TypedDict, total=False):
    name: str
    greeting: str


class Parent(TypedDict, total=False):
    person: str
    said: str


def fetch(state: Child) -> Child:
    act("fetched")
    return {}


def greet(state: Child) -> Child:
    word = interrupt(f"How do you greet {state['name']}?")
    return {"greeting": f"{word}, {state['name']}"}


child = (
    StateGraph(Child)
    .add_node("fetch", fetch)
    .add_node("greet", greet)
    .add_edge(START, "fetch")
    .add_edge("fetch", "greet")
    .compile()
)


def host(state: Parent) -> Parent:
    act("host entered")
    return {"said": child.invoke({"name": state["person"]})["greeting"]}


def tell(state: Parent) -> Parent:
    act(f"told {state['said']}")
    return {}


graph = (
    StateGraph(Parent)
    .add_node("host", host)
    .add_node("tell", tell)
    .add_edge(START, "host")
    .add_edge("host", "tell")
    .compile()
)
