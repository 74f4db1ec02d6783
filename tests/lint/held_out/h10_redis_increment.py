"""Counts attempts in Redis, in a tool, before it asks."""

import redis
from langchain.agents import create_agent
from langchain.tools import tool
from langgraph.types import interrupt

cache = redis.Redis()


@tool
def wire_money(iban: str, euros: int) -> str:
    """Send money."""
    cache.incr(f"attempts:{iban}")  # fault: HT006
    if interrupt({"action": "wire_money", "iban": iban, "euros": euros}) != "approve":
        return "refused"
    return "sent"


agent = create_agent("openai:gpt-4o", [wire_money])
