"""Results of tasks are kept by the order of calls, and here that order is a set's."""

from langgraph.checkpoint.memory import InMemorySaver
from langgraph.func import entrypoint, task
from langgraph.types import interrupt


@task
def translate(text: str, language: str) -> str:
    return f"[{language}] {text}"


@entrypoint(checkpointer=InMemorySaver())
def publish(text: str) -> dict:
    languages = set("ko en de".split())
    drafts = {}
    for language in languages:
        drafts[language] = translate(text, language).result()  # fault: HT009
    approved = interrupt({"question": "Publish all of them?", "drafts": drafts})
    return {"published": bool(approved), "drafts": drafts}
