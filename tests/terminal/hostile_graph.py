"""A graph whose every name, schema and value is hostile, for tests in a terminal."""

from __future__ import annotations

from operator import or_
from typing import Annotated, Any

from langgraph.graph import END, START, StateGraph
from langgraph.types import interrupt
from typing_extensions import TypedDict

EVIL = (
    "\x1b[2J\x1b[31m\x1b]0;pwned\x07\x1b]8;;http://evil\x1b\\link\x1b]52;c;cHduZWQ=\x07\x1bPq#0\x1b\\\x9b2J\x9d0;x\x9c"
    "\u202ereversed\u2066isolated\u200bzero\u2028line\ufeff\U000e0041tag"
    " [@click=app.quit]x[/] [/ [bold red]loud [link=http://evil]l[/link]"
)

SCHEMA = {
    "type": "object",
    "title": f"title {EVIL}",
    "description": f"said {EVIL}",
    "properties": {
        f"name {EVIL}": {"type": "string", "title": EVIL, "description": EVIL, "default": EVIL},
        f"pick {EVIL}": {"type": "string", "enum": [f"one {EVIL}", f"two {EVIL}"], "description": EVIL},
        "count": {"type": "integer", "title": EVIL, "minimum": 1},
        "flag": {"type": "boolean", "description": EVIL},
        "list": {"type": "array", "items": {"type": "string", "description": EVIL}},
    },
    "required": ["count"],
}

ASKED: dict[str, Any] = {
    f"form {EVIL}".replace(":", "").replace("|", ""): {"question": f"Fill in {EVIL}", f"key {EVIL}": EVIL},
    "tool": {
        "action_requests": [{"name": f"delete {EVIL}", "args": {f"path {EVIL}": EVIL}, "description": EVIL}],
        "review_configs": [
            {"action_name": f"delete {EVIL}", "allowed_decisions": ["approve", "edit", "reject", "respond"]}
        ],
    },
    "options": {"type": "option_selector", "question": f"Which {EVIL}?", "options": [f"one {EVIL}", f"two {EVIL}"]},
    "review": {"instruction": f"Look {EVIL}", "content": f"a draft\n{EVIL}"},
    "prompt": f"Say something {EVIL}",
    "long": {"question": "Go on?", f"a {EVIL}": EVIL * 60},
}


class State(TypedDict, total=False):
    """What was answered."""

    said: Annotated[dict[str, Any], or_]


def _node(name: str, value: Any) -> Any:
    def node(state: State) -> State:
        more = {"response_schema": SCHEMA} if name.startswith("form") else {}
        return {"said": {name: interrupt(value, **more)}}

    return node


LAST = "AND DELETE THE BACKUPS"
"""Words at the very end of what is asked: who hasn't seen them hasn't seen it whole."""
FAR = f"keep {'the files, ' * 40}{LAST}"
FORGED = "fine”\n\nasks          Read a file\npath          /tmp/notes.txt\nfrom          a team you trust"

HIDDEN: dict[str, Any] = {
    "option": {"type": "option_selector", "question": "Which?", "options": ["keep all", FAR]},
    "key": {"question": "Go on?", FAR: 1},
    "claim": {"type": "tool_approval", "tool_call_id": "1", "name": "rm", "args": {"path": "/"}, "description": FORGED},
}


def _graph(asked: dict[str, Any]) -> Any:
    builder = StateGraph(State)
    last = START
    for name, value in asked.items():
        builder.add_node(name, _node(name, value))
        builder.add_edge(last, name)
        last = name
    builder.add_edge(last, END)
    return builder.compile()


graph = _graph(ASKED)
option, key, claim = (_graph({name: value}) for name, value in HIDDEN.items())
