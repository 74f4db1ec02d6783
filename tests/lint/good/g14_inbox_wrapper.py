"""A wrapper gives any tool a question in the form of an inbox, and calls the tool after the answer."""

from collections.abc import Callable
from functools import partial

from langchain_core.tools import BaseTool, tool as create_tool
from langgraph.prebuilt import create_react_agent
from langgraph.types import interrupt


def with_review(tool: BaseTool | Callable, *, allow_edit: bool) -> BaseTool:
    if not isinstance(tool, BaseTool):
        tool = create_tool(tool)

    @create_tool(tool.name, description=tool.description, args_schema=tool.args_schema)
    def reviewed(config, **arguments):
        request = {
            "action_request": {"action": tool.name, "args": arguments},
            "config": {"allow_accept": True, "allow_edit": allow_edit, "allow_respond": True},
            "description": "Please review the call.",
        }
        response = interrupt([request])[0]
        if response["type"] == "accept":
            return tool.invoke(arguments, config)
        if response["type"] == "edit":
            return tool.invoke(response["args"]["args"], config)
        if response["type"] == "response":
            return response["args"]
        raise ValueError(f"unknown response type {response['type']}")

    return reviewed


def book(hotel: str) -> str:
    """Book a hotel."""
    return f"booked {hotel}"


editable = partial(with_review, allow_edit=True)
agent = create_react_agent("openai:gpt-4o-mini", [editable(book)])
