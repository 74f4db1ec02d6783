"""Graphs as people write them, for tests of attached ones; what they do to the world is a line in WORLD."""

from __future__ import annotations

import asyncio
import operator
import os
import signal
from collections import Counter
from pathlib import Path
from typing import Annotated, Any, TypedDict

from langgraph.checkpoint.memory import InMemorySaver
from langgraph.func import entrypoint, task
from langgraph.graph import END, START, StateGraph
from langgraph.types import Command, Send, interrupt

COUNT: Counter[str] = Counter()


def act(what: str) -> None:
    """Do something to the world; die before or after it if the environment says so."""
    COUNT[what] += 1
    _perhaps_die(f"before {what}#{COUNT[what]}")
    with Path(os.environ["WORLD"]).open("a", encoding="utf-8") as file:
        file.write(f"{what}\n")
    _perhaps_die(f"after {what}#{COUNT[what]}")


def _perhaps_die(point: str) -> None:
    if os.environ.get("DIE") == point:
        os.kill(os.getpid(), signal.SIGKILL)


class Mail(TypedDict, total=False):
    to: str
    body: str
    sent: bool


def write(state: Mail) -> Mail:
    print("writing")
    act("write")
    return {"body": f"Dear {state['to']}"}


def send(state: Mail) -> Mail:
    answer = interrupt({"action": "send_mail", "message": "Send it?", "to": state["to"], "body": state["body"]})
    if answer["action"] != "approve":
        return {"sent": False}
    act(f"send {answer.get('to', state['to'])}")
    return {"sent": True}


def address(state: Mail) -> Mail:
    return {"to": state["to"].strip()}


def ask(state: Mail) -> Mail:
    answer = interrupt({"message": "Send it?", "to": state["to"]})
    return {"to": str(answer)}


def post(state: Mail) -> Mail:
    act(f"post {state['to']}")
    return {}


circular = (
    StateGraph(Mail).add_sequence([address, ask, post]).add_edge(START, "address").add_edge("post", "ask").compile()
)
"""Asks before it does anything, and again after each letter."""


def file_away(state: Mail) -> Mail:
    act("file")
    return {}


mail = (
    StateGraph(Mail)
    .add_node(write)
    .add_node(send)
    .add_node(file_away)
    .add_edge(START, "write")
    .add_edge("write", "send")
    .add_edge("send", "file_away")
    .add_edge("file_away", END)
    .compile(checkpointer=InMemorySaver())
)


class Many(TypedDict, total=False):
    names: list[str]
    name: str
    said: Annotated[list[str], operator.add]


def ask_one(state: Many) -> Many:
    act(f"look {state['name']}")
    answer = interrupt(f"What of {state['name']}?")
    act(f"heard {state['name']}")
    return {"said": [f"{state['name']}={answer}"]}


many = (
    StateGraph(Many)
    .add_node(ask_one)
    .add_conditional_edges(START, lambda s: [Send("ask_one", {"name": n}) for n in s["names"]], ["ask_one"])
    .add_edge("ask_one", END)
)


class Age(TypedDict, total=False):
    age: int


def ask_age(state: Age) -> Age:
    question = "How old are you?"
    while True:
        answer = interrupt(question)
        if isinstance(answer, int) and answer > 0:
            return {"age": answer}
        question = f"{answer!r} is no age. How old are you?"


loop = StateGraph(Age).add_node(ask_age).add_edge(START, "ask_age").compile()


class Inner(TypedDict, total=False):
    amount: int


def inside(state: Inner) -> Inner:
    act("inside")
    return {"amount": int(interrupt({"question": "Pay?", "amount": state["amount"]}))}


inner = StateGraph(Inner).add_node(inside).add_edge(START, "inside").compile()


def before_inner(state: Inner) -> Inner:
    act("before")
    return {}


def calls_inner(state: Inner) -> Inner:
    act("calls")
    return {"amount": inner.invoke({"amount": state["amount"]})["amount"]}


nested = (
    StateGraph(Inner)
    .add_node(before_inner)
    .add_node("sub", inner)
    .add_edge(START, "before_inner")
    .add_edge("before_inner", "sub")
    .compile()
)
called = StateGraph(Inner).add_node(calls_inner).add_edge(START, "calls_inner").compile()


