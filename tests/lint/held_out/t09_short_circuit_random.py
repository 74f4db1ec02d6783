import random
from typing import TypedDict

from langgraph.graph import START, StateGraph
from langgraph.types import interrupt


class Sample(TypedDict):
    record: dict
    audited: bool
    signed: str


SAMPLE_RATE = 0.1


def sign_off(state: Sample) -> dict:
    audited = random.random() < SAMPLE_RATE and interrupt({"audit": state["record"]["id"]})  # fault: HT002
    signer = interrupt("Who signs?")
    return {"audited": bool(audited), "signed": signer}


def build_graph():
    builder = StateGraph(Sample)
    builder.add_node("sign", sign_off)
    builder.add_edge(START, "sign")
    return builder.compile()
