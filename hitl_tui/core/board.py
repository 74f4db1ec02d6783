"""A session's plan at one moment, and the pure facts that follow from it.

`Board` is what a checkpoint holds, seen through types; `Draft` is a copy-on-write view of it that `fold` works on.
TODOs stay as the plain dicts that checkpoints keep until somebody touches one: with a thousand of them that is
what makes an event cheap.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import cast, overload

from hitl_tui.core.errors import UnknownName
from hitl_tui.core.json_text import digest
from hitl_tui.core.json_types import (
    GraphState,
    PlanDifference,
    PlanReviewed,
    ProposalState,
    Refusal,
    Stored,
    Subject,
    TodoState,
)
from hitl_tui.core.messages import MESSAGES, Message, counted_message, messages_restored, with_messages
from hitl_tui.core.names import step_name
from hitl_tui.core.plan_index import APPROVED, OPEN, RUNNING, PlanFollower, PlanIndex
from hitl_tui.core.plan_review import UNSAID, ReviewOptions
from hitl_tui.core.policy import Judgement, Mode, Policy, Risk, Ruling
from hitl_tui.core.todos import GAPS, Status, SupervisorTodo

PLAN_DRAFT, PLAN_ACCEPTED, PLAN_REVISE, PLAN_REJECTED = "draft", "accepted", "revise", "rejected"


def limit_reached(revisions: int) -> Message:
    """Return what it means that a plan was revised as often as it can be."""
    return counted_message(
        "The limit of {} revision is reached: the plan goes ahead, each risky step still asks.",
        "The limit of {} revisions is reached: the plan goes ahead, each risky step still asks.",
        revisions,
    )


_RESTING = frozenset({"completed", "failed", "skipped", "blocked"})
_KEPT_REFUSALS = 20


@dataclass(frozen=True, slots=True)
class Control:
    """Everything about a session's course that isn't a TODO.

    Args:
        mode: when a person is asked.
        branch: the branch this state belongs to.
        cursor: number of the last inbox event that is in this state.
        plan: `draft`, `accepted`, `revise` (the planner is to try again) or `rejected`.
        revision: how often the plan was asked about again with feedback, whether that was worked in or not.
        spared: how much of that feedback couldn't be worked in, and so used up no revision.
        plan_asked: how often the plan was asked about anew because it was changed meanwhile.
        feedback: the operator's remarks on the plan so far, one a line.
        policy_version: version of the rules that questions were asked under.
        concurrency: TODOs that may run at once.
        proposals: open proposals by id.
        concluded: the response covers every TODO as it is now.
        highest: the highest TODO number ever used.
        completed: how many TODOs are completed, for lists of checkpoints.
        refused: the last events that could not take effect, newest last.
        removed: the steps that were taken out of the plan last, as they were, by id.
        held: nothing begins until the workspace's settings are known again.
        limited: no person accepted the plan, but the limit of revisions or a deadline.
        sequential: one TODO runs at a time, in the plan's order.
        review: how the plan is reviewed.
        reviewed: how that ended; empty while it goes on, and where the mode asks for none.
        difference: how the plan that is asked about differs from the one before; empty for the first.
        lineage: random name of the session and its copies, part of the ids of its requests; empty where it began
            before they had one.
    """

    mode: Mode = Mode.STEP
    branch: int = 0
    cursor: int = 0
    plan: str = PLAN_DRAFT
    revision: int = 0
    plan_asked: int = 0
    feedback: str = ""
    policy_version: str = ""
    concurrency: int = 4
    proposals: Mapping[str, ProposalState] = field(default_factory=dict)
    concluded: bool = False
    highest: int = 0
    completed: int = 0
    refused: tuple[Refusal, ...] = ()
    removed: Mapping[str, TodoState] = field(default_factory=dict)
    held: bool = False
    limited: bool = False
    sequential: bool = False
    lineage: str = ""
    spared: int = 0
    review: ReviewOptions = UNSAID
    reviewed: PlanReviewed = field(default_factory=lambda: PlanReviewed())
    difference: PlanDifference = field(default_factory=lambda: PlanDifference())

    @property
    def revised(self) -> int:
        """How often the plan was revised."""
        return self.revision - self.spared

    def to_dict(self) -> dict[str, object]:
        """Return all fields as JSON values; `from_dict` gives back an equal one."""
        data = {name: getattr(self, name) for name in _CONTROL}
        data["mode"] = self.mode.value
        data["proposals"] = {k: dict(v) for k, v in self.proposals.items()}
        data["refused"] = [with_messages(r) for r in self.refused]
        data["removed"] = {k: dict(v) for k, v in self.removed.items()}
        data["review"] = self.review.to_dict()
        data["reviewed"] = dict(self.reviewed)
        data["difference"] = dict(self.difference)
        return data

    @classmethod
    def from_dict(cls, data: Stored) -> Control:
        """Return what `to_dict` wrote; what is missing gets its default, and what isn't known is left out."""
        values = {k: v for k, v in data.items() if k in _CONTROL}
        if "mode" in values:
            values["mode"] = Mode(values["mode"])
        if "refused" in values:
            values["refused"] = tuple(map(_restored, values["refused"]))
        if "review" in values:
            values["review"] = ReviewOptions.from_dict(values["review"])
        return cls(**values)

    def refuse(self, refusals: list[Refusal]) -> Control:
        """Return this with more refusals kept, the oldest forgotten; those of one batch are kept whole."""
        return replace(self, refused=(*self.refused, *refusals)[-max(_KEPT_REFUSALS, len(refusals)) :])


