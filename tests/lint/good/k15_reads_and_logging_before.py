import hashlib
import json
import logging
import os
from pathlib import Path
from typing import TypedDict

import httpx
from langgraph.graph import START, StateGraph
from langgraph.types import interrupt

logger = logging.getLogger(__name__)


class State(TypedDict):
    path: str
    url: str
    ok: bool


def preview(state: State) -> dict:
    text = Path(state["path"]).read_text(encoding="utf-8")
    with open(state["path"], "rb") as raw:
        digest = hashlib.sha256(raw.read()).hexdigest()
    page = httpx.get(state["url"], timeout=5)
    logger.info("asking about %s in %s", state["path"], os.getcwd())
    seen: list[str] = []
    seen.append(digest)
    seen.insert(0, page.headers.get("etag", ""))
    body = json.dumps({"lines": text.count("\n"), "seen": seen})
    return {"ok": interrupt({"question": "Upload?", "body": body}) is True}


b = StateGraph(State)
b.add_node("preview", preview)
b.add_edge(START, "preview")
graph = b.compile()
