"""An asynchronous session is given by the factory's closure; a row is inserted before the question."""

from typing import TypedDict

from langgraph.graph import START, StateGraph
from langgraph.types import interrupt
from sqlalchemy import insert
from sqlalchemy.ext.asyncio import AsyncSession

from .tables import requests_table


class Leave(TypedDict):
    person: str
    days: int
    granted: bool


def build(session: AsyncSession):
    async def request_leave(state: Leave) -> dict:
        await session.execute(insert(requests_table).values(person=state["person"], days=state["days"]))  # fault: HT006
        granted = interrupt({"question": "Grant leave?", "person": state["person"], "days": state["days"]})
        return {"granted": granted}

    builder = StateGraph(Leave)
    builder.add_node("request_leave", request_leave)
    builder.add_edge(START, "request_leave")
    return builder.compile()
