from typing import TypedDict

import httpx
from langgraph.graph import START, StateGraph
from langgraph.types import interrupt


class Inner(TypedDict):
    text: str
    ok: bool


class Outer(TypedDict):
    text: str
    published: bool


def ask(state: Inner) -> dict:
    return {"ok": bool(interrupt({"question": "Publish?", "text": state["text"]}))}


inner = StateGraph(Inner).add_node("ask", ask).add_edge(START, "ask").compile()


async def publish(state: Outer) -> dict:
    async with httpx.AsyncClient() as client:
        await client.put("https://cms.example/count", json={"drafts": "+1"})
        await client.post("https://cms.example/drafts", json={"text": state["text"]})  # fault: HT007
    result = await inner.ainvoke({"text": state["text"], "ok": False})
    return {"published": result["ok"]}


outer = StateGraph(Outer)
outer.add_node("publish", publish)
outer.add_edge(START, "publish")
graph = outer.compile()
