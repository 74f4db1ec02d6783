"""The payload is an object of one's own."""

from dataclasses import dataclass
from typing import TypedDict

from langgraph.func import entrypoint
from langgraph.checkpoint.memory import MemorySaver
from langgraph.types import interrupt


@dataclass
class ApprovalRequest:
    action: str
    reason: str


class Job(TypedDict):
    action: str


@entrypoint(checkpointer=MemorySaver())
def workflow(job: Job) -> str:
    request = ApprovalRequest(action=job["action"], reason="it can't be undone")
    answer = interrupt(request)  # fault: HT004
    return "done" if answer else "left alone"
