import asyncio
from typing import TypedDict

from langgraph.graph import StateGraph
from langgraph.types import interrupt


class State(TypedDict):
    invoices: list[dict]
    decisions: list


async def one(invoice: dict) -> bool:
    return bool(interrupt({"question": "Pay?", "invoice": invoice["id"], "amount": invoice["amount"]}))


async def decide(state: State) -> dict:
    answers = await asyncio.gather(*(one(i) for i in state["invoices"]), return_exceptions=True)  # fault: HT001
    return {"decisions": [a for a in answers if isinstance(a, bool)]}


graph = StateGraph(State).add_node("decide", decide).set_entry_point("decide").compile()
