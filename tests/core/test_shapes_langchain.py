"""What our answers are to LangChain's own middleware: those we make it takes, those we refuse would have failed it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import pytest
from langchain.agents import create_agent
from langchain.agents.middleware import HumanInTheLoopMiddleware
from langchain_core.language_models.fake_chat_models import FakeMessagesListChatModel
from langchain_core.messages import AIMessage, BaseMessage, ToolMessage
from langchain_core.runnables import RunnableConfig
from langchain_core.tools import tool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import Command

from hitl_tui.core.errors import BadInput
from hitl_tui.core.interrupts.answer_parser import read
from hitl_tui.core.interrupts.recognition import recognise
from hitl_tui.core.interrupts.shape import Shape, ShapeKind

CONFIG: RunnableConfig = {"configurable": {"thread_id": "t"}}
INTERRUPT_ON: dict[str, Any] = {
    "send_mail": {"allowed_decisions": ["approve", "edit", "reject"]},
    "ask_user": {"allowed_decisions": ["respond"]},
}


class Played(FakeMessagesListChatModel):
    """A model whose answers are given."""

    def bind_tools(self, tools: Any, **kwargs: Any) -> Played:
        return self


def _made(model: Any, tools: Any, middleware: Any) -> Any:
    return create_agent(model, tools, middleware=[middleware], checkpointer=InMemorySaver())


class Agent:
    """A real agent with the middleware; its model asks for the given calls, then ends."""

    def __init__(self, mode: Literal["batched", "per_call"], calls: Sequence[tuple[str, dict[str, Any]]]) -> None:
        self.sent: list[tuple[str, int]] = []
        sent = self.sent

        @tool
        def send_mail(to: str, amount: int = 1) -> str:
            """Send a mail."""
            sent.append((to, amount))
            return "sent"

        @tool
        def ask_user(question: str) -> str:
            """Ask the user."""
            raise AssertionError("a person answers for it")

        wanted = [{"name": n, "args": a, "id": f"c{i}"} for i, (n, a) in enumerate(calls)]
        model = Played(responses=[AIMessage("", tool_calls=wanted), AIMessage("done")])
        middleware = HumanInTheLoopMiddleware[Any, Any, Any](interrupt_on=INTERRUPT_ON, interrupt_mode=mode)
        tools = [send_mail, ask_user]
        self._graph = _made(model, tools, middleware)
        self._graph.invoke({"messages": [("user", "go")]}, CONFIG)

    @property
    def pending(self) -> list[Any]:
        return list(self._graph.get_state(CONFIG).interrupts)

    def shape(self, place: int = 0) -> Shape:
        asked = self.pending[place]
        return recognise(asked.value, asked.response_schema)

    def resume(self, value: Any, place: int = 0) -> None:
        self._graph.invoke(Command(resume={self.pending[place].id: value}), CONFIG)

    @property
    def told(self) -> list[tuple[str, str]]:
        messages: list[BaseMessage] = self._graph.get_state(CONFIG).values["messages"]
        return [(str(m.content), m.status) for m in messages if isinstance(m, ToolMessage)]


MAIL = ("send_mail", {"to": "kim"})
ASK = ("ask_user", {"question": "Colour?"})

BATCHED = [
    ("1 approve 2 respond blue", [("kim", 1)]),
    ('1 edit {"to": "lee", "amount": 3} 2 respond blue', [("lee", 3)]),
    ("1 reject too long 2 respond blue", []),
    ('[{"type": "reject"}, {"type": "respond", "message": "blue"}]', []),
]


@pytest.mark.parametrize(("text", "sent"), BATCHED)
def test_batched_answers_are_taken(text: str, sent: list[tuple[str, int]]) -> None:
    agent = Agent("batched", [MAIL, ASK])
    shape = agent.shape()
    assert shape.kind is ShapeKind.TOOL_BATCH
    agent.resume(read(shape, text).value)
    assert agent.pending == []
    assert agent.sent == sent
    assert ("blue", "success") in agent.told


@pytest.mark.parametrize(
    "value",
    [
        None,
        "approve",
        {"type": "approve"},
        {"decisions": []},
        {"decisions": [{"type": "approve"}]},
        {"decisions": [{"type": "respond", "message": "x"}, {"type": "respond", "message": "blue"}]},
        {"decisions": [{"type": "approve"}, {"type": "approve"}]},
        {"decisions": [{"type": "ok"}, {"type": "respond", "message": "blue"}]},
        {"decisions": [{}, {"type": "respond", "message": "blue"}]},
        {"decisions": [{"type": "edit"}, {"type": "respond", "message": "blue"}]},
        {"decisions": [{"type": "approve"}, {"type": "respond"}]},
        {"decisions": ["approve", "respond"]},
    ],
)
def test_batched_answers_that_are_refused_would_have_failed(value: Any) -> None:
    agent = Agent("batched", [MAIL, ASK])
    with pytest.raises(BadInput):
        agent.shape().check(value)
    # whichever error it is: the thread is stuck with it
    with pytest.raises((ValueError, KeyError, TypeError, AttributeError)):
        agent.resume(value)


PER_CALL = [
    ("approve", [("kim", 1)], "success"),
    ("edit amount=3", [("kim", 3)], "success"),
    ('edit {"to": "lee"}', [("lee", 1)], "success"),
    ("reject too long", [], "error"),
    ("reject", [], "error"),
]


@pytest.mark.parametrize(("text", "sent", "status"), PER_CALL)
def test_answers_to_single_calls_are_taken(text: str, sent: list[tuple[str, int]], status: str) -> None:
    agent = Agent("per_call", [MAIL])
    shape = agent.shape()
    assert shape.kind is ShapeKind.TOOL_APPROVAL and shape.schema is not None
    agent.resume(read(shape, text).value)
    assert agent.pending == []
    assert agent.sent == sent
    assert [s for _, s in agent.told] == [status]


def test_single_calls_are_answered_in_any_order() -> None:
    agent = Agent("per_call", [MAIL, ASK])
    assert len(agent.pending) == 2
    second = next(n for n in (0, 1) if "ask_user" in agent.shape(n).question)
    agent.resume(read(agent.shape(second), "respond blue").value, second)
    assert agent.sent == [] and len(agent.pending) == 1
    agent.resume(read(agent.shape(), "approve").value)
    assert agent.sent == [("kim", 1)]
    assert ("blue", "success") in agent.told


@pytest.mark.parametrize(
    "value",
    [
        None,
        "approve",
        {"decisions": [{"type": "approve"}]},
        {"type": "respond", "message": "x"},
        {"type": "ok"},
        {"type": "edit"},
        {"type": "edit", "edited_action": {"name": "ask_user", "args": {"question": "x"}}},
        {"type": "edit", "edited_action": {"name": "send_mail", "args": {"amount": 1}}},
        {"type": "edit", "edited_action": {"name": "send_mail", "args": {"to": "kim", "amount": "much"}}},
        {"type": "reject", "message": 3},
    ],
)
def test_answers_to_single_calls_that_are_refused_would_have_failed(value: Any) -> None:
    agent = Agent("per_call", [MAIL])
    with pytest.raises(BadInput):
        agent.shape().check(value)
    with pytest.raises(ValueError):
        agent.resume(value)
