"""deepagents' `create_deep_agent` with `interrupt_on`, unmodified: it plans, writes a file and wants to send it."""

from __future__ import annotations

from deepagents import create_deep_agent
from graph_world import act
from langchain_core.tools import tool
from langchain_openai import ChatOpenAI


@tool
def send_report(to: str, text: str) -> str:
    """Send a report."""
    act(f"sent {to}: {text}")
    return f"sent to {to}"


graph = create_deep_agent(
    model=ChatOpenAI(model="deep"),
    tools=[send_report],
    system_prompt="Write a report and send it.",
    interrupt_on={"send_report": True, "write_file": {"allowed_decisions": ["approve", "edit", "reject"]}},
)
