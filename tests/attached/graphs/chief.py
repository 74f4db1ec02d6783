"""langgraph-supervisor, unmodified: two agents are handed a job in turn; one asks before it pays."""

from __future__ import annotations

from graph_world import act
from langchain.agents import create_agent
from langchain.agents.middleware import HumanInTheLoopMiddleware
from langchain_core.tools import tool
from langchain_openai import ChatOpenAI
from langgraph_supervisor import create_supervisor


@tool
def look_up(what: str) -> str:
    """Look up a price."""
    act(f"looked up {what}")
    return f"price of a {what} is 120"


@tool
def pay(amount: int, to: str) -> str:
    """Pay somebody."""
    act(f"paid {amount} to {to}")
    return f"paid {amount} to {to}"


researcher = create_agent(ChatOpenAI(model="researcher"), [look_up], name="researcher")
payer = create_agent(
    ChatOpenAI(model="payer"),
    [pay],
    name="payer",
    middleware=[HumanInTheLoopMiddleware(interrupt_on={"pay": True})],
)
graph = create_supervisor([researcher, payer], model=ChatOpenAI(model="chief"))
