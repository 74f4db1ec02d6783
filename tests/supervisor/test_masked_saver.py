"""What a team's graph keeps holds the names of declared secrets (T10), in whatever form it hands it on."""

from __future__ import annotations

from typing import Any, TypedDict

from langchain_core.messages import AIMessage, AnyMessage
from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import END, START, StateGraph
from langgraph.types import Command, interrupt

from hitl_tui.supervisor.masked_saver import masked_saver


class State(TypedDict, total=False):
    rows: list[Any]
    messages: list[AnyMessage]
    answer: dict[str, str]


def read(state: State) -> State:
    call = {"name": "open", "args": {"code": "swordfish"}, "id": "1"}
    return {"rows": [("swordfish", 7)], "messages": [AIMessage("It is swordfish.", tool_calls=[call])]}


def ask(state: State) -> State:
    return {"answer": {"swordfish": interrupt({"choices": ["swordfish", "other"]})}}


async def test_messages_rows_questions_and_answers_are_kept_without_secrets() -> None:
    saver = InMemorySaver()
    builder = StateGraph(State)
    builder.add_sequence([read, ask]).add_edge(START, "read").add_edge("ask", END)
    graph = builder.compile(checkpointer=masked_saver(saver, {"CODE": "swordfish"}))
    config: RunnableConfig = {"configurable": {"thread_id": "t"}}
    await graph.ainvoke({}, config)
    await graph.ainvoke(Command(resume="swordfish"), config)
    kept: list[Any] = [item async for item in saver.alist(None)]
    assert kept and "swordfish" not in repr(kept)
    values = (await graph.aget_state(config)).values
    assert values["rows"] == [["‹CODE›", 7]]
    assert values["messages"][0].tool_calls[0]["args"] == {"code": "‹CODE›"}
    assert values["answer"] == {"‹CODE›": "‹CODE›"}
