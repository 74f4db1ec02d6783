"""What a runtime tells as JSON, one object a line, and the JSON Schema of it.

An event may come more than once: after a crash the next start tells again what it can't know to have been read. What
is told twice names the same job, and the same request.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, fields
from types import UnionType
from typing import Annotated, Any, ClassVar, get_args, get_origin, get_type_hints

_SCHEMA = "https://json-schema.org/draft/2020-12/schema"


@dataclass(frozen=True, kw_only=True, slots=True)
class Event:
    """What happened to a job."""

    kind: ClassVar[str]
    about: ClassVar[str]

    job_id: Annotated[str, "the job: its id, or one that it was given"]
    session_id: Annotated[str | None, "the session that carries it out; null where there can be none"]

    def to_dict(self) -> dict[str, Any]:
        """Return the event as it is written: `type` and `event_type` both say what it is."""
        return {"type": self.kind, "event_type": self.kind, **asdict(self)}


@dataclass(frozen=True, kw_only=True, slots=True)
class Accepted(Event):
    """A job is on record."""

    kind = "accepted"
    about = "The job is on record: it is carried out once, whatever happens from now on. It may wait for its turn."

    query: Annotated[str, "what is asked"]
    workspace: Annotated[str, "the folder that it works in"]


@dataclass(frozen=True, kw_only=True, slots=True)
class Started(Event):
    """A job has a session."""

    kind = "started"
    about = "The job has a session and is worked on, or is again after a restart."

    query: Annotated[str, "what is asked"]
    workspace: Annotated[str, "the folder that it works in"]
    resumed: Annotated[bool, "an earlier process began it"]


@dataclass(frozen=True, kw_only=True, slots=True)
class Todo(Event):
    """A step has another status."""

    kind = "todo"
    about = "A step of the plan has another status."

    todo_id: Annotated[str, "the step"]
    name: Annotated[str, "its name"]
    agent: Annotated[str, "who does it"]
    status: Annotated[str, "pending, in_progress, completed, failed, skipped, blocked or waiting_approval"]
    error: Annotated[str, "why it failed or was skipped; empty for nothing"]
    summary: Annotated[str, "what came out, in short; empty before"]


@dataclass(frozen=True, kw_only=True, slots=True)
class PlanReviewRequest(Event):
    """A plan waits for approval or feedback."""

    kind = "plan_review_request"
    about = "A plan waits for approval or feedback. Each revision is a request of its own."

    plan: Annotated[str, "the plan as text"]
    revision_count: Annotated[int, "how often it was revised"]
    max_revisions: Annotated[int, "how often it can be; then the plan goes ahead and each risky step still asks"]
    request_id: Annotated[str, "what an answer names"]
    feedback_s3_path: Annotated[str | None, "where a feedback object is looked for; null where none is"]
    timeout_seconds: Annotated[float | None, "how long it waits from when it was told; null for ever"]
    message: Annotated[str, "a sentence for people"]
    digest: Annotated[str, "binds an answer to exactly this plan"]
    steps: Annotated[list[dict[str, Any]], "the steps: id, title, agent, task, arguments, dependencies, risk"]
    on_timeout: Annotated[str, "what silence means: approve or reject"]
    notes: Annotated[list[str], "what else there is to say of the plan, a sentence each"]
    difference: Annotated[
        dict[str, Any],
        "how it differs from the plan before: added, removed, moved and changed steps, and notes of what wasn't worked "
        "in; empty for the first",
    ]
    query: Annotated[str, "what is asked of the job"]
    expires_at: Annotated[str | None, "when it expires by the runtime's clock, ISO 8601; null for never"]


@dataclass(frozen=True, kw_only=True, slots=True)
class PlanReviewKeepalive(Event):
    """A plan still waits."""

    kind = "plan_review_keepalive"
    about = "A plan still waits; told about every 30 seconds."

    message: Annotated[str, "a sentence for people"]
    elapsed_seconds: Annotated[int, "since it was told first"]
    timeout_seconds: Annotated[float | None, "as in the request"]
    request_id: Annotated[str, "the request"]


@dataclass(frozen=True, kw_only=True, slots=True)
class PlanAccepted(Event):
    """A plan goes ahead that no person approved."""

    kind = "plan_accepted"
    about = "A plan goes ahead that no person approved as it is: the limit of revisions, a deadline or a rule let it."

    ended_by: Annotated[str, "limit, timeout or rule"]
    by: Annotated[str, "the rule by its name; limit or deadline"]
    revision_count: Annotated[int, "how often it was revised"]
    max_revisions: Annotated[int, "how often it could be"]
    message: Annotated[str, "a sentence for people"]


@dataclass(frozen=True, kw_only=True, slots=True)
class _Asked(Event):
    request_id: Annotated[str, "what an answer names"]
    digest: Annotated[str, "what an answer repeats: it binds it to exactly what is shown here"]
    asks: Annotated[str, "what is asked: todo, failure, effect, interrupt or proposal"]
    todo_id: Annotated[str, "the step that it is about; empty for a proposal"]
    options: Annotated[list[str], "the answers that it takes"]
    risk: Annotated[str, "low, medium or high; high takes the digest and a verified approver"]
    quorum: Annotated[int, "how many people have to approve it"]
    level: Annotated[int, "the lowest level of an approver that counts"]
    timeout_seconds: Annotated[float | None, "how long it waits; null for ever"]
    message: Annotated[str, "a sentence for people"]
    question: Annotated[dict[str, Any], "the whole question, as the key `questions` of hitl-tui show --json has it"]
    expires_at: Annotated[str | None, "when it expires by the runtime's clock, ISO 8601; null for never"]


@dataclass(frozen=True, kw_only=True, slots=True)
class TodoReviewRequest(_Asked):
    """A step waits for approval."""

    kind = "todo_review_request"
    about = "A step waits for approval. An answer repeats the digest, or it doesn't approve."


@dataclass(frozen=True, kw_only=True, slots=True)
class Question(_Asked):
    """Something else waits for an answer."""

    kind = "question"
    about = (
        "Something else waits for an answer: a step that failed, one that may have happened, a team's question from "
        "inside, or a proposal to change the plan."
    )


@dataclass(frozen=True, kw_only=True, slots=True)
class Decided(Event):
    """A request is settled."""

    kind = "decided"
    about = "A request that was told is settled: by an answer, a deadline, or because something else took its place."

    request_id: Annotated[str, "the request"]
    outcome: Annotated[str, "approved, rejected, expired or superseded"]
    by: Annotated[list[str], "who decided, as the record names them"]
    at: Annotated[str | None, "when, ISO 8601; null where the record doesn't say"]


@dataclass(frozen=True, kw_only=True, slots=True)
class Done(Event):
    """A job ended with an answer."""

    kind = "done"
    about = "The job ended with an answer."

    response: Annotated[str, "the answer"]
    details: Annotated[
        dict[str, Any],
        "the rest of it: summary, citations, files, outcome, remarks, found, question, language",
    ]
    tally: Annotated[
        dict[str, int],
        "how many steps were done, rejected, skipped, not run, and so on; `nothing_found`: 1 where nothing was found",
    ]


@dataclass(frozen=True, kw_only=True, slots=True)
class Failed(Event):
    """A job ended without an answer, or can't go on now."""

    kind = "failed"
    about = "The job ended without an answer, couldn't be begun, or can't go on now."

    error: Annotated[str, "why, one sentence"]
    final: Annotated[bool, "false: it is tried again, at the latest by the next start"]
    response: Annotated[str, "the answer that says what was done; empty for none"]
    details: Annotated[dict[str, Any], "the rest of that answer"]
    tally: Annotated[dict[str, int], "how its steps ended"]


