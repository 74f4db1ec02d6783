"""A graph of one's own: it writes a mail and asks before it is sent. It knows nothing of hitl-tui."""

from email.message import EmailMessage
from pathlib import Path
from typing import Any, TypedDict

from langgraph.graph import END, START, StateGraph
from langgraph.types import interrupt


class Mail(TypedDict, total=False):
    request: str
    to: str
    text: str
    outcome: str


def write(state: Mail) -> Mail:
    to, _, news = state["request"].partition(":")
    return {"to": to.strip(), "text": f"Hello,\n\n{news.strip() or to.strip()}\n\nKind regards"}


def send(state: Mail) -> Mail:
    question = {"action": "send_mail", "message": "Send this mail?", "to": state["to"], "text": state["text"]}
    answer: dict[str, Any] = interrupt(question)
    if answer.get("action") != "approve":
        return {"outcome": "Nothing was sent."}
    mail = EmailMessage()
    mail["To"], mail["Subject"] = answer.get("to", state["to"]), "Your order"
    mail.set_content(answer.get("text", state["text"]))
    outbox = Path(__file__).parent / "outbox"  # a real one would call smtplib.SMTP(…).send_message(mail)
    outbox.mkdir(exist_ok=True)
    place = outbox / f"{len(list(outbox.iterdir())) + 1:03d}.eml"
    place.write_bytes(mail.as_bytes())
    return {"outcome": f"Sent to {mail['To']}, as outbox/{place.name}."}


graph = StateGraph(Mail).add_sequence([write, send]).add_edge(START, "write").add_edge("send", END).compile()
