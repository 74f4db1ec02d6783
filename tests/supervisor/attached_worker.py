"""A process that takes a session of an attached graph to its end, or dies on the way: `attached_worker.py ROOT GRAPH`.

Where it dies is in the environment (see `attached_graphs`). Prints what it was asked, as JSON.
"""

from __future__ import annotations

import asyncio
import json
import sys
from pathlib import Path
from typing import Any

from attached_support import attached

from hitl_tui.core.requests import Kind

INPUTS = {
    "mail": '{"to": "ann"}',
    "many": '{"names": ["a", "b"]}',
    "flow": "21",
    "nested": '{"amount": 3}',
    "called": '{"amount": 3}',
    "beside": '{"amount": 1}',
}
ANSWERS = {"mail": "approve", "many": "fine", "flow": "true", "nested": "true", "called": "true", "beside": "5"}


async def finish(root: Path, graph: str) -> list[list[Any]]:
    met: list[list[Any]] = []
    async with attached(root, graph, INPUTS[graph]) as op:
        while op.now.questions:
            question = op.now.questions[0]
            subject = question.view.request.subject
            met.append([question.kind.value, subject.get("value") or subject.get("effect")])
            line = {
                Kind.TODO: "/todo approve 1",
                Kind.EFFECT: "/todo again 1",
                Kind.INTERRUPT: f"/answer {question.id} {ANSWERS[graph]}",
                Kind.FAILURE: "/todo retry 1",
            }[question.kind]
            await op.ok(line)
        met.append(["status", op.now.status])
    return met


if __name__ == "__main__":
    print(json.dumps(asyncio.run(finish(Path(sys.argv[1]), sys.argv[2]))))
