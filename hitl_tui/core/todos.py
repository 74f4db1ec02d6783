"""TODOs: what one planned step is, which statuses it may have and who may change them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields, replace
from enum import StrEnum
from types import MappingProxyType
from typing import Any, cast

from hitl_tui.core.errors import BadInput, IllegalTransition, StorageError, UnknownName
from hitl_tui.core.events import seconds_between
from hitl_tui.core.json_types import Approval, JsonObject, ResultReference, TodoMetadata, TodoQuestion, TodoState
from hitl_tui.core.messages import MESSAGES, Message, messages_restored, with_messages, word
from hitl_tui.core.names import clip, step_name
from hitl_tui.core.policy import Risk


class Status(StrEnum):
    """Where a TODO stands."""

    PENDING = "pending"
    IN_PROGRESS = "in_progress"
    COMPLETED = "completed"
    FAILED = "failed"
    SKIPPED = "skipped"
    BLOCKED = "blocked"
    WAITING_APPROVAL = "waiting_approval"


class Priority(StrEnum):
    """How urgent a TODO is; ties are broken by order."""

    CRITICAL = "critical"
    HIGH = "high"
    MEDIUM = "medium"
    LOW = "low"

    @property
    def weight(self) -> int:
        """0 for critical to 3 for low: what is sorted by."""
        return _WEIGHTS[self]


_WEIGHTS = {Priority.CRITICAL: 0, Priority.HIGH: 1, Priority.MEDIUM: 2, Priority.LOW: 3}

GAPS = frozenset({"lacks", "unplaced", "conditions"})
"""What metadata says of a TODO that a person has to look at, whatever rules let run."""
SETTLED = frozenset({Status.COMPLETED, Status.FAILED, Status.SKIPPED})
MAY_BEGIN = frozenset({Status.PENDING, Status.WAITING_APPROVAL, Status.BLOCKED, Status.FAILED})
"""What hasn't begun, or may begin again."""

_P, _I, _C, _F, _S, _B, _W = (
    Status.PENDING,
    Status.IN_PROGRESS,
    Status.COMPLETED,
    Status.FAILED,
    Status.SKIPPED,
    Status.BLOCKED,
    Status.WAITING_APPROVAL,
)

OPERATOR, SYSTEM = "operator", "system"

TRANSITIONS: Mapping[tuple[Status, Status], frozenset[str]] = MappingProxyType(
    {
        (_P, _W): frozenset({SYSTEM}),
        (_P, _I): frozenset({SYSTEM}),
        (_P, _S): frozenset({SYSTEM, OPERATOR}),
        (_P, _B): frozenset({SYSTEM, OPERATOR}),
        (_P, _F): frozenset({SYSTEM}),
        (_P, _C): frozenset({OPERATOR}),
        (_W, _P): frozenset({SYSTEM, OPERATOR}),
        (_W, _S): frozenset({SYSTEM, OPERATOR}),
        (_W, _B): frozenset({SYSTEM, OPERATOR}),
        (_W, _F): frozenset({SYSTEM, OPERATOR}),
        (_W, _C): frozenset({OPERATOR}),
        (_W, _I): frozenset({SYSTEM}),
        (_I, _C): frozenset({SYSTEM}),
        (_I, _F): frozenset({SYSTEM}),
        (_I, _P): frozenset({SYSTEM}),
        (_I, _W): frozenset({SYSTEM}),
        (_I, _S): frozenset({SYSTEM}),
        (_F, _P): frozenset({SYSTEM, OPERATOR}),
        (_F, _S): frozenset({SYSTEM, OPERATOR}),
        (_F, _C): frozenset({OPERATOR}),
        (_S, _P): frozenset({SYSTEM, OPERATOR}),
        (_B, _P): frozenset({SYSTEM, OPERATOR}),
        (_B, _S): frozenset({SYSTEM, OPERATOR}),
        (_B, _F): frozenset({SYSTEM}),
        (_B, _C): frozenset({OPERATOR}),
        (_C, _P): frozenset({SYSTEM, OPERATOR}),
    }
)
"""Every transition there is, and who may make it. `TRANSITIONS[from, to]` holds `operator`, `system` or both.

An operator completes a TODO by hand when it was done elsewhere; nothing starts by hand but through an approval.
"""


