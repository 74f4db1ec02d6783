"""Which task is called depends on the clock."""

import datetime as dt

from langgraph.func import entrypoint, task
from langgraph.types import interrupt


@task
def fast_quote(item: str) -> float:
    return 10.0


@task
async def full_quote(item: str) -> float:
    return 9.5


@entrypoint()
async def quote(item: str) -> dict:
    if dt.datetime.now().weekday() < 5:
        price = await full_quote(item)  # fault: HT009
    else:
        price = await fast_quote(item)
    accepted = interrupt({"question": "Accept?", "price": price})
    return {"accepted": accepted, "price": price}
