"""An agent whose tools are guarded by middleware: each call is a task of its own."""

from pathlib import Path

from langchain.agents import create_agent
from langchain.agents.middleware import HumanInTheLoopMiddleware
from langchain_core.tools import tool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import interrupt


@tool
def write_file(name: str, text: str) -> str:
    """Write a file."""
    Path(name).write_text(text)
    return "written"


@tool
def delete_file(name: str) -> str:
    """Delete a file, after asking."""
    if interrupt({"action": "delete", "name": name}) != "approve":
        return "refused"
    Path(name).unlink()
    return "deleted"


@tool
def ask_human(question: str) -> str:
    """Ask a person."""
    return str(interrupt(question))


agent = create_agent(
    "openai:gpt-4o-mini",
    tools=[write_file, delete_file, ask_human],
    middleware=[HumanInTheLoopMiddleware(interrupt_on={"write_file": True})],
    checkpointer=InMemorySaver(),
)
