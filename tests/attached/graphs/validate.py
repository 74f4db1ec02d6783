"""LangGraph's documentation, interrupts: validating human input. A loop around one interrupt asks again, better."""

from __future__ import annotations

from graph_world import act
from langgraph.graph import END, START, StateGraph
from langgraph.types import interrupt
from typing_extensions import TypedDict


class Form(TypedDict):
    age: int | None


def get_age(state: Form) -> Form:
    prompt = "What is your age?"
    while True:
        answer = interrupt(prompt)
        if isinstance(answer, int) and not isinstance(answer, bool) and answer > 0:
            break
        prompt = f"'{answer}' is not a valid age. Please enter a positive number."
    return {"age": answer}


def register(state: Form) -> Form:
    act(f"registered {state['age']}")
    return {"age": state["age"]}


builder = StateGraph(Form)
builder.add_node("get_age", get_age)
builder.add_node("register", register)
builder.add_edge(START, "get_age")
builder.add_edge("get_age", "register")
builder.add_edge("register", END)
