"""Whether a session's checkpoints and its record say the same of what was decided (T9)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, ClassVar

from langgraph.checkpoint.base import BaseCheckpointSaver

from hitl_tui.core.board import Board, Rules
from hitl_tui.core.errors import BadInput
from hitl_tui.core.events import utc_now
from hitl_tui.core.requests import Kind, Verdict
from hitl_tui.ledger.protocols import Ledger
from hitl_tui.ledger.records import Posted, Problem, RequestView
from hitl_tui.supervisor.graph import TeamSupervisor, config_of
from hitl_tui.supervisor.storage import SessionFolder

if TYPE_CHECKING:
    from hitl_tui.core.plan import AgentFacts, ExecutionPlan
    from hitl_tui.core.todos import SupervisorTodo
    from hitl_tui.planning.proposals import Planned

_ALLOWING = frozenset({Verdict.APPROVE.value, Verdict.RETRY.value})
_ABOUT_A_TODO = frozenset({Kind.TODO.value, Kind.FAILURE.value, Kind.EFFECT.value})
_OF_RUNS = frozenset({"finished", "failed", "interrupted", "doubt"})
_LATE = "9999"


class _NoPlanner:
    """Stands where a planner does in a graph that is only read."""

    agents: ClassVar[Mapping[str, AgentFacts]] = {}

    async def plan(self, query: str, feedback: str = "") -> Planned:
        raise BadInput("Nothing is planned where a session is only read.")

    def convert(self, planned_plan: ExecutionPlan, taken: Iterable[str] = ()) -> list[SupervisorTodo]:
        raise BadInput("Nothing is planned where a session is only read.")


async def board_of(saver: BaseCheckpointSaver[str], session: str, folder: SessionFolder) -> Board:
    """Return the plan as a session's newest checkpoint has it."""
    supervisor = TeamSupervisor(_NoPlanner(), Rules, folder.artifacts(), saver, utc_now)
    found = await supervisor.graph.aget_state(config_of(session))
    return Board.from_state(dict(found.values))


async def disagreements(ledger: Ledger, session: str, board: Board) -> list[Problem]:
    """Return where the record and the state contradict each other, both ways.

    Args:
        ledger: the record.
        session: which.
        board: its state; it was read before the record is.
    """
    control = board.control
    views = {v.request.id: v for v in await ledger.requests(_LATE, session=session, pending=False, limit=1_000_000)}
    events = [p for p in await ledger.after(session, 0, control.branch) if p.seq <= control.cursor]
    refused = {str(one.get("event", "")) for one in control.refused}
    problems = [_unlike(session, posted, views) for posted in events]
    last: dict[str, Posted] = {}
    for posted in events:
        event = posted.event
        todo_id = str(event.get("todo_id") or (event.get("data") or {}).get("todo_id") or "")
        kind = str(event.get("kind", ""))
        if kind == "decided" and event.get("asked") in _ABOUT_A_TODO and posted.event_id not in refused:
            last[todo_id] = posted
        elif kind not in _OF_RUNS and kind != "configured":
            # Whatever else was ordered may have changed what a decision left: one TODO, or any.
            last = {name: one for name, one in last.items() if todo_id and name != todo_id}
    for todo_id, todo in board.todos.items():
        problems.append(_approved(session, todo_id, todo, views))
        if todo_id in last:
            problems.append(_turned(session, todo_id, todo, last[todo_id]))
        problems += _answered(session, todo_id, todo, views)
    return [problem for problem in problems if problem is not None]


def _unlike(session: str, posted: Posted, views: Mapping[str, RequestView]) -> Problem | None:
    """Say when an event carries another verdict than the decisions amount to."""
    event = posted.event
    if event.get("kind") != "decided" or event.get("channel") == "deadline":
        return None
    view = views.get(str(event.get("request_id", "")))
    verdict = view.resolution.verdict if view is not None else None
    if view is None or verdict is None or verdict.value == event.get("verdict"):
        return None
    about = view.request.todo_id or view.request.kind.value
    return Problem(
        session, 0, f"The decisions about {about} say {verdict.value}; what was carried out is {event.get('verdict')}."
    )


def _approved(session: str, todo_id: str, todo: Mapping[str, Any], views: Mapping[str, RequestView]) -> Problem | None:
    """Say when the state has an approval that the record hasn't."""
    approval = todo.get("approval") or {}
    view = views.get(str(approval.get("request_id") or ""))
    if view is None:  # allowed by a rule, or decided before this session was copied from another
        return None
    verdict = view.resolution.verdict
    same = view.request.kind is not Kind.TODO or view.request.digest == approval.get("digest")
    if verdict is not None and verdict.value in _ALLOWING and same:
        return None
    said = verdict.value if verdict is not None else "nothing"
    return Problem(session, 0, f"The checkpoints say that {todo_id} was approved, and the record says {said}.")


def _turned(session: str, todo_id: str, todo: Mapping[str, Any], posted: Posted) -> Problem | None:
    """Say when the last decision about a TODO is another one in the record than in the state."""
    verdict = str(posted.event.get("verdict", ""))
    metadata, status = todo.get("metadata") or {}, str(todo.get("status", ""))
    error = str(todo.get("error") or "")
    refused = bool(metadata.get("rejected")) and error.startswith(("rejected by", "expired"))
    if verdict in _ALLOWING and refused:
        return Problem(session, 0, f"The checkpoints say that {todo_id} was rejected, and the record says {verdict}.")
    if verdict in _ALLOWING and status == "skipped" and metadata.get("skipped_by") not in (None, "system"):
        return Problem(session, 0, f"The checkpoints say that {todo_id} was skipped, and the record says {verdict}.")
    if verdict == Verdict.REJECT.value and status in ("in_progress", "completed"):
        return Problem(session, 0, f"The checkpoints say that {todo_id} was run, and the record says {verdict}.")
    return None


def _answered(session: str, todo_id: str, todo: Mapping[str, Any], views: Mapping[str, RequestView]) -> list[Problem]:
    """Say when an answer in the state isn't the one in the record."""
    question = todo.get("question") or {}
    found = []
    for one in question.get("interrupts") or ():
        answer = one.get("answer") or {}
        view = views.get(str(answer.get("request_id") or ""))
        given = view.resolution.decisions[-1].value if view is not None and view.resolution.decisions else None
        if view is not None and given != answer.get("value"):
            what = f"The answer to {todo_id} is another one in the checkpoints than in the record."
            found.append(Problem(session, 0, what))
    return found
