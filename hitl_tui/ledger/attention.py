"""How people decide, from the record alone: how long they take, and whether they can have read what they approve.

docs/security.md says how each figure is computed.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta, tzinfo
from math import ceil
from statistics import median

from hitl_tui.core.json_types import Json
from hitl_tui.core.messages import Message
from hitl_tui.core.names import person
from hitl_tui.core.requests import BY_RULE, REFUSING, Decision, Request, Verdict
from hitl_tui.core.supersession import Cause
from hitl_tui.ledger.records import RequestView

READING = 50.0
"""Characters a second that nobody reads faster: some 600 words a minute."""
NIGHT = 22, 6
"""Hours of the local day between which it is night."""
ROW = 20
"""Approvals in a row from which on they may be a pattern of fatigue."""
SHIFT = timedelta(hours=8)
"""Within what time they have to lie for that."""
UNREAD = 0.5
"""Share of them that was decided too fast to be read, from which on they are one."""

_NOBODY = frozenset({BY_RULE, "policy", "deadline", "mode"})
"""Channels of decisions that no person made."""
_DIGEST = re.compile(r"[0-9a-f]{32,}")
_CHANGED = "edit"


@dataclass(frozen=True, slots=True)
class _Act:
    """One thing that somebody did about a question."""

    at: datetime
    said: str
    approves: bool
    breaks: bool
    seconds: float
    unread: bool


@dataclass(frozen=True, slots=True)
class Attention:
    """How one approver decides.

    Args:
        name: who, as people are shown it.
        approvals, refusals, skips, edits, others: how many of each.
        median, p90: seconds from when a question was first shown to their decision.
        unread: share of their decisions that came before the question can have been read.
        row, longest_row: approvals in a row without a rejection or edit, up to now and at most.
        night: how many decisions were made at night.
        tired: the last `ROW` look like fatigue.
        last: when they decided last, ISO 8601.
    """

    name: str
    approvals: int
    refusals: int
    skips: int
    edits: int
    others: int
    median: float
    p90: float
    unread: float
    row: int
    longest_row: int
    night: int
    tired: bool
    last: str

    @property
    def decisions(self) -> int:
        """How many they made."""
        return self.approvals + self.refusals + self.skips + self.edits + self.others

    def to_dict(self) -> dict[str, Json]:
        """Return all figures as JSON values."""
        return {
            "approver": self.name,
            "decisions": self.decisions,
            "approvals": self.approvals,
            "refusals": self.refusals,
            "skips": self.skips,
            "edits": self.edits,
            "others": self.others,
            "median_seconds": round(self.median, 3),
            "p90_seconds": round(self.p90, 3),
            "unread_share": round(self.unread, 4),
            "approvals_in_a_row": self.row,
            "longest_row": self.longest_row,
            "at_night": self.night,
            "fatigue": self.tired,
            "last_decision": self.last,
        }


@dataclass(slots=True)
class _Person:
    name: str = ""
    acts: list[_Act] = field(default_factory=list)


def attention(views: Iterable[RequestView], zone: tzinfo | None = None) -> list[Attention]:
    """Return how each approver decides, who decided most first.

    Args:
        views: requests with all that was decided about them.
        zone: where night is night; None for the zone of this machine.
    """
    people: dict[str, _Person] = {}
    for view in views:
        for who, name, act in _acts(view):
            known = people.setdefault(who, _Person())
            known.name = name
            known.acts.append(act)
    found = [_figures(known.name, sorted(known.acts, key=lambda act: act.at), zone) for known in people.values()]
    return sorted(found, key=lambda one: (-one.decisions, one.name))


def within(view: RequestView, since: str, until: str, who: str = "") -> RequestView:
    """Return a request with what was decided about it in a time, by one person.

    Args:
        since, until: ISO 8601, UTC; empty for no bound.
        who: any of their names; empty for everybody.
    """

    def counts(at: str) -> bool:
        return since <= at and (not until or at < until)

    request, ended = view.request, view.request.superseded

    def is_theirs(*names: str) -> bool:
        return not who or person(who) in map(person, names)

    if ended is not None and not (counts(ended.at) and is_theirs(ended.by)):
        request = replace(request, superseded=None)
    said = (d for d in view.decisions if counts(d.at) and is_theirs(d.by, d.person, d.account, d.claimed))
    return replace(view, request=request, decisions=tuple(said))


def fatigue(found: Sequence[Attention], now: str) -> list[str]:
    """Return a sentence for each approver whose last decisions look like fatigue, and aren't past yet."""
    since = datetime.fromisoformat(now) - SHIFT
    return [
        Message(
            "{} approved {} in a row, and at least {} of the last {} faster than they can be read; a pause, "
            "somebody else, or a rule for what does no harm would help.",
            one.name,
            one.row,
            ceil(UNREAD * ROW),
            ROW,
        )
        for one in found
        if one.tired and datetime.fromisoformat(one.last) >= since
    ]


