"""Graphs of one node that do what graphs shouldn't; each asks first, so that its thread can be looked at."""

from __future__ import annotations

import asyncio
import os
import socket
import sys
import threading
import time
from collections.abc import Callable
from typing import Any

from graph_world import act, gate
from langgraph.graph import END, START, StateGraph
from langgraph.types import interrupt
from typing_extensions import TypedDict


class State(TypedDict, total=False):
    text: str
    answer: Any
    turns: int


def _one(node: Callable[..., Any]) -> Any:
    return StateGraph(State).add_node("node", node).add_edge(START, "node").add_edge("node", END).compile()


def _asks(value: Callable[[], Any]) -> Any:
    def node(state: State) -> State:
        return {"answer": interrupt(value())}

    return _one(node)


def _cycle() -> dict[str, Any]:
    found: dict[str, Any] = {"question": "Go on?"}
    found["itself"] = found
    return found


def turn(state: State) -> State:
    return {"turns": state.get("turns", 0) + 1}


endless = (
    StateGraph(State)
    .add_node("turn", turn)
    .add_edge(START, "turn")
    .add_conditional_edges("turn", lambda state: "turn", ["turn"])
    .compile()
)


async def spin(state: State) -> State:
    act("spins")
    gate("spins")
    await asyncio.Event().wait()
    return {}


def sleep(state: State) -> State:
    act("sleeps")
    gate("sleeps")
    while True:
        time.sleep(0.05)


def prints(state: State) -> State:
    print("printed by a node")
    sys.stdout.write('{"not": "ours"}\n')
    print("said on the error stream", file=sys.stderr)
    threading.Thread(target=lambda: os.write(1, b"written past Python\n")).run() if state.get("text") == "raw" else None
    return {"answer": interrupt("Heard?")}


def leaves(state: State) -> State:
    interrupt("Shall I leave?")
    sys.exit(3)


def raises(state: State) -> State:
    interrupt("Shall I fail?")
    raise ZeroDivisionError("as \x1b[31mred\x1b[0m as can be")


spins = _one(spin)
sleeps = _one(sleep)
talks = _one(prints)
exits = _one(leaves)
fails = _one(raises)
large = _asks(lambda: {"question": "Is this much?", "data": "x" * 10_000_000})
many = _asks(lambda: {"question": "Is this much?", "rows": [{"row": n} for n in range(60_000)]})
cycle = _asks(_cycle)
deep = _asks(lambda: _nested(3_000))
lock = _asks(lambda: {"question": "Go on?", "lock": threading.Lock()})
sock = _asks(lambda: {"question": "Go on?", "socket": socket.socket()})
function = _asks(lambda: {"question": "Go on?", "call": lambda: None})
thing = _asks(lambda: {"question": "Go on?", "thing": Unread()})
nothing = _asks(lambda: None)
number = _asks(lambda: float("nan"))
hostile = _asks(lambda: {"question": "Go \x1b]0;owned\x07on [bold]now[/]?\u202e"})


class Unread:
    """Can't be looked at."""

    def __repr__(self) -> str:
        raise RuntimeError("no")


def _nested(depth: int) -> Any:
    found: Any = "bottom"
    for _ in range(depth):
        found = [found]
    return found


def ask_twice(state: State) -> State:
    first = interrupt({"question": "First?", "options": ["a", "b"]})
    second = interrupt({"question": "Second?", "options": ["c", "d"]})
    return {"answer": [first, second]}


twice = _one(ask_twice)
