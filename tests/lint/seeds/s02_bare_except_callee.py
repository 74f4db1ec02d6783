"""The question is asked by a helper; the node that calls it swallows everything."""

import logging
from typing import TypedDict

import langgraph.types as lt
from langgraph.graph import START, StateGraph

log = logging.getLogger(__name__)


class Deployment(TypedDict):
    version: str
    go: bool


def ask_operator(version: str) -> bool:
    answer = lt.interrupt(f"Deploy {version}?")
    return answer == "yes"


def gate(state: Deployment):
    go = False
    try:
        log.info("asking about %s", state["version"])
        go = ask_operator(state["version"])  # fault: HT001
    except:
        log.exception("could not ask")
    return {"go": go}


def build():
    builder = StateGraph(Deployment)
    builder.add_node(gate)
    builder.add_edge(START, "gate")
    return builder


graph = build().compile()
