"""The plan that the crash benchmark drives: 12 TODOs of every kind that a crash could hurt.

Branches of the plan run side by side; teams act once, several times, from a subprocess, before and after a question of
their own, fail and are tried again, fail for good, or run until a person cancels them.
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, TypedDict

from crash_world import World
from langgraph.config import get_config
from langgraph.graph import END, START, StateGraph
from langgraph.runtime import Runtime
from langgraph.types import interrupt

from hitl_tui.config.declared_commands import CommandDeclaration
from hitl_tui.core.plan import AgentFacts, ExecutionPlan, ExecutionStep, Intent, Strategy
from hitl_tui.core.policy import Risk
from hitl_tui.core.todos import SupervisorTodo
from hitl_tui.planning.agent import PlanningAgent
from hitl_tui.planning.proposals import CurrentPlan, Planned, Proposed
from hitl_tui.supervisor.session_setup import SessionSetup
from hitl_tui.teams.command.team import CommandTeam
from hitl_tui.teams.contract import Team, TeamContext, TeamFailure, TeamResult
from hitl_tui.teams.function_team import FunctionTeam

QUERY = "Carry the plan out.\nEvery line of this is part of the question, and none may be lost: " + "word " * 60 + "end"
CANCELLED, OPTIONAL, COMMAND, AGAIN = "todo_009", "todo_008", "todo_003", "todo_005"
"""The TODO that is cancelled once, the one that is skipped, the command, and the one that is done again on purpose."""
FAILING = "todo_007"
"""The TODO whose first run fails."""

EXPECTED: Mapping[str, tuple[str, ...]] = {
    "todo_001": ("act",),
    "todo_002": ("first", "second"),
    "todo_003": ("run",),
    "todo_004": ("act",),
    "todo_005": ("one", "two"),
    "todo_006": ("ahead", "behind"),
    "todo_007": ("act",),
    "todo_008": ("act",),
    "todo_009": ("act",),
    "todo_010": ("act",),
    "todo_011": ("act",),
    "todo_012": ("act",),
}
"""Effects that must have happened when all is done, by TODO."""


def steps() -> tuple[ExecutionStep, ...]:
    """Return the plan."""

    def one(agent: str, number: int, *after: int, **more: Any) -> ExecutionStep:
        name = f"step {number}"
        needs = tuple(f"step {n}" for n in after)
        return ExecutionStep(agent=agent, task=name, id=name, dependencies=needs, **{"retry_count": 0, **more})

    return (
        one("simple", 1),
        one("twice", 2),
        one("command_team", 3, 1, input_mapping={"command": "linger"}),
        one("tried", 4, 1, retry_count=2),
        one("steps", 5, 2),
        one("asks", 6, 5),
        one("fails", 7, 3),
        one("broken", 8, 4, optional=True),
        one("holds", 9, 7),
        one("simple", 10, 8, 6),
        one("simple", 11, 6, priority=0),
        one("simple", 12, 9, 10, 11),
    )


class FixedPlanner:
    """Plans the twelve steps; never changes them."""

    async def plan(self, query: str, agents: Mapping[str, AgentFacts], feedback: str = "") -> Planned:
        return Planned(Intent("crash", 1.0), ExecutionPlan(steps(), Strategy.PIPELINE))

    async def revise(self, text: str, plan: CurrentPlan) -> Proposed:
        return Proposed("Nothing is to be changed.", ())

    async def follow_up(self, todo: SupervisorTodo, result: Mapping[str, Any], plan: CurrentPlan) -> Proposed | None:
        return None


def attempt() -> int:
    """Return which attempt at its TODO the caller is part of, from 1."""
    run_id = str(get_config()["configurable"]["thread_id"])
    return int(run_id.rsplit(".", 1)[1])


@dataclass
class Teams:
    """Teams that act on a world.

    Args:
        world: what they act on.
        holding: TODOs that run until somebody cancels them.
        changed: set when `holding` grew.
    """

    world: World
    holding: set[str] = field(default_factory=set)
    changed: asyncio.Event = field(default_factory=asyncio.Event)

    def all(self) -> dict[str, Team]:
        """Return the teams by name."""
        makers: dict[str, Callable[[TeamContext], Awaitable[TeamResult]]] = {
            "simple": self._simple,
            "twice": self._twice,
            "tried": self._tried,
            "fails": self._fails,
            "broken": self._broken,
            "holds": self._holds,
        }
        teams: dict[str, Team] = {
            name: FunctionTeam(name, name, Risk.MEDIUM, maker, {"type": "object"}, max_retries=0, timeout=0.0)
            for name, maker in makers.items()
        }
        teams["steps"] = StepsTeam(self.act)
        teams["asks"] = AsksTeam(self.act)
        script = Path(__file__).with_name("crash_command.py")
        argv = (sys.executable, "-S", "-E", str(script), str(self.world.socket), COMMAND, "run")
        teams["command_team"] = CommandTeam({"linger": CommandDeclaration("linger", argv)})
        return teams

    async def act(self, context: TeamContext, effect: str) -> dict[str, Any]:
        """Do one effect through the ledger."""
        todo = context.task.todo_id

        async def change() -> dict[str, Any]:
            return {"count": await self.world.act(todo, effect)}

        return await context.effects(effect, {"todo": todo, "effect": effect}, change)

    async def _simple(self, context: TeamContext) -> TeamResult:
        await self.act(context, "act")
        return TeamResult(text=f"{context.task.todo_id} acted on {sorted(context.task.inputs)}")

    async def _twice(self, context: TeamContext) -> TeamResult:
        await self.act(context, "first")
        await self.act(context, "second")
        return TeamResult(text=f"{context.task.todo_id} acted twice")

    async def _tried(self, context: TeamContext) -> TeamResult:
        await self.act(context, "act")
        if attempt() == 1:
            raise TeamFailure("The first attempt fails after its effect.")
        return TeamResult(text=f"{context.task.todo_id} succeeded at last")

    async def _fails(self, context: TeamContext) -> TeamResult:
        number = attempt()

        async def change() -> dict[str, Any]:
            if number == 1:
                raise TeamFailure("The first attempt fails and has done nothing.")
            return {"count": await self.world.act(context.task.todo_id, "act")}

        await context.effects("act", {"todo": context.task.todo_id}, change)
        return TeamResult(text=f"{context.task.todo_id} succeeded at last")

    async def _broken(self, context: TeamContext) -> TeamResult:
        await self.act(context, "act")
        raise TeamFailure("This never succeeds.")

    async def _holds(self, context: TeamContext) -> TeamResult:
        await self.act(context, "act")
        if attempt() == 1:
            self.holding.add(context.task.todo_id)
            self.changed.set()
            await asyncio.Event().wait()
        return TeamResult(text=f"{context.task.todo_id} was cancelled and tried again")


class StepsState(TypedDict, total=False):
    """State of the teams with several nodes."""

    task: str
    said: Any
    result: dict[str, Any]


Act = Callable[[TeamContext, str], Awaitable[dict[str, Any]]]


class StepsTeam(Team):
    """Two effects in two nodes, checkpointed in between.

    Args:
        act: does an effect.
    """

    name = "steps"
    description = "acts in two steps"
    risk = Risk.HIGH
    max_retries = 0
    timeout = 0.0

    def __init__(self, act: Act) -> None:
        self._act = act

    @property
    def input_schema(self) -> dict[str, Any]:
        return {"type": "object"}

    def bind(self, text: str, arguments: Mapping[str, Any]) -> dict[str, Any]:
        return dict(arguments)

    def risk_of(self, arguments: Mapping[str, Any]) -> Risk:
        return self.risk

    def build(self) -> StateGraph[Any, Any, Any, Any]:
        graph = StateGraph(StepsState, context_schema=TeamContext)
        graph.add_node("one", self._one)
        graph.add_node("two", self._two)
        graph.add_edge(START, "one")
        graph.add_edge("one", "two")
        graph.add_edge("two", END)
        return graph

    async def _one(self, state: StepsState, runtime: Runtime[TeamContext]) -> StepsState:
        await self._act(runtime.context, "one")
        return {}

    async def _two(self, state: StepsState, runtime: Runtime[TeamContext]) -> StepsState:
        await self._act(runtime.context, "two")
        return {"result": TeamResult(text="two steps").to_dict()}


class AsksTeam(StepsTeam):
    """An effect, a question to a person, an effect."""

    name = "asks"
    description = "asks in the middle"

    def build(self) -> StateGraph[Any, Any, Any, Any]:
        graph = StateGraph(StepsState, context_schema=TeamContext)
        graph.add_node("ahead", self._ahead)
        graph.add_node("question", self._question)
        graph.add_node("behind", self._behind)
        graph.add_edge(START, "ahead")
        graph.add_edge("ahead", "question")
        graph.add_edge("question", "behind")
        graph.add_edge("behind", END)
        return graph

    async def _ahead(self, state: StepsState, runtime: Runtime[TeamContext]) -> StepsState:
        await self._act(runtime.context, "ahead")
        return {}

    async def _question(self, state: StepsState) -> StepsState:
        return {"said": interrupt({"question": "Shall it go on?"})}

    async def _behind(self, state: StepsState, runtime: Runtime[TeamContext]) -> StepsState:
        await self._act(runtime.context, "behind")
        return {"result": TeamResult(text="asked", data={"said": state.get("said")}).to_dict()}


def planned(setup: SessionSetup, teams: Mapping[str, Team], planner: FixedPlanner | None = None) -> SessionSetup:
    """Return a session's setup with the benchmark's plan and teams in the place of the built-in ones."""
    facts = {
        name: AgentFacts(name, name, team.description, True, team.max_retries, team.timeout, team.bind, team.risk_of)
        for name, team in teams.items()
    }
    return replace(setup, planner=PlanningAgent(facts, planner or FixedPlanner(), setup.now), team=teams.__getitem__)
