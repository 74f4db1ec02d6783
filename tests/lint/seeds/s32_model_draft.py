"""The draft a person approves is written again by the model before it is used."""

from typing import TypedDict

from langchain.chat_models import init_chat_model
from langgraph.graph import START, StateGraph
from langgraph.types import interrupt

model = init_chat_model("openai:gpt-4o-mini")


class Mail(TypedDict):
    topic: str
    body: str


async def write_mail(state: Mail) -> dict:
    draft = await model.ainvoke(f"Write a mail about {state['topic']}.")  # fault: HT012
    verdict = interrupt({"instruction": "May this go out?", "content": draft.content})
    return {"body": draft.content if verdict == "yes" else ""}


builder = StateGraph(Mail)
builder.add_node("write_mail", write_mail)
builder.add_edge(START, "write_mail")
graph = builder.compile()