def parse_status(text: str) -> Status:
    """Return the status of this name.

    Raises:
        UnknownName: there is none; the message lists all.
    """
    try:
        return Status(text.strip().lower().replace("-", "_"))
    except ValueError:
        known = ", ".join(Status)
        raise UnknownName(Message('Unknown status "{}"; use one of {}.', text, known)) from None


def parse_priority(text: str) -> Priority:
    """Return the priority of this name.

    Raises:
        UnknownName: there is none; the message lists all.
    """
    try:
        return Priority(text.strip().lower())
    except ValueError:
        known = ", ".join(Priority)
        raise UnknownName(Message('Unknown priority "{}"; use one of {}.', text, known)) from None


def without(metadata: TodoMetadata, *names: str) -> TodoMetadata:
    """Return a TODO's metadata without some keys."""
    return cast(TodoMetadata, {key: value for key, value in metadata.items() if key not in names})


@dataclass(frozen=True, slots=True)
class SupervisorTodo:
    """One planned step.

    Times are ISO 8601 texts in UTC, empty when not reached. Besides the fields that people read:

    Args:
        arguments: the exact input the team will get.
        risk: risk class of exactly this input.
        rank: place in the plan; among TODOs of equal priority the lower starts, and asks, first.
        optional: when it still fails after its retries it is skipped, not a failure.
        timeout: seconds one attempt may take; 0 for no limit.
        attempt: runs started so far on this branch, by whomever; names the run's thread.
        retry_count: how often it was tried again by itself since a person last set it going.
        max_retries: how often it may be; a plan's step and its team say that, the default is for TODOs of neither.
        run_id: the run in progress, or the last one.
        approval: who let it run and what was seen.
        result: reference to what came out.
        question: what is asked about it when it isn't a plain approval (see `core.questions`).
        asked: how often it was asked anew; makes a repeated question another request.
        duration: seconds that it ran, without those it waited for a person or nothing ran; None until it ended.
        waited: seconds that it waited for a person since it started.
        waiting_since: when it began to wait for what it asks from inside; empty while it doesn't.
        idle: seconds since it started in which no process had its session open.
        missing: ids of skipped TODOs whose output it would have used.
    """

    id: str
    name: str
    description: str = ""
    agent_name: str = ""
    agent_purpose: str = ""
    expected_output: str = ""
    status: Status = Status.PENDING
    priority: Priority = Priority.MEDIUM
    dependencies: tuple[str, ...] = ()
    created_at: str = ""
    started_at: str = ""
    completed_at: str = ""
    duration: float | None = None
    waited: float = 0.0
    waiting_since: str = ""
    idle: float = 0.0
    metadata: TodoMetadata = field(default_factory=lambda: TodoMetadata())
    error: str = ""
    retry_count: int = 0
    max_retries: int = 3
    arguments: JsonObject = field(default_factory=dict)
    risk: Risk = Risk.LOW
    rank: float = 0.0
    optional: bool = False
    timeout: float = 0.0
    attempt: int = 0
    run_id: str = ""
    approval: Approval | None = None
    result: ResultReference | None = None
    question: TodoQuestion | None = None
    asked: int = 0
    missing: tuple[str, ...] = ()

    @property
    def why_fixed(self) -> str:
        """Why it can't have another place in the order, in one sentence; empty where it can.

        What failed or was skipped may come again, so it has a place.
        """
        if self.status in (Status.IN_PROGRESS, Status.COMPLETED):
            return Message("{} is {}; only steps that haven't run can be moved.", step_name(self.id), self.status)
        return ""

    @property
    def thread(self) -> str:
        """The thread that its team's steps are on; empty when it never ran."""
        step = self.metadata.get("rewind", {})
        return str(step.get("thread") or self.metadata.get("threads", {}).get(self.run_id, self.run_id))

    @property
    def programs(self) -> Mapping[str, str]:
        """The digests of the files that its input may execute, by name, as they were when it was asked about."""
        return programs_of(self.arguments)

    def to_dict(self) -> dict[str, object]:
        """Return all fields as JSON values; `from_dict` gives back an equal TODO."""
        data: dict[str, object] = {}
        for name in _FIELDS:
            value = getattr(self, name)
            if type(value) in _PLAIN:  # most of them, and to look for a Mapping takes longest
                pass
            elif isinstance(value, StrEnum):
                value = value.value
            elif isinstance(value, tuple):
                value = list(value)
            elif isinstance(value, Mapping):
                value = dict(value)
            data[name] = value
        return data

    def to_state(self) -> TodoState:
        """Return only the fields that differ from their defaults: what a checkpoint keeps."""
        data = self.to_dict()
        kept = {k: v for k, v in data.items() if k in ("id", "status") or v != _DEFAULTS.get(k, _NOTHING)}
        return cast(TodoState, with_messages(kept))

    @classmethod
    def from_dict(cls, data: Mapping[str, object]) -> SupervisorTodo:
        """Return the TODO these fields describe; optional fields that are missing or null get their defaults.

        Raises:
            BadInput: `id` or `name` is missing, a field is unknown, or a status, priority or risk has no such name.
        """
        data = messages_restored(dict(data))
        data.pop(MESSAGES, None)
        unknown = data.keys() - _FIELD_SET
        if unknown:
            raise BadInput(Message("A step has no field {}.", ", ".join(sorted(unknown))))
        for required in _REQUIRED:
            if required not in data:
                raise BadInput(Message('A step needs the field "{}".', required))
        values: dict[str, Any] = {k: v for k, v in data.items() if v is not None or k in _REQUIRED}
        for name, kind in _KINDS.items():
            if name in values and not isinstance(values[name], kind):
                raise BadInput(Message('The field "{}" of a step can\'t be {}.', name, clip(repr(values[name]), 40)))
        if "status" in values:
            values["status"] = parse_status(values["status"])
        if "priority" in values:
            values["priority"] = parse_priority(values["priority"])
        if "risk" in values:
            try:
                values["risk"] = Risk(values["risk"])
            except ValueError:
                raise UnknownName(Message('Unknown risk "{}"; use low, medium or high.', values["risk"])) from None
        for name in ("dependencies", "missing"):
            if name in values:
                values[name] = tuple(values[name])
        return cls(**values)

    @classmethod
    def from_state(cls, data: TodoState) -> SupervisorTodo:
        """Return the TODO that `to_state` wrote: like `from_dict` without its checks, for what we wrote ourselves.

        Raises:
            StorageError: a newer version wrote it.
        """
        try:
            return cls._from_state(data)
        except (TypeError, ValueError):
            check_known([data])
            raise

    @classmethod
    def _from_state(cls, data: TodoState) -> SupervisorTodo:
        values: dict[str, Any] = messages_restored(dict(data))
        values.pop(MESSAGES, None)
        values["status"] = Status(values["status"])
        if "priority" in values:
            values["priority"] = Priority(values["priority"])
        if "risk" in values:
            values["risk"] = Risk(values["risk"])
        if "dependencies" in values:
            values["dependencies"] = tuple(values["dependencies"])
        if "missing" in values:
            values["missing"] = tuple(values["missing"])
        return cls(**values)

    def waits(self, at: str) -> SupervisorTodo:
        """Return this TODO as it begins to wait for a person in the middle of its run, at an ISO 8601 time."""
        return replace(self, waiting_since=at)

    def goes_on(self, at: str) -> SupervisorTodo:
        """Return this TODO as it stops waiting for a person, at an ISO 8601 time."""
        if not self.waiting_since:
            return self
        waited = self.waited + max(0.0, seconds_between(self.waiting_since, at) or 0.0)
        return replace(self, waited=round(waited, 3), waiting_since="")

    def ran(self, at: str) -> float | None:
        """Return the seconds that it ran until an ISO 8601 time, without what it waited; None when it never did."""
        whole = seconds_between(self.started_at, at)
        return None if whole is None else max(0.0, round(whole - self.goes_on(at).waited - self.idle, 3))

    def continued(self, since: str, at: str) -> SupervisorTodo:
        """Return this TODO as another process goes on with it: nothing ran between two ISO 8601 times."""
        gap = (self.ran(at) or 0.0) - (self.ran(since) or 0.0)
        return replace(self, idle=round(self.idle + max(0.0, gap), 3))

    @property
    def settled(self) -> bool:
        """Nothing more happens to it by itself."""
        return self.status in SETTLED

    @property
    def command(self) -> str:
        """Name of the declared command it runs, empty for other teams; what policy rules may match."""
        return str(self.arguments.get("command", ""))

    def with_status(self, to: Status, by: str = SYSTEM, **changes: Any) -> SupervisorTodo:
        """Return this TODO with another status.

        Raises:
            IllegalTransition: the table doesn't have this step for `by`; the message names both states.
        """
        check_transition(self, to, by)
        return replace(self, status=to, **changes)


