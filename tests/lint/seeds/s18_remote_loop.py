"""One question for every open ticket that a server lists right now."""

import requests
from typing import TypedDict

from langgraph.graph import START, StateGraph
from langgraph.types import interrupt


class Desk(TypedDict):
    queue: str
    answers: dict[str, str]


def open_tickets(queue: str) -> list[dict]:
    found = requests.get(f"https://desk.example/{queue}/open", timeout=10)
    found.raise_for_status()
    return found.json()["tickets"]


def work_off(state: Desk) -> dict:
    answers: dict[str, str] = {}
    for ticket in open_tickets(state["queue"]):
        answers[ticket["id"]] = interrupt({"question": ticket["title"]})  # fault: HT005
    return {"answers": answers}


builder = StateGraph(Desk)
builder.add_node("work_off", work_off)
builder.add_edge(START, "work_off")
graph = builder.compile()
