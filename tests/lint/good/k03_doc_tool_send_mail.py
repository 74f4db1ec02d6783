import os
import sqlite3
from typing import TypedDict

from langchain.tools import tool
from langgraph.graph import END, START, StateGraph
from langgraph.types import interrupt


class AgentState(TypedDict):
    messages: list[dict]


@tool
def send_email(to: str, subject: str, body: str):
    """Send an email to a recipient."""
    response = interrupt(
        {"action": "send_email", "to": to, "subject": subject, "body": body, "message": "Approve sending this email?"}
    )
    if response.get("action") == "approve":
        final_to = response.get("to", to)
        final_subject = response.get("subject", subject)
        print(f"[send_email] to={final_to} subject={final_subject} from={os.environ.get('USER')}")
        with sqlite3.connect("outbox.db") as db:
            db.execute("insert into outbox values (?, ?, ?)", (final_to, final_subject, body))
        return f"Email sent to {final_to}"
    return "Email cancelled by user"


def agent_node(state: AgentState):
    return {"messages": state["messages"]}


graph = StateGraph(AgentState).add_node("agent", agent_node).add_edge(START, "agent").add_edge("agent", END).compile()
