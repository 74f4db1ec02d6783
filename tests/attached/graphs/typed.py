"""LangGraph's documentation, interrupts: a response schema. The answer comes back as the model it was declared with."""

from __future__ import annotations

from graph_world import act
from langgraph.graph import START, StateGraph
from langgraph.types import interrupt
from pydantic import BaseModel, Field
from typing_extensions import TypedDict


class Decision(BaseModel):
    approved: bool
    amount: int = Field(ge=1, le=100)
    note: str | None = None


class State(TypedDict, total=False):
    purpose: str
    answer: Decision


def ask(state: State) -> State:
    return {"answer": interrupt({"question": f"Pay for {state['purpose']}?"}, response_schema=Decision)}


def pay(state: State) -> State:
    answer = state["answer"]
    if not isinstance(answer, Decision):
        raise TypeError(f"the decision came back as {type(answer).__name__}")
    if answer.approved:
        act(f"paid {answer.amount}")
    return {}


graph = (
    StateGraph(State).add_node("ask", ask).add_node("pay", pay).add_edge(START, "ask").add_edge("ask", "pay").compile()
)
