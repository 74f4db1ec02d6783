"""A tool is a class; it sends before it asks."""

import smtplib
from langchain_core.tools import BaseTool
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.prebuilt import ToolNode
from langgraph.types import interrupt


class SendMail(BaseTool):
    name: str = "send_mail"
    description: str = "Send a mail"

    def _run(self, to: str, text: str) -> str:
        server = smtplib.SMTP("localhost")
        server.sendmail("me@x.example", to, text)  # fault: HT006
        if not interrupt({"question": "keep a copy?"}):
            return "sent"
        return "sent and kept"


g = StateGraph(MessagesState)
g.add_node("tools", ToolNode([SendMail()]))
g.add_edge(START, "tools")
graph = g.compile()
