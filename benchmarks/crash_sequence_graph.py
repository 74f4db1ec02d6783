"""The graph of others that the drawn crash sequences attach: two nodes side by side, a question, and one after it.

Each node starts, acts on the world and ends as the sequence says: it returns, it fails, or it hangs until it is ended.
"""

from __future__ import annotations

import asyncio
import json
import os
from pathlib import Path
from typing import TypedDict

from crash_fates import fate_of
from crash_world import World
from langgraph.graph import END, START, StateGraph
from langgraph.types import interrupt


class State(TypedDict, total=False):
    amount: int


async def _act(effect: str) -> None:
    from crash_faults import current

    root = Path(os.environ["CRASH_ROOT"])
    world, faults = World(root), current()
    number = await world.begin("todo_001", effect)
    faults.point("node.begun")
    await world.act("todo_001", effect)
    faults.point("node.acted")
    fate = fate_of(json.loads(os.environ["CRASH_FATES"]).get(effect, []), number)
    if fate == "hang":
        faults.on_alive("todo_001")
        await asyncio.Event().wait()
    await world.end("todo_001", effect, failed=fate == "fail")
    if fate == "fail":
        raise RuntimeError(f"{effect} failed after it had acted")
    faults.point("node.ended")


async def left(state: State) -> State:
    await _act("left")
    return {}


async def right(state: State) -> State:
    await _act("right")
    return {}


async def ask(state: State) -> State:
    return {"amount": int(interrupt({"question": "How much?"})["amount"])}


async def pay(state: State) -> State:
    await _act("pay")
    return {}


graph = (
    StateGraph(State)
    .add_node(left)
    .add_node(right)
    .add_node(ask)
    .add_node(pay)
    .add_edge(START, "left")
    .add_edge(START, "right")
    .add_edge(["left", "right"], "ask")
    .add_edge("ask", "pay")
    .add_edge("pay", END)
    .compile()
)
