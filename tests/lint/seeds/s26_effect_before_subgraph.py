"""The parent's node uploads something, then calls a graph that asks."""

from typing import TypedDict

import boto3
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import START, StateGraph
from langgraph.types import interrupt


class Review(TypedDict):
    key: str
    accepted: bool


def ask(state: Review) -> dict:
    return {"accepted": interrupt({"question": "Accept this draft?", "key": state["key"]})}


review_builder = StateGraph(Review)
review_builder.add_node("ask", ask)
review_builder.add_edge(START, "ask")
review_graph = review_builder.compile()


class Publication(TypedDict):
    text: str
    accepted: bool


def publish(state: Publication) -> dict:
    store = boto3.client("s3")
    store.put_object(Bucket="drafts", Key="latest", Body=state["text"])  # fault: HT007
    outcome = review_graph.invoke({"key": "latest"})
    return {"accepted": outcome["accepted"]}


parent = StateGraph(Publication)
parent.add_node("publish", publish)
parent.add_edge(START, "publish")
graph = parent.compile(checkpointer=InMemorySaver())
