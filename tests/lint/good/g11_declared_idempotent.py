"""Effects before the question which may be repeated, and say so."""

import hashlib
from pathlib import Path
from typing import TypedDict

import httpx
from langgraph.graph import START, StateGraph
from langgraph.types import interrupt


class Upload(TypedDict):
    text: str
    accepted: bool


def stage(text: str) -> str:  # hitl: idempotent
    name = hashlib.sha256(text.encode()).hexdigest()
    httpx.put(f"https://store.example/staged/{name}", content=text)
    return name


def upload(state: Upload) -> dict:
    name = stage(state["text"])
    # hitl: idempotent
    Path("last-upload.txt").write_text(name)
    accepted = interrupt({"question": "Keep this upload?", "name": name})
    return {"accepted": accepted}


builder = StateGraph(Upload)
builder.add_node("upload", upload)
builder.add_edge(START, "upload")
graph = builder.compile()
