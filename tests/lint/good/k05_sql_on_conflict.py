import sqlite3
from typing import TypedDict

from langgraph.graph import START, StateGraph
from langgraph.types import interrupt

SQL = "INSERT INTO requests (id, what) VALUES (?, ?) ON CONFLICT (id) DO UPDATE SET what = excluded.what"


class State(TypedDict):
    id: str
    what: str
    ok: bool


def ask(state: State) -> dict:
    with sqlite3.connect("requests.db") as db:
        db.execute("CREATE TABLE IF NOT EXISTS requests (id TEXT PRIMARY KEY, what TEXT)")
        db.execute(SQL, (state["id"], state["what"]))
    return {"ok": interrupt({"question": "OK?", "what": state["what"]})}


b = StateGraph(State)
b.add_node("ask", ask)
b.add_edge(START, "ask")
graph = b.compile()
