"""The node is a method; a sister method starts a program before the question."""

import subprocess
from typing import TypedDict

from langgraph.graph import START, StateGraph
from langgraph.types import interrupt


class Release(TypedDict):
    tag: str
    pushed: bool


class Releaser:
    def __init__(self, remote: str) -> None:
        self.remote = remote

    def _tag(self, tag: str) -> None:
        subprocess.run(["git", "tag", tag], check=True)  # fault: HT006

    def _push(self, tag: str) -> None:
        subprocess.run(["git", "push", self.remote, tag], check=True)

    def release(self, state: Release) -> dict:
        self._tag(state["tag"])
        if not interrupt({"question": f"Push {state['tag']} to {self.remote}?"}):
            return {"pushed": False}
        self._push(state["tag"])
        return {"pushed": True}


def make(remote: str = "origin"):
    releaser = Releaser(remote)
    builder = StateGraph(Release)
    builder.add_node("release", releaser.release)
    builder.add_edge(START, "release")
    return builder.compile()


graph = make()
