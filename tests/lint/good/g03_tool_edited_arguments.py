"""A tool asks for itself, takes changed arguments, and acts after the answer."""

import smtplib

from langchain_core.tools import tool
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.prebuilt import ToolNode, tools_condition
from langgraph.types import interrupt


@tool
def send_email(to: str, subject: str, body: str) -> str:
    """Send a mail."""
    answer = interrupt(
        {"action": "send_email", "to": to, "subject": subject, "body": body, "message": "Send this mail?"}
    )
    if answer.get("action") != "approve":
        return "The person refused."
    to, subject, body = (answer.get(key, was) for key, was in (("to", to), ("subject", subject), ("body", body)))
    with smtplib.SMTP("localhost") as server:
        server.sendmail("me@example.org", to, f"Subject: {subject}\n\n{body}")
    return f"sent to {to}"


@tool
def today_weather(city: str) -> str:
    """Tell the weather."""
    return f"sunny in {city}"


def agent(state: MessagesState) -> dict:
    return {"messages": []}


builder = StateGraph(MessagesState)
builder.add_node("agent", agent)
builder.add_node("tools", ToolNode([send_email, today_weather]))
builder.add_edge(START, "agent")
builder.add_conditional_edges("agent", tools_condition)
graph = builder.compile()
