"""Whether to ask is decided by a model's confidence, worked out in a helper each time."""

from typing import TypedDict

from langchain_openai import ChatOpenAI
from langgraph.graph import START, StateGraph
from langgraph.types import interrupt

judge = ChatOpenAI(model="gpt-4o-mini")


class Claim(TypedDict):
    text: str
    paid: bool


def confidence(text: str) -> float:
    return float(judge.invoke(f"How sure are you, from 0 to 1? {text}").content)


def settle(state: Claim) -> dict:
    sure = confidence(state["text"])
    paid = True
    if sure < 0.8:
        paid = interrupt({"question": "Pay this claim?", "text": state["text"]})  # fault: HT002
    return {"paid": paid}


builder = StateGraph(Claim)
builder.add_node("settle", settle)
builder.add_edge(START, "settle")
graph = builder.compile()
