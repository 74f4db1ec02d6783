"""How soon an approved TODO starts, and how close a plan comes to the shortest time it can take.

Start: one TODO runs for as long as the benchmark lasts; others are approved one by one, and the time inside their
team function is compared with the time `decide` was called. Makespan: plans of TODOs that take 200 ms each, four at
once, beside a `Send` fan-out per level (LangGraph's own way, with a barrier after each level) doing the same work.

    python benchmarks/latency.py [--samples 50] [--rounds 3] [--data DIR]
"""

from __future__ import annotations

import argparse
import asyncio
import operator
import random
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, TypedDict

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from benchmarks import common
from benchmarks.common import Figures, ms, show
from hitl_tui.core.policy import Mode
from hitl_tui.supervisor.checkpoint_saver import create_checkpointer
from hitl_tui.teams.contract import TeamContext, TeamResult

WORK, CONCURRENCY = 0.2, 4
TARGET_START, TARGET_MAKESPAN = 0.020, 1.10
_SEED = 20


class Starts:
    """The team: the first TODO runs until it is released, the others end at once; when each began is noted."""

    def __init__(self) -> None:
        self.began: dict[str, float] = {}
        self.sibling_runs = asyncio.Event()
        self.release = asyncio.Event()

    async def work(self, context: TeamContext) -> TeamResult:
        self.began[context.task.todo_id] = time.perf_counter()
        if context.task.todo_id == "todo_001":
            self.sibling_runs.set()
            await self.release.wait()
        return TeamResult("done")


async def measure_starts(root: Path, samples: int) -> tuple[list[float], list[float]]:
    """Return seconds from the call of `decide`, and from its return, to the start of the team."""
    team = Starts()
    called: list[float] = []
    returned: list[float] = []
    plan = common.steps_of([[]] * (samples + 1))
    async with common.open_session(root, plan, team.work, concurrency=CONCURRENCY) as session:
        snapshot = await session.settled()
        by_todo = {question.todo_id: question for question in snapshot.questions}
        await common.approve(session, by_todo.pop("todo_001"))
        await team.sibling_runs.wait()
        snapshot = session.snapshot
        for todo_id, question in by_todo.items():
            before = time.perf_counter()
            await common.approve(session, question)
            after = time.perf_counter()
            while (todo := snapshot.todo(todo_id)) is None or not todo.settled:
                snapshot = await session.changed(snapshot)
            called.append(team.began[todo_id] - before)
            returned.append(team.began[todo_id] - after)
        team.release.set()
        await session.settled()
    return called, returned


# Plans: for each TODO the TODOs it depends on ----------------------------------------------------------------------


def chains() -> list[list[int]]:
    """Six chains of one to six TODOs."""
    plan: list[list[int]] = []
    for length in (6, 5, 4, 3, 2, 1):
        for place in range(length):
            plan.append([len(plan) - 1] if place else [])
    return plan


def diamonds() -> list[list[int]]:
    """Four diamonds, each one to three to one, the second half after the first."""
    plan: list[list[int]] = []
    for number in range(4):
        top = len(plan)
        plan.append([top - 10] if number >= 2 else [])
        plan += [[top], [top], [top], [top + 1, top + 2, top + 3]]
    return plan


def random_dag(seed: int, count: int = 24) -> list[list[int]]:
    """Each TODO depends on up to three of the ten before it."""
    chance = random.Random(seed)
    plan: list[list[int]] = []
    for number in range(count):
        before = range(max(0, number - 10), number)
        plan.append(sorted(chance.sample(before, min(len(before), chance.randint(0, 3)))))
    return plan


def plans() -> Mapping[str, list[list[int]]]:
    """Return the plans by name."""
    mixed = [*chains(), *([d + len(chains()) for d in needed] for needed in diamonds())]
    randoms = {f"random DAG {number}": random_dag(_SEED + number) for number in range(3)}
    return {"chains of 1 to 6": chains(), "diamonds": diamonds(), "chains and diamonds": mixed, **randoms}


def levels(plan: Sequence[Sequence[int]]) -> list[int]:
    """Return each TODO's level: the longest way to it."""
    found: list[int] = []
    for needed in plan:
        found.append(1 + max((found[d] for d in needed), default=-1))
    return found


def lower_bound(plan: Sequence[Sequence[int]]) -> float:
    """Return seconds that no schedule can beat: the critical path, or all the work shared evenly."""
    return WORK * max(max(levels(plan)) + 1, len(plan) / CONCURRENCY)


def schedule(plan: Sequence[Sequence[int]], urgency: Sequence[int]) -> float:
    """Return the seconds of a machine without overhead that starts what is ready, most urgent first."""
    done: set[int] = set()
    rounds = 0
    while len(done) < len(plan):
        ready = [i for i in range(len(plan)) if i not in done and done.issuperset(plan[i])]
        done.update(sorted(ready, key=lambda i: -urgency[i])[:CONCURRENCY])
        rounds += 1
    return rounds * WORK


def tails(plan: Sequence[Sequence[int]]) -> list[int]:
    """Return for each TODO the longest way from it to the end: the best urgency known."""
    found = [1] * len(plan)
    for number in reversed(range(len(plan))):
        for d in plan[number]:
            found[d] = max(found[d], found[number] + 1)
    return found


