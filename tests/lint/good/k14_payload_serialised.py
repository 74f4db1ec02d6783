import dataclasses
import datetime as dt
from typing import TypedDict
from uuid import UUID

from langgraph.graph import START, StateGraph
from langgraph.types import interrupt
from pydantic import BaseModel


@dataclasses.dataclass
class Trip:
    city: str
    start: dt.date


class Form(BaseModel):
    name: str
    nights: int = 1


class State(TypedDict):
    city: str
    key: UUID
    start: dt.date
    form: dict


def ask(state: State) -> dict:
    trip = Trip(state["city"], state["start"])
    answer = interrupt(
        {
            "question": "Book?",
            "schema": Form.model_json_schema(),
            "default": Form(name="").model_dump(mode="json"),
            "trip": {**dataclasses.asdict(trip), "start": trip.start.isoformat()},
            "key": str(state["key"]),
            "choices": sorted({"single", "double"}),
            "total": round(12.5 * 3, 2),
            "tags": [t.lower() for t in ("A", "B")],
        }
    )
    return {"form": Form.model_validate(answer).model_dump()}


b = StateGraph(State)
b.add_node("ask", ask)
b.add_edge(START, "ask")
graph = b.compile()
