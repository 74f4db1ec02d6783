"""Someone met GraphBubbleUp in the log and "handled" it."""

from typing import Annotated, TypedDict
import operator

from langgraph.errors import GraphBubbleUp
from langgraph.graph import END, START, StateGraph
from langgraph.types import Command, interrupt


class Memo(TypedDict):
    text: str
    notes: Annotated[list[str], operator.add]


async def edit(state: Memo) -> Command:
    try:
        text = interrupt({"instruction": "Edit the memo", "content": state["text"]})  # fault: HT001
    except (ValueError, GraphBubbleUp):
        return Command(goto=END, update={"notes": ["editing was given up"]})
    return Command(goto=END, update={"text": text, "notes": ["edited"]})


graph = StateGraph(Memo).add_node("edit", edit).add_edge(START, "edit").compile()
