"""The discussion begins by clearing its messages, and does so again each time it is entered."""

from langchain_core.messages import AIMessage, RemoveMessage
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import END, START, MessagesState, StateGraph
from langgraph.graph.message import REMOVE_ALL_MESSAGES
from langgraph.types import interrupt


def clear(state: MessagesState) -> dict:
    return {"messages": [RemoveMessage(id=REMOVE_ALL_MESSAGES)]}  # fault: HT010


def reviewer(state: MessagesState) -> dict:
    return {"messages": [AIMessage("Shorter, please.", name="reviewer")]}


def writer(state: MessagesState) -> dict:
    said = interrupt({"question": "What does the writer say?"})
    return {"messages": [AIMessage(said, name="writer")]}


def agreed(state: MessagesState) -> str:
    return END if "agreed" in state["messages"][-1].content else "clear"


discussion = StateGraph(MessagesState)
discussion.add_node("clear", clear)
discussion.add_node("reviewer", reviewer)
discussion.add_node("writer", writer)
discussion.add_edge(START, "clear")
discussion.add_edge("clear", "reviewer")
discussion.add_edge("reviewer", "writer")
discussion.add_conditional_edges("writer", agreed, ["clear", END])

parent = StateGraph(MessagesState)
parent.add_node("discussion", discussion.compile())
parent.add_edge(START, "discussion")
graph = parent.compile(checkpointer=InMemorySaver())
