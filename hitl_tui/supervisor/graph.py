"""`TeamSupervisor`: the supervising graph.

`coordinator → planning → plan_review ⇄ planning → approval ⇄ execute_teams → aggregate → generate_response → approval`

`plan_review` and `approval` are gates: each holds one interrupt whose resume value is a batch of events for
`fold`. `execute_teams` only marks TODOs as started, so that the intent to run is durable before anything runs;
running them is the session's business. After the response the graph waits at `approval` again, so that a finished
session can be taken further.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import islice
from typing import Any, Literal, Protocol, cast

from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.graph import START, StateGraph
from langgraph.graph.state import CompiledStateGraph
from langgraph.types import Command, interrupt

from hitl_tui.core import board as b
from hitl_tui.core.board import Board, Control, Draft, Rules, limit_reached
from hitl_tui.core.errors import HitlError, ServerAway
from hitl_tui.core.events import Event
from hitl_tui.core.fold import Folded, fold
from hitl_tui.core.fold_consequences import settle, withdraw_unbound
from hitl_tui.core.json_text import digest, short_id
from hitl_tui.core.json_types import PlanReviewed, ProposedChange, Refusal, ResultReference, TodoMetadata
from hitl_tui.core.messages import Message
from hitl_tui.core.names import clip
from hitl_tui.core.plan import AgentFacts, ExecutionPlan, Intent, Strategy
from hitl_tui.core.plan_difference import plan_difference
from hitl_tui.core.plan_index import PlanFollower
from hitl_tui.core.plan_review import UNSAID, EndedBy, ReviewOptions
from hitl_tui.core.policy import Mode, Ruling
from hitl_tui.core.proposal_changes import work_in
from hitl_tui.core.question_field import question_path
from hitl_tui.core.questions import MOST_CHANGED, asking, count_asked, plan_question, plan_ruling
from hitl_tui.core.requests import Verdict
from hitl_tui.core.tally import tally
from hitl_tui.core.todos import Status, SupervisorTodo, check_known
from hitl_tui.graphs.served_graph import STRICT_RESUME
from hitl_tui.ledger.records import Effect
from hitl_tui.policy.policy_source import PolicySource
from hitl_tui.supervisor import state as s
from hitl_tui.supervisor.bound_files import BoundFiles, bind_again
from hitl_tui.supervisor.final_answer import Response, ResultData, compose
from hitl_tui.supervisor.lasting_effects import lasting_effects
from hitl_tui.supervisor.ports import Artifacts
from hitl_tui.supervisor.state import GateState, MainSupervisorState, PlanningState
from hitl_tui.threads.session_history import thread_of


class Planned(Protocol):
    """What a planner hands over; see `planning.agent.Planned`."""

    @property
    def intent(self) -> Intent: ...

    @property
    def plan(self) -> ExecutionPlan: ...


class Reworked(Protocol):
    """What is changed of a plan by what was said of it; see `planning.proposals.Reworked`."""

    @property
    def changes(self) -> tuple[ProposedChange, ...]: ...

    @property
    def strategy(self) -> Strategy | None: ...

    @property
    def notes(self) -> tuple[str, ...]: ...


class PlanMaker(Protocol):
    """What the graph needs of a `PlanningAgent`."""

    @property
    def agents(self) -> Mapping[str, AgentFacts]: ...

    async def create_execution_plan(self, query: str) -> Planned: ...

    async def rework(
        self, remarks: Sequence[str], query: str, todos: Sequence[SupervisorTodo], taken: Sequence[str] = ()
    ) -> Reworked: ...

    def convert_with_strategy(self, planned_plan: ExecutionPlan, taken: Iterable[str] = ()) -> list[SupervisorTodo]: ...


WriteUp = Callable[[Response], Awaitable[Response]]
"""Takes what was found, and returns that in other words."""


def config_of(session_id: str) -> RunnableConfig:
    """Return the config of a session's thread: resumes are by id and strict."""
    return {"configurable": {"thread_id": thread_of(session_id), STRICT_RESUME: True}, "recursion_limit": 10_000}


