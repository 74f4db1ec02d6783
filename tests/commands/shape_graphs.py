"""Graphs that ask from inside in every known form; each node keeps the answer it got."""

from __future__ import annotations

import operator
from typing import Annotated, Any, TypedDict

from langgraph.graph import END, START, StateGraph
from langgraph.types import interrupt
from pydantic import BaseModel, Field

MAIL = "Dear Kim,\n\nthe offer is attached.\n\nYours\nOps"


class State(TypedDict, total=False):
    said: Annotated[list[Any], operator.add]


class Booking(BaseModel):
    guests: int = Field(ge=1, le=12)
    room: str = "hall"
    note: str = ""


def tool(name: str, **args: Any) -> dict[str, Any]:
    return {"name": name, "args": args, "description": "An agent wants it"}


ASKED: dict[str, Any] = {
    "approval": {"type": "tool_approval", "tool_call_id": "1", **tool("send_mail", to="kim@example.org", body=MAIL)},
    "batch": {
        "action_requests": [tool("run_sql", sql="DELETE FROM logs\nWHERE old"), tool("ask_user", question="Colour?")],
        "review_configs": [
            {"action_name": "run_sql", "allowed_decisions": ["approve", "edit", "reject"]},
            {"action_name": "ask_user", "allowed_decisions": ["respond"]},
        ],
    },
    "inbox": [
        {
            "action_request": {"action": "reply", "args": {"content": MAIL}},
            "config": {"allow_ignore": True, "allow_respond": True, "allow_edit": True, "allow_accept": True},
            "description": "# A mail came",
        }
    ],
    "options": {"question": "Which one?", "options": ["red", {"label": "Green one", "value": 3}]},
    "action": {"action": "send_email", "to": "kim@example.org", "body": MAIL, "message": "Send this mail?"},
    "review": {"instruction": "Review this text", "content": MAIL},
    "review_fields": {"instruction": "Check the mail", "content": {"to": "kim", "copies": 1}},
    "yes_no": {"question": "10,000 records will be deleted. Go on?", "table": "logs"},
    "prompt": "How old are you?",
    "other": {"foo": [1, {"bar": None}]},
    "pay_ann": {"type": "tool_approval", "tool_call_id": "1", **tool("pay", amount=5, to="ann")},
    "mail_bob": {"type": "tool_approval", "tool_call_id": "2", **tool("mail", to="bob")},
    "pay_eve": {"type": "tool_approval", "tool_call_id": "3", **tool("pay", amount=7, to="eve")},
    "hostile": {"question": "Go on?", "note": "\x1b]0;pwned\x07[red]x[/red]\u202e", "long": "x" * 5000},
}


def _node(name: str, value: Any, **more: Any) -> Any:
    def ask(state: State) -> State:
        got = interrupt(value, **more)
        return {"said": [{name: got.model_dump() if isinstance(got, BaseModel) else got}]}

    return ask


def _graph(names: list[str], *, together: bool = False) -> Any:
    builder = StateGraph(State)
    last = START
    for name in names:
        more = {"response_schema": Booking} if name == "booking" else {}
        builder.add_node(name, _node(name, ASKED.get(name, {"question": "Book a room?", "guests": 4}), **more))
        builder.add_edge(START if together else last, name)
        last = name
        if together:
            builder.add_edge(name, END)
    if not together:
        builder.add_edge(last, END)
    return builder.compile()


booking = _graph(["booking"])
approval = _graph(["approval"])
batch = _graph(["batch"])
inbox = _graph(["inbox"])
options = _graph(["options"])
action = _graph(["action"])
review = _graph(["review"])
review_fields = _graph(["review_fields"])
yes_no = _graph(["yes_no"])
prompt = _graph(["prompt"])
other = _graph(["other"])
hostile = _graph(["hostile"])
several = _graph(["yes_no", "prompt", "options"], together=True)
two = _graph(["batch", "approval"])
payments = _graph(["pay_ann", "mail_bob", "pay_eve"], together=True)
in_turn = _graph(["pay_ann", "pay_eve"])
