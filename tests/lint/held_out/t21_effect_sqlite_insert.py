import sqlite3
from typing import TypedDict

from langgraph.graph import START, StateGraph
from langgraph.types import interrupt


class Claim(TypedDict):
    claim_id: int
    text: str
    verdict: str


def record(claim_id: int, event: str) -> None:
    with sqlite3.connect("claims.db") as db:
        db.execute("INSERT INTO events (claim, event) VALUES (?, ?)", (claim_id, event))  # fault: HT006


def adjudicate(state: Claim) -> dict:
    record(state["claim_id"], "review requested")
    verdict = interrupt({"question": "Accept the claim?", "text": state["text"]})
    return {"verdict": "accepted" if verdict else "refused"}


b = StateGraph(Claim)
b.add_node("adjudicate", adjudicate)
b.add_edge(START, "adjudicate")
graph = b.compile()
