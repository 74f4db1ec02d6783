from typing import TypedDict

from langgraph.checkpoint.memory import MemorySaver
from langgraph.graph import START, StateGraph
from langgraph.types import interrupt


class Review(TypedDict):
    text: str
    round: int
    verdict: str


def reviewer(state: Review) -> dict:
    verdict = interrupt({"question": "Good enough?", "text": state["text"], "round": state["round"]})
    return {"verdict": verdict, "round": state["round"] + 1}


def run_review(state: Review) -> dict:
    builder = StateGraph(Review)
    builder.add_node("reviewer", reviewer)
    builder.add_edge(START, "reviewer")
    child = builder.compile(checkpointer=MemorySaver())
    result = child.invoke({"text": state["text"], "round": 0, "verdict": ""})
    return {"verdict": result["verdict"]}


b = StateGraph(Review)
b.add_node("run_review", run_review)
b.add_edge(START, "run_review")
graph = b.compile()
