"""A state machine of one session: commands, endings, closings, crashes and restores in any order (D8 to D12, D15)."""

from __future__ import annotations

import asyncio
import shutil
import tempfile
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)
from session_support import Driver, Place, step, truthful

from hitl_tui.core.policy import Mode
from hitl_tui.core.requests import Kind, Verdict
from hitl_tui.core.todos import Status

pytestmark = pytest.mark.long

NUMBERS = st.integers(0, 1000)


class SessionMachine(RuleBasedStateMachine):
    """Drives a session with its real saver and ledger."""

    def __init__(self) -> None:
        super().__init__()
        self.runner = asyncio.Runner()
        self.root = Path(tempfile.mkdtemp(prefix="machine-"))
        self.copies = 0
        self.used: set[str] = set()
        self.acted: dict[str, int] = {}

    @initialize(mode=st.sampled_from(Mode), bound=st.integers(1, 2))
    def begin(self, mode: Mode, bound: int) -> None:
        steps = [
            step("low", "a"),
            step("low", "b", "a", retry_count=1),
            step("medium", "c"),
            step("low", "d", "b", "c"),
        ]
        (self.root / "0").mkdir()
        self.place = Place(self.root / "0", *steps)
        self.place.mode, self.place.concurrency = mode, bound
        self.run(self._open())

    def run(self, work: Any) -> Any:
        return self.runner.run(work)

    async def _open(self) -> None:
        self.stack = AsyncExitStack()
        self.op: Driver = await self.stack.enter_async_context(self.place.open())
        await self.op.rest()

    async def _say(self, line: str) -> None:
        answer = await self.op.try_to(line)
        assert answer["status"] != "error" or answer["error"], answer
        await self.op.rest()

    def todo(self, number: int) -> str:
        names = sorted(self.op.now.raw) or ["todo_001"]
        return names[number % len(names)]

    @rule(number=NUMBERS)
    def decide(self, number: int) -> None:
        seen = self.op.now
        if not seen.questions:
            return
        question = seen.questions[number % len(seen.questions)]
        options = question.view.request.options
        verdict = Verdict.APPROVE if Verdict.APPROVE in options and number % 3 else options[number % len(options)]
        if question.kind is Kind.EFFECT:
            verdict = truthful(self.place.world)(question)

        async def answer() -> None:
            await self.op.handler.decide(question, verdict, reason="so" if number % 2 else "")
            await self.op.rest()

        self.run(answer())

    @rule(number=NUMBERS)
    def approve(self, number: int) -> None:
        self.run(self._say(f"/todo approve {self.todo(number)}"))

    @rule(number=NUMBERS, word=st.sampled_from(["skip", "reject", "remove", "retry", "show"]))
    def command(self, number: int, word: str) -> None:
        self.run(self._say(f"/todo {word} {self.todo(number)}"))

    @rule(number=NUMBERS, status=st.sampled_from(Status))
    def update(self, number: int, status: Status) -> None:
        self.run(self._say(f"/todo update {self.todo(number)} {status}"))

    @rule(number=NUMBERS, after=st.booleans())
    def add(self, number: int, after: bool) -> None:
        self.run(self._say("/todo add low extra" + (f" --after {self.todo(number)}" if after else "")))

    @rule(number=NUMBERS, where=st.sampled_from(["before", "after"]))
    def move(self, number: int, where: str) -> None:
        self.run(self._say(f"/todo move {self.todo(number)} {where} {self.todo(number // 7)}"))

    @rule(mode=st.sampled_from(Mode))
    def mode(self, mode: Mode) -> None:
        self.run(self._say(f"/mode {mode}"))

    @rule(number=NUMBERS)
    def fail_next(self, number: int) -> None:
        self.place.world.fail.setdefault(self.todo(number), []).append(OSError("broke"))

    @rule()
    def propose(self) -> None:
        self.run(self._say("more of it"))

    @rule(number=NUMBERS)
    def restore(self, number: int) -> None:
        async def go() -> None:
            points = await self.op.session.checkpoints(1000)
            await self._say(f"/checkpoint restore {points[number % len(points)].checkpoint_id}")

        runs = self.place.world.runs.total()
        self.run(go())
        if self.op.now.mode == Mode.STEP.value:
            assert self.place.world.runs.total() == runs

    @rule()
    def reopen(self) -> None:
        async def go() -> None:
            await self.stack.aclose()
            await self._open()

        self.run(go())

    @precondition(lambda self: self.copies < 3)
    @rule(number=NUMBERS)
    def crash(self, number: int) -> None:
        """Continue from a copy of the disk that was taken in the middle of a command."""

        async def go() -> None:
            seen = self.op.now
            if seen.questions and seen.questions[0].kind is Kind.TODO:
                await self.op.handler.decide(seen.questions[0], Verdict.APPROVE)
            self.copies += 1
            target = self.root / str(self.copies)
            shutil.copytree(self.place.root, target, ignore=shutil.ignore_patterns("*.db", "*-shm", ".new-*"))
            for file in self.place.root.rglob("*.db"):
                shutil.copy(file, target / file.relative_to(self.place.root))
            await self.stack.aclose()
            other = Place(target, planner=self.place.planner)
            other.clock.time = self.place.clock.time
            other.mode, other.concurrency = self.place.mode, self.place.concurrency
            other.world.fail = self.place.world.fail
            self.place = other
            await self._open()

        self.run(go())

    @invariant()
    def holds(self) -> None:
        if not hasattr(self, "op"):
            return
        seen = self.op.now
        todos = {t.id: t for t in seen.todos}
        assert seen.at_rest
        for todo in todos.values():
            states = [todos[d].status for d in todo.dependencies]
            stuck = Status.FAILED in states or Status.BLOCKED in states
            if todo.status is Status.BLOCKED:
                assert stuck or todo.metadata.get("held")
            if todo.status in (Status.PENDING, Status.WAITING_APPROVAL):
                assert not stuck
            if todo.status is Status.COMPLETED and todo.result and todo.result.get("digest"):
                assert self.place.world.done()[todo.id] >= 1
        assert len(seen.questions) == len({q.id for q in seen.questions})
        if not seen.questions:
            assert seen.concluded

    def teardown(self) -> None:
        if hasattr(self, "op"):
            self.run(self._end())
        self.runner.close()
        shutil.rmtree(self.root)

    async def _end(self) -> None:
        """However it went: everything that is asked can be answered, and then it is over."""
        try:
            await self.op.finish(truthful(self.place.world))
            problems = await self.op.session.setup.ledger.view_problems()
            assert problems == []
        finally:
            await self.stack.aclose()


def test_a_session_survives_any_order_of_things() -> None:
    run_state_machine_as_test(
        SessionMachine,
        settings=settings(
            max_examples=12,
            stateful_step_count=14,
            suppress_health_check=list(HealthCheck),
            print_blob=True,
        ),
    )
