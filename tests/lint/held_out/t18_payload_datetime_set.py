import datetime as dt
from typing import TypedDict

from langgraph.func import entrypoint
from langgraph.types import interrupt


class Leave(TypedDict):
    person: str
    days: list[str]


@entrypoint()
async def leave_request(leave: Leave) -> str:
    answer = interrupt(  # fault: HT004
        {
            "question": f"Leave for {leave['person']}?",
            "days": set(leave["days"]),
            "asked_for": dt.date(2026, 1, 5),
        }
    )
    return "granted" if answer else "refused"
