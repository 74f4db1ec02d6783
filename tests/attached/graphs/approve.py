"""LangGraph's documentation, interrupts: approve or reject. A node asks yes or no and routes by the answer."""

from __future__ import annotations

from typing import Literal

from graph_world import act, gate
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import END, START, StateGraph
from langgraph.types import Command, interrupt
from typing_extensions import TypedDict


class State(TypedDict):
    action_details: str
    status: Literal["pending", "approved", "rejected"] | None


def prepare(state: State) -> dict[str, str]:
    gate("prepare")
    act(f"prepared {state['action_details']}")
    return {"status": "pending"}


def approval(state: State) -> Command[Literal["proceed", "cancel"]]:
    approved = interrupt({"question": "Do you want to proceed with this action?", "details": state["action_details"]})
    return Command(goto="proceed" if approved else "cancel")


def proceed(state: State) -> dict[str, str]:
    gate("before")
    act(f"did {state['action_details']}")
    gate("after")
    return {"status": "approved"}


def cancel(state: State) -> dict[str, str]:
    gate("act")
    return {"status": "rejected"}


builder = StateGraph(State)
builder.add_node("prepare", prepare)
builder.add_node("approval", approval)
builder.add_node("proceed", proceed)
builder.add_node("cancel", cancel)
builder.add_edge(START, "prepare")
builder.add_edge("prepare", "approval")
builder.add_edge("proceed", END)
builder.add_edge("cancel", END)

graph = builder.compile(checkpointer=InMemorySaver())
