import uuid
from typing import TypedDict

from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import START, StateGraph
from langgraph.types import interrupt


class Talk(TypedDict):
    messages: list[str]
    agreed: bool


def writer(state: Talk) -> dict:
    return {"messages": state["messages"] + ["draft"]}


def consensus(state: Talk) -> dict:
    return {"agreed": interrupt({"question": "Agreed?", "messages": state["messages"]}) is True}


sub = StateGraph(Talk)
sub.add_node("writer", writer)
sub.add_node("consensus", consensus)
sub.add_edge(START, "writer")
sub.add_edge("writer", "consensus")
discussion = sub.compile(checkpointer=InMemorySaver())


def discuss(state: Talk) -> dict:
    config = {"configurable": {"thread_id": str(uuid.uuid4())}}
    out = discussion.invoke({"messages": [], "agreed": False}, config)  # fault: HT016
    return {"agreed": out["agreed"], "messages": out["messages"]}


top = StateGraph(Talk)
top.add_node("discuss", discuss)
top.add_edge(START, "discuss")
graph = top.compile()
