"""Graphs that expect what the LangGraph server gives them: a store, a context, a configuration (I10)."""

from __future__ import annotations

import os
from dataclasses import dataclass, field, fields
from typing import Annotated, Any

from langchain_core.language_models import FakeListChatModel
from langchain_core.runnables import RunnableConfig
from langgraph.config import get_store
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.runtime import Runtime
from langgraph.store.base import BaseStore
from langgraph.store.memory import InMemoryStore
from langgraph.types import interrupt
from pydantic import BaseModel
from typing_extensions import TypedDict


@dataclass(kw_only=True)
class Settings:
    """As the templates write it: defaults, which the environment may replace."""

    user_id: str = "somebody"
    tone: Annotated[str, "how it speaks"] = field(default="plain")
    api_key: str = "withheld-by-name"

    def __post_init__(self) -> None:
        for each in fields(self):
            if getattr(self, each.name) == each.default:
                setattr(self, each.name, os.environ.get(f"MEMORY_{each.name.upper()}", each.default))


class Notes(TypedDict, total=False):
    text: str
    known: list[str]
    told: dict[str, Any]


def note(state: Notes, config: RunnableConfig, store: BaseStore) -> Notes:
    user = config["configurable"]["user_id"]
    store.put(("notes", user), state["text"], {"text": state["text"]})
    return {}


async def recall(state: Notes, runtime: Runtime[Settings]) -> Notes:
    assert runtime.store is not None and runtime.server_info is not None
    found = await runtime.store.asearch(("notes", runtime.context.user_id), query="cold drinks", limit=9)
    told = {"tone": runtime.context.tone, "graph": runtime.server_info.graph_id}
    return {"known": [item.key for item in found], "told": told}


builder = StateGraph(Notes, context_schema=Settings)
builder.add_node(note)
builder.add_node(recall)
builder.add_edge(START, "note")
builder.add_edge("note", "recall")
memory = builder.compile()


class Chat(MessagesState):
    pass


def speak(state: Chat, config: RunnableConfig) -> dict[str, Any]:
    """Keeps what was said for a user whom the configuration names, as the course's graphs do."""
    store, user = get_store(), config["configurable"].get("user_id", "nobody")
    before = store.get(("memory", user), "said")
    model = FakeListChatModel(responses=[f"Before, {user} said: {before.value['text'] if before else 'nothing'}"])
    store.put(("memory", user), "said", {"text": str(state["messages"][-1].content)})
    return {"messages": [model.invoke(state["messages"])]}


older: Any = StateGraph  # its types don't know the older name any more
chat = older(Chat, config_schema=Settings).add_node(speak).add_edge(START, "speak").compile()


def double(state: Notes) -> Notes:
    return {"text": state["text"] * 2}


inner = StateGraph(Notes).add_node(double).add_edge(START, "double").compile(checkpointer=False)


def words(state: Notes, store: BaseStore) -> Notes:
    """Calls a graph that keeps no threads, and stores a text as it is, as on the server."""
    before = store.get(("words",), "last")
    found: Any = inner.invoke({"text": state["text"]})["text"]
    store.put(("words",), "last", found)
    (item,) = store.search(("words",))
    return {"told": {"before": before and before.value, "now": item.value}}


async def words_too(state: Notes) -> Notes:
    return {"text": (await inner.ainvoke({"text": state["text"]}))["text"]}


texts = (
    StateGraph(Notes)
    .add_node(words)
    .add_node(words_too)
    .add_edge(START, "words")
    .add_edge("words", "words_too")
    .compile()
)


class Needed(BaseModel):
    account: str
    limit: int = 3


async def pay(state: Notes, runtime: Runtime[Needed]) -> Notes:
    assert runtime.store is not None
    answer = interrupt({"question": f"Pay from {runtime.context.account}?"})
    await runtime.store.aput(("paid",), runtime.context.account, {"limit": runtime.context.limit})
    found = await runtime.store.aget(("paid",), runtime.context.account)
    return {"told": {"answer": answer, "limit": found.value["limit"] if found else None}}


needs = StateGraph(Notes, context_schema=Needed).add_node(pay).add_edge(START, "pay").compile()


class Loose(TypedDict):
    account: str


def look(state: Notes, runtime: Runtime[Loose]) -> Notes:
    return {"told": {"account": runtime.context["account"]}}


loose = StateGraph(Notes, context_schema=Loose).add_node(look).add_edge(START, "look").compile()

filled = InMemoryStore()
filled.put(("notes", "somebody"), "was there", {})
own = builder.compile(store=filled)
made = InMemoryStore()


def make_store() -> BaseStore:
    return made


def embed(texts: list[str]) -> list[list[float]]:
    """Says how long a text is and how often it has three letters: enough to tell texts apart."""
    return [[1.0 + len(text), *(1.0 + text.count(letter) for letter in "aet")] for text in texts]
