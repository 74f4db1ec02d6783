import operator
from typing import Annotated, TypedDict

from langgraph.graph import END, START, StateGraph
from langgraph.types import Send, interrupt


class State(TypedDict):
    items: list[str]
    vals: Annotated[list[str], operator.add]


class One(TypedDict):
    item: str


def fan_out(state: State) -> list[Send]:
    return [Send("ask_one", {"item": item}) for item in state["items"]]


async def ask_one(one: One) -> dict:
    answer = interrupt({"question": f"What about {one['item']}?"})
    return {"vals": [f"{one['item']}: {answer}"]}


b = StateGraph(State)
b.add_node("ask_one", ask_one)
b.add_conditional_edges(START, fan_out, ["ask_one"])
b.add_edge("ask_one", END)
graph = b.compile()
