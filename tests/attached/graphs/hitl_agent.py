"""LangChain's `create_agent` with its human-in-the-loop middleware, unmodified, in both of its modes."""

from __future__ import annotations

import os
from typing import Literal

from graph_world import act
from langchain.agents import create_agent
from langchain.agents.middleware import HumanInTheLoopMiddleware
from langchain_core.tools import tool
from langchain_openai import ChatOpenAI
from langgraph.checkpoint.memory import InMemorySaver


@tool
def read_data(table: str) -> str:
    """Read a table."""
    return f"{table}: 3 rows"


@tool
def execute_sql(query: str) -> str:
    """Run a statement."""
    act(f"ran {query}")
    return f"ran {query}"


@tool
def write_note(name: str, content: str) -> str:
    """Write a note."""
    act(f"wrote {name}: {content}")
    return f"wrote {name}"


def _agent(mode: Literal["batched", "per_call"]):
    return create_agent(
        ChatOpenAI(model=os.environ.get("GRAPH_MODEL", "operator")),
        [read_data, execute_sql, write_note],
        middleware=[
            HumanInTheLoopMiddleware(
                interrupt_on={
                    "write_note": True,
                    "execute_sql": {"allowed_decisions": ["approve", "reject"]},
                    "read_data": False,
                },
                interrupt_mode=mode,
            )
        ],
        checkpointer=InMemorySaver(),
    )


batched = _agent("batched")
per_call = _agent("per_call")
