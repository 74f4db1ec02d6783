"""Review requests: what a runtime elsewhere asks a reviewer, read from the events that it tells. Pure.

Whoever wrote an event may have written anything, so what isn't of the right kind counts as absent.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from difflib import SequenceMatcher
from types import MappingProxyType
from typing import Any, Literal

from hitl_tui.core.json_text import canonical
from hitl_tui.core.json_types import Json
from hitl_tui.core.policy import Risk

PLAN, TODO, PROPOSAL = "plan_review_request", "todo_review_request", "proposal"
_QUESTION = "question"
"""The event of everything else that is asked; of that a reviewer answers proposals."""
DECIDED = "decided"
_DIGEST = re.compile(r"[0-9a-f]{8,64}")


@dataclass(frozen=True, slots=True)
class ReviewStep:
    """A step of a plan under review."""

    id: str
    title: str
    agent: str
    task: str
    arguments: Mapping[str, Json]
    dependencies: tuple[str, ...]
    risk: str

    @property
    def content(self) -> bytes:
        """What makes it the same step in another plan, whatever it is called and wherever it stands."""
        return canonical([self.agent, self.task or self.title, dict(self.arguments)])


How = Literal["added", "removed", "moved", "changed"]


@dataclass(frozen=True, slots=True)
class StepChange:
    """How a step differs from the plan before; `moved` stands elsewhere, `changed` is otherwise another."""

    how: How
    step: ReviewStep


@dataclass(frozen=True, slots=True)
class ReviewRequest:
    """What a runtime asks.

    Args:
        request_id: its id.
        kind: `PLAN`, `TODO` or `PROPOSAL`.
        job: what tells the jobs of a runtime apart.
        message: a sentence for people.
        plan: the plan as text.
        steps: its steps, where they are told; of a proposal those that it adds.
        revision, most_revisions: how often it was revised, and how often it can be.
        before: the steps of the plan before, where they are known.
        told: how the plan differs from the one before, as the runtime tells it; None where it doesn't.
        notes: what else is said of the plan, such as what of the last feedback wasn't worked in; a sentence each.
        digest: of what is asked; empty where it isn't told.
        timeout: seconds that it waits; None for ever or where it isn't told.
        on_timeout: what silence means: approve or reject.
        expires: when that is, ISO 8601; empty for never or where it isn't told.
        query: what is asked of the job; empty where it isn't told.
        todo_id, title, preview: of a step: its id, its title, and what a preview of it printed.
        path: where feedback is looked for; empty where it isn't told.
        risk, quorum, level: of a step: its class, how many approve it, and from which level on.
        subject: of a step: exactly what would run.
        event: all that was told.
    """

    request_id: str
    kind: str
    job: str = ""
    message: str = ""
    plan: str = ""
    steps: tuple[ReviewStep, ...] = ()
    revision: int = 0
    most_revisions: int = 0
    before: tuple[ReviewStep, ...] | None = None
    told: tuple[StepChange, ...] | None = None
    notes: tuple[str, ...] = ()
    digest: str = ""
    timeout: float | None = None
    on_timeout: str = ""
    expires: str = ""
    query: str = ""
    todo_id: str = ""
    title: str = ""
    preview: str = ""
    path: str = ""
    risk: str = ""
    quorum: int = 1
    level: int = 0
    subject: Mapping[str, Json] = field(default_factory=lambda: MappingProxyType({}))
    event: Mapping[str, Any] = field(default_factory=lambda: MappingProxyType({}))

    @property
    def takes_feedback(self) -> bool:
        """Whether a feedback object can decide it: a claimed vote is enough."""
        return self.quorum <= 1 and self.level <= 0 and (self.kind == PLAN or self.risk != "high")

    @property
    def last(self) -> bool:
        """Whether the plan goes ahead with what feedback makes of it, and isn't asked about again."""
        return self.kind == PLAN and 0 < self.most_revisions <= self.revision + 1

    def changes(self) -> Sequence[StepChange] | None:
        """Return how the plan differs from the one before; None where that isn't known."""
        if self.told is not None:
            return self.told
        return None if self.before is None else step_changes(self.before, self.steps)


