"""The supervisor's state as its graph tells it, for what can't be read without."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

from langgraph.checkpoint.base import BaseCheckpointSaver

from hitl_tui.core.board import Rules
from hitl_tui.core.errors import BadInput
from hitl_tui.core.events import utc_now
from hitl_tui.core.json_types import Json
from hitl_tui.core.messages import Message
from hitl_tui.supervisor.checkpoint_file import CheckpointFile, StoredCheckpoints
from hitl_tui.supervisor.checkpoint_saver import CheckedSaver
from hitl_tui.supervisor.graph import TeamSupervisor, config_of

if TYPE_CHECKING:
    from hitl_tui.core.plan import AgentFacts, ExecutionPlan
    from hitl_tui.core.todos import SupervisorTodo
    from hitl_tui.planning.proposals import Planned, Reworked


class _Nobody:
    """Stands where a planner and the artifacts do in a graph that is only read."""

    agents: ClassVar[Mapping[str, AgentFacts]] = {}

    async def create_execution_plan(self, query: str) -> Planned:
        raise BadInput(Message("A read-only session plans nothing."))

    async def rework(
        self, remarks: Sequence[str], query: str, todos: Sequence[SupervisorTodo], taken: Sequence[str] = ()
    ) -> Reworked:
        raise BadInput(Message("A read-only session plans nothing."))

    def convert_with_strategy(self, planned_plan: ExecutionPlan, taken: Iterable[str] = ()) -> list[SupervisorTodo]:
        raise BadInput(Message("A read-only session plans nothing."))

    async def put(self, value: Mapping[str, object]) -> str:
        raise BadInput(Message("A read-only session plans nothing."))

    async def get(self, digest: str) -> dict[str, Json]:
        raise BadInput(Message("A read-only session plans nothing."))


async def state_by_graph(file: StoredCheckpoints, session_id: str, checkpoint_id: str = "") -> dict[str, Any]:
    """See `stored_state.state_of`."""
    nobody = _Nobody()
    saver = CheckedSaver.on(file) if isinstance(file, CheckpointFile) else file
    assert isinstance(saver, BaseCheckpointSaver)
    supervisor = TeamSupervisor(nobody, Rules, nobody, saver, utc_now)
    config = config_of(session_id)
    if checkpoint_id:
        config["configurable"]["checkpoint_id"] = checkpoint_id
    return dict((await supervisor.graph.aget_state(config)).values)
