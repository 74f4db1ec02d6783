"""In a loop over fixed steps the effect of one round stands before the question of the next."""

import smtplib
from email.message import EmailMessage
from typing import TypedDict

from langgraph.graph import START, StateGraph
from langgraph.types import interrupt


class Invitation(TypedDict):
    text: str


GUESTS = ("kim@example.org", "lee@example.org", "park@example.org")


def send(address: str, text: str) -> None:
    message = EmailMessage()
    message["To"] = address
    message.set_content(text)
    with smtplib.SMTP("localhost") as server:
        server.send_message(message)  # fault: HT006


def invite(state: Invitation) -> dict:
    for guest in GUESTS:
        if interrupt({"question": f"Invite {guest}?", "content": state["text"]}):
            send(guest, state["text"])
    return {}


builder = StateGraph(Invitation)
builder.add_node("invite", invite)
builder.add_edge(START, "invite")
graph = builder.compile()