_CONTROL = {f.name: None for f in fields(Control)}


def _restored(refusal: Refusal) -> Refusal:
    data = messages_restored(dict(refusal))
    data.pop(MESSAGES, None)
    return cast(Refusal, data)


@dataclass(frozen=True, slots=True)
class Board:
    """A session's plan at one moment.

    Args:
        session: session id.
        query: what was asked.
        todos: TODO dicts (`SupervisorTodo.to_state`) by id.
        control: everything else.
        follower: of the plan that these TODOs are a moment of; boards that follow each other share it.
    """

    session: str
    query: str
    todos: Mapping[str, TodoState]
    control: Control
    follower: PlanFollower = field(default_factory=PlanFollower, compare=False, repr=False)

    @classmethod
    def from_state(cls, state: GraphState, follower: PlanFollower | None = None) -> Board:
        """Return the board a supervisor's state holds; missing keys mean a session that has not begun."""
        return cls(
            session=state.get("session_id", ""),
            query=state.get("query", ""),
            todos=state.get("todos") or {},
            control=Control.from_dict(state.get("control") or {}),
            follower=follower or PlanFollower(),
        )

    @property
    def index(self) -> PlanIndex:
        """Who runs, who asks, and who depends on whom."""
        return self.follower.at(self.todos)

    @property
    def running(self) -> tuple[str, ...]:
        """Ids of the TODOs in progress."""
        return self.follower.running(self.todos)

    def all(self) -> list[SupervisorTodo]:
        """Return all TODOs in plan order."""
        return list(self.follower.read(self.todos))


@dataclass(frozen=True, slots=True)
class Rules:
    """What holds for a session from outside its state.

    Args:
        policy: the workspace's rules.
        concurrency: TODOs that may run at once, at least 1.
    """

    policy: Policy = Policy()
    concurrency: int = 4


