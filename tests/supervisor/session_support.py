"""What session tests share: a world that counts what was done to it, teams that act on it, a plan, a clock."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, ClassVar

from fixed_policy import FixedPolicy
from people import approvers, verified

from hitl_tui.commands.handler import CommandHandler
from hitl_tui.config.postgres_address import ENVIRONMENT
from hitl_tui.core.board import Rules
from hitl_tui.core.errors import BadInput
from hitl_tui.core.json_types import ProposedChange
from hitl_tui.core.plan import AgentFacts, ExecutionPlan, ExecutionStep, Intent, Strategy
from hitl_tui.core.plan_review import UNSAID
from hitl_tui.core.policy import Mode, Policy, Risk
from hitl_tui.core.requests import Kind, Verdict
from hitl_tui.core.todos import SupervisorTodo
from hitl_tui.ledger.table_ledger import TableLedger
from hitl_tui.planning.agent import PlanningAgent
from hitl_tui.planning.proposals import AddStep, CurrentPlan, Planned, Proposed
from hitl_tui.supervisor.data_place import data_place, open_record
from hitl_tui.supervisor.own_session import own_session
from hitl_tui.supervisor.session import Session
from hitl_tui.supervisor.session_setup import SessionSetup
from hitl_tui.supervisor.session_staging import begin_in
from hitl_tui.supervisor.snapshot import Question, Snapshot
from hitl_tui.supervisor.storage import SessionInfo
from hitl_tui.teams.contract import Team, TeamContext, TeamResult
from hitl_tui.teams.function_team import FunctionTeam

SCHEMA = {"type": "object", "properties": {"what": {"type": "string"}}, "required": ["what"]}
LIMIT = 30.0


class Clock:
    """Time that goes on by a millisecond each time somebody looks."""

    def __init__(self) -> None:
        self.time = datetime(2026, 1, 1, tzinfo=UTC)

    def __call__(self) -> str:
        self.time += timedelta(milliseconds=1)
        return self.time.isoformat(timespec="microseconds")

    def forward(self, seconds: float) -> None:
        self.time += timedelta(seconds=seconds)


def _nothing(todo_id: str, moment: str) -> None:
    """What happens during an effect unless a test wants something."""


@dataclass
class World:
    """What teams do, where tests see it.

    Args:
        path: a file that gets one line for each effect.
        gates: a TODO whose id is here waits within its team until the event is set.
        entered: set when a TODO's team has begun.
        fail: errors a TODO's team raises, taken from the front; None for a run that goes well.
        seen: arguments and inputs that teams got, by TODO id, last run.
    """

    path: Path
    gates: dict[str, asyncio.Event] = field(default_factory=dict)
    entered: dict[str, asyncio.Event] = field(default_factory=dict)
    fail: dict[str, list[BaseException | None]] = field(default_factory=dict)
    seen: dict[str, tuple[Mapping[str, Any], Mapping[str, TeamResult]]] = field(default_factory=dict)
    runs: Counter[str] = field(default_factory=Counter)
    running: set[str] = field(default_factory=set)
    most: int = 0
    during: Callable[[str, str], None] = field(default=_nothing)

    def hold(self, *todo_ids: str) -> None:
        for todo_id in todo_ids:
            self.gates[todo_id] = asyncio.Event()
            self.entered[todo_id] = asyncio.Event()

    def release(self, todo_id: str) -> None:
        self.gates[todo_id].set()

    async def began(self, todo_id: str) -> None:
        async with asyncio.timeout(LIMIT):
            await self.entered[todo_id].wait()

    def done(self) -> Counter[str]:
        """How often each TODO acted on the world."""
        lines = self.path.read_text(encoding="utf-8").splitlines() if self.path.exists() else []
        return Counter(line.split(" ")[0] for line in lines)

    async def act(self, context: TeamContext) -> TeamResult:
        """The function of the teams: wait, perhaps fail, act on the world once, answer."""
        todo_id = context.task.todo_id
        self.runs[todo_id] += 1
        self.seen[todo_id] = context.task.arguments, context.task.inputs
        self.running.add(todo_id)
        self.most = max(self.most, len(self.running))
        try:
            if todo_id in self.gates:
                self.entered[todo_id].set()
                await self.gates[todo_id].wait()
            errors = self.fail.get(todo_id)
            error = errors.pop(0) if errors else None
            if error is not None:
                raise error

            async def change() -> dict[str, Any]:
                self.during(todo_id, "before")
                with self.path.open("a", encoding="utf-8") as file:
                    file.write(f"{todo_id} {context.task.arguments['what']}\n")
                self.during(todo_id, "after")
                return {"wrote": todo_id}

            wrote = await context.effects("append", {"what": context.task.arguments["what"]}, change)
            return TeamResult(text=f"{todo_id} did {context.task.arguments['what']}", data=wrote, summary=todo_id)
        finally:
            self.running.discard(todo_id)


class ListPlanner:
    """Plans the steps it was given; plain text `more X` proposes another step for team `low`.

    Args:
        steps: the plan.
        strategy: how it runs.
        follow: by TODO id, a step that its result leads to.
    """

    def __init__(
        self,
        steps: Sequence[ExecutionStep],
        strategy: Strategy = Strategy.PIPELINE,
        follow: Mapping[str, ExecutionStep] | None = None,
    ) -> None:
        self.steps = tuple(steps)
        self.strategy = strategy
        self.follow = dict(follow or {})
        self.remarks: list[Sequence[str]] = []

    async def plan(self, query: str, agents: Mapping[str, AgentFacts]) -> Planned:
        return Planned(Intent("test", 1.0), ExecutionPlan(self.steps, self.strategy))

    async def revise(self, text: str, plan: CurrentPlan) -> Proposed:
        if plan.remarks:
            return self._reviewed(plan)
        if not text.startswith("more "):
            raise BadInput("This asks for nothing that is known.")
        return Proposed("More was asked for.", (AddStep(step("low", text)),))

    def _reviewed(self, plan: CurrentPlan) -> Proposed:
        self.remarks.append(plan.remarks)
        if plan.remarks[-1].endswith("?"):
            raise BadInput("This asks for nothing that is known.")
        heeded = [ProposedChange(kind="remove", todo_id=t.id) for t in plan.todos if t.description.startswith("heed ")]
        return Proposed("Heeded.", (*heeded, AddStep(step("low", f"heed {plan.remarks[-1]}"))))

    async def follow_up(self, todo: SupervisorTodo, result: Mapping[str, Any], plan: CurrentPlan) -> Proposed | None:
        found = self.follow.get(todo.id)
        return None if found is None else Proposed(f"{todo.id} calls for more.", (AddStep(found),))


def step(agent: str, what: str, *after: str, **more: Any) -> ExecutionStep:
    """Return a step whose id is its text."""
    return ExecutionStep(agent=agent, task=what, id=what, dependencies=after, **{"retry_count": 0, **more})


class Place:
    """A data folder, a workspace and what a session in it is opened with.

    Args:
        root: an empty folder.
        steps: the plan.
    """

    database: ClassVar[str] = ""
    """The address of the database that sessions are kept in instead; empty for folders."""

    def __init__(self, root: Path, *steps: ExecutionStep, planner: ListPlanner | None = None) -> None:
        self.root = root
        self.data = data_place(root / "data", {ENVIRONMENT: self.database})
        self.data.prepare()
        self.workspace = root / "workspace"
        self.workspace.mkdir(exist_ok=True)
        self.clock = Clock()
        self.world = World(self.workspace / "world.txt")
        self.planner = planner or ListPlanner(steps)
        self.policy = Policy()
        self.concurrency = 4
        self.mode = Mode.STEP
        self.review = UNSAID
        self.secrets: dict[str, str] = {}
        self.people = approvers("ann", "bob", carol=2)
        self.teams: dict[str, Team] = {
            risk.value: FunctionTeam(
                risk.value, f"{risk} risk", risk, self.world.act, SCHEMA, text_argument="what", timeout=0.0
            )
            for risk in Risk
        }

    def agent(self) -> PlanningAgent:
        facts = {
            name: AgentFacts(
                name, name, team.description, True, team.max_retries, team.timeout, team.bind, team.risk_of
            )
            for name, team in self.teams.items()
        }
        return PlanningAgent(facts, self.planner, self.clock)

    def setup(self, ledger: TableLedger, session_id: str = "s1") -> SessionSetup:
        if session_id not in self.data.ids():
            info = SessionInfo(
                session_id, str(self.workspace), "the query", self.clock(), session_id, review=self.review
            )
            begin_in(self.data)(info)
        return SessionSetup(
            info=self.data.session(session_id).info(),
            folder=self.data.session(session_id),
            ledger=ledger,
            planner=self.agent(),
            team=self.teams.__getitem__,
            policy=FixedPolicy(Rules(self.policy, self.concurrency)),
            mode=self.mode,
            secrets=self.secrets,
            now=self.clock,
            approvers=lambda: self.people,
        )

    @asynccontextmanager
    async def ledger(self) -> AsyncIterator[TableLedger]:
        async with open_record(self.data) as ledger:
            yield ledger

    @asynccontextmanager
    async def open(self, session_id: str = "s1") -> AsyncIterator[Driver]:
        """Open the session."""
        async with self.ledger() as ledger, own_session(self.setup(ledger, session_id), "the query") as session:
            yield Driver(self, session)


class Driver:
    """An operator: gives commands and waits for what comes of them."""

    def __init__(self, place: Place, session: Session) -> None:
        self.place = place
        self.session = session
        self.handler = self.person("ann")

    def person(self, name: str, level: int = 0) -> CommandHandler:
        acting, planner = verified(name, level), self.session.setup.planner
        return CommandHandler(self.session, planner, by=name, channel="test", acting=acting, terminal=True)

    @property
    def now(self) -> Snapshot:
        return self.session.snapshot

    def status(self, todo_id: str) -> str:
        todo = self.now.todo(todo_id)
        assert todo is not None, todo_id
        return todo.status.value

    @property
    def statuses(self) -> dict[str, str]:
        return {todo.id: todo.status.value for todo in self.now.todos}

    async def rest(self) -> Snapshot:
        async with asyncio.timeout(LIMIT):
            return await self.session.settled()

    async def until(self, condition: Callable[[Snapshot], bool]) -> Snapshot:
        async with asyncio.timeout(LIMIT):
            seen = self.now
            while not condition(seen):
                seen = await self.session.changed(seen)
            return seen

    async def say(self, *lines: str) -> dict[str, Any]:
        """Give commands that have to succeed; return the last answer."""
        answer: dict[str, Any] = {}
        for line in lines:
            result = await self.try_to(line)
            assert not result.get("error"), (line, result)
            answer = result
        return answer

    async def try_to(self, line: str) -> dict[str, Any]:
        async with asyncio.timeout(LIMIT):
            return (await self.handler.handle_command(line)).to_dict()

    async def finish(self, effects: Callable[[Question], Verdict] | None = None) -> list[Question]:
        """Approve whatever asks until the session is finished; return the questions that were met."""
        met: list[Question] = []
        for _ in range(100):
            seen = await self.rest()
            if not seen.questions:
                assert seen.concluded, self.statuses
                return met
            question = seen.questions[0]
            met.append(question)
            verdict = Verdict.APPROVE
            if question.kind is Kind.EFFECT:
                assert effects is not None, question.to_dict()
                verdict = effects(question)
            elif question.kind is Kind.FAILURE:
                verdict = Verdict.RETRY
            await self.handler.decide(question, verdict)
        raise AssertionError("the session doesn't come to an end")


class Endless:
    """A team whose effect doesn't end by itself, unless `ends` says so."""

    def __init__(self, place: Place, name: str = "high", kind: type[FunctionTeam] = FunctionTeam) -> None:
        self.acting = asyncio.Event()
        self.ends = False
        place.teams[name] = kind(name, f"{name} risk", Risk(name), self.act, SCHEMA, text_argument="what", timeout=0.0)

    async def act(self, context: TeamContext) -> TeamResult:
        async def change() -> dict[str, Any]:
            context.progress("half of it")
            self.acting.set()
            if not self.ends:
                await asyncio.Event().wait()
            return {}

        await context.effects("append", {"what": "a"}, change)
        return TeamResult(text="done")

    async def begin(self, op: Driver) -> None:
        (question,) = (await op.rest()).questions
        await op.say(f"/todo approve {question.id}")
        async with asyncio.timeout(LIMIT):
            await self.acting.wait()


def truthful(world: World) -> Callable[[Question], Verdict]:
    """Return who answers questions about effects by looking at the world."""

    def answer(question: Question) -> Verdict:
        return Verdict.USE_AS_DONE if world.done()[question.todo_id] else Verdict.DO_AGAIN

    return answer


def ids(todos: Iterable[SupervisorTodo]) -> list[str]:
    return [todo.id for todo in todos]
