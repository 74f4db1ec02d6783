"""The client is an attribute of the object that is the node."""

import httpx
from typing import TypedDict
from langgraph.graph import START, StateGraph
from langgraph.types import interrupt


class S(TypedDict):
    text: str


class Notifier:
    def __init__(self, url):
        self.client = httpx.AsyncClient(base_url=url)

    async def __call__(self, state: S) -> S:
        await self.client.post("/events", json=dict(state))  # fault: HT006
        return {"text": interrupt("ok?")}


graph = StateGraph(S).add_node("n", Notifier("https://x.example")).add_edge(START, "n").compile()
