"""One process of the crash benchmark: opens the session, plays the operator until it is finished, or dies.

What the operator does next follows from what is shown alone, so that an operator who starts anew after a crash goes on
as the first one would have.
"""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from crash_faults import Faults, install
from crash_plan import AGAIN, CANCELLED, QUERY, Teams, planned
from crash_world import World

from hitl_tui.commands.handler import CommandHandler
from hitl_tui.core.errors import Refused
from hitl_tui.core.requests import Kind, Verdict
from hitl_tui.core.todos import Status
from hitl_tui.supervisor.own_session import own_session
from hitl_tui.supervisor.session import Session
from hitl_tui.supervisor.session_registry import SessionRegistry
from hitl_tui.supervisor.session_setup import SessionSetup
from hitl_tui.supervisor.snapshot import Question, Snapshot

FINISHED, STUCK, BROKEN = 0, 3, 4
SESSION = "s1"


@dataclass(frozen=True, slots=True)
class Job:
    """What a driver is to do.

    Args:
        root: folder of the run.
        kill_at: name of the point to die at; empty for never.
        scenario: `restore` (go back once in the middle), `stop` (stop everything once, then try again).
        limit: seconds until the session counts as stuck.
    """

    root: Path
    kill_at: str
    scenario: str
    limit: int


