"""Graphs that come with a saver of their own, and factories of all kinds."""

from __future__ import annotations

import sqlite3
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any

from graph_world import act
from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.checkpoint.sqlite import SqliteSaver
from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver
from langgraph.graph import START, StateGraph
from langgraph.types import interrupt
from typing_extensions import TypedDict


class State(TypedDict, total=False):
    text: str
    answer: str


def ask(state: State) -> State:
    return {"answer": interrupt(f"What of {state['text']}?")}


def do(state: State) -> State:
    act(f"did {state['answer']}")
    return {}


def _builder() -> Any:
    return StateGraph(State).add_node("ask", ask).add_node("do", do).add_edge(START, "ask").add_edge("ask", "do")


memory = _builder().compile(checkpointer=InMemorySaver())


def sqlite() -> Any:
    return _builder().compile(checkpointer=SqliteSaver(sqlite3.connect("own.db", check_same_thread=False)))


@asynccontextmanager
async def async_sqlite() -> AsyncIterator[Any]:
    async with AsyncSqliteSaver.from_conn_string("own.db") as saver:
        yield _builder().compile(checkpointer=saver)


def factory() -> Any:
    return _builder()


async def async_factory() -> Any:
    return _builder().compile()


def with_config(config: RunnableConfig) -> Any:
    assert set(config) >= {"configurable"}
    return _builder().compile()


@contextmanager
def managed() -> Iterator[Any]:
    Path("opened").touch()
    try:
        yield _builder().compile()
    finally:
        Path("closed").touch()


def makes_nothing() -> Any:
    return 5


def fails() -> Any:
    raise ConnectionError("the database is away")


def wants_more(config: RunnableConfig, other: int) -> Any:
    return _builder().compile()
