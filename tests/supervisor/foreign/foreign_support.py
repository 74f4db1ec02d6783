"""Real graphs on real savers, and a PostgreSQL server of the tests' own."""

from __future__ import annotations

import hashlib
import operator
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any, TypedDict

from langchain_core.messages import AIMessage, AnyMessage, HumanMessage
from langchain_core.runnables import RunnableConfig
from langgraph.channels.delta import DeltaChannel
from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.checkpoint.sqlite import SqliteSaver
from langgraph.graph import START, StateGraph
from langgraph.graph.message import add_messages
from langgraph.types import Command, Send, interrupt

QUESTION = "Please transfer 100 to Bob"


class Payment(TypedDict, total=False):
    messages: Annotated[list[AnyMessage], add_messages]
    log: Annotated[list[str], operator.add]
    amount: int
    trail: Annotated[list[str], DeltaChannel(lambda s, w: [*s, *(x for part in w for x in part)], list)]


class Check(TypedDict, total=False):
    log: Annotated[list[str], operator.add]
    amount: int


def _plan(state: Payment) -> Payment:
    return {"messages": [AIMessage("I would transfer 100")], "amount": 100, "log": ["planned"], "trail": ["plan"]}


def _ask(state: Payment) -> Payment:
    answer = interrupt({"question": "Transfer?", "amount": state["amount"]})
    return {"log": [f"answered {answer}"], "trail": ["ask"]}


def _parts(state: Payment) -> list[Send]:
    return [Send("work", {"amount": n}) for n in range(3)]


def _inner(state: Check) -> Check:
    return {"log": [f"checked {interrupt('Is the account right?')}"]}


def payment(saver: BaseCheckpointSaver[Any]) -> Any:
    """Return a graph that plans, asks, works three times in parallel, asks in a subgraph and ends."""
    inner = StateGraph(Check)
    inner.add_node("look", lambda state: {"log": ["looked"]})
    inner.add_node("confirm", _inner)
    inner.add_edge(START, "look")
    inner.add_edge("look", "confirm")
    builder = StateGraph(Payment)
    builder.add_node("plan", _plan)
    builder.add_node("ask", _ask)
    builder.add_node("work", lambda state: {"log": [f"worked {state['amount']}"]})
    builder.add_node("check", inner.compile())
    builder.add_node("done", lambda state: {"log": ["done"]})
    builder.add_edge(START, "plan")
    builder.add_edge("plan", "ask")
    builder.add_conditional_edges("ask", _parts, ["work"])
    builder.add_edge("work", "check")
    builder.add_edge("check", "done")
    return builder.compile(checkpointer=saver)


def at(thread: str) -> RunnableConfig:
    """Return the config of a thread."""
    return {"configurable": {"thread_id": thread}}


def pay(saver: BaseCheckpointSaver[Any], thread: str, answers: Sequence[str] = (), text: str = QUESTION) -> None:
    """Run the payment graph on a thread, with these answers to its questions."""
    graph = payment(saver)
    graph.invoke({"messages": [HumanMessage(text, id=f"m-{thread}")]}, at(thread))
    for answer in answers:
        graph.invoke(Command(resume=answer), at(thread))


def branch(saver: BaseCheckpointSaver[Any], thread: str, amount: int) -> None:
    """Go back to the first question of a thread, edit the amount there, and go on to the question again."""
    graph = payment(saver)
    old = next(h for h in graph.get_state_history(at(thread)) if h.next == ("ask",))
    graph.invoke(None, graph.update_state(old.config, {"amount": amount}))


@contextmanager
def sqlite_saver(path: Path) -> Iterator[SqliteSaver]:
    """Open a saver on a file."""
    with SqliteSaver.from_conn_string(str(path)) as saver:
        yield saver


def payments(path: Path) -> Path:
    """Make a store: `asks` waits, `done` is finished, `forked` has a branch and asks on both."""
    with sqlite_saver(path) as saver:
        pay(saver, "asks")
        pay(saver, "done", ["yes", "right"], "Pay the rent")
        pay(saver, "forked", ["yes"])
        branch(saver, "forked", 5)
    return path


def digests(folder: Path) -> dict[str, str]:
    """Return a digest of each file of a folder that holds data; a `-shm` is memory that readers share."""
    return {
        p.name: hashlib.sha256(p.read_bytes()).hexdigest()
        for p in sorted(folder.iterdir())
        if p.is_file() and not p.name.endswith("-shm")
    }
