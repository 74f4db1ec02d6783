"""gather collects what is raised."""

import asyncio
from typing import TypedDict
from langgraph.graph import START, StateGraph
from langgraph.types import interrupt


class S(TypedDict):
    results: list


async def one(name):
    return interrupt(f"{name}?")


async def all_of_them(state: S):
    return {"results": await asyncio.gather(one("a"), one("b"), return_exceptions=True)}  # fault: HT001


graph = StateGraph(S).add_node(all_of_them).add_edge(START, "all_of_them").compile()
