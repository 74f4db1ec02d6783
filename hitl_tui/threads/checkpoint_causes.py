"""What led to the checkpoints of a session: decisions, orders, reports, refusals, and what asks since."""

from __future__ import annotations

import sys
from bisect import bisect_left, bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from operator import attrgetter
from typing import Any, cast

from hitl_tui.core.interrupts.recognition import recognise
from hitl_tui.core.json_types import Json, PlanReviewed
from hitl_tui.core.plan_review import EndedBy
from hitl_tui.core.requests import Request
from hitl_tui.ledger.records import Posted
from hitl_tui.threads.thread_model import CheckpointInfo, Waiting
from hitl_tui.threads.thread_reader import ThreadReader, is_decision

_ENGINE = frozenset({"restored", "bound", "configured"})
"""Kinds of events that tell an operator nothing: what they led to does."""
_ASKS = frozenset({"interrupted"})
_TOLD = ("kind", "todo_id", "verdict", "action", "asked", "outcome", "value", "reason", "was", "edits", "changes")
_ORDERED = ("status", "priority", "mode", "where", "anchor")
_TO_REST = 20
"""Steps of the engine within which a session that went back comes to rest."""
_KNOWN_AT = attrgetter("seq")


@dataclass(frozen=True, slots=True)
class CheckpointCause:
    """What led to a checkpoint.

    Args:
        events: what took effect, in order.
        refused: what somebody ordered and had no effect.
        answered: the questions that were decided, by id, as far as they are on record.
        asked: what asks since; ids of TODOs, `plan`, ids of proposals, of many the first.
        unnamed: how many more ask since.
        inside: of those TODOs, what their teams ask from inside, one line each, by id.
        planned: the plan was made.
        unasked: what let the plan begin without a person, as `core.json_types.PlanReviewed`; empty for nothing.
        restored: number of the checkpoint that it is a copy of; 0 when it is none.
        copied: the session that this one is a copy of, where it begins here; `restored` is a number of that one then.
        elsewhere: what led there is on no record here.
        outcome: how the session ended; empty where it goes on.
    """

    events: tuple[Posted, ...] = ()
    refused: tuple[Posted, ...] = ()
    answered: Mapping[str, Request] = field(default_factory=dict)
    asked: tuple[str, ...] = ()
    unnamed: int = 0
    inside: Mapping[str, str] = field(default_factory=dict)
    planned: bool = False
    unasked: PlanReviewed = field(default_factory=lambda: PlanReviewed())
    restored: int = 0
    copied: str = ""
    elsewhere: bool = False
    outcome: str = ""

    @property
    def quiet(self) -> bool:
        """Only the engine went on: nothing happened that an operator would tell."""
        happened = self.events or self.refused or self.asked or self.unnamed or self.outcome or self.unasked
        return not (happened or self.planned or self.restored or self.copied or self.elsewhere)

    def to_dict(self) -> dict[str, Json]:
        """Return it as JSON, of events and questions no more than says what they were."""
        return {
            "events": [_told(e) for e in self.events],
            "refused": [_told(e) for e in self.refused],
            "asked": list(self.asked),
            "asked_more": self.unnamed,
            "inside": dict(self.inside),
            "planned": self.planned,
            "unasked": cast("dict[str, Json]", dict(self.unasked)) or None,
            "restored_from": self.restored or None,
            "copied_from": self.copied or None,
            "outcome": self.outcome or None,
            "elsewhere": self.elsewhere,
            "engine_only": self.quiet,
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> CheckpointCause:
        """Return what `to_dict` wrote, as far as that tells it."""
        events, refused = ([Posted(0, "", 0, e) for e in data[name]] for name in ("events", "refused"))
        return cls(
            events=tuple(events),
            refused=tuple(refused),
            asked=tuple(data["asked"]),
            unnamed=int(data.get("asked_more") or 0),
            inside=dict(data.get("inside") or {}),
            planned=bool(data["planned"]),
            unasked=cast(PlanReviewed, data.get("unasked") or {}),
            restored=int(data["restored_from"] or 0),
            copied=str(data.get("copied_from") or ""),
            outcome=str(data["outcome"] or ""),
            elsewhere=bool(data["elsewhere"]),
        )


async def copied_from(past: ThreadReader, info: CheckpointInfo) -> CheckpointInfo | None:
    """Return the checkpoint that a restore made a copy of: LangGraph gives a copy the parent of what it copies."""
    after = await past.newer(1, info.parent_id)
    beside = [c for c in after if c.parent_id == info.parent_id and c.checkpoint_id != info.checkpoint_id]
    return beside[0] if beside else await past.info(info.parent_id)


def _is_unasked(reviewed: PlanReviewed) -> bool:
    return reviewed.get("ended_by") in (EndedBy.LIMIT, EndedBy.RULE)


def event_data(posted: Posted) -> Mapping[str, Any]:
    """Return what an event carries, wherever it stands in it."""
    inner = posted.event.get("data")
    return inner if isinstance(inner, Mapping) else posted.event


def inner_question(asks: Mapping[str, Any] | None) -> str:
    """Return in one line what a team asks from inside, the first of several; empty for none."""
    interrupts = (asks or {}).get("interrupts") or ()
    return next((recognise(i.get("value"), i.get("schema")).question for i in interrupts if "answer" not in i), "")


def _told(posted: Posted) -> dict[str, Json]:
    data = event_data(posted)
    found: dict[str, Json] = {k: data[k] for k in (*_TOLD, *_ORDERED) if data.get(k) not in (None, "")}
    for name, part in (("todo", "name"), ("proposal", "reason")):
        inner = data.get(name)
        if isinstance(inner, Mapping):
            found[name] = {part: inner.get(part, "")}
    found["kind"] = str(posted.event.get("kind", ""))
    found["by"] = str(data.get("by") or posted.event.get("by") or "")
    return found


class CheckpointCauses:
    """What led to the checkpoints of one session, as far as it was asked for."""

    def __init__(self) -> None:
        self._known: dict[str, CheckpointCause] = {}
        self._events: dict[int, list[Posted]] = {}
        self._read_from: dict[int, int] = {}

    async def of(self, past: ThreadReader, infos: Sequence[CheckpointInfo]) -> Mapping[str, CheckpointCause]:
        """Return what led to checkpoints, by id.

        Args:
            past: where the session's events are read; only those that aren't known yet are.
            infos: newest first, none left out between them; of the last one nothing is known, unless it was before or
                is the first of all.
        """
        for info, before in pairwise(infos):
            if info.checkpoint_id not in self._known:
                self._known[info.checkpoint_id] = await self._between(past, before, info)
        if infos and not infos[-1].parent_id:
            self._known.setdefault(infos[-1].checkpoint_id, CheckpointCause())
        return {i.checkpoint_id: self._known[i.checkpoint_id] for i in infos if i.checkpoint_id in self._known}

    async def _between(self, past: ThreadReader, before: CheckpointInfo, info: CheckpointInfo) -> CheckpointCause:
        if info.source == "fork":
            if origin := await self._origin(past, info):
                return CheckpointCause(restored=int(origin.get("number", 0)), copied=str(origin["session"]))
            copy = await copied_from(past, info)
            return CheckpointCause(restored=await past.place(copy.checkpoint_id) if copy is not None else 0)
        came = await self._came(past, info.branch, before.cursor, info.cursor)
        refused = [e for e in came if e.event_id in info.refused]
        events = tuple(e for e in came if e not in refused and str(e.event.get("kind", "")) not in _ENGINE)
        here, then = Waiting.at(info) or Waiting(), Waiting.at(before) or Waiting()
        asked = here.since(then) if info.waiting else Waiting()
        inside = {
            str(event_data(e).get("todo_id", "")): inner_question(event_data(e))
            for e in events
            if e.event.get("kind") in _ASKS
        }
        ids = dict.fromkeys(str(e.event.get("request_id", "")) for e in events if e.event.get("kind") == "decided")
        found = {name: await past.request(name) for name in ids if name}
        return CheckpointCause(
            events=tuple(e for e in events if e.event.get("kind") not in _ASKS),
            refused=tuple(e for e in refused if is_decision(e)),
            answered={name: request for name, request in found.items() if request is not None},
            asked=tuple(dict.fromkeys([*inside, *asked.names])),
            unnamed=asked.count - len(asked.names),
            inside=inside,
            planned=info.node == "plan_review" and before.node == "planning",
            unasked=info.reviewed if _is_unasked(info.reviewed) and not before.reviewed else {},
            elsewhere=info.cursor > before.cursor and not came,
            outcome=info.outcome if not before.outcome else "",
        )

    async def _origin(self, past: ThreadReader, info: CheckpointInfo) -> Mapping[str, Any]:
        """Return where the session comes from that began with this copy; nothing where a restore made the copy.

        Its branch counts once the graph has come to rest; the first event there says so.
        """
        later = await past.newer(_TO_REST, info.checkpoint_id)
        branch = next((c.branch for c in reversed(later) if c.branch > info.branch), 0)
        began = await self._came(past, branch, 0, sys.maxsize) if branch else []
        return event_data(began[0]).get("origin") or {} if began else {}

    async def _came(self, past: ThreadReader, branch: int, after: int, upto: int) -> list[Posted]:
        """Return the events of a branch with numbers above `after`, up to `upto`; what was read once is kept."""
        if upto <= after:
            return []
        known = self._events.get(branch)
        if known is None or after < self._read_from[branch]:
            # The newest page needs only its own; once older ones are asked for, all are.
            start = after if known is None else 0
            known = self._events[branch] = await past.events(branch, start)
            self._read_from[branch] = start
        elif not known or known[-1].seq < upto:
            known += await past.events(branch, known[-1].seq if known else self._read_from[branch])
        first = bisect_right(known, after, key=_KNOWN_AT)
        return known[first : bisect_left(known, upto + 1, key=_KNOWN_AT)]
