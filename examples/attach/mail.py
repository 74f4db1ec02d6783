"""A graph of one's own: it writes a mail and asks before it is sent. It knows nothing of hitl-tui."""

import re
from email.message import EmailMessage
from pathlib import Path
from typing import Any, TypedDict

from langgraph.graph import END, START, StateGraph
from langgraph.types import interrupt

ENGLISH = {
    "mail": "Hello,\n\n{news}\n\nKind regards",
    "subject": "Your order",
    "ask": "Send this mail? (The example only puts it into outbox/.)",
    "sent": "The mail to {to} (“{subject}”) is in outbox/{file}. This example sends nothing.",
    "to": "Not an address: {to}. Whom is this mail for?",
    "none": "No mail was written. {why}",
}
KOREAN = {
    "mail": "안녕하세요.\n\n{news}\n\n감사합니다.",
    "subject": "주문 안내",
    "ask": "이 메일을 보낼까요? (예제라서 outbox/에 저장만 합니다.)",
    "sent": "{to} 앞으로 쓴 메일(“{subject}”)을 outbox/{file} 파일로 저장했습니다. 이 예제는 실제로 보내지 않습니다.",
    "to": "메일 주소가 아닙니다: {to}. 누구에게 보낼까요?",
    "none": "메일을 쓰지 않았습니다. {why}",
}


ACTIONS = ["approve", "edit", "reject"]
ADDRESS = re.compile(r"[\w.+-]+@[\w-]+(\.[A-Za-z0-9-]+)+", re.ASCII)


class Outcome(TypedDict):
    outcome: str


class Mail(TypedDict, total=False):
    request: str
    to: str
    subject: str
    text: str
    outcome: str


def words_for(state: Mail) -> dict[str, str]:
    return KOREAN if any("가" <= character <= "힣" for character in state["request"]) else ENGLISH


def write(state: Mail) -> Mail:
    said, colon, news = state["request"].partition(":")
    address = ADDRESS.search(said)
    to = address.group() if address else said.strip() if colon else ""
    mail = words_for(state)["mail"].format(news=news.strip() or state["request"])
    return {"to": to, "text": mail if colon else state.get("text", mail)}  # no new text: the same to somebody else


def ask(state: Mail) -> Mail:
    """Ask until the mail may be sent, or not. Nothing happens here: a node begins anew with each answer."""
    words, to, text = words_for(state), state["to"], state["text"]
    message, subject = words["ask"], words["subject"]
    while True:
        asked = {"message": message, "to": to, "subject": subject, "text": text, "actions": ACTIONS}
        answer: dict[str, Any] = interrupt(asked)
        if answer.get("action") == "reject":
            return {"outcome": words["none"].format(why=answer.get("reason", "")).strip()}
        to, subject, text = (answer.get(name, asked[name]) for name in ("to", "subject", "text"))
        if ADDRESS.fullmatch(to):
            return {"to": to, "subject": subject, "text": text, "outcome": ""}
        message = words["to"].format(to=to)


def send(state: Mail) -> Mail:
    mail = EmailMessage()
    mail["To"], mail["Subject"] = state["to"], state["subject"]
    mail.set_content(state["text"])
    outbox = Path(__file__).parent / "outbox"  # a real one would call smtplib.SMTP(…).send_message(mail)
    outbox.mkdir(exist_ok=True)
    place = outbox / f"{len(list(outbox.iterdir())) + 1:03d}.eml"
    place.write_bytes(mail.as_bytes())
    words = words_for(state)
    return {"outcome": words["sent"].format(to=state["to"], subject=state["subject"], file=place.name)}


def wanted(state: Mail) -> str:
    return END if state["outcome"] else "send"


builder = StateGraph(Mail, output_schema=Outcome)
builder.add_sequence([write, ask]).add_node(send).add_edge(START, "write").add_edge("send", END)
graph = builder.add_conditional_edges("ask", wanted, ["send", END]).compile()
