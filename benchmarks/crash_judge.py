"""What became of a run: read from the ledger, the world's own file and the last checkpoint, never from the driver."""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from crash_driver import SESSION
from crash_plan import EXPECTED, OPTIONAL, QUERY
from crash_words import unasked
from crash_world import World

from hitl_tui.ledger.audit import verify
from hitl_tui.ledger.records import Entry
from hitl_tui.supervisor.session_follower import SessionFollower
from hitl_tui.supervisor.session_registry import SessionRegistry
from hitl_tui.supervisor.snapshot import Snapshot


@dataclass(frozen=True, slots=True)
class Verdicts:
    """What a run came to.

    Args:
        lost: approved TODOs or decisions that are missing at the end, in words.
        repeated: effects that were started or done again without a person's word since, see `crash_words`.
        asked: how many effects in doubt people were asked about because of a crash (or a stopped run).
        outside: of those, the ones that no interruption fell into.
        damaged: what the audit of the ledger, or the run lock, found.
        blamed: steps that people were told had failed when only the way to the server had.
    """

    lost: tuple[str, ...] = ()
    repeated: tuple[str, ...] = ()
    asked: int = 0
    outside: tuple[str, ...] = ()
    damaged: tuple[str, ...] = ()
    blamed: tuple[str, ...] = ()

    @property
    def ok(self) -> bool:
        """Nothing is wrong with it."""
        return not (self.lost or self.repeated or self.outside or self.damaged or self.blamed)


def judge(root: Path) -> Verdicts:
    """Return what a finished run came to."""
    return asyncio.run(_judge(root))


async def _judge(root: Path) -> Verdicts:
    cut_off = {key for line in _interruptions(root) for key in line["flying"]}
    async with SessionRegistry.open(root / "data", {}) as bench:
        verification = await verify(bench.ledger)
        verdicts = await judge_session(bench, SESSION, World(root), lambda key, _: key in cut_off)
    return replace(verdicts, damaged=(*map(str, verification.problems), *verdicts.damaged))


async def judge_session(
    bench: SessionRegistry, session: str, world: World, cut_off: Callable[[str, list[Entry]], bool]
) -> Verdicts:
    """Return what a finished session came to.

    Args:
        bench: where it is.
        session: its id.
        world: what it acted on.
        cut_off: tells whether an interruption fell into an effect, by its key and the session's entries.
    """
    entries = await bench.ledger.entries(session, limit=100_000)
    async with SessionFollower.open(await bench.setup(session)) as follower:
        end = follower.snapshot
    damaged = [f"{todo} went on while an earlier process of it was alive" for todo in world.overlaps()]
    verdicts = _effects(world, entries, cut_off)
    lost = [*verdicts.lost, *_twice_asked(entries), *_unheard(entries, end)]
    if end.query != QUERY:
        lost.append(f"the question is now {end.query[:80]!r}")
    return replace(verdicts, lost=tuple(lost), damaged=tuple(damaged))


def _requests(entries: list[Entry]) -> dict[str, dict[str, Any]]:
    return {e.data["request"]["id"]: dict(e.data["request"]) for e in entries if e.kind == "request_opened"}


def _decisions(entries: list[Entry]) -> list[tuple[dict[str, Any], str]]:
    """Return the request and the verdict of every decision, in order."""
    requests = _requests(entries)
    given = [e.data["decision"] for e in entries if e.kind == "decision"]
    return [(requests[d["request_id"]], str(d["verdict"])) for d in given]


def _effects(world: World, entries: list[Entry], cut_off: Callable[[str, list[Entry]], bool]) -> Verdicts:
    done = world.done()
    repeated = unasked(world.lines(), entries)
    lost = tuple(
        f"{todo} never did {name}" for todo, names in EXPECTED.items() for name in names if not done[todo, name]
    )
    doubts = list(_doubts(entries))
    outside = tuple(f"{d['name']} {d['key']}" for d in doubts if not cut_off(d["key"], entries))
    return Verdicts(lost, repeated, len(doubts), outside)


def _doubts(entries: list[Entry]) -> Iterator[dict[str, Any]]:
    """Yield the effects that people were asked about, but for those that a branch did which a restore left."""
    started: dict[str, int] = {}
    asked: set[str] = set()
    for entry in entries:
        if entry.kind == "effect_started":
            started[entry.data["key"]] = entry.data["branch"]
        elif entry.kind == "request_opened" and (request := entry.data["request"])["kind"] == "effect":
            effect = request["subject"]["effect"]
            if request["id"] not in asked and started[effect["key"]] == request["branch"]:
                yield effect
            asked.add(request["id"])


def _interruptions(root: Path) -> list[dict[str, Any]]:
    path = root / "kills.jsonl"
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()] if path.exists() else []


def _twice_asked(entries: list[Entry]) -> list[str]:
    """Return the TODOs that a person had to approve again without a reason.

    A stopped session, and a question that a TODO asked while it ran, are reasons.
    """
    approved: Counter[tuple[str, int]] = Counter()
    reasons: Counter[tuple[str, int]] = Counter()
    for request, verdict in _decisions(entries):
        place = request["todo_id"], request["branch"]
        if request["kind"] == "todo" and verdict == "approve":
            approved[place] += 1
        elif request["kind"] in ("effect", "interrupt"):
            reasons[place] += 1
    stopped = sum(1 for e in entries if e.kind == "event" and e.data["event"].get("kind") == "stop")
    return [
        f"{todo} was approved {count} times on branch {branch}"
        for (todo, branch), count in approved.items()
        if count > 1 + stopped + reasons[todo, branch]
    ]


def _unheard(entries: list[Entry], end: Snapshot) -> list[str]:
    """Return the TODOs that were approved on the last branch and didn't come to their end."""
    approved = {
        request["todo_id"]
        for request, verdict in _decisions(entries)
        if request["kind"] == "todo" and verdict == "approve" and request["branch"] == end.branch
    }
    ended = {todo.id: todo.status.value for todo in end.todos}
    wanted = {todo: "skipped" if todo == OPTIONAL else "completed" for todo in EXPECTED}
    return [
        f"{todo} is {ended.get(todo, 'gone')}{' though approved' if todo in approved else ''}"
        for todo, status in wanted.items()
        if ended.get(todo) != status
    ]