EVENTS: tuple[type[Event], ...] = (
    Accepted,
    Started,
    Todo,
    PlanReviewRequest,
    PlanReviewKeepalive,
    PlanAccepted,
    TodoReviewRequest,
    Question,
    Decided,
    Done,
    Failed,
)


def read_event(found: Mapping[str, Any]) -> Event | None:
    """Return the event that `to_dict` wrote; None where it is none of these."""
    kind = next((event for event in EVENTS if event.kind == found.get("type")), None)
    if kind is None or not all(one.name in found for one in fields(kind)):
        return None
    return kind(**{one.name: found[one.name] for one in fields(kind)})


def schema() -> dict[str, Any]:
    """Return the JSON Schema of an event."""
    return {
        "$schema": _SCHEMA,
        "title": "Events of hitl-tui serve",
        "description": "One JSON object a line. A later version may add keys and types, and changes none.",
        "oneOf": [{"$ref": f"#/$defs/{event.kind}"} for event in EVENTS],
        "$defs": {event.kind: _schema_of(event) for event in EVENTS},
    }


def keys() -> Iterator[tuple[str, str, str, str]]:
    """Yield type, key, kind of value and meaning of every key of every event."""
    for event in EVENTS:
        for name, part in _schema_of(event)["properties"].items():
            if "const" not in part:
                kind = part["type"]
                yield event.kind, name, kind if isinstance(kind, str) else " or ".join(kind), part["description"]


def _schema_of(event: type[Event]) -> dict[str, Any]:
    hints = get_type_hints(event, include_extras=True)
    properties: dict[str, Any] = {name: {"const": event.kind} for name in ("type", "event_type")}
    for one in fields(event):
        kind, about = get_args(hints[one.name])
        properties[one.name] = {**_type_of(kind), "description": about}
    return {"type": "object", "description": event.about, "properties": properties, "required": list(properties)}


_NAMES = {str: "string", int: "integer", float: "number", bool: "boolean", type(None): "null"}


def _type_of(hint: Any) -> dict[str, Any]:
    if isinstance(hint, UnionType):
        return {"type": [_NAMES[part] for part in get_args(hint)]}
    if get_origin(hint) is list:
        return {"type": "array", "items": _type_of(get_args(hint)[0])}
    if get_origin(hint) is dict:
        return {"type": "object"}
    return {"type": _NAMES[hint]}
