import subprocess
from typing import TypedDict

from langgraph.graph import END, START, StateGraph
from langgraph.types import interrupt


class State(TypedDict):
    branch: str
    log: str
    approved: bool


class Release:
    def build(self, state: State) -> dict:
        out = subprocess.run(["make", "dist"], capture_output=True, text=True, check=True)
        return {"log": out.stdout[-2000:]}

    def ask(self, state: State) -> dict:
        return {"approved": bool(interrupt({"question": "Release?", "log": state["log"]}))}

    def push(self, state: State) -> dict:
        try:
            subprocess.run(["git", "push", "origin", state["branch"]], check=True)
        except Exception as exc:
            return {"log": f"push failed: {exc}"}
        return {"log": "pushed"}

    def route(self, state: State) -> str:
        return "push" if state["approved"] else END


def make_graph():
    r = Release()
    g = StateGraph(State)
    g.add_node("build", r.build)
    g.add_node("ask", r.ask)
    g.add_node("push", r.push)
    g.add_edge(START, "build")
    g.add_edge("build", "ask")
    g.add_conditional_edges("ask", r.route)
    return g.compile()
