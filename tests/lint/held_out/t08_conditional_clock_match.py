from datetime import datetime
from typing import TypedDict

from langgraph.graph import START, StateGraph
from langgraph.types import Command, interrupt


class Deploy(TypedDict):
    service: str
    reason: str
    ok: bool


def gate(state: Deploy) -> Command:
    hour = datetime.now().hour
    match hour:
        case h if h < 8 or h >= 20:
            reason = interrupt("Out of hours. Why now?")  # fault: HT002
        case _:
            reason = "office hours"
    ok = interrupt({"question": f"Deploy {state['service']}?", "reason": reason})
    return Command(goto="ship" if ok else "__end__", update={"reason": reason, "ok": bool(ok)})


def ship(state: Deploy) -> dict:
    return {"ok": True}


b = StateGraph(Deploy)
b.add_node("gate", gate)
b.add_node("ship", ship)
b.add_edge(START, "gate")
graph = b.compile()
