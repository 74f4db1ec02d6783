from typing import TypedDict

from langgraph.graph import START, StateGraph
from langgraph.types import interrupt


class State(TypedDict):
    tags: set[str]
    answers: dict[str, str]


def ask(state: State) -> dict:
    answers = {}
    for n, tag in enumerate(sorted({"b", "a"}), start=1):
        answers[tag] = interrupt(f"{n}. What does {tag} mean?")
    for name in ["first", "last"]:
        answers[name] = interrupt({"question": name, "type": "string"})
    for key, value in sorted(answers.items()):
        answers[key] = value.strip()
    return {"answers": answers}


b = StateGraph(State)
b.add_node("ask", ask)
b.add_edge(START, "ask")
graph = b.compile()
