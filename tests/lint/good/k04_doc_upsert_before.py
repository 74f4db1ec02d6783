from typing import TypedDict

from langgraph.graph import START, StateGraph
from langgraph.types import interrupt


class Database:
    def __init__(self) -> None:
        self.rows: dict[str, dict] = {}

    def upsert_user(self, user_id: str, status: str) -> None:
        self.rows[user_id] = {"status": status}


db = Database()


class State(TypedDict):
    user_id: str
    approved: bool


def node_a(state: State):
    db.upsert_user(user_id=state["user_id"], status="pending_approval")
    approved = interrupt("Approve this change?")
    return {"approved": bool(approved)}


b = StateGraph(State)
b.add_node("a", node_a)
b.add_edge(START, "a")
graph = b.compile()
