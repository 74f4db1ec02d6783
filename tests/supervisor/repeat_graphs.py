"""Graphs in which something asks, and something else may have been done before."""

from __future__ import annotations

from typing import Any, TypedDict

from attached_graphs import act
from langchain_core.messages import AIMessage
from langchain_core.tools import tool
from langgraph.errors import NodeInterrupt
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.prebuilt import ToolNode
from langgraph.types import Send, interrupt


@tool
def pay(amount: int) -> str:
    """Pay."""
    act("pay")
    return f"paid {amount}"


@tool
def mail(to: str) -> str:
    """Send a mail, after asking."""
    answer = interrupt({"query": f"Mail to {to}?"})
    act("mail")
    return str(answer)


@tool
def noted(to: str) -> str:
    """Send a mail that is noted before anybody is asked."""
    act("note")
    return str(interrupt({"query": f"Mail to {to}?"}))


@tool
def twice(to: str) -> str:
    """Ask, do something, and ask again."""
    if interrupt("First?") != "no":
        act("between")
    return str(interrupt("Second?"))


TO = {"to": "ann"}


def planner(*calls: tuple[str, dict[str, Any]]) -> Any:
    made = [{"name": name, "args": args, "id": f"c{n}", "type": "tool_call"} for n, (name, args) in enumerate(calls)]

    def plan(state: MessagesState) -> dict[str, Any]:
        return {"messages": [AIMessage("", tool_calls=made)]}

    return plan


def graph(*calls: tuple[str, dict[str, Any]], apart: bool = False) -> Any:
    """Return a graph that makes calls: in one task, or each in one of its own."""

    def each(state: MessagesState) -> list[Send]:
        (*_, last) = state["messages"]
        assert isinstance(last, AIMessage)
        return [Send("tools", [call]) for call in last.tool_calls]

    built = (
        StateGraph(MessagesState)
        .add_node("plan", planner(*calls))
        .add_node("tools", ToolNode([pay, mail, noted, twice]))
    )
    built.add_edge(START, "plan")
    if apart:
        built.add_conditional_edges("plan", each, ["tools"])
    else:
        built.add_edge("plan", "tools")
    return built.compile()


PAY, MAIL = ("pay", {"amount": 100}), ("mail", TO)
together, apart = graph(PAY, MAIL), graph(PAY, MAIL, apart=True)
several = graph(PAY, PAY, MAIL, ("noted", TO))
alone, alone_noted, asks_twice = graph(MAIL), graph(("noted", TO)), graph(("twice", TO))
within = StateGraph(MessagesState).add_node("sub", together).add_edge(START, "sub").compile()


def send(state: MessagesState) -> dict[str, Any]:
    if interrupt("Send it?") != "no":
        act("send")
    return {}


sending = StateGraph(MessagesState).add_node(send).add_edge(START, "send").compile()


class Text(TypedDict, total=False):
    text: str


def checks(state: Text) -> Text:
    if len(state["text"]) > 5:
        raise NodeInterrupt("That is too long.")
    return {}


checking = StateGraph(Text).add_node(checks).add_edge(START, "checks").compile()
