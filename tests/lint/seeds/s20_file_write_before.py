"""Adds a line to a journal, then asks."""

from pathlib import Path
from typing import TypedDict

from langgraph.graph import START, StateGraph
from langgraph.types import Command, interrupt
from typing import Literal


class Transfer(TypedDict):
    iban: str
    cents: int


def approve(state: Transfer) -> Command[Literal["pay", "drop"]]:
    with Path("journal.txt").open("a") as journal:  # fault: HT006
        journal.write(f"asked for {state['cents']} to {state['iban']}\n")
    ok = interrupt({"question": "Pay?", "iban": state["iban"], "cents": state["cents"]})
    return Command(goto="pay" if ok else "drop")


def pay(state: Transfer):
    return {}


def drop(state: Transfer):
    return {}


builder = StateGraph(Transfer)
builder.add_node("approve", approve)
builder.add_node("pay", pay)
builder.add_node("drop", drop)
builder.add_edge(START, "approve")
graph = builder.compile()
