"""The functional API: effects stand in tasks, whose results are kept; calls have a fixed order."""

import time

import httpx
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.func import entrypoint, task
from langgraph.types import interrupt


@task
def write_essay(topic: str) -> str:
    """Write it, slowly."""
    time.sleep(1)
    return httpx.post("https://writer.example/essays", json={"topic": topic}).text


@task
def publish(essay: str) -> str:
    return httpx.post("https://blog.example/posts", json={"text": essay}).json()["url"]


@entrypoint(checkpointer=InMemorySaver())
def workflow(topic: str) -> dict:
    essay = write_essay(topic).result()
    approved = interrupt({"essay": essay, "action": "Approve or reject the essay"})
    if not approved:
        return {"essay": essay, "url": None}
    url = publish(essay).result()
    return {"essay": essay, "url": url}