class LazyTodos(Sequence[SupervisorTodo]):
    """A board's TODOs in order, parsed when somebody looks."""

    def __init__(self, board: Board) -> None:
        self._board = board
        self._todos: list[SupervisorTodo] | None = None

    def _all(self) -> list[SupervisorTodo]:
        if self._todos is None:
            self._todos = self._board.all()
        return self._todos

    @overload
    def __getitem__(self, index: int) -> SupervisorTodo: ...

    @overload
    def __getitem__(self, index: slice) -> Sequence[SupervisorTodo]: ...

    def __getitem__(self, index: int | slice) -> SupervisorTodo | Sequence[SupervisorTodo]:
        return self._all()[index]

    def __len__(self) -> int:
        return len(self._board.todos)


class Draft:
    """A board being changed; the board itself stays as it was.

    Args:
        board: where to begin.
        rules: what holds from outside.
    """

    def __init__(self, board: Board, rules: Rules) -> None:
        self.board = board
        self.rules = rules
        self.control = board.control
        self.changed: dict[str, SupervisorTodo | None] = {}

    def copy(self) -> Draft:
        """Return the same, to be changed by itself."""
        found = Draft(self.board, self.rules)
        found.control, found.changed = self.control, dict(self.changed)
        return found

    def __iter__(self) -> Iterator[str]:
        """Iterate over the ids of all TODOs there are now."""
        changed = self.changed
        for todo_id in self.board.todos:
            if todo_id not in changed or changed[todo_id] is not None:
                yield todo_id
        for todo_id, todo in changed.items():
            if todo is not None and todo_id not in self.board.todos:
                yield todo_id

    def __contains__(self, todo_id: object) -> bool:
        if todo_id in self.changed:
            return self.changed[todo_id] is not None
        return todo_id in self.board.todos

    def get(self, todo_id: str) -> SupervisorTodo:
        """Return one TODO.

        Raises:
            UnknownName: there is none.
        """
        todo = self.changed.get(todo_id)
        if todo is not None:
            return todo
        raw = None if todo_id in self.changed else self.board.todos.get(todo_id)
        if raw is None:
            raise UnknownName(Message('No step "{}".', step_name(todo_id)))
        return SupervisorTodo.from_state(raw)

    def put(self, todo: SupervisorTodo) -> None:
        """Add a TODO, or give the one with its id these fields."""
        self.changed[todo.id] = todo

    def drop(self, todo_id: str) -> None:
        """Take a TODO out of the plan."""
        self.changed[todo_id] = None

    def status(self, todo_id: str) -> str:
        """Return a TODO's status name; an id that doesn't exist any more counts as completed."""
        if todo_id in self.changed:
            todo = self.changed[todo_id]
            return "completed" if todo is None else todo.status.value
        raw = self.board.todos.get(todo_id)
        return "completed" if raw is None else str(raw["status"])

    def dependencies(self, todo_id: str) -> Sequence[str]:
        """Return the ids of what a TODO depends on; KeyError for a TODO that isn't there."""
        todo = self.changed.get(todo_id)
        found: Sequence[str] = self.board.todos[todo_id].get("dependencies", ()) if todo is None else todo.dependencies
        return found

    def users_of(self, changed: Iterable[str]) -> set[str]:
        """Return the ids of TODOs that depend on one of these."""
        names, users = set(changed), self.board.index.users
        found = {user for todo_id in names for user in users.get(todo_id, ())}
        return found | {i for i, t in self.changed.items() if t is not None and not names.isdisjoint(t.dependencies)}

    def missing(self, todo_id: str) -> Sequence[str]:
        """Return the ids of the skipped TODOs whose results a TODO lacks; KeyError for one that isn't there."""
        todo = self.changed.get(todo_id)
        found: Sequence[str] = self.board.todos[todo_id].get("missing", ()) if todo is None else todo.missing
        return found

    def rank(self, todo_id: str) -> float:
        """Return a TODO's place in the order; KeyError for one that isn't there."""
        todo = self.changed.get(todo_id)
        return todo.rank if todo is not None else float(self.board.todos[todo_id].get("rank", 0.0))

    def statuses(self) -> dict[str, str]:
        """Return the status name of every TODO there is now, by id."""
        found = {todo_id: str(raw["status"]) for todo_id, raw in self.board.todos.items()}
        for todo_id, todo in self.changed.items():
            if todo is None:
                found.pop(todo_id, None)
            else:
                found[todo_id] = todo.status.value
        return found

    def ranks(self) -> dict[str, float]:
        """Return the place in the order of every TODO there is now, by id."""
        found = {todo_id: float(raw.get("rank", 0.0)) for todo_id, raw in self.board.todos.items()}
        for todo_id, todo in self.changed.items():
            if todo is None:
                found.pop(todo_id, None)
            else:
                found[todo_id] = todo.rank
        return found

    def with_status(self, *statuses: Status) -> list[str]:
        """Return the ids of TODOs that stand so, in no order."""
        names = {s.value for s in statuses}
        return [t for t, status in self.statuses().items() if status in names]

    def all_settled(self) -> bool:
        """Nothing is left that could still run by itself or after an answer."""
        still = self.board.index.groups[OPEN]
        if len(still) > sum(todo_id in still for todo_id in self.changed):
            return False
        return all(todo is None or todo.status.value in _RESTING for todo in self.changed.values())

    def changes(self) -> dict[str, TodoState | None]:
        """Return the TODOs that differ from the board, as a checkpoint keeps them; None for removed ones."""
        found: dict[str, TodoState | None] = {}
        for todo_id, todo in self.changed.items():
            state = None if todo is None else todo.to_state()
            if state != self.board.todos.get(todo_id):
                found[todo_id] = state
        return found

    def result(self, changes: Mapping[str, TodoState | None] | None = None) -> Board:
        """Return the board as it is now.

        Args:
            changes: what `changes` returned, for whoever needs that too: finding it twice takes twice as long.
        """
        changes = self.changes() if changes is None else changes
        todos = {**self.board.todos, **{k: v for k, v in changes.items() if v is not None}}
        for todo_id, todo in changes.items():
            if todo is None:
                todos.pop(todo_id, None)
        return replace(self.board, todos=todos, control=self.control)