def fussy_node(state: Inner) -> Inner:
    answer = interrupt({"question": "Which?", "amount": state.get("amount", 0)})
    return {"amount": answer["amount"]}


fussy = StateGraph(Inner).add_node(fussy_node).add_edge(START, "fussy_node").compile()


def flaky_node(state: Inner) -> Inner:
    act("flaky")
    if not Path(os.environ["WORLD"]).with_suffix(".mended").exists():
        raise ValueError("not yet")
    return {"amount": 7}


flaky = (
    StateGraph(Inner)
    .add_node(before_inner)
    .add_node(flaky_node)
    .add_edge(START, "before_inner")
    .add_edge("before_inner", "flaky_node")
    .compile()
)


@task
def double(value: int) -> int:
    act(f"double {value}")
    return value * 2


@entrypoint()
async def flow(value: int) -> dict[str, Any]:
    doubled = await double(value)
    answer = interrupt({"question": f"Is {doubled} right?"})
    return {"value": doubled, "right": answer}


@entrypoint()
async def twice(value: int) -> list[Any]:
    doubled = await double(value)
    return [interrupt(f"Is {doubled} right?"), interrupt("Really?"), await double(1)]


@entrypoint()
async def essay(topic: str) -> str:
    return f"essay about {topic}: {interrupt('Publish it?')}"


@entrypoint()
async def anything(given: Any) -> Any:
    return {"given": given, "right": interrupt("Is that right?")}


def make(config: dict[str, Any]) -> StateGraph[Any, Any, Any, Any]:
    return StateGraph(Mail).add_node(write).add_edge(START, "write")


class Debt(TypedDict, total=False):
    paid: int


def settle(state: Debt) -> Debt:
    euros = int(Path(os.environ["WORLD"]).with_name("price.txt").read_text())
    if interrupt({"question": f"Pay {euros} euros?"}):
        act(f"pay {euros}")
    return {"paid": 1}


def remind(state: Debt) -> Debt:
    interrupt("Send a reminder?")
    return {}


debt = StateGraph(Debt).add_sequence([settle, remind]).add_edge(START, "settle").compile()


class Chat(TypedDict, total=False):
    said: Annotated[list[str], operator.add]
    text: str


def reply(state: Chat) -> Command[Any]:
    return Command(update={"said": [f"{len(state.get('said', []))}:{state['text']}"]}, goto=END)


chat = StateGraph(Chat).add_node(reply).add_edge(START, "reply").compile()


def loud_node(state: Mail) -> Mail:
    os.write(1, b"past Python\n")
    os.system("echo from a process")
    print("printed")
    return {"sent": bool(interrupt({"question": "Go?"}))}


loud = StateGraph(Mail).add_node(loud_node).add_edge(START, "loud_node").compile()


async def slow_node(state: Inner) -> Inner:
    act("slow")
    while not Path(os.environ["WORLD"]).with_suffix(".mended").exists():  # noqa: ASYNC110 - a file is no event
        await asyncio.sleep(0.01)
    return {"amount": 8}


slow = (
    StateGraph(Inner)
    .add_node(before_inner)
    .add_node(slow_node)
    .add_edge(START, "before_inner")
    .add_edge("before_inner", "slow_node")
    .compile()
)


async def asks_at_once(state: Inner) -> Inner:
    interrupt("How much?")
    return {}


beside = (
    StateGraph(Inner)
    .add_node(asks_at_once)
    .add_node(slow_node)
    .add_edge(START, "asks_at_once")
    .add_edge(START, "slow_node")
    .compile()
)


class Bill(TypedDict, total=False):
    amount: int
    paid: dict[str, Any]


