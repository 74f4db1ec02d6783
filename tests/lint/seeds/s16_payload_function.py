"""A validator travels with the question, as if the other side could call it."""

from typing import TypedDict

from langgraph.graph import START, StateGraph
from langgraph.types import interrupt


class Person(TypedDict):
    age: int


def is_age(value: object) -> bool:
    return isinstance(value, int) and 0 < value < 150


def ask_age(state: Person) -> Person:
    question = {"question": "How old are you?", "validate": is_age}
    return {"age": interrupt(question)}  # fault: HT004


builder = StateGraph(Person)
builder.add_node("ask_age", ask_age)
builder.add_edge(START, "ask_age")
graph = builder.compile()
