from typing import TypedDict

from langgraph.graph import START, StateGraph
from langgraph.types import interrupt


class Form(TypedDict, total=False):
    name: str
    age: int
    city: str
    adult_only: bool


def ask_details(state: Form) -> Form:
    name = interrupt("What's your name?")
    age = 0
    if cache_says_unknown(name):
        age = interrupt("What's your age?")  # fault: HT002
    city = interrupt("What's your city?")
    return {"name": name, "age": age, "city": city}


_known: dict[str, int] = {}


def cache_says_unknown(name: str) -> bool:
    unknown = name not in _known
    _known[name] = 1
    return unknown


builder = StateGraph(Form)
builder.add_node("ask", ask_details)
builder.add_edge(START, "ask")
graph = builder.compile()
