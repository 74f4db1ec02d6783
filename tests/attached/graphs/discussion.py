"""A discussion as a subgraph: the reviewer speaks, the writer responds and asks, and a check looks for consensus.

The messages of the discussion are reset on entry, by a reducer that takes `None` for "begin anew", as people do who
enter such a subgraph more than once. Here it is entered for each of two chapters.
"""

from __future__ import annotations

from typing import Annotated

from graph_world import act
from langgraph.graph import END, START, StateGraph
from langgraph.types import interrupt
from typing_extensions import TypedDict


def anew(left: list[str] | None, right: list[str] | None) -> list[str]:
    return [] if right is None else [*(left or []), *right]


class Discussion(TypedDict, total=False):
    chapter: str
    messages: Annotated[list[str], anew]
    rounds: int
    agreed: bool


class Book(TypedDict, total=False):
    chapters: list[str]
    at: int
    chapter: str
    messages: list[str]
    agreed: bool
    written: list[str]


def enter(state: Discussion) -> dict[str, object]:
    return {"messages": None, "rounds": 0, "agreed": False}


def reviewer(state: Discussion) -> Discussion:
    act(f"reviewed {state['chapter']}")
    return {"messages": [f"reviewer: {state['chapter']} needs an example"], "rounds": state["rounds"] + 1}


def writer(state: Discussion) -> Discussion:
    answer = interrupt(
        {"instruction": f"Round {state['rounds']}: what does the writer answer?", "content": state["messages"][-1]}
    )
    act(f"wrote {state['chapter']}")
    return {"messages": [f"writer: {answer}"]}


def check(state: Discussion) -> Discussion:
    return {"agreed": "agreed" in state["messages"][-1]}


def more(state: Discussion) -> str:
    return END if state["agreed"] or state["rounds"] >= 3 else "reviewer"


discussion = (
    StateGraph(Discussion)
    .add_node("enter", enter)
    .add_node("reviewer", reviewer)
    .add_node("writer", writer)
    .add_node("check", check)
    .add_edge(START, "enter")
    .add_edge("enter", "reviewer")
    .add_edge("reviewer", "writer")
    .add_edge("writer", "check")
    .add_conditional_edges("check", more, ["reviewer", END])
    .compile()
)


def choose(state: Book) -> Book:
    return {"chapter": state["chapters"][state.get("at", 0)], "at": state.get("at", 0) + 1}


def keep(state: Book) -> Book:
    act(f"kept {state['chapter']} after {len(state['messages'])} messages")
    return {"written": [*state.get("written", []), state["chapter"]]}


def another(state: Book) -> str:
    return "choose" if state["at"] < len(state["chapters"]) else END


graph = (
    StateGraph(Book)
    .add_node("choose", choose)
    .add_node("discuss", discussion)
    .add_node("keep", keep)
    .add_edge(START, "choose")
    .add_edge("choose", "discuss")
    .add_edge("discuss", "keep")
    .add_conditional_edges("keep", another, ["choose", END])
    .compile()
)
