"""A graph of somebody else that asks from inside in every form, all at once."""

from __future__ import annotations

import operator
from typing import Annotated, Any, TypedDict

from langgraph.graph import END, START, StateGraph
from langgraph.types import interrupt
from pydantic import BaseModel, Field

MAIL = "Dear Ann,\n\nyour order 1042 leaves on Friday.\n\nYours\nOps"


class Said(TypedDict, total=False):
    topic: str
    said: Annotated[list[Any], operator.add]


class Booking(BaseModel):
    guests: int = Field(ge=1, le=12, description="people")
    room: str = "hall"
    note: str = ""


def _tool(name: str, **args: Any) -> dict[str, Any]:
    return {"name": name, "args": args, "description": "The mailer wants it"}


ASKED: dict[str, Any] = {
    "a_tool": {"type": "tool_approval", "tool_call_id": "1", **_tool("send_mail", to="ann@example.com", body=MAIL)},
    "b_form": {"question": "Book a room?"},
    "c_options": {"question": "Which host?", "options": ["web-1", "web-2", {"label": "all of them", "value": 3}]},
    "d_words": "How many days are kept?",
    "e_batch": {
        "action_requests": [
            _tool("run_sql", sql="DELETE FROM logs\nWHERE day < '2026-01-01'"),
            _tool("send_mail", to="ann@example.com", body="done"),
        ],
        "review_configs": [
            {"action_name": "run_sql", "allowed_decisions": ["approve", "edit", "reject"]},
            {"action_name": "send_mail", "allowed_decisions": ["approve", "reject"]},
        ],
    },
    "f_review": {"instruction": "Review this text", "content": MAIL},
    "g_yes_no": {"question": "10,000 records will be deleted. Go on?", "table": "customers"},
}


def _node(name: str) -> Any:
    def ask(state: Said) -> Said:
        more: dict[str, Any] = {"response_schema": Booking} if name == "b_form" else {}
        got = interrupt(ASKED[name], **more)
        return {"said": [{name: str(got)}]}

    return ask


def _graph() -> Any:
    builder = StateGraph(Said)
    for name in ASKED:
        builder.add_node(name, _node(name))
        builder.add_edge(START, name)
        builder.add_edge(name, END)
    return builder.compile()


graph = _graph()
