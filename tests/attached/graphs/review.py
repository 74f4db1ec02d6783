"""LangGraph's documentation, interrupts: review and edit state. The answer is the edited content itself."""

from __future__ import annotations

from graph_world import act
from langgraph.graph import END, START, StateGraph
from langgraph.types import interrupt
from typing_extensions import TypedDict


class State(TypedDict, total=False):
    topic: str
    generated_text: str
    published: bool


def generate(state: State) -> State:
    act("drafted")
    return {"generated_text": f"A first draft about {state['topic']}."}


def review(state: State) -> State:
    edited = interrupt({"instruction": "Review and edit this content", "content": state["generated_text"]})
    return {"generated_text": edited}


def publish(state: State) -> State:
    act(f"published {state['generated_text']}")
    return {"published": True}


graph = (
    StateGraph(State)
    .add_node("generate", generate)
    .add_node("review", review)
    .add_node("publish", publish)
    .add_edge(START, "generate")
    .add_edge("generate", "review")
    .add_edge("review", "publish")
    .add_edge("publish", END)
    .compile()
)
