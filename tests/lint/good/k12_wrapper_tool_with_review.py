from typing import Callable

from langchain_core.runnables import RunnableConfig
from langchain_core.tools import BaseTool
from langchain_core.tools import tool as create_tool
from langgraph.types import interrupt


def add_human_in_the_loop(tool: Callable | BaseTool, *, interrupt_config: dict | None = None) -> BaseTool:
    """Wrap a tool so that a person reviews each call."""
    if not isinstance(tool, BaseTool):
        tool = create_tool(tool)
    if interrupt_config is None:
        interrupt_config = {"allow_accept": True, "allow_edit": True, "allow_respond": True}

    @create_tool(tool.name, description=tool.description, args_schema=tool.args_schema)
    def call_tool_with_interrupt(config: RunnableConfig, **tool_input):
        request = {
            "action_request": {"action": tool.name, "args": tool_input},
            "config": interrupt_config,
            "description": "Please review the tool call",
        }
        response = interrupt([request])[0]
        if response["type"] == "accept":
            tool_response = tool.invoke(tool_input, config)
        elif response["type"] == "edit":
            tool_response = tool.invoke(response["args"]["args"], config)
        elif response["type"] == "response":
            tool_response = response["args"]
        else:
            raise ValueError(f"Unsupported response type: {response['type']}")
        return tool_response

    return call_tool_with_interrupt
