import functools
import logging
from typing import Any, Callable, TypedDict

from langgraph.graph import END, START, StateGraph
from langgraph.types import interrupt

log = logging.getLogger(__name__)


class S(TypedDict, total=False):
    topic: str
    plan: str
    failed: bool


def never_fails(node: Callable[[S], dict[str, Any]]) -> Callable[[S], dict[str, Any]]:
    @functools.wraps(node)
    def wrapper(state: S) -> dict[str, Any]:
        try:
            return node(state)  # fault: HT001
        except Exception:
            log.exception("node failed")
            return {"failed": True}

    return wrapper


@never_fails
def plan(state: S) -> dict[str, Any]:
    return {"plan": f"Write about {state['topic']}"}


@never_fails
def confirm(state: S) -> dict[str, Any]:
    verdict = interrupt({"question": "Go ahead?", "plan": state["plan"]})
    return {"plan": state["plan"] if verdict else ""}


b = StateGraph(S)
b.add_node(plan)
b.add_node(confirm)
b.add_edge(START, "plan")
b.add_edge("plan", "confirm")
b.add_edge("confirm", END)
graph = b.compile()
