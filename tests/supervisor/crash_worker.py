"""A process that works on a session and is killed: `python crash_worker.py ROOT POINT`.

POINT says when: `planned`, `approved` (recorded, not acted on), `running`, `before` and `after` the effect itself,
`finished`. `full` works until no file may grow any more and says how that ends; `look` finishes what is there.
"""

from __future__ import annotations

import asyncio
import json
import os
import resource
import signal
import sys
from pathlib import Path

from session_support import Place, step, truthful

from hitl_tui.core.errors import HitlError
from hitl_tui.core.requests import Decision, Verdict


def die() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


async def killed(root: Path, point: str) -> None:
    place = Place(root, step("low", "a"), step("low", "b", "a"))
    place.world.during = lambda todo_id, moment: die() if moment == point else None
    if point == "running":
        place.world.hold("todo_001")
    async with place.open() as op:
        question = (await op.rest()).questions[0]
        if point == "planned":
            die()
        decision = Decision(question.id, Verdict.APPROVE, "ann", question.digest, place.clock())
        await op.session.setup.ledger.decide(decision, place.clock())
        if point == "approved":
            die()
        if point == "running":
            await place.world.began("todo_001")
            die()
        await op.until(lambda s: s.raw["todo_001"]["status"] == "completed")
        if point == "finished":
            die()


def many(root: Path) -> Place:
    return Place(root, *(step("low", f"{n} {'x' * 12000}") for n in range(8)))


def largest(root: Path) -> int:
    return max(f.stat().st_size for f in root.rglob("*") if f.is_file())


async def full(root: Path) -> None:
    place = many(root)
    acknowledged: list[str] = []
    try:
        async with place.open() as op:
            await op.rest()
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
            _, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
            resource.setrlimit(resource.RLIMIT_FSIZE, (largest(root) + 200_000, hard))
            for number in range(1, 9):
                answer = await op.try_to(f"/todo approve {number}")
                if answer.get("error"):
                    print(json.dumps({"acknowledged": acknowledged, "error": answer["error"]}))
                    return
                acknowledged.append(f"todo_{number:03d}")
            await op.rest()
    except HitlError as error:
        print(json.dumps({"acknowledged": acknowledged, "error": error.message}))
    else:
        print(json.dumps({"acknowledged": acknowledged, "error": ""}))


async def look(root: Path) -> None:
    place = many(root)
    place.clock.forward(3600)
    async with place.open() as op:
        await op.finish(truthful(place.world))
        print(json.dumps({"statuses": op.statuses, "world": place.world.done()}))


if __name__ == "__main__":
    folder, task = Path(sys.argv[1]), sys.argv[2]
    asyncio.run({"full": full, "look": look}[task](folder) if task in ("full", "look") else killed(folder, task))
