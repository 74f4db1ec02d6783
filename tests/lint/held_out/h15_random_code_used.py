"""A code is shown and then stored: two different codes."""

import secrets
from typing import TypedDict

from langgraph.graph import START, StateGraph
from langgraph.types import Command, interrupt


class Door(TypedDict):
    name: str
    code: str


def new_code(length: int = 6) -> str:
    return "".join(secrets.choice("0123456789") for _ in range(length))  # fault: HT012


def set_code(state: Door) -> Command:
    code = new_code()
    answer = interrupt({"question": "Use this code?", "door": state["name"], "code": code})
    if answer == "yes":
        return Command(update={"code": code})
    return Command(update={})


builder = StateGraph(Door)
builder.add_node("set_code", set_code)
builder.add_edge(START, "set_code")
graph = builder.compile()