_FIELDS = tuple(f.name for f in fields(SupervisorTodo))
_REQUIRED = ("id", "name")
_KINDS: Mapping[str, type | tuple[type, ...]] = {
    **dict.fromkeys(("id", "name", "description", "agent_name", "status", "priority", "risk", "error", "run_id"), str),
    **dict.fromkeys(("dependencies", "missing"), (list, tuple)),
    **dict.fromkeys(("metadata", "arguments"), Mapping),
    **dict.fromkeys(("retry_count", "max_retries", "attempt", "asked"), int),
}
_FIELD_SET = frozenset(_FIELDS)
_PLAIN = frozenset((str, int, float, bool, type(None)))
_NOTHING = object()
_DEFAULTS = {k: v for k, v in SupervisorTodo(id="", name="").to_dict().items() if k not in ("id", "name", "status")}


def programs_of(arguments: JsonObject) -> Mapping[str, str]:
    """Return the digests in the exact input of a team of what it may execute, by name."""
    found = arguments.get("programs")
    return {name: str(seen) for name, seen in found.items()} if isinstance(found, Mapping) else {}


def check_transition(todo: SupervisorTodo, to: Status, by: str = SYSTEM) -> None:
    """Check one status change against the table.

    Raises:
        IllegalTransition: it isn't there, or not for `by`; the message names both states and what is possible.
    """
    allowed = TRANSITIONS.get((todo.status, to), frozenset())
    if by in allowed:
        return
    possible = [target for (source, target), who in TRANSITIONS.items() if source == todo.status and by in who]
    choices = (
        Message("it can become {}", tuple(word(target.value) for target in possible))
        if possible
        else Message("it can't be set by hand")
    )
    raise IllegalTransition(Message("{} is {} and can't become {}; {}.", step_name(todo.id), todo.status, to, choices))


def summarise(statuses: Iterable[str]) -> dict[str, int]:
    """Count TODOs per status.

    One that waits for approval counts as pending and, besides, as waiting_approval.
    """
    counts = dict.fromkeys(["total", *Status], 0)
    for status in statuses:
        counts["total"] += 1
        counts[str(status)] += 1
        if status == Status.WAITING_APPROVAL:
            counts[Status.PENDING] += 1
    return {str(key): value for key, value in counts.items()}


def check_known(states: Iterable[Mapping[str, object]]) -> None:
    """Check that TODOs as checkpoints keep them hold nothing that this version doesn't know, and would lose.

    Raises:
        StorageError: a newer version wrote them.
    """
    found = {name for state in states for name in state} - _FIELD_SET - {MESSAGES}
    if found:
        names = clip(", ".join(sorted(map(str, found))))
        raise StorageError(
            Message(
                "This session was made by a newer version of hitl-tui: its steps have {}, which "
                "this version doesn't know; nothing was changed.",
                names,
            ),
            help=Message("Open it with that version."),
        )
