"""A supervisor hands over by Command; one agent of several asks. A reset stands where it isn't entered again."""

from typing import Literal

from langchain_core.messages import HumanMessage, RemoveMessage
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import END, START, MessagesState, StateGraph
from langgraph.graph.message import REMOVE_ALL_MESSAGES
from langgraph.types import Command, interrupt


def supervisor(state: MessagesState) -> Command[Literal["researcher", "person", "tidy"]]:
    last = state["messages"][-1].content if state["messages"] else ""
    return Command(goto="person" if last.endswith("?") else "tidy" if "done" in last else "researcher")


def researcher(state: MessagesState) -> Command[Literal["supervisor"]]:
    return Command(goto="supervisor", update={"messages": [HumanMessage("done", name="researcher")]})


def person(state: MessagesState) -> Command[Literal["supervisor"]]:
    said = interrupt({"question": state["messages"][-1].content})
    return Command(goto="supervisor", update={"messages": [HumanMessage(said, name="person")]})


def tidy(state: MessagesState) -> Command[Literal["__end__"]]:
    return Command(goto=END, update={"messages": [RemoveMessage(id=REMOVE_ALL_MESSAGES)]})


builder = StateGraph(MessagesState)
for node in (supervisor, researcher, person, tidy):
    builder.add_node(node)
builder.add_edge(START, "supervisor")
graph = builder.compile(checkpointer=InMemorySaver())