def start(job: Job) -> int:
    """Run a driver in a process of its own; return its process id."""
    child = os.fork()
    if child:
        return child
    code = BROKEN
    try:
        log = os.open(job.root / "driver.log", os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
        os.dup2(log, 1)
        os.dup2(log, 2)
        signal.alarm(job.limit + 10)
        code = asyncio.run(_drive(job))
    except BaseException:  # noqa: BLE001 - this process ends here; what it met is in its log
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        os._exit(code)


async def _drive(job: Job) -> int:
    faults = Faults(job.kill_at, job.root / "kills.jsonl")
    world = World(job.root)
    releases: set[asyncio.Task[None]] = set()
    faults.on_alive = lambda todo: releases.add(asyncio.ensure_future(world.release(todo)))
    teams = Teams(world)
    workspace = job.root / "workspace"
    workspace.mkdir(exist_ok=True)
    install(faults)
    code = STUCK
    operator: Operator | None = None
    try:
        async with asyncio.timeout(job.limit), SessionRegistry.open(job.root / "data", {}) as bench:
            setup = planned(await _setup(bench, workspace), teams.all())
            async with own_session(setup) as session:
                faults.point("driver.opened")
                operator = Operator(job, session, world, teams)
                await operator.play()
                code = FINISHED
    except TimeoutError:
        if operator is not None:
            _describe(operator.session)
    (job.root / "points.json").write_text(json.dumps(faults.met), encoding="utf-8")
    return code


async def _setup(bench: SessionRegistry, workspace: Path) -> SessionSetup:
    if SESSION in bench.data.ids():
        return await bench.setup(SESSION)
    return await bench.create(QUERY, workspace, session_id=SESSION)


def _describe(session: Session) -> None:
    """Write where a stuck session stands."""
    seen = session.snapshot
    print("STUCK", {t.id: (t.status.value, t.attempt, t.asked, t.error) for t in seen.todos})
    print("asked", [(q.kind.value, q.todo_id, q.view.resolution.outcome.value) for q in seen.questions])
    print("cursor", seen.cursor, "branch", seen.branch, "busy", seen.busy, "refused", [dict(r) for r in seen.refused])


class Operator:
    """Who sits at the console.

    Args:
        job: what to do.
        session: what they look at.
        world: where they look up whether something happened.
        teams: what runs until it is cancelled.
    """

    def __init__(self, job: Job, session: Session, world: World, teams: Teams) -> None:
        self.job = job
        self.session = session
        self.world = world
        self.teams = teams
        self.hands = CommandHandler(session, session.setup.planner, by="ann", channel="crash", terminal=True)

    async def play(self) -> None:
        """Act until the session is finished."""
        while not await self._finished():
            seen = self.session.snapshot
            if not await self._act(seen):
                await self._look_again(seen)

    async def _finished(self) -> bool:
        seen = self.session.snapshot
        undone = self.job.scenario == "restore" and seen.branch == 0
        return seen.concluded and not seen.busy and not seen.questions and not undone and not self._stopped(seen)

    async def _look_again(self, seen: Snapshot) -> None:
        changed = asyncio.ensure_future(self.session.changed(seen))
        held = asyncio.ensure_future(self.teams.changed.wait())
        try:
            await asyncio.wait({changed, held}, return_when=asyncio.FIRST_COMPLETED)
            if changed.done():
                changed.result()
            self.teams.changed.clear()
        finally:
            changed.cancel()
            held.cancel()

    async def _act(self, seen: Snapshot) -> bool:
        """Do what is to be done next; return whether there was anything."""
        if seen.busy:
            return False
        special: Callable[[Snapshot], Any] = self._restore if self.job.scenario == "restore" else self._stop
        if await special(seen):
            return True
        for todo in seen.todos:
            if todo.status is Status.IN_PROGRESS and todo.id in self.teams.holding:
                self.teams.holding.discard(todo.id)
                await self._say(f"/todo cancel {todo.id}")
                return True
        if not seen.questions:
            return False
        question = seen.questions[0]
        verdict, value = await self._verdict(question)
        try:
            await self.hands.decide(question, verdict, value=value)
        except Refused as error:
            # Somebody (this operator before the crash) has said so already: the session has to take it up.
            print("refused", error.reason, question.kind, question.todo_id, error.message)
            return False
        return True

    async def _verdict(self, question: Question) -> tuple[Verdict, Any]:
        if question.kind is Kind.EFFECT:
            await self.world.settle()
            effect = question.view.request.subject["effect"]
            happened = self.world.done()[question.todo_id, str(effect["name"])] > 0
            began = {e.key: e.branch for e in await self.session.setup.ledger.effects(self.session.id)}
            left = began[effect["key"]] < question.view.request.branch
            again = not happened or (left and question.todo_id == AGAIN)
            return (Verdict.DO_AGAIN if again else Verdict.USE_AS_DONE), None
        if question.kind is Kind.INTERRUPT:
            return Verdict.RESPOND, "go on"
        if question.kind is Kind.FAILURE:
            return Verdict.RETRY, None
        return Verdict.APPROVE, None

    async def _restore(self, seen: Snapshot) -> bool:
        """Once step 11 is done, go back to where three TODOs were."""
        todo = seen.todo("todo_011")
        if seen.branch or todo is None or todo.status is not Status.COMPLETED:
            return False
        for info in await self.session.checkpoints(1000):
            if info.waiting and info.todos_completed <= 3:
                await self._say(f"/checkpoint restore {info.checkpoint_id}")
                return True
        return False

    async def _stop(self, seen: Snapshot) -> bool:
        """Once the TODO that holds is there, stop everything; then take up again what was stopped."""
        stopped = self._stopped(seen)
        if stopped:
            await self._say(f"/todo update {stopped[0]} pending")
            return True
        if CANCELLED in self.teams.holding and self._holding_at_first(seen):
            self.teams.holding.clear()
            await self._say("/stop")
            return True
        return False

    def _holding_at_first(self, seen: Snapshot) -> bool:
        todo = seen.todo(CANCELLED)
        return todo is not None and todo.status is Status.IN_PROGRESS and todo.attempt == 1

    @staticmethod
    def _stopped(seen: Snapshot) -> list[str]:
        return [
            todo.id
            for todo in seen.todos
            if (todo.status is Status.SKIPPED and "stopped by" in str(todo.metadata.get("skip_reason", "")))
            or (todo.status is Status.FAILED and todo.question is None)
        ]

    async def _say(self, line: str) -> None:
        result = await self.hands.handle_command(line)
        if result.failed:
            print("refused", line, result.to_dict())