class TeamSupervisor:
    """Builds and drives the supervising graph of sessions.

    Args:
        planner: makes plans.
        rules: gives the rules that hold now.
        artifacts: keeps results.
        checkpointer: the session's saver.
        now: the clock, ISO 8601 in UTC.
        policy: says whether a TODO may begin now; None where none ever does.
        effects: gives what the session did to the world; None where nothing is concluded.
        write: puts what was found into other words; see `model_answer.written_up`. None for nobody.
    """

    def __init__(
        self,
        planner: PlanMaker,
        rules: Callable[[], Rules],
        artifacts: Artifacts,
        checkpointer: BaseCheckpointSaver[str],
        now: Callable[[], str],
        policy: PolicySource | None = None,
        effects: Callable[[], Awaitable[Sequence[Effect]]] | None = None,
        write: WriteUp | None = None,
    ) -> None:
        self._write = write
        self._planner = planner
        self._rules = rules
        self._artifacts = artifacts
        self._now = now
        self._policy = policy
        self._effects = effects
        self.follower = PlanFollower()
        self.graph = self._build(checkpointer)

    def _build(self, checkpointer: BaseCheckpointSaver[str]) -> CompiledStateGraph[Any, Any, Any, Any]:
        builder = StateGraph(MainSupervisorState)
        for name, node, targets in (
            (s.COORDINATOR, self._coordinator, (s.PLANNING,)),
            (s.PLANNING, self._planning, (s.PLAN_REVIEW,)),
            (s.PLAN_REVIEW, self._plan_review, (s.PLANNING, s.PLAN_REVIEW, s.APPROVAL)),
            (s.APPROVAL, self._approval, (s.APPROVAL, s.EXECUTE_TEAMS, s.AGGREGATE)),
            (s.EXECUTE_TEAMS, self._execute_teams, (s.APPROVAL,)),
            (s.AGGREGATE, self._aggregate, (s.GENERATE_RESPONSE,)),
            (s.GENERATE_RESPONSE, self._generate_response, (s.APPROVAL,)),
        ):
            # LangGraph looks for graphs in what a function reaches, but not in a partial one; these reach none.
            builder.add_node(name, partial(node), destinations=targets)
        builder.add_edge(START, s.COORDINATOR)
        return builder.compile(checkpointer=checkpointer, name="team_supervisor")

    async def execute(
        self,
        query: str,
        session_id: str,
        *,
        mode: Mode = Mode.STEP,
        branch: int = 0,
        lineage: str = "",
        review: ReviewOptions = UNSAID,
    ) -> GateState:
        """Begin a session, or bring one that was interrupted to rest; return the state at the next gate.

        The state's `__interrupt__` holds the gate's interrupt; answer it with `resume`.

        Args:
            query: what is asked; only used when the thread is new.
            session_id: runs on thread `session_<id>`.
            mode: when a person is asked.
            branch: the branch to begin on.
            lineage: see `Control`.
            review: how the plan is reviewed.

        Raises:
            StorageError: a newer version made the session.
        """
        config = config_of(session_id)
        known = await self.graph.aget_state(config)
        begun = known.created_at is not None
        check_known((known.values.get("todos") or {}).values())
        rules = self._rules()
        control = Control(
            mode=mode,
            branch=branch,
            policy_version=rules.policy.version,
            concurrency=max(1, rules.concurrency),
            lineage=lineage,
            review=review,
        )
        first = {"query": query, "session_id": session_id, "control": control.to_dict()}
        return await self._invoke(None if begun else first, session_id)

    async def resume(self, session_id: str, interrupt_id: str, events: Sequence[Event]) -> GateState:
        """Hand a batch of events to the gate; return the state at the next one."""
        command: Command[Any] = Command(resume={interrupt_id: [e.to_dict() for e in events]})
        return await self._invoke(command, session_id)

    async def _invoke(self, value: object, session_id: str) -> GateState:
        found = await self.graph.ainvoke(value, config_of(session_id), durability="sync")
        return cast("GateState", dict(found))

    # Nodes ----------------------------------------------------------------------------------------------------

    async def _coordinator(self, state: MainSupervisorState) -> Command[Literal["planning"]]:
        update = {
            "request_id": short_id(state["session_id"], state["query"]),
            "current_phase": s.COORDINATOR,
            "approval_status": s.WAITING,
            "approval_message": "",
            "results": {},
        }
        return Command(goto="planning", update=update)

    async def _planning(self, state: MainSupervisorState) -> Command[Literal["plan_review"]]:
        control = Control.from_dict(state["control"])
        if control.plan == b.PLAN_REVISE and state.get("todos"):
            return Command(goto="plan_review", update=await self._revised(Board.from_state(state, self.follower)))
        planning: PlanningState = {
            "agents": [a.name for a in self._planner.agents.values() if a.enabled],
            "teams": list(dict.fromkeys(a.team for a in self._planner.agents.values() if a.enabled)),
        }
        todos: list[SupervisorTodo] = []
        sequential = False
        try:
            planned = await self._planner.create_execution_plan(state["query"])
            todos = await asyncio.to_thread(self._planner.convert_with_strategy, planned.plan)  # it binds files
            sequential = planned.plan.strategy is Strategy.SEQUENTIAL
            planning |= {
                "intent": planned.intent.to_dict(),
                "plan": await self._artifacts.put(planned.plan.to_dict()),
                "strategy": planned.plan.strategy.value,
                "estimated_time": planned.plan.estimated_time,
            }
        except ServerAway:
            raise
        except HitlError as error:
            planning["errors"] = [error.message]
        highest = max([control.highest, *(int(t.id.removeprefix("todo_")) for t in todos)])
        control = replace(control, plan=b.PLAN_DRAFT, highest=highest, sequential=sequential)
        update = {
            "planning": planning,
            "todos": {todo.id: todo.to_state() for todo in todos},
            "control": control.to_dict(),
            "current_phase": s.PLANNING,
        }
        return Command(goto="plan_review", update=update)

    async def _revised(self, board: Board) -> dict[str, object]:
        """Return the update that asks about the plan with the last remark worked in, or as it is where that fails."""
        control, before = board.control, board.all()
        remarks, taken = control.feedback.split("\n"), [f"todo_{control.highest:03d}"]
        # What the session follows its plan with belongs to the event loop, and the changes are made in a thread.
        draft = Draft(replace(board, follower=PlanFollower()), self._rules())
        # This remark was spared a revision until now; of an earlier record none was, which leaves nothing to take off.
        spared = max(0, control.spared - 1)
        draft.control = replace(control, plan=b.PLAN_DRAFT, revision=control.revision + 1, spared=spared)
        try:
            found = await self._planner.rework(remarks, board.query, before, taken)
            await asyncio.to_thread(work_in, draft, found.changes, self._now())
        except ServerAway:
            raise
        except HitlError as error:
            return self._as_it_was(board, error)
        control, changes = draft.control, draft.changes()
        control = replace(
            control,
            sequential=control.sequential if found.strategy is None else found.strategy is Strategy.SEQUENTIAL,
            difference=plan_difference(before, draft.result(changes).all(), remarks[-1], found.notes),
        )
        return {"todos": changes, "control": control.to_dict(), "current_phase": s.PLANNING}

    def _as_it_was(self, board: Board, error: HitlError) -> dict[str, object]:
        """Return the update that asks about the same plan again: the last remark can't be worked in."""
        control = board.control
        earlier, _, remark = control.feedback.rpartition("\n")
        message = Message("The plan stays as it is: {} can't be worked in. {}", repr(clip(remark, 200)), error.message)
        if control.revised + 1 >= control.review.max_revisions:  # feedback of an earlier record, which spares none
            message = Message("{} {}", message, limit_reached(control.review.max_revisions))
        event = f"decided:{plan_question(Draft(board, self._rules())).id}"
        refusal: Refusal = {"event": event, "kind": "feedback", "message": message, "reason": "invalid"}
        todos = board.all()
        control = replace(
            control,
            plan=b.PLAN_DRAFT,
            revision=control.revision + 1,
            feedback=earlier,
            difference=plan_difference(todos, todos, remark, [message]),
        )
        return {"control": control.refuse([refusal]).to_dict(), "current_phase": s.PLANNING}

    async def _plan_review(self, state: MainSupervisorState) -> Command[Literal["planning", "plan_review", "approval"]]:
        board = Board.from_state(state, self.follower)
        if board.control.mode is not Mode.PLAN or not board.todos or (unasked := self._unasked(board)) is not None:
            control = replace(board.control, plan=b.PLAN_ACCEPTED)
            if board.control.mode is Mode.PLAN and board.todos and unasked is not None:
                control = replace(
                    control, reviewed=unasked, difference={}, limited=unasked["ended_by"] == EndedBy.LIMIT
                )
            accepted = replace(board, control=control)
            return Command(
                goto="approval",
                update=self._update(state, s.PLAN_REVIEW, fold(accepted, (), self._rules(), self._now())),
            )
        folded = self._gate(board, s.PLAN_REVIEW)
        update = self._update(state, s.PLAN_REVIEW, folded)
        control = folded.board.control
        if control.plan == b.PLAN_REVISE:
            return Command(goto="planning", update=update)
        if control.plan == b.PLAN_DRAFT and control.mode is Mode.PLAN:
            return Command(goto="plan_review", update=update)
        return Command(goto="approval" if control.plan != b.PLAN_DRAFT else "plan_review", update=update)

    def _unasked(self, board: Board) -> PlanReviewed | None:
        """Return what lets a plan begin that nobody is asked about; None where somebody is."""
        control = board.control
        found: PlanReviewed = {
            "verdict": Verdict.APPROVE.value,
            "revisions": control.revised,
            "max_revisions": control.review.max_revisions,
        }
        if control.revised >= control.review.max_revisions:
            return {**found, "ended_by": EndedBy.LIMIT.value, "by": "limit", "channel": "limit"}
        ruled = plan_ruling(Draft(board, self._rules()))
        if ruled.ruling is not Ruling.ALLOW:
            return None
        by = f"policy rule {ruled.label}"
        return {**found, "ended_by": EndedBy.RULE.value, "by": by, "channel": "policy"}

    async def _approval(self, state: MainSupervisorState) -> Command[Literal["approval", "execute_teams", "aggregate"]]:
        board = Board.from_state(state, self.follower)
        passing = self._finished(board) or bool(b.startable(Draft(board, self._rules())))
        folded = Folded(board, {}, ()) if passing else self._gate(board, s.APPROVAL)
        update = self._update(state, s.APPROVAL, folded)
        if b.startable(Draft(folded.board, self._rules())):
            return Command(goto="execute_teams", update=update)
        return Command(goto="aggregate" if self._finished(folded.board) else "approval", update=update)

    def _gate(self, board: Board, name: str) -> Folded:
        """Wait for events, then fold them. The payload is constant in size: the questions are in the state."""
        batch = interrupt({"gate": name, "session": board.session})
        events = [Event.from_dict(e) for e in batch if isinstance(e, Mapping)] if isinstance(batch, list) else []
        return fold(board, events, self._rules())

    def _finished(self, board: Board) -> bool:
        """Nothing is left to run, to ask or to conclude but the response."""
        control = board.control
        if control.concluded or control.plan not in (b.PLAN_ACCEPTED, b.PLAN_REJECTED):
            return False
        return Draft(board, self._rules()).all_settled() and not count_asked(board)

    async def _execute_teams(self, state: MainSupervisorState) -> Command[Literal["approval"]]:
        board = Board.from_state(state, self.follower)
        draft = Draft(board, self._rules())
        now = self._now()
        for todo in b.startable(draft):
            if withdraw_unbound(draft, todo) or self._held_back(draft, todo, now):
                continue
            if (fresh := await bind_again(self._planner.agents, todo)) is not None:
                todo = _with_programs(draft, todo, fresh)
                draft.put(todo)
                if todo.approval is None:  # it asks anew
                    continue
            attempt = todo.attempt + 1
            run_id = f"{board.session}/{todo.id}/{board.control.branch}.{attempt}"
            begun = replace(todo, started_at=now, completed_at="", waited=0.0, waiting_since="", idle=0.0)
            draft.put(begun.with_status(Status.IN_PROGRESS, attempt=attempt, run_id=run_id))
        settle(draft, now)
        changes = draft.changes()
        return Command(
            goto="approval", update=self._update(state, s.EXECUTE_TEAMS, Folded(draft.result(changes), changes, ()))
        )

    def _held_back(self, draft: Draft, todo: SupervisorTodo, now: str) -> bool:
        """Let a TODO not begin while the rules aren't known, nor ever where it isn't declared as it was planned."""
        facts = self._planner.agents.get(todo.agent_name)
        if facts is not None and (risk := facts.risk_of(todo.arguments)) is not todo.risk:
            draft.put(replace(todo, risk=risk, approval=None, asked=todo.asked + 1))
            return True
        if self._policy is None:
            return False
        if not self._policy.current:
            draft.control = replace(draft.control, held=True)
            return True
        why = self._policy.why_not(todo)
        if why:
            metadata = {**todo.metadata, "rejected": True}
            draft.put(todo.with_status(Status.FAILED, error=why, completed_at=now, metadata=metadata, approval=None))
        return bool(why)

    async def _aggregate(self, state: MainSupervisorState) -> Command[Literal["generate_response"]]:
        board = Board.from_state(state, self.follower)
        results: dict[str, dict[str, ResultReference]] = {}
        for todo in board.all():
            if todo.result is not None:
                results.setdefault(todo.agent_name, {})[todo.id] = todo.result.copy()
        update = {
            "results": {
                "digest": await self._artifacts.put(results),
                "teams": {team: len(found) for team, found in results.items()},
            },
            "current_phase": s.AGGREGATE,
            "approval_status": s.COMPLETED,
            "approval_message": "",
        }
        return Command(goto="generate_response", update=update)

    async def _generate_response(self, state: MainSupervisorState) -> Command[Literal["approval"]]:
        board = Board.from_state(state, self.follower)
        todos = board.all()
        results = {
            todo.id: cast("ResultData", await self._artifacts.get(str(todo.result["digest"])))
            for todo in todos
            if todo.result is not None and todo.result.get("digest")
        }
        planning = state.get("planning") or {}
        intent = Intent.from_dict(planning.get("intent") or {})
        errors = planning.get("errors", ())
        done = await self._effects() if self._effects is not None else ()
        lasting = await lasting_effects(done, board, self._artifacts)
        branch = board.control.branch
        agents = self._planner.agents
        asks = {
            name: question_path(agents[name].input_schema())
            for name in {todo.agent_name for todo in todos} & agents.keys()
        }
        response = compose(
            state["query"],
            intent.language,
            todos,
            results,
            errors,
            intent.notes,
            lasting,
            branch,
            asks,
            unaware={name for name in asks if not agents[name].reads_results},
        )
        if self._write is not None:
            response = await self._write(response)
        digest = await self._artifacts.put(response.to_dict())
        update = {
            "response": {
                "digest": digest,
                "summary": response.summary,
                "outcome": response.outcome,
                "tally": tally(board.todos.values(), found=response.found),
            },
            "control": replace(board.control, concluded=True).to_dict(),
            "current_phase": s.GENERATE_RESPONSE,
        }
        return Command(goto="approval", update=update)

    def _update(self, state: MainSupervisorState, phase: str, folded: Folded) -> dict[str, object]:
        """Return what a gate writes: changed TODOs, control, and what it waits for in words.

        What is as it was isn't written again: each write is a row on the disk.
        """
        asked = count_asked(folded.board)
        update: dict[str, object] = {"control": folded.board.control.to_dict(), "current_phase": phase}
        if folded.changes:
            update["todos"] = dict(folded.changes)
        if asked:
            about = ", ".join(dict.fromkeys(name.partition(" ")[0] for name in islice(asking(folded.board), 5)))
            update |= {"approval_status": s.WAITING, "approval_message": Message("{} waiting: {}", asked, about)}
        elif not folded.board.control.concluded:
            update |= {"approval_status": s.APPROVED, "approval_message": ""}
        return {
            channel: value for channel, value in update.items() if channel == "todos" or state.get(channel) != value
        }


def _with_programs(draft: Draft, todo: SupervisorTodo, fresh: BoundFiles) -> SupervisorTodo:
    """Return a step that is about to start with what it may execute now.

    What a person approved, themselves or by a standing rule, is asked anew; what the policy lets pass whatever it
    executes goes on.
    """
    found = replace(todo, arguments=dict(fresh.arguments))
    if todo.approval is not None and todo.approval.get("channel") == "policy":
        return replace(found, approval={**todo.approval, "digest": digest(b.subject_of(draft, found))})
    metadata: TodoMetadata = {**todo.metadata, "changed": list(fresh.changed[:MOST_CHANGED])}
    return replace(found, metadata=metadata, approval=None, asked=todo.asked + 1)