def by_order(plan: Sequence[Sequence[int]]) -> list[int]:
    """Return the urgency that a session goes by where priorities are equal: the plan's order."""
    return [-number for number in range(len(plan))]


# Runs --------------------------------------------------------------------------------------------------------------


async def session_makespan(root: Path, plan: Sequence[Sequence[int]]) -> float:
    """Return seconds from the approval of a plan to the end of its last TODO's work."""
    ended: list[float] = []

    async def work(context: TeamContext) -> TeamResult:
        await asyncio.sleep(WORK)
        ended.append(time.perf_counter())
        return TeamResult("done")

    steps = common.steps_of(plan)
    async with common.open_session(root, steps, work, mode=Mode.PLAN, concurrency=CONCURRENCY) as session:
        snapshot = await session.settled()
        began = time.perf_counter()
        await common.approve(session, snapshot.questions[0])
        while len(ended) < len(plan):
            snapshot = await session.changed(snapshot)
    return max(ended) - began


class FanState(TypedDict, total=False):
    """State of the fan-out: the level to run, and who is done."""

    level: int
    done: Annotated[list[int], operator.add]


class Task(TypedDict):
    """What a `Send` carries."""

    todo: int


async def send_makespan(root: Path, plan: Sequence[Sequence[int]]) -> float:
    """Return seconds from the invocation to the end of the last work, with a `Send` per TODO and level."""
    from langgraph.graph import END, START, StateGraph
    from langgraph.types import Command, Send

    ended: list[float] = []
    of = levels(plan)
    room = asyncio.Semaphore(CONCURRENCY)

    async def fan(state: FanState) -> Command[Any]:
        level = state.get("level", -1) + 1
        todos = [i for i, at in enumerate(of) if at == level]
        goto: Any = [Send("work", {"todo": i}) for i in todos] if todos else END
        return Command(goto=goto, update={"level": level})

    async def work(state: Task) -> FanState:
        async with room:
            await asyncio.sleep(WORK)
        ended.append(time.perf_counter())
        return {"done": [state["todo"]]}

    async with create_checkpointer(root / "fan.db") as saver:
        builder = StateGraph(FanState)
        builder.add_node("fan", fan)
        builder.add_node("work", work)
        builder.add_edge(START, "fan")
        builder.add_edge("work", "fan")
        graph = builder.compile(checkpointer=saver)
        began = time.perf_counter()
        await graph.ainvoke({"done": []}, {"configurable": {"thread_id": "fan"}}, durability="sync")
    return max(ended) - began


def report_starts(called: Sequence[float], returned: Sequence[float]) -> None:
    """Print how soon TODOs start."""
    rows = []
    for name, seconds in (("decide called → team runs", called), ("decide returned → team runs", returned)):
        figures = Figures.of(seconds)
        rows.append([name, str(figures.count), ms(figures.median), ms(figures.p95), ms(figures.worst)])
    show("Approve to start while a sibling runs (ms)", ["", "samples", "median", "p95", "worst"], rows)
    print(f"  target: at most {ms(TARGET_START)} ms", flush=True)


def report_makespans(found: Mapping[str, tuple[float, float]]) -> None:
    """Print makespans beside the optimum and the fan-out."""
    rows = []
    for name, (ours, theirs) in found.items():
        plan = plans()[name]
        bound, best, ordered = lower_bound(plan), schedule(plan, tails(plan)), schedule(plan, by_order(plan))
        session = [ms(ours), f"{ours / best:.2f}", f"{ours / ordered:.2f}"]
        fan = [ms(theirs), f"{theirs / best:.2f}", f"{theirs / ours:.2f}"]
        rows.append([name, str(len(plan)), ms(bound), ms(best), ms(ordered), *session, *fan])
    header = ["plan of 200 ms TODOs", "TODOs", "bound", "best", "order"]
    header += ["session", "÷ best", "÷ order", "Send", "÷ best", "÷ session"]
    show("Makespan (ms, medians; four at once)", header, rows)
    print("  bound: max(critical path, work ÷ 4), not always reachable; best: longest tail first, without overhead;")
    print("  order: the plan's order, which sessions go by, without overhead")
    print(
        f"  target: session at most {TARGET_MAKESPAN:.2f} times the optimum, which lies between bound and best",
        flush=True,
    )


def main() -> None:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(description="Approve to start, and makespans.")
    parser.add_argument("--samples", type=int, default=50, help="approvals")
    parser.add_argument("--rounds", type=int, default=3, help="repetitions of each makespan")
    parser.add_argument("--data", type=Path, help="folder on the disk to measure; a temporary one is made in it")
    chosen = parser.parse_args()
    print(common.machine())
    with common.scratch(chosen.data) as root:
        report_starts(*asyncio.run(measure_starts(root, chosen.samples)))
    found: dict[str, tuple[float, float]] = {}
    for name, plan in plans().items():
        ours: list[float] = []
        theirs: list[float] = []
        for _ in range(chosen.rounds):
            with common.scratch(chosen.data) as root:
                ours.append(asyncio.run(session_makespan(root, plan)))
                theirs.append(asyncio.run(send_makespan(root, plan)))
        found[name] = Figures.of(ours).median, Figures.of(theirs).median
    report_makespans(found)


if __name__ == "__main__":
    main()
