"""The supervisor's state as LangGraph keeps it.

Plain dicts, lists, texts, numbers, booleans and None only, so that strict deserialisation gives back what was
there. TODOs live in a delta channel: a checkpoint holds the change, not the plan again.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, NotRequired, TypedDict

from langgraph.channels.delta import DeltaChannel
from langgraph.types import Interrupt

from hitl_tui.core.board import merge_todos
from hitl_tui.core.json_types import TodoState
from hitl_tui.threads.session_history import LAST_NODE

COORDINATOR, PLANNING, PLAN_REVIEW = "coordinator", "planning", "plan_review"
APPROVAL, EXECUTE_TEAMS = "approval", "execute_teams"
AGGREGATE, GENERATE_RESPONSE = "aggregate", LAST_NODE

WAITING, APPROVED, COMPLETED = "waiting", "approved", "completed"


class PlanningState(TypedDict, total=False):
    """What planning left in the state; ids by status and the current TODO follow from the TODOs.

    Keys:
        agents, teams: names of those that could be planned for.
        intent: `core.plan.Intent`.
        plan: digest of the `ExecutionPlan`: every checkpoint repeats this channel, so it stays small.
        strategy, estimated_time: of the plan.
        errors: why no plan could be made.
    """

    agents: list[str]
    teams: list[str]
    intent: Mapping[str, object]
    plan: str
    strategy: str
    estimated_time: float
    errors: list[str]


class ResultsReference(TypedDict, total=False):
    """What the response covers.

    Keys:
        digest: of {team: {todo id: result reference}}.
        teams: how many results each team has.
    """

    digest: str
    teams: dict[str, int]


class ResponseReference(TypedDict):
    """The final answer, by the digest of a `final_answer.Response`; `tally` is that of `core.tally`."""

    digest: str
    summary: str
    outcome: str
    tally: NotRequired[dict[str, int]]


class MainSupervisorState(TypedDict, total=False):
    """State of the supervising graph.

    Keys:
        query, session_id, request_id: what was asked, where, and the id of this asking.
        current_phase: the node that ran last.
        approval_status: `waiting`, `approved` or `completed`; approval_message says it in words.
        todos: TODOs by id.
        control: `core.board.Control`.
    """

    query: str
    session_id: str
    request_id: str
    current_phase: str
    approval_status: str
    approval_message: str
    planning: PlanningState
    todos: Annotated[dict[str, TodoState], DeltaChannel(merge_todos, dict, snapshot_frequency=200)]
    control: dict[str, Any]
    results: ResultsReference
    response: ResponseReference


class GateState(MainSupervisorState, total=False):
    """The state at a gate, as LangGraph returns it: with the interrupt that waits there."""

    __interrupt__: Sequence[Interrupt]
