"""What a model wrote is shown, then written again."""

from typing import TypedDict
from openai import OpenAI
from langgraph.graph import START, StateGraph
from langgraph.types import interrupt

client = OpenAI()


class S(TypedDict):
    topic: str
    post: str


def generate(topic: str) -> str:
    messages = [{"role": "user", "content": topic}]
    reply = client.chat.completions.create(model="gpt", messages=messages)  # fault: HT012
    return reply.choices[0].message.content


def post(state: S) -> S:
    text = generate(state["topic"])
    decision = interrupt({"text": text, "question": "publish?"})
    return {"post": text if decision == "yes" else ""}


graph = StateGraph(S).add_node(post).add_edge(START, "post").compile()
