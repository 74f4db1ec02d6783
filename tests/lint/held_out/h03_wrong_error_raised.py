"""The handler raises another error instead of the one it caught."""

from typing import TypedDict

from langgraph.graph import START, StateGraph
from langgraph.types import interrupt


class ReviewFailed(RuntimeError):
    pass


class Draft(TypedDict):
    text: str


async def review(state: Draft) -> Draft:
    try:
        text = interrupt({"instruction": "Review", "content": state["text"]})  # fault: HT001
    except BaseException as error:
        raise ReviewFailed(str(error)) from error
    return {"text": text}


builder = StateGraph(Draft)
builder.add_node("review", review)
builder.add_edge(START, "review")
graph = builder.compile()