def dependencies_met(draft: Draft, todo_id: str) -> bool:
    """Return whether everything a TODO depends on is completed or skipped."""
    return all(draft.status(d) in ("completed", "skipped") for d in draft.dependencies(todo_id))


def inputs_of(todo: SupervisorTodo) -> tuple[str, ...]:
    """Return the ids of the TODOs whose results this one gets: its dependencies, or what was frozen when it asked."""
    return todo.dependencies or tuple(todo.metadata.get("inputs", ()))


_KEPT_INPUTS = 20


def with_inputs(draft: Draft, todo: SupervisorTodo) -> SupervisorTodo:
    """Freeze what a TODO without dependencies of its own gets: what was completed before it when it asks."""
    if todo.dependencies or not todo.metadata.get("manual") or todo.metadata.get("alone") or todo.command:
        return todo  # what reads no results isn't asked about anew because of them
    done = sorted(draft.with_status(Status.COMPLETED), key=draft.rank)
    return replace(todo, metadata={**todo.metadata, "inputs": done[-_KEPT_INPUTS:]})


def subject_of(draft: Draft, todo: SupervisorTodo, *, ahead: bool = False) -> Subject:
    """Return exactly what approving a TODO lets run.

    Args:
        ahead: name the inputs without what they hold: what an approval given before they exist stands for.
    """
    inputs: dict[str, str | None] = {}
    for todo_id in inputs_of(todo):
        if todo_id in draft:
            result = draft.get(todo_id).result
            inputs[todo_id] = None if ahead or result is None else str(result.get("digest", ""))
    step: Subject = {"from_step": todo.metadata["rewind"]} if "rewind" in todo.metadata else {}
    return {
        **step,
        "session": draft.board.session,
        "todo": todo.id,
        "asked": todo.asked,
        "team": todo.agent_name,
        "task": todo.description,
        "arguments": dict(todo.arguments),
        "inputs": inputs,
        "missing": list(todo.missing),
        "timeout": todo.timeout,
        "policy": draft.rules.policy.version,
    }


