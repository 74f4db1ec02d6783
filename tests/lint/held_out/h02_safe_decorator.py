"""A decorator of one's own turns every error into a state update."""

import functools
import logging

from langgraph.graph import START, MessagesState, StateGraph
from langgraph.types import interrupt

log = logging.getLogger(__name__)


def never_fails(node):
    @functools.wraps(node)
    def wrapper(state):
        try:
            return node(state)  # fault: HT001
        except Exception:
            log.exception("node failed")
            return {"messages": []}

    return wrapper


@never_fails
def ask(state: MessagesState):
    return {"messages": [("user", interrupt("What should I do?"))]}


builder = StateGraph(MessagesState)
builder.add_node("ask", ask)
builder.add_edge(START, "ask")
graph = builder.compile()
