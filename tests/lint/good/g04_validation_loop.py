"""Asks again, with a better message, until the answer is a number."""

from typing import TypedDict

from langgraph.graph import START, StateGraph
from langgraph.types import interrupt


class Person(TypedDict):
    age: int


def ask_age(state: Person) -> Person:
    prompt = "How old are you?"
    while True:
        answer = interrupt(prompt)
        if isinstance(answer, int) and not isinstance(answer, bool) and 0 < answer < 150:
            return {"age": answer}
        prompt = f"{answer!r} is no age. How old are you, in whole years?"


builder = StateGraph(Person)
builder.add_node("ask_age", ask_age)
builder.add_edge(START, "ask_age")
graph = builder.compile()
