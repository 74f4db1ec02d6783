"""Outside office hours someone has to be asked; the answer may come inside them."""

from datetime import datetime
from typing import TypedDict

from langgraph.graph import START, StateGraph
from langgraph.types import interrupt


class Change(TypedDict):
    what: str
    allowed: bool


def office_hours() -> bool:
    return 9 <= datetime.now().hour < 17


def gate(state: Change) -> dict:
    if office_hours():
        return {"allowed": True}
    allowed = interrupt({"question": "Change outside office hours?", "what": state["what"]})  # fault: HT002
    return {"allowed": allowed}


graph = StateGraph(Change).add_sequence([gate]).add_edge(START, "gate").compile()
