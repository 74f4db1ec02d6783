"""A process in which many people decide one request at once, each over a ledger of their own.

Run as `python decider.py ADDRESS NAME PEOPLE`; it says on standard output what each was told.
"""

from __future__ import annotations

import asyncio
import sys
from contextlib import AsyncExitStack

from hammer import open_ledger, tell
from ledger_support import ask, at, say

from hitl_tui.core.errors import Refused


async def main(place: str, name: str, people: str) -> None:
    """Open the ledgers, wait for a line, and decide."""
    async with AsyncExitStack() as stack:
        ledgers = [await stack.enter_async_context(open_ledger(place)) for _ in range(int(people))]
        tell(did="ready")
        await asyncio.to_thread(sys.stdin.readline)

        async def decide(number: int) -> None:
            try:
                view = await ledgers[number].decide(say(ask(), by=f"{name}-{number}"), at(1))
            except Refused as refused:
                tell(did="refused", reason=refused.reason)
            else:
                tell(did="decided", by=view.resolution.decisions[0].by)

        await asyncio.gather(*map(decide, range(int(people))))


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
