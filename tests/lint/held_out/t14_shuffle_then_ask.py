from random import shuffle
from typing import TypedDict

from langgraph.graph import START, StateGraph
from langgraph.types import interrupt


class Quiz(TypedDict):
    cards: list[dict]
    score: int


def quiz(state: Quiz) -> Quiz:
    deck = list(state["cards"])
    shuffle(deck)
    score = 0
    for card in deck[:5]:
        said = interrupt(card["front"])  # fault: HT003
        score += said == card["back"]
    return {"cards": state["cards"], "score": score}


builder = StateGraph(Quiz)
builder.add_node("quiz", quiz)
builder.add_edge(START, "quiz")
graph = builder.compile()
