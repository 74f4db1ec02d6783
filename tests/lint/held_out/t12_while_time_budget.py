import time
from typing import TypedDict

from langgraph.graph import START, StateGraph
from langgraph.types import interrupt


class Interview(TypedDict):
    questions: list[str]
    answers: list[str]


class Interviewer:
    budget_seconds = 600

    async def ask(self, state: Interview) -> dict:
        answers = []
        started = time.monotonic()
        pending = list(state["questions"])
        while pending and time.monotonic() - started < self.budget_seconds:
            question = pending.pop(0)
            answers.append(interrupt(question))  # fault: HT005
        return {"answers": answers}

    def compile(self):
        b = StateGraph(Interview)
        b.add_node("ask", self.ask)
        b.add_edge(START, "ask")
        return b.compile()


graph = Interviewer().compile()
