"""The supervisor's state as LangGraph keeps it.

Plain dicts, lists, texts, numbers, booleans and None only, so that strict deserialisation gives back what was
there. TODOs live in a delta channel: a checkpoint holds the change, not the plan again.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, TypedDict

from langgraph.channels.delta import DeltaChannel

from hitl_tui.core.board import Board
from hitl_tui.core.plan import Intent, PlanningState, Strategy
from hitl_tui.threads.session_history import LAST_NODE

COORDINATOR, PLANNING, PLAN_REVIEW = "coordinator", "planning", "plan_review"
APPROVAL, EXECUTE_TEAMS = "approval", "execute_teams"
AGGREGATE, GENERATE_RESPONSE = "aggregate", LAST_NODE

NODES = (COORDINATOR, PLANNING, PLAN_REVIEW, APPROVAL, EXECUTE_TEAMS, AGGREGATE, GENERATE_RESPONSE)

WAITING, APPROVED, COMPLETED = "waiting", "approved", "completed"


def merge_todos(todos: Mapping[str, Any], writes: Sequence[Mapping[str, Mapping[str, Any] | None]]) -> dict[str, Any]:
    """Apply changes of TODOs in order; None removes one. Applying batches apart or together is the same."""
    merged = dict(todos)
    for write in writes:
        for todo_id, todo in write.items():
            if todo is None:
                merged.pop(todo_id, None)
            else:
                merged[todo_id] = todo
    return merged


class MainSupervisorState(TypedDict, total=False):
    """State of the supervising graph.

    Keys:
        query, session_id, request_id: what was asked, where, and the id of this asking.
        current_phase: the node that ran last.
        approval_status: `waiting`, `approved` or `completed`; approval_message says it in words.
        planning: `PlanningState` without its TODOs: intent, agents, teams, strategy, errors, and `plan`, the digest
            of the `ExecutionPlan`: every checkpoint repeats this channel, so it stays small.
        todos: TODO dicts by id.
        control: `core.board.Control`.
        results: reference to what the response covers, `digest` of {team: {todo id: result reference}}, and `teams`,
            how many results each team has.
        response: reference to the final answer: `digest`, `summary`.
    """

    query: str
    session_id: str
    request_id: str
    current_phase: str
    approval_status: str
    approval_message: str
    planning: dict[str, Any]
    todos: Annotated[dict[str, Any], DeltaChannel(merge_todos, dict, snapshot_frequency=200)]
    control: dict[str, Any]
    results: dict[str, Any]
    response: dict[str, Any]


def planning_state(state: Mapping[str, Any], plan: Mapping[str, Any] | None = None) -> PlanningState:
    """Return what planning knows, TODOs included.

    Args:
        state: the supervisor's state.
        plan: the plan that `state["planning"]["plan"]` refers to, when its steps are wanted too.
    """
    plan = plan or {}
    planning = state.get("planning") or {}
    return PlanningState(
        raw_query=state.get("query", ""),
        intent=Intent.from_dict(planning.get("intent") or {}),
        available_agents=tuple(planning.get("agents", ())),
        available_teams=tuple(planning.get("teams", ())),
        todos=tuple(Board.from_state(state).all()),
        execution_steps=tuple(plan.get("steps", ())),
        strategy=Strategy(planning.get("strategy", Strategy.PIPELINE)),
        parallel_groups=tuple(tuple(g) for g in plan.get("parallel_groups", ())),
        validation_errors=tuple(planning.get("errors", ())),
        estimated_total_time=float(planning.get("estimated_time", 0.0)),
    )
