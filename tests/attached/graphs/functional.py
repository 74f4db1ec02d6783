"""LangGraph's documentation, functional API: tasks, a question, another task; a finished task isn't done again."""

from __future__ import annotations

from typing import Any

from graph_world import act, gate
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.func import entrypoint, task
from langgraph.types import interrupt


@task
def write_essay(topic: str) -> str:
    act("wrote")
    return f"An essay about topic: {topic}"


@task
def publish(essay: str) -> str:
    gate("publish")
    act("published")
    return f"published {len(essay)} characters"


@entrypoint(checkpointer=InMemorySaver())
def workflow(topic: str) -> dict[str, Any]:
    essay = write_essay(topic).result()
    approved = interrupt({"essay": essay, "action": "Please approve or reject the essay"})
    done = publish(essay).result() if approved else "kept back"
    return {"essay": essay, "is_approved": approved, "done": done}
