"""Inserts and commits before the question."""

import sqlite3
from typing import TypedDict

from langgraph.graph import END, START, StateGraph
from langgraph.types import interrupt


class Order(TypedDict):
    sku: str
    count: int
    confirmed: bool


def reserve(state: Order) -> dict:
    database = sqlite3.connect("shop.db")
    cursor = database.cursor()
    cursor.execute("INSERT INTO reserved VALUES (?, ?)", (state["sku"], state["count"]))  # fault: HT006
    database.commit()
    database.close()
    confirmed = interrupt({"question": "Confirm the order?", "sku": state["sku"], "count": state["count"]})
    return {"confirmed": confirmed}


builder = StateGraph(Order)
builder.add_node("reserve", reserve)
builder.add_edge(START, "reserve")
builder.add_edge("reserve", END)
graph = builder.compile()
