"""A process that works on a ledger and says on standard output, line by line, what was acknowledged.

Run as `python hammer.py LEDGER TASK NAME ROUNDS`.
"""

from __future__ import annotations

import asyncio
import json
import resource
import sys
from collections.abc import Awaitable, Callable
from contextlib import AbstractAsyncContextManager
from typing import Any

from ledger_support import ask, at, deed, say

from hitl_tui.core.errors import Refused, StorageError
from hitl_tui.core.policy import Terms
from hitl_tui.core.requests import Verdict
from hitl_tui.ledger.postgres_ledger import PostgresLedger
from hitl_tui.ledger.protocols import Conflict, Ledger
from hitl_tui.ledger.sqlite_ledger import SqliteLedger


def tell(**what: Any) -> None:
    """Say what was acknowledged."""
    print(json.dumps(what), flush=True)


async def everything(ledger: Ledger, name: str, rounds: int) -> None:
    """Append, post and decide, on streams, ids and requests that all the processes share."""
    for number in range(rounds):
        while True:
            head = await ledger.head("shared")
            try:
                entry = await ledger.append("shared", head.n, "note", {"by": name, "number": number}, at())
            except Conflict:
                continue
            tell(did="append", n=entry.n)
            break
        tell(did="post", id=f"{name}-{number}", seq=await post(ledger, f"{name}-{number}", name))
        tell(did="post", id=f"same-{number}", seq=await post(ledger, f"same-{number}", name))
        request = ask(f"todo_{number:03d}", terms=Terms(quorum=1 + number % 2))
        if await ledger.open_requests([request]):
            tell(did="open", id=request.id)
        try:
            view = await ledger.decide(say(request, Verdict.APPROVE, name), at(1))
        except Refused as refused:
            tell(did="refused", id=request.id, reason=refused.reason)
        else:
            tell(did="decide", id=request.id, settled=view.resolution.decided)
        claim = await ledger.begin_effect(deed(f"eff-{number}", run_id=name), at())
        tell(did=claim.verdict, id=f"eff-{number}")


async def post(ledger: Ledger, event_id: str, name: str) -> int:
    """Post one event."""
    return await ledger.post("s1", 0, event_id, {"kind": "note", "by": name, "text": "가" * 200}, at())


async def until_full(ledger: Ledger, name: str, rounds: int) -> None:
    """Post while no file may grow beyond a small size; say how that ends."""
    _, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (256 * 1024, hard))
    for number in range(rounds):
        try:
            tell(did="post", id=f"{name}-{number}", seq=await post(ledger, f"{name}-{number}", name))
        except StorageError as error:
            tell(did="full", message=error.message)
            return


TASKS: dict[str, Callable[[Ledger, str, int], Awaitable[None]]] = {
    "everything": everything,
    "until_full": until_full,
}


def open_ledger(place: str) -> AbstractAsyncContextManager[Ledger]:
    """Open a file, or a database that is named by its address."""
    return PostgresLedger.open(place) if "://" in place else SqliteLedger.open(place)


async def main(place: str, task: str, name: str, rounds: str) -> None:
    """Open the ledger and work."""
    async with open_ledger(place) as ledger:
        await TASKS[task](ledger, name, int(rounds))


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
