"""A model writes in one node, a person edits in the next."""

from typing import TypedDict

from langchain.chat_models import init_chat_model
from langgraph.graph import START, StateGraph
from langgraph.types import interrupt

model = init_chat_model("openai:gpt-4o-mini")


class Text(TypedDict):
    topic: str
    draft: str


def write(state: Text) -> dict:
    return {"draft": model.invoke(f"Write about {state['topic']}").content}


def review(state: Text) -> dict:
    edited = interrupt({"instruction": "Review and edit this", "content": state["draft"]})
    return {"draft": edited}


builder = StateGraph(Text)
builder.add_node("write", write)
builder.add_node("review", review)
builder.add_edge(START, "write")
builder.add_edge("write", "review")
graph = builder.compile()
