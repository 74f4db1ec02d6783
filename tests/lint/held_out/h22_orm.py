"""An ORM session is committed in a helper."""

from typing import TypedDict
from langgraph.graph import START, StateGraph
from langgraph.types import interrupt
from sqlalchemy import create_engine
from sqlalchemy.orm import sessionmaker
from .models import Audit

engine = create_engine("sqlite:///audit.db")
Session = sessionmaker(bind=engine)


class S(TypedDict):
    who: str
    ok: bool


def audit(who):
    with Session() as session:
        session.add(Audit(who=who))
        session.commit()  # fault: HT006


def ask(state: S):
    audit(state["who"])
    return {"ok": interrupt(f"let {state['who']} in?")}


b = StateGraph(S)
b.add_node("ask", ask)
b.set_entry_point("ask")
graph = b.compile()
