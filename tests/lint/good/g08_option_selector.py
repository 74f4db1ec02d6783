"""A question with options; the answer decides where it goes on."""

from enum import StrEnum
from typing import TypedDict

from langgraph.graph import END, START, StateGraph
from langgraph.types import Command, interrupt


class Speed(StrEnum):
    SLOW = "slow"
    FAST = "fast"


class Trip(TypedDict):
    speed: str


def choose(state: Trip) -> Command:
    options = sorted({speed.value for speed in Speed})
    picked = interrupt({"type": "option_selector", "question": "How fast?", "options": options})
    return Command(update={"speed": picked}, goto="travel" if picked in options else END)


def travel(state: Trip) -> dict:
    return {}


builder = StateGraph(Trip)
builder.add_node(choose)
builder.add_node(travel)
builder.add_edge(START, "choose")
graph = builder.compile()