def characters(request: Request) -> int:
    """Return how many characters of a question have to be read: all texts and numbers of its subject, no digests."""
    return sum(len(text) for text in _texts(request.subject) if not _DIGEST.fullmatch(text))


def _texts(value: object) -> Iterator[str]:
    if isinstance(value, Mapping):
        for key, item in value.items():
            yield str(key)
            yield from _texts(item)
    elif isinstance(value, list | tuple):
        for item in value:
            yield from _texts(item)
    elif value is not None:
        yield str(value)


def _acts(view: RequestView) -> Iterator[tuple[str, str, _Act]]:
    """Yield what people did about a question: who, the name that they are shown by, and the act."""
    request, ended = view.request, view.request.superseded
    for decision in view.decisions:
        if decision.channel not in _NOBODY:
            said = decision.said
            approves = _approves(decision)
            breaks = said == _CHANGED or said == "ignore" or said in REFUSING
            name = decision.account if decision.voter == person(decision.account) else decision.person or decision.by
            yield decision.voter, name, _act(request, decision.at, said, approves=approves, breaks=breaks)
    if ended is not None and ended.cause is Cause.EDITED and ended.by and ended.at:
        yield person(ended.by), ended.by, _act(request, ended.at, _CHANGED, approves=False, breaks=True)


def _approves(decision: Decision) -> bool:
    return decision.verdict in (Verdict.APPROVE, Verdict.DO_AGAIN, Verdict.USE_AS_DONE, Verdict.RETRY) or (
        decision.said == "approve"
    )


def _act(request: Request, at: str, said: str, *, approves: bool, breaks: bool) -> _Act:
    when = datetime.fromisoformat(at)
    shown = datetime.fromisoformat(request.first_shown or request.opened_at)
    seconds = max(0.0, (when - shown).total_seconds())
    return _Act(when, said, approves, breaks, seconds, seconds < characters(request) / READING)


def _figures(name: str, acts: Sequence[_Act], zone: tzinfo | None) -> Attention:
    row = longest = 0
    for act in acts:
        row = 0 if act.breaks else row + act.approves
        longest = max(longest, row)
    times = sorted(act.seconds for act in acts)
    last = acts[-ROW:]
    edits = sum(act.said == _CHANGED for act in acts)
    skips = sum(act.said == Verdict.SKIP for act in acts)
    refusals = sum(act.breaks for act in acts) - edits - skips
    approvals = sum(act.approves for act in acts)
    return Attention(
        name,
        approvals,
        refusals,
        skips,
        edits,
        len(acts) - approvals - refusals - skips - edits,
        median(times),
        times[ceil(0.9 * len(times)) - 1],
        sum(act.unread for act in acts) / len(acts),
        row,
        longest,
        sum(_at_night(act.at.astimezone(zone)) for act in acts),
        len(last) == ROW
        and all(act.approves for act in last)
        and last[-1].at - last[0].at <= SHIFT
        and sum(act.unread for act in last) >= UNREAD * ROW,
        acts[-1].at.isoformat(),
    )


def _at_night(local: datetime) -> bool:
    return local.hour >= NIGHT[0] or local.hour < NIGHT[1]
