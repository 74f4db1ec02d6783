"""A quiz whose questions are shuffled each time the node begins."""

from random import shuffle
from typing import TypedDict

from langgraph.graph import START, StateGraph
from langgraph.types import interrupt

QUESTIONS = ["What does WAL stand for?", "Who owns the lock?", "When is an entry durable?"]


class Quiz(TypedDict):
    answers: list[str]


def quiz(state: Quiz) -> Quiz:
    order = list(QUESTIONS)
    shuffle(order)
    return {"answers": [interrupt(question) for question in order]}  # fault: HT003


builder = StateGraph(Quiz)
builder.add_node(quiz)
builder.add_edge(START, "quiz")
graph = builder.compile()
