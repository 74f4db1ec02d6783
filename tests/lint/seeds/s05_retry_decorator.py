"""A retry decorator meant for the network takes the pause for one more failure."""

from typing import TypedDict

import httpx
from langgraph.graph import START, StateGraph
from langgraph.types import interrupt
from tenacity import retry, stop_after_attempt, wait_fixed


class Rate(TypedDict):
    currency: str
    rate: float
    accepted: bool


@retry(stop=stop_after_attempt(3), wait=wait_fixed(1))
def confirm_rate(state: Rate) -> dict:
    found = httpx.get("https://rates.example/latest", params={"to": state["currency"]}).json()
    accepted = interrupt({"question": "Use this rate?", "currency": state["currency"]})  # fault: HT001
    return {"rate": found["rate"], "accepted": accepted}


workflow = StateGraph(Rate)
workflow.add_node("confirm_rate", confirm_rate)
workflow.add_edge(START, "confirm_rate")
app = workflow.compile()
