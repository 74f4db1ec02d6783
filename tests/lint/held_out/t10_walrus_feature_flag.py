import os
from typing import TypedDict

import httpx
from langgraph.func import entrypoint, task
from langgraph.types import interrupt


class Job(TypedDict):
    text: str
    lang: str


@task
def translate(text: str, lang: str) -> str:
    return f"[{lang}] {text}"


@entrypoint()
def workflow(job: Job) -> dict:
    if (flags := httpx.get(os.environ["FLAGS_URL"]).json()) and flags.get("ask_language"):
        lang = interrupt("Which language?")  # fault: HT002
    else:
        lang = job["lang"]
    out = translate(job["text"], lang).result()
    accepted = interrupt({"instruction": "Accept the translation?", "content": out})
    return {"text": out if accepted else job["text"]}
