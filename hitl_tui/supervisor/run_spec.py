"""What a run of a team is made of, and what runs share."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hitl_tui.core.board import inputs_of
from hitl_tui.core.events import EventKind
from hitl_tui.core.json_types import EarlierStep, EventData, ResultReference
from hitl_tui.core.plan import Proposal
from hitl_tui.core.policy import Policy
from hitl_tui.core.todos import SupervisorTodo
from hitl_tui.ledger.protocols import Ledger
from hitl_tui.supervisor.activity import ActivityStream
from hitl_tui.supervisor.storage import ArtifactStore, SessionFolder
from hitl_tui.teams.contract import Team, TeamModel, TeamResult

if TYPE_CHECKING:
    from langgraph.checkpoint.base import BaseCheckpointSaver

PostEvent = Callable[[str, EventKind, EventData], Awaitable[None]]
"""Puts an event into a session's inbox: event id, kind, data."""

FollowUp = Callable[[SupervisorTodo, TeamResult], Awaitable[Proposal | None]]
"""Asks the planner whether a result calls for a change of the plan."""


Listed = Callable[[str], Awaitable[Sequence[str]]]
"""Returns what the preview of an approved question lists otherwise now; see `open_questions.listed_otherwise`."""


@dataclass(frozen=True, slots=True)
class RunSpec:
    """Everything a run needs, JSON only.

    Args:
        run_id: its thread.
        todo: the TODO.
        branch: the branch it runs on.
        query: the session's question.
        inputs: result references by TODO id.
        fresh: it began in this process, so its thread holds nothing and needn't be asked how far it got.
        continued: the thread of an earlier TODO that it goes on with; empty for one of its own.
    """

    run_id: str
    todo: SupervisorTodo
    branch: int
    query: str
    inputs: Mapping[str, ResultReference]
    fresh: bool = False
    continued: str = ""

    @property
    def step(self) -> EarlierStep:
        """The earlier step to go on from: `thread`, and `checkpoint_id` unless it is the last; empty for the start."""
        return self.todo.metadata.get("rewind", {})

    @property
    def stopped_on(self) -> str:
        """The thread that an earlier attempt was cancelled on; empty for none."""
        return str(self.todo.metadata.get("stopped_on", ""))

    @property
    def thread(self) -> str:
        """The run's LangGraph thread: its own, or the one whose step it goes on from."""
        return self.step.get("thread", self.run_id)

    @classmethod
    def of(
        cls, todo: SupervisorTodo, todos: Mapping[str, SupervisorTodo], branch: int, query: str, *, fresh: bool = False
    ) -> RunSpec:
        """Return the spec of a TODO in progress."""
        refs = {i: todos[i].result for i in inputs_of(todo) if i in todos}
        inputs = {i: r for i, r in refs.items() if r and r.get("digest")}
        earlier = todos.get(str(todo.arguments.get("thread", "")))
        continued = last_thread(earlier) if earlier is not None else ""
        return cls(todo.run_id, todo, branch, query, inputs, fresh, continued)


def last_thread(todo: SupervisorTodo) -> str:
    """Return the LangGraph thread that a TODO's last run was on."""
    threads: Mapping[str, str] = todo.metadata.get("threads", {})
    return threads.get(todo.run_id, todo.run_id)


@dataclass(frozen=True, slots=True)
class BegunEffect:
    """An effect of which isn't on record how it ended.

    Args:
        run_id: whose.
        ended_at: when it ended all the same, ISO 8601; empty while it goes on.
        result: what came of it, as people read it; empty where nothing tells.
    """

    run_id: str
    ended_at: str = ""
    result: str = ""


@dataclass(frozen=True, slots=True)
class RunServices:
    """What runs share.

    Args:
        saver: the session's saver, shared by supervisor and teams.
        team: gives a team by name.
        ledger, artifacts, folder, activity: of the session.
        session, lineage: its ids.
        workspace: absolute path.
        secrets: declared secrets, by name.
        post: tells the session how a run ends.
        follow_up: asks its planner.
        listed: says whether what a person was shown is still so.
        now: the clock.
        model: the session's chat model; None for none.
        policy: gives the rules that hold now.
        node: is told when a node of a step's graph begins and ends; see `SessionTrace.node`. None for nobody.
        begun: the effects that have begun and aren't on record as ended, by their keys.
    """

    saver: BaseCheckpointSaver[str]
    team: Callable[[str], Team]
    ledger: Ledger
    artifacts: ArtifactStore
    folder: SessionFolder
    activity: ActivityStream
    session: str
    lineage: str
    workspace: Path
    secrets: Mapping[str, str]
    post: PostEvent
    follow_up: FollowUp
    listed: Listed
    now: Callable[[], str]
    model: TeamModel | None = None
    policy: Callable[[], Policy] = Policy
    node: Callable[[SupervisorTodo, tuple[str, ...], Mapping[str, Any]], None] | None = None
    begun: dict[str, BegunEffect] = field(default_factory=dict)
