"""A graph whose node starts processes that write to the terminal past everything, for tests in a terminal."""

from __future__ import annotations

import ctypes
import os
import subprocess
from typing import Any

from langgraph.graph import END, START, StateGraph
from langgraph.types import interrupt
from typing_extensions import TypedDict

EVIL = r"\033[2J\033]0;owned\007\033[?1049l"


class State(TypedDict, total=False):
    """Whether to go on."""

    go: Any


def write(state: State) -> State:
    """Write to both descriptors: from a shell, from C, and more than any pipe holds; and read what is typed."""
    subprocess.run(["sh", "-c", "read key && echo KEYS-TAKEN >&2"], check=False)
    shell = ["sh", "-c", f"printf '{EVIL}PWNED-ERR' >&2; printf '{EVIL}PWNED-OUT\\n'; seq 1 300000"]
    subprocess.run(shell, check=True)
    said = b"\x1b[2JPWNED-C\n"
    ctypes.CDLL(None).write(2, said, len(said))
    os.write(1, b"PWNED-END\n")
    return {}


def ask(state: State) -> State:
    """Ask, so that there is something to look at afterwards."""
    return {"go": interrupt({"question": "Go on?"})}


builder = StateGraph(State)
builder.add_node("write", write)
builder.add_node("ask", ask)
builder.add_edge(START, "write")
builder.add_edge("write", "ask")
builder.add_edge("ask", END)
graph = builder.compile()