def run_digest(todo: SupervisorTodo) -> str:
    """Return a digest of what a TODO runs: a command line, else its team, its task and its arguments."""
    argv = todo.arguments.get("argv")
    if isinstance(argv, list):
        return digest({"argv": argv})
    arguments = {name: value for name, value in todo.arguments.items() if name != "programs"}
    return digest({"team": todo.agent_name, "task": todo.description, "arguments": arguments})


def approval_binds(draft: Draft, todo: SupervisorTodo) -> bool:
    """Return whether a TODO's approval stands for exactly what would run now."""
    if todo.approval is None:
        return False
    if todo.risk is Risk.HIGH and todo.approval.get("channel") == "deadline":
        return False  # an older program took silence for consent
    seen = todo.approval.get("digest")
    ahead = bool(todo.approval.get("ahead"))
    return seen == digest(subject_of(draft, todo, ahead=ahead))


def judge(draft: Draft, todo: SupervisorTodo) -> Judgement:
    """Return what the rules say of a TODO in the session's mode."""
    control = draft.control
    judged = draft.rules.policy.judge(control.mode, todo.agent_name, todo.risk, todo.command, todo.arguments)
    unseen = control.limited and control.mode is Mode.PLAN and todo.risk is Risk.HIGH
    unseen = unseen or bool(GAPS & todo.metadata.keys())
    return replace(judged, ruling=Ruling.ASK) if unseen and judged.ruling is Ruling.ALLOW else judged


_UNENDED = frozenset({Status.PENDING, Status.WAITING_APPROVAL, Status.IN_PROGRESS, Status.FAILED})
"""A TODO in one of these holds up those after it where they run one at a time; a failed one asks what shall be."""


def startable(draft: Draft) -> list[SupervisorTodo]:
    """Return the TODOs to start now: approved, dependencies met, by priority and order, within the bound."""
    if draft.control.plan != PLAN_ACCEPTED or draft.control.held:
        return []
    index, changed = draft.board.index, draft.changed
    running = len(index.groups[RUNNING]) - sum(todo_id in index.groups[RUNNING] for todo_id in changed)
    found = sorted((i for i in index.groups[APPROVED] if i not in changed), key=index.places.__getitem__)
    for todo_id, todo in changed.items():
        if todo is not None and todo.status is Status.IN_PROGRESS:
            running += 1
        elif todo is not None and todo.status is Status.PENDING and todo.approval is not None:
            found.append(todo_id)
    if running >= draft.control.concurrency:
        return []
    ready = [draft.get(todo_id) for todo_id in found if dependencies_met(draft, todo_id)]
    if draft.control.sequential:
        first = _first_in_turn(draft)
        return [todo for todo in ready if todo.id == first]
    ready.sort(key=lambda t: (t.priority.weight, t.rank))
    return ready[: draft.control.concurrency - running]


def _first_in_turn(draft: Draft) -> str:
    """Return the id of the first unended TODO, or of what it waits for where that stands behind it; empty for none."""
    first = min((i for i in draft if draft.status(i) in _UNENDED), key=draft.rank, default="")
    while first and (before := [i for i in draft.dependencies(first) if draft.status(i) in _UNENDED]):
        first = min(before, key=draft.rank)
    return first


def merge_todos(
    todos: Mapping[str, TodoState], writes: Sequence[Mapping[str, TodoState | None]]
) -> dict[str, TodoState]:
    """Apply changes of TODOs in order; None removes one. Applying batches apart or together is the same."""
    merged = dict(todos)
    for write in writes:
        for todo_id, todo in write.items():
            if todo is None:
                merged.pop(todo_id, None)
            else:
                merged[todo_id] = todo
    return merged
