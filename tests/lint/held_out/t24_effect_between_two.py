import smtplib
from email.message import EmailMessage
from typing import TypedDict

from langgraph.graph import START, StateGraph
from langgraph.types import interrupt


class Mail(TypedDict):
    to: str
    body: str
    answer: str


def send(to: str, body: str) -> None:
    message = EmailMessage()
    message["To"] = to
    message.set_content(body)
    with smtplib.SMTP("localhost") as smtp:
        smtp.send_message(message)  # fault: HT006


def correspond(state: Mail) -> dict:
    if not interrupt({"question": "Send this mail?", "to": state["to"], "body": state["body"]}):
        return {"answer": ""}
    send(state["to"], state["body"])
    answer = interrupt("What did they answer?")
    return {"answer": answer}


b = StateGraph(Mail)
b.add_node("correspond", correspond)
b.add_edge(START, "correspond")
graph = b.compile()
