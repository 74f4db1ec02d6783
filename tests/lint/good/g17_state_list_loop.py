"""As many questions as a list in state is long: the node runs again with the state that it began with."""

from typing import TypedDict

from langgraph.graph import START, StateGraph
from langgraph.types import interrupt


class Shopping(TypedDict):
    items: list[str]
    wanted: list[str]


def confirm_all(state: Shopping) -> dict:
    wanted = []
    for item in state.get("items", []):
        if interrupt(f"Buy {item}?"):
            wanted.append(item)
    return {"wanted": wanted}


builder = StateGraph(Shopping)
builder.add_node("confirm_all", confirm_all)
builder.add_edge(START, "confirm_all")
graph = builder.compile()
