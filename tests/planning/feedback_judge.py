"""Says of feedback on plans whether what comes of it is the plan that is meant; run it to see all that aren't."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

from feedback_cases import CASES, KEPT
from own_teams import TEAMS
from planning_support import COMMANDS, agents, carried_out

from hitl_tui.core.errors import HitlError
from hitl_tui.core.json_text import canonical
from hitl_tui.core.todos import SupervisorTodo
from hitl_tui.planning.agent import PlanningAgent
from hitl_tui.planning.rule_planner.planner import RulePlanner

_LABELS = {"search_team": "search", "analysis_team": "analysis", "document_team": "report"}
NOW = "2026-03-01T09:00:00+00:00"


def agent() -> PlanningAgent:
    return PlanningAgent({**agents(), **TEAMS}, RulePlanner(COMMANDS), now=lambda: NOW)


def label(todo: SupervisorTodo) -> str:
    return str(todo.arguments.get("command") or _LABELS.get(todo.agent_name, todo.agent_name))


def before(todo_id: str, todos: Mapping[str, SupervisorTodo]) -> set[str]:
    """Return all that a TODO waits for."""
    found: set[str] = set()
    stack = list(todos[todo_id].dependencies)
    while stack:
        if (one := stack.pop()) not in found:
            found.add(one)
            stack += todos[one].dependencies
    return found


def is_meant(todos: Sequence[SupervisorTodo], meant: str) -> bool:
    """Whether a plan is the one that is written so; see `feedback_cases`."""
    groups = [[name.strip() for name in group.split(",")] for group in meant.split(">")]
    if len(todos) != sum(map(len, groups)):
        return False
    known, left, found = {t.id: t for t in todos}, list(todos), list[list[SupervisorTodo]]()
    for names in groups:
        found.append([])
        for name in sorted(names, key=lambda n: ":" not in n):
            kind, _, word = name.partition(":")
            one = next((t for t in left if label(t) == kind and word in _said(t)), None)
            if one is None:
                return False
            left.remove(one)
            found[-1].append(one)
    order = [t.id for t in sorted(todos, key=lambda t: t.rank)]
    earlier: list[SupervisorTodo] = []
    for group in found:
        for todo in group:
            waits = before(todo.id, known)
            if not waits.issuperset(t.id for t in earlier if t in earlier) or waits & {t.id for t in group}:
                return False
            if any(order.index(t.id) > order.index(todo.id) for t in earlier):
                return False
        earlier += group
    return True


def _said(todo: SupervisorTodo) -> str:
    return f"{todo.name} {todo.description} {canonical(dict(todo.arguments)).decode()}"


async def reviewed(query: str, remarks: Sequence[str]) -> list[SupervisorTodo] | str:
    """Return the plan after all remarks, or why the last of them can't be worked in."""
    planner = agent()
    todos = planner.convert_with_strategy((await planner.create_execution_plan(query)).plan)
    try:
        for number in range(len(remarks)):
            todos = carried_out((await planner.rework(remarks[: number + 1], query, todos)).changes, todos)
    except HitlError as error:
        return str(error.message)
    return todos


def shown(plan: list[SupervisorTodo] | str) -> str:
    if isinstance(plan, str):
        return f"KEPT: {plan}"
    return "  ".join(f"{t.id[5:]} {label(t)}<{','.join(d[5:] for d in t.dependencies)}" for t in plan)


def right(plan: list[SupervisorTodo] | str, meant: str) -> bool:
    return isinstance(plan, str) if meant == KEPT else not isinstance(plan, str) and is_meant(plan, meant)


async def judge() -> int:
    wrong = 0
    for query, said, meant in CASES:
        remarks = (said,) if isinstance(said, str) else said
        plan = await reviewed(query, remarks)
        if not right(plan, meant):
            wrong += 1
            print(f"- {' | '.join(remarks)}\n    meant {meant}\n    got   {shown(plan)}")
    print(f"{len(CASES) - wrong} of {len(CASES)} as meant")
    return wrong


if __name__ == "__main__":
    asyncio.run(judge())
