"""A graph of one's own: it writes a mail and asks before it is sent. It knows nothing of hitl-tui."""

from email.message import EmailMessage
from pathlib import Path
from typing import Any, TypedDict

from langgraph.graph import END, START, StateGraph
from langgraph.types import interrupt

ENGLISH = {
    "mail": "Hello,\n\n{news}\n\nKind regards",
    "subject": "Your order",
    "ask": "Send this mail?",
    "sent": "The mail to {to} is in outbox/{file}. This example sends nothing.",
    "none": "No mail was written.",
}
KOREAN = {
    "mail": "안녕하세요.\n\n{news}\n\n감사합니다.",
    "subject": "주문 안내",
    "ask": "이 메일을 보낼까요?",
    "sent": "{to} 앞으로 쓴 메일을 outbox/{file} 파일로 저장했습니다. 이 예제는 실제로 보내지 않습니다.",
    "none": "메일을 쓰지 않았습니다.",
}


class Mail(TypedDict, total=False):
    request: str
    to: str
    text: str
    outcome: str


def words_for(state: Mail) -> dict[str, str]:
    return KOREAN if any("가" <= character <= "힣" for character in state["request"]) else ENGLISH


def write(state: Mail) -> Mail:
    to, _, news = state["request"].partition(":")
    return {"to": to.strip(), "text": words_for(state)["mail"].format(news=news.strip() or to.strip())}


def send(state: Mail) -> Mail:
    words = words_for(state)
    question = {"action": "send_mail", "message": words["ask"], "to": state["to"], "text": state["text"]}
    answer: dict[str, Any] = interrupt(question)
    if answer.get("action") != "approve":
        return {"outcome": words["none"]}
    to, text = answer.get("to", state["to"]), answer.get("text", state["text"])
    mail = EmailMessage()
    mail["To"], mail["Subject"] = to, words["subject"]
    mail.set_content(text)
    outbox = Path(__file__).parent / "outbox"  # a real one would call smtplib.SMTP(…).send_message(mail)
    outbox.mkdir(exist_ok=True)
    place = outbox / f"{len(list(outbox.iterdir())) + 1:03d}.eml"
    place.write_bytes(mail.as_bytes())
    return {"to": to, "text": text, "outcome": words["sent"].format(to=to, file=place.name)}


graph = StateGraph(Mail).add_sequence([write, send]).add_edge(START, "write").add_edge("send", END).compile()
