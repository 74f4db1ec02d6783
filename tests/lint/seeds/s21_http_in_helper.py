"""Creates an issue through a helper, then asks about it: each answer creates another."""

import os
from typing import TypedDict

import httpx
from langgraph.graph import START, StateGraph
from langgraph.types import interrupt


class Report(TypedDict):
    title: str
    body: str
    url: str


def client() -> httpx.Client:
    return httpx.Client(base_url="https://tracker.example", headers={"Authorization": os.environ["TRACKER"]})


def create_issue(title: str, body: str) -> str:
    with client() as http:
        made = http.post("/issues", json={"title": title, "body": body})  # fault: HT006
    return made.json()["url"]


def file_report(state: Report) -> dict:
    url = create_issue(state["title"], state["body"])
    note = interrupt({"question": "Anything to add?", "title": state["title"]})
    return {"url": url, "body": f"{state['body']}\n\n{note}"}


builder = StateGraph(Report)
builder.add_node("file_report", file_report)
builder.add_edge(START, "file_report")
graph = builder.compile()
