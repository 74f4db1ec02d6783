"""Tools are collected one after the other; two of them ask."""

from langchain_core.tools import StructuredTool
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.prebuilt import ToolNode
from langgraph.types import interrupt


def delete_user(name: str) -> str:
    """Delete a user."""
    return "deleted" if interrupt(f"Delete {name}?") else "kept"


def delete_group(name: str) -> str:
    """Delete a group."""
    return "deleted" if interrupt(f"Delete group {name}?") else "kept"


TOOLS = []
TOOLS.append(StructuredTool.from_function(delete_user))
TOOLS.append(StructuredTool.from_function(func=delete_group))

builder = StateGraph(MessagesState)
tool_node = ToolNode(TOOLS)  # fault: HT008
builder.add_node("tools", tool_node)
builder.add_edge(START, "tools")
graph = builder.compile()
