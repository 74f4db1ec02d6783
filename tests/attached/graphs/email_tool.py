"""LangGraph's documentation, interrupts in tools: the tool asks for itself, and the answer may change its arguments."""

from __future__ import annotations

from typing import Any

from graph_world import act, gate
from langchain_core.messages import ToolMessage
from langchain_core.tools import tool
from langchain_openai import ChatOpenAI
from langgraph.graph import END, START, MessagesState, StateGraph
from langgraph.types import interrupt


@tool
def send_email(to: str, subject: str, body: str) -> str:
    """Send an email to a recipient."""
    gate("tool")
    response = interrupt(
        {
            "action": "send_email",
            "to": to,
            "subject": subject,
            "body": body,
            "message": "Approve sending this email?",
        }
    )
    if response.get("action") == "approve":
        final = response.get("to", to)
        gate("before")
        act(f"sent {final}: {response.get('subject', subject)}")
        gate("after")
        return f"Email sent to {final}"
    return "Email cancelled by user"


model = ChatOpenAI(model="clerk").bind_tools([send_email])


def agent(state: MessagesState) -> dict[str, Any]:
    return {"messages": [model.invoke(state["messages"])]}


def use_tool(state: MessagesState) -> dict[str, Any]:
    done = []
    for call in state["messages"][-1].tool_calls:
        done.append(ToolMessage(content=send_email.invoke(call["args"]), tool_call_id=call["id"]))
    return {"messages": done}


def go_on(state: MessagesState) -> str:
    return "tool_node" if state["messages"][-1].tool_calls else END


builder = StateGraph(MessagesState)
builder.add_node("agent", agent)
builder.add_node("tool_node", use_tool)
builder.add_edge(START, "agent")
builder.add_conditional_edges("agent", go_on, ["tool_node", END])
builder.add_edge("tool_node", "agent")
graph = builder.compile()
