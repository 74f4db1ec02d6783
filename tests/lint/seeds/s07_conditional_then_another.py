"""A sign-up form: one question may be left out, so the next takes its number."""

from typing import NotRequired, TypedDict

from langgraph.graph import START, StateGraph
from langgraph.types import interrupt


class Profile(TypedDict):
    wants_newsletter: NotRequired[bool]
    name: str
    email: str
    city: str


def form(state: Profile) -> Profile:
    name = interrupt("What is your name?")
    email = ""
    if state.get("wants_newsletter"):
        email = interrupt("What is your e-mail address?")  # fault: HT002
    city = interrupt("Where do you live?")
    return {"name": name, "email": email, "city": city}


builder = StateGraph(Profile)
builder.add_node("form", form)
builder.add_edge(START, "form")
graph = builder.compile()
