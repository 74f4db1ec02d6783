"""As many questions as a list in state is long at the moment: an edit of the state shifts the answers."""

from typing import TypedDict

from langgraph.graph import START, StateGraph
from langgraph.types import interrupt


class Shopping(TypedDict):
    items: list[str]
    wanted: list[str]


def confirm_all(state: Shopping) -> dict:
    wanted = []
    for item in state.get("items", []):
        if interrupt(f"Buy {item}?"):  # fault: HT005
            wanted.append(item)
    return {"wanted": wanted}


builder = StateGraph(Shopping)
builder.add_node("confirm_all", confirm_all)
builder.add_edge(START, "confirm_all")
graph = builder.compile()
