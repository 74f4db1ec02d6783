import logging
from typing import TypedDict

from langgraph.errors import GraphBubbleUp, GraphInterrupt
from langgraph.graph import START, StateGraph
from langgraph.types import interrupt

log = logging.getLogger("flow")


class State(TypedDict):
    plan: str
    note: str


def first(state: State) -> dict:
    try:
        return {"note": interrupt("A note?")}
    except GraphBubbleUp:
        raise
    except Exception:
        log.exception("no note")
        return {"note": ""}


def second(state: State) -> dict:
    try:
        return {"note": interrupt("And another?")}
    except Exception as exc:
        if isinstance(exc, GraphInterrupt):
            raise
        return {"note": ""}


def third(state: State) -> dict:
    try:
        return {"note": interrupt("And a third?")}
    except BaseException:
        log.warning("leaving")
        raise


b = StateGraph(State)
b.add_sequence([first, second, third])
b.add_edge(START, "first")
graph = b.compile()
