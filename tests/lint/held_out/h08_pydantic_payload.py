"""A pydantic model is asked with as it is, through a wrapper in the same module."""

from pydantic import BaseModel
from langgraph.graph import START, StateGraph
from langgraph.types import interrupt


class Plan(BaseModel):
    steps: list[str] = []


class State(BaseModel):
    plan: Plan = Plan()


def ask(about: str, thing: object) -> object:
    return interrupt({"about": about, "thing": thing})  # fault: HT004


def review(state: State) -> dict:
    proposal = Plan(steps=["look", "leap"])
    return {"plan": ask("plan", proposal)}


builder = StateGraph(State)
builder.add_node("review", review)
builder.add_edge(START, "review")
graph = builder.compile()
