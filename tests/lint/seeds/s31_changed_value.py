"""The number that was shown isn't the number that is used: it is made anew when the node begins again."""

import uuid
from typing import TypedDict

from langgraph.graph import START, StateGraph
from langgraph.types import interrupt


class Voucher(TypedDict):
    euros: int
    code: str


def issue(state: Voucher) -> dict:
    code = f"V-{uuid.uuid4().hex[:8]}"  # fault: HT012
    if not interrupt({"question": "Issue this voucher?", "code": code, "euros": state["euros"]}):
        return {"code": ""}
    return {"code": code}


builder = StateGraph(Voucher)
builder.add_node("issue", issue)
builder.add_edge(START, "issue")
graph = builder.compile()
