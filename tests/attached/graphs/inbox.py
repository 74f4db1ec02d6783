"""LangChain's agent-inbox: a mail assistant asks in that shape and heeds accept, edit, response and ignore."""

from __future__ import annotations

from typing import Any

from graph_world import act
from langgraph.graph import START, StateGraph
from langgraph.types import interrupt
from typing_extensions import TypedDict


class State(TypedDict, total=False):
    email: str
    draft: dict[str, Any]
    outcome: str


def write(state: State) -> State:
    act("drafted")
    return {"draft": {"to": "ann@example.org", "content": f"Thank you for: {state['email']}"}}


def ask(state: State) -> State:
    request = {
        "action_request": {"action": "write_email", "args": state["draft"]},
        "config": {"allow_ignore": True, "allow_respond": True, "allow_edit": True, "allow_accept": True},
        "description": f"# A reply\n\nto *{state['email']}*",
    }
    (answer,) = interrupt([request])
    if answer["type"] == "ignore":
        return {"outcome": "ignored"}
    if answer["type"] == "response":
        return {"outcome": f"told: {answer['args']}"}
    args = answer["args"]["args"] if answer["type"] == "edit" else state["draft"]
    return {"outcome": "send", "draft": args}


def send(state: State) -> State:
    if state["outcome"] == "send":
        act(f"sent {state['draft']['to']}")
        return {"outcome": f"sent to {state['draft']['to']}"}
    return {}


graph = (
    StateGraph(State)
    .add_node("write", write)
    .add_node("ask", ask)
    .add_node("send", send)
    .add_edge(START, "write")
    .add_edge("write", "ask")
    .add_edge("ask", "send")
    .compile()
)
