import random
import time
from typing import TypedDict

from langgraph.graph import END, START, StateGraph
from langgraph.types import interrupt


class State(TypedDict):
    prompt: str
    text: str
    tries: int


def generate(state: State) -> dict:
    for attempt in range(3):
        try:
            return {"text": call_model(state["prompt"]), "tries": attempt}
        except Exception:
            time.sleep(random.uniform(0.1, 0.5) * 2**attempt)
    return {"text": "", "tries": 3}


def call_model(prompt: str) -> str:
    if not prompt:
        raise ValueError("nothing to say")
    return prompt.upper()


def review(state: State) -> dict:
    edited = interrupt({"instruction": "Review and edit", "content": state["text"]})
    return {"text": edited, "tries": random.randint(0, 3)}


b = StateGraph(State)
b.add_node("generate", generate)
b.add_node("review", review)
b.add_edge(START, "generate")
b.add_edge("generate", "review")
b.add_edge("review", END)
graph = b.compile()