def review_request(event: Mapping[str, Any], before: Sequence[ReviewStep] | None = None) -> ReviewRequest | None:
    """Return what an event asks a reviewer; None where it asks nothing.

    Args:
        event: the event.
        before: the steps of the plan before it, where they are known.
    """
    kind, request_id = _text(event, "type") or _text(event, "event_type"), _text(event, "request_id")
    if kind == _QUESTION:
        kind = _text(event, "asks")
    if kind not in (PLAN, TODO, PROPOSAL) or not request_id:
        return None
    question = _mapping(event, "question")
    if kind == PROPOSAL:
        event = _as_plan(event, _mapping(_mapping(question, "subject"), "proposal"))
    plan, steps, difference = event.get("plan"), _steps(event.get("steps")), _mapping(event, "difference")
    return ReviewRequest(
        request_id=request_id,
        kind=kind,
        job=_text(event, "job_id") or _text(event, "session_id"),
        message=_text(event, "message"),
        plan=plan if isinstance(plan, str) else "",
        steps=steps,
        revision=_whole(event, "revision_count"),
        most_revisions=_whole(event, "max_revisions"),
        before=tuple(before) if before is not None else None,
        told=_told(difference, steps) if difference else None,
        notes=tuple(
            dict.fromkeys(
                note for said in (event, difference) for note in _list(said, "notes") if isinstance(note, str)
            )
        ),
        digest=digest if _DIGEST.fullmatch(digest := _text(event, "digest")) else "",
        timeout=_seconds(event),
        on_timeout=_text(event, "on_timeout"),
        expires=_text(event, "expires_at"),
        query=_text(event, "query"),
        todo_id=_text(event, "todo_id"),
        title=_text(_mapping(question, "about"), "title"),
        preview=_text(_mapping(question, "preview"), "text"),
        path=_text(event, "feedback_s3_path"),
        risk=_risk(event),
        quorum=_whole(event, "quorum") or 1,
        level=_whole(event, "level"),
        subject=_mapping(question, "subject"),
        event=event,
    )


def step_changes(before: Sequence[ReviewStep], after: Sequence[ReviewStep]) -> list[StepChange]:
    """Return how one plan differs from another, in the order of the later one."""
    old, new = [step.content for step in before], [step.content for step in after]
    gone, come = set(old) - set(new), set(new) - set(old)
    needs = {step.content: _needs(step, before) for step in before}
    changes: list[StepChange] = []
    for how, begin, end, start, stop in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        changes += [StepChange("removed", step) for step in before[begin:end] if step.content in gone]
        for step in after[start:stop]:
            if step.content in come:
                changes.append(StepChange("added", step))
            elif how != "equal":
                changes.append(StepChange("moved", step))
            elif needs[step.content] != _needs(step, after):
                changes.append(StepChange("changed", step))
    return changes


def _needs(step: ReviewStep, plan: Sequence[ReviewStep]) -> tuple[object, ...]:
    """Return what a step waits for, by content, and how risky it is."""
    contents = {each.id: each.content for each in plan}
    return (*sorted(contents.get(name, name.encode()) for name in step.dependencies), step.risk)


def _as_plan(event: Mapping[str, Any], proposal: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the event of a proposal with its steps, words and other changes where that of a plan has them."""
    changes = [change for change in _list(proposal, "changes") if isinstance(change, Mapping)]
    todos = [_mapping(change, "todo") for change in changes if change.get("kind") == "add"]
    others = [change for change in changes if change.get("kind") != "add"]
    notes = [f"{_text(change, 'kind')} {_text(change, 'todo_id')}" for change in others]
    names = {"title": "name", "agent": "agent_name", "task": "description"}
    steps = [{**todo, **{key: todo.get(name) for key, name in names.items()}} for todo in todos]
    return {**event, "steps": steps, "query": _text(proposal, "text"), "notes": [_text(proposal, "reason"), *notes]}


def _told(difference: Mapping[str, Any], steps: Sequence[ReviewStep]) -> tuple[StepChange, ...]:
    """Return a difference that a runtime told, by the ids of steps."""
    known = {step.id: step for step in steps}
    kinds: tuple[How, ...] = ("removed", "added", "moved", "changed")
    found = ((how, named) for how in kinds for named in _steps(list(_list(difference, how))))
    return tuple(StepChange(how, known.get(named.id, named)) for how, named in found)


def _steps(value: Any) -> tuple[ReviewStep, ...]:
    found = value if isinstance(value, list) else []
    return tuple(
        ReviewStep(
            id=_text(step, "id"),
            title=_text(step, "title"),
            agent=_text(step, "agent"),
            task=_text(step, "task"),
            arguments=_mapping(step, "arguments"),
            dependencies=tuple(name for name in _list(step, "dependencies") if isinstance(name, str)),
            risk=_risk(step),
        )
        for step in found
        if isinstance(step, Mapping)
    )


def _text(event: Mapping[str, Any], key: str) -> str:
    value = event.get(key)
    return value if isinstance(value, str) else ""


def _risk(event: Mapping[str, Any]) -> str:
    """Return the class of risk; what is none counts as the highest, empty where it isn't told."""
    risk = _text(event, "risk")
    return risk if risk in ("", *Risk) else Risk.HIGH.value


def _list(event: Mapping[str, Any], key: str) -> Sequence[Any]:
    value = event.get(key)
    return value if isinstance(value, list) else ()


def _mapping(event: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    value = event.get(key)
    return value if isinstance(value, Mapping) else {}


def _seconds(event: Mapping[str, Any]) -> float | None:
    value = event.get("timeout_seconds")
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else None


def _whole(event: Mapping[str, Any], key: str) -> int:
    value = event.get(key)
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else 0
