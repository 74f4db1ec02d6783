"""Several nodes ask at the same time."""

import operator
from typing import Annotated, TypedDict

from langgraph.graph import END, START, StateGraph
from langgraph.types import Send, interrupt


class Vote(TypedDict):
    proposal: str
    voters: list[str]
    votes: Annotated[list[str], operator.add]


class Ballot(TypedDict):
    voter: str
    proposal: str


def hand_out(state: Vote) -> list[Send]:
    return [Send("vote", {"voter": name, "proposal": state["proposal"]}) for name in state["voters"]]


def vote(ballot: Ballot) -> dict:
    said = interrupt({"question": f"{ballot['voter']}, do you agree?", "proposal": ballot["proposal"]})
    return {"votes": [f"{ballot['voter']}: {said}"]}


builder = StateGraph(Vote)
builder.add_node("vote", vote)
builder.add_conditional_edges(START, hand_out, ["vote"])
builder.add_edge("vote", END)
graph = builder.compile()
