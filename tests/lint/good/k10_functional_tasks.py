import time

import requests
from langgraph.checkpoint.memory import MemorySaver
from langgraph.func import entrypoint, task
from langgraph.types import interrupt


@task
def write_essay(topic: str) -> str:
    """Runs once: its result is in the checkpoint."""
    time.sleep(1)
    answer = requests.post("https://llm.example/generate", json={"topic": topic}, timeout=60)
    return answer.json()["text"]


@task
def publish(text: str) -> None:
    requests.post("https://cms.example/posts", json={"text": text}, timeout=60)


@entrypoint(checkpointer=MemorySaver())
def workflow(topic: str) -> dict:
    essay = write_essay(topic).result()
    approved = interrupt({"essay": essay, "action": "Please approve or reject the essay"})
    if approved:
        publish(essay).result()
    return {"essay": essay, "approved": bool(approved)}
