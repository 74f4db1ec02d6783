"""A tool files a ticket and then runs a graph, which asks two levels down."""

import requests
from langchain_core.tools import tool
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.prebuilt import ToolNode
from langgraph.types import interrupt


def question(state: MessagesState):
    return {"messages": [("human", interrupt("Which room?"))]}


inner = StateGraph(MessagesState).add_node("question", question).add_edge(START, "question").compile()


def relay(state: MessagesState):
    return inner.invoke(state)


middle = StateGraph(MessagesState).add_node("relay", relay).add_edge(START, "relay").compile()


@tool
def facility(problem: str) -> str:
    """Report a problem of the building."""
    ticket = requests.post("https://facility.example/tickets", json={"problem": problem}, timeout=5).json()["id"]  # fault: HT007
    answer = middle.invoke({"messages": [("user", problem)]})
    return f"{ticket}: {answer['messages'][-1].content}"


outer = StateGraph(MessagesState)
outer.add_node("tools", ToolNode([facility]))
outer.add_edge(START, "tools")
graph = outer.compile()