def pay_bill(state: Bill, **more: Any) -> Bill:
    arguments = {"amount": state["amount"], "token": os.environ.get("PAY_TOKEN", "none"), "to": "the desk shop"}
    arguments["url"] = f"https://bank/{arguments['token']}/pay"
    asked = {"name": "pay", "args": arguments, "description": "Pay the bill"}
    config = {"action_name": "pay", "allowed_decisions": ["approve", "edit", "reject"]}
    answer = interrupt({"action_requests": [asked], "review_configs": [config]}, **more)
    (decision,) = answer["decisions"]
    if decision["type"] == "reject":
        return {"paid": {"why": decision.get("message", "")}}
    done = decision["edited_action"]["args"] if decision["type"] == "edit" else arguments
    act(f"pay {done['amount']}")
    return {"paid": {**done, "token": len(done["token"]), "url": len(done["url"])}}


bill = StateGraph(Bill).add_node(pay_bill).add_edge(START, "pay_bill").compile()


DECISIONS = {"type": "object", "properties": {"decisions": {"type": "array"}}, "required": ["decisions"]}


def pay_form(state: Bill) -> Bill:
    return pay_bill(state, response_schema=DECISIONS)


form_bill = StateGraph(Bill).add_node(pay_form).add_edge(START, "pay_form").compile()


def prepare(state: Inner) -> Inner:
    act("prepare")
    return {}


def finish(state: Inner) -> Inner:
    act("finish")
    return {}


def ask_inside(state: Inner) -> Inner:
    interrupt("Inside?")
    return {}


halting = (
    StateGraph(Inner)
    .add_node("prepare", prepare)
    .add_node("inside", ask_inside)
    .add_node("finish", finish)
    .add_edge(START, "prepare")
    .add_edge("prepare", "inside")
    .add_edge("inside", "finish")
    .compile(interrupt_before=["inside", "finish"])
)
halts_within = (
    StateGraph(Inner)
    .add_node("sub", halting)
    .add_node("after", finish)
    .add_edge(START, "sub")
    .add_edge("sub", "after")
    .compile()
)
halts_after = (
    StateGraph(Inner)
    .add_node("prepare", prepare)
    .add_node("finish", finish)
    .add_edge(START, "prepare")
    .add_edge("prepare", "finish")
    .compile(interrupt_after=["prepare"])
)


def highest(one: int, other: int) -> int:
    if Path(f"{os.environ['WORLD']}.broken").exists():
        raise ValueError("not now")
    return max(one, other)


class Payment(TypedDict, total=False):
    amount: int
    most: Annotated[int, highest]
    log: Annotated[list[str], operator.add]


def gate(state: Payment) -> Command[Any]:
    return Command(goto="pay", update={"log": ["checked"]})


def prepare(state: Payment) -> Payment:
    return {"log": ["prepared"]}


def pay(state: Payment) -> Payment:
    act(f"pay {state['amount']}")
    return {"log": ["paid"]}


gated = StateGraph(Payment).add_node(gate).add_node(pay).add_edge(START, "gate").compile(interrupt_before=["pay"])
"""A node goes on by a `Command`: no edge leads to the one that stands at the breakpoint."""


def other(state: Payment) -> Payment:
    return {"log": ["other"]}


def each(state: Payment) -> list[Send]:
    return [Send("pay", {"amount": n}) for n in (1, 2)]


sent = (
    StateGraph(Payment)
    .add_node(prepare)
    .add_node(pay)
    .add_edge(START, "prepare")
    .add_conditional_edges("prepare", each, ["pay"])
    .compile(interrupt_before=["pay"])
)
joined = (
    StateGraph(Payment)
    .add_node(prepare)
    .add_node(other)
    .add_node(pay)
    .add_edge(START, "prepare")
    .add_edge(START, "other")
    .add_edge(["prepare", "other"], "pay")
    .compile(interrupt_before=["pay"])
)
"""Two nodes are before the breakpoint: none of them is the one that wrote last."""


class Joined(TypedDict, total=False):
    seen: Annotated[list[str], operator.add]


side_by_side = (
    StateGraph(Joined)
    .add_node("a", lambda _: {"seen": ["a"]})
    .add_node("b", lambda _: {"seen": ["b"]})
    .add_node("both", lambda _: {"seen": ["both"]})
    .add_edge(START, "a")
    .add_edge(START, "b")
    .add_edge(["a", "b"], "both")
    .compile()
)
"""Two nodes beside each other, and one that waits for both."""
