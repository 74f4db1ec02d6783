"""Each round of a validation loop is written to a database."""

import logging
import sqlite3
from typing import TypedDict
from langgraph.graph import START, StateGraph
from langgraph.types import interrupt

log = logging.getLogger()
db = sqlite3.connect("answers.db")


class S(TypedDict):
    age: int


def age(state: S) -> S:
    question = "age?"
    while True:
        answer = interrupt(question)
        db.execute("INSERT INTO attempts VALUES (?)", (str(answer),))  # fault: HT006
        try:
            return {"age": int(answer)}
        except ValueError:
            log.warning("not a number")
            question = "a number, please"


graph = StateGraph(S).add_node(age).add_edge(START, "age").compile()
