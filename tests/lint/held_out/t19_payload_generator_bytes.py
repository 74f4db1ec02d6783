from typing import TypedDict

from langchain_core.tools import tool
from langgraph.types import interrupt


@tool
def send_attachment(to: str, path: str, lines: list[str]) -> str:
    """Send a file to somebody."""
    preview = (line.strip()[:80] for line in lines)
    decision = interrupt({"action": "send", "to": to, "path": path, "preview": preview})  # fault: HT004
    if decision.get("action") != "approve":
        return "not sent"
    return f"sent {path} to {decision.get('to', to)}"
