"""What the durable record is made of: sealed entries of streams, and the views of them that people and sessions read.

An entry is sealed by hashing its canonical JSON together with the hash of the entry before.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Any, Required, TypedDict

from hitl_tui.core.errors import BadInput
from hitl_tui.core.identity import Identity
from hitl_tui.core.json_text import canonical
from hitl_tui.core.json_types import Json, JsonObject
from hitl_tui.core.messages import Message, messages_restored, with_messages
from hitl_tui.core.requests import Decision, Kind, Request, Resolution, Verdict, name_of
from hitl_tui.core.supersession import Cause


@dataclass(frozen=True, slots=True)
class Entry:
    """One line of a stream.

    Args:
        stream: the session or external task.
        n: its place, counted from 1.
        at: when, ISO 8601, UTC.
        kind: `request_opened`, `decision`, `event`, `effect_started`, `restore_intended`, …
        data: JSON.
        prev: hash of the entry before; 64 zeros for the first.
        hash: SHA-256 over the canonical JSON of all of the above.
    """

    stream: str
    n: int
    at: str
    kind: str
    data: Mapping[str, Any]
    prev: str
    hash: str

    @property
    def request_ids(self) -> frozenset[str]:
        """Ids of the requests that it says something of."""
        named = [self.data.get("request_id"), self.data.get("settles")]
        for part, key in (("request", "id"), ("decision", "request_id")):
            inner = self.data.get(part)
            named.append(inner.get(key) if isinstance(inner, Mapping) else None)
        return frozenset(name for name in named if isinstance(name, str))

    def to_dict(self) -> EntryLine:
        """Return all fields as JSON values, as `audit export` prints them."""
        return {
            "stream": self.stream,
            "n": self.n,
            "at": self.at,
            "kind": self.kind,
            "data": dict(self.data),
            "prev": self.prev,
            "hash": self.hash,
        }


class EntryLine(TypedDict):
    """An entry as JSON values."""

    stream: str
    n: int
    at: str
    kind: str
    data: Mapping[str, object]
    prev: str
    hash: str


@dataclass(frozen=True, slots=True)
class Head:
    """Length of a stream and the hash of its last entry (64 zeros when empty)."""

    stream: str
    n: int
    hash: str


@dataclass(frozen=True, slots=True)
class RecordFigures:
    """How much is on record.

    Args:
        waiting: requests that wait for a decision.
        oldest: when the first of them was opened, ISO 8601; empty for none.
        decisions: decisions of all.
        settled: by outcome, how many requests ended; `superseded` is one.
        effects: by status, how many effects there are.
    """

    waiting: int
    oldest: str
    decisions: int
    settled: Mapping[str, int]
    effects: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class RequestView:
    """A request with what was decided about it, as of the moment it was read.

    Args:
        evidence: what was attached later (a preview's output); never part of the digest.
    """

    request: Request
    decisions: tuple[Decision, ...]
    resolution: Resolution
    evidence: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Posted:
    """One event in a session's inbox.

    Args:
        seq: grows with each event of the session, over all branches. A number may stay unused: one is kept free for
            the event that ends a restore, so that `restored` is the first on its branch whatever is posted meanwhile.
        event_id: unique in the session; posting it again changes nothing.
        branch: the branch it was meant for.
        event: JSON with at least `kind`.
    """

    seq: int
    event_id: str
    branch: int
    event: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Closing:
    """What an event ends: it is a decision about every question of its TODOs that is open.

    Args:
        cause: what becomes of them.
        by: who does it.
        todo_ids: the TODOs; `core.requests.EVERYTHING` for all.
        since: when the command began, ISO 8601, UTC; what was decided from then on stands. Empty where it doesn't.
        verdict: what is said of an open question that takes it isn't ended but decided; empty for none.
        detail: what the cause needs besides.
        who: who does it, as they are identified; empty where anybody may, and for what nobody did.
        amounts_to: see `core.requests.check_ending`.
        met: ids of the questions that they were seen to mean; of high risk they end no other one.
    """

    cause: Cause
    by: str
    todo_ids: tuple[str, ...]
    since: str = ""
    verdict: str = ""
    detail: str = ""
    who: tuple[Identity, ...] = ()
    amounts_to: Verdict | None = None
    met: frozenset[str] | None = None


@dataclass(frozen=True, slots=True)
class Branch:
    """The branch of a session that counts.

    Args:
        number: 0 at first; each restore takes the next.
        checkpoint_id: the checkpoint an unfinished restore goes to; empty when it is finished.
    """

    number: int
    checkpoint_id: str = ""


CHANGED_NOTHING = "changed_nothing"
"""Key of the outcome of an effect that was declared to change nothing."""


@dataclass(frozen=True, slots=True)
class Effect:
    """One effect on the world.

    Args:
        key: H(lineage, todo, effect name, ordinal, subject digest).
        session, todo_id, branch, run_id: who did it last.
        name: its name.
        subject: JSON that says exactly what is done.
        status: `started`, `done`, `failed` (it ended, and is known not to have happened or not to count as done).
        outcome: JSON that `act` returned; empty until it ended.
        place: where the stream of who started it lies, for a database; not of what copies know.
        began: when it was started last, ISO 8601; as `place`, filled in by the record.
    """

    key: str
    session: str
    todo_id: str
    branch: int
    run_id: str
    name: str
    subject: Json
    status: str
    outcome: JsonObject
    place: str = field(default="", compare=False)
    began: str = field(default="", compare=False)

    @property
    def changed_nothing(self) -> bool:
        """It was declared to change nothing, so nothing of it is left in the world."""
        return bool(self.outcome.get(CHANGED_NOTHING))

    def to_dict(self) -> dict[str, object]:
        """Return all that a copy knows of it as JSON values."""
        return {one.name: getattr(self, one.name) for one in fields(self) if one.compare}


@dataclass(frozen=True, slots=True)
class SessionCopy:
    """How the stream of a session begins that is a copy of another: a fork, an import.

    Args:
        session: the new stream.
        origin: JSON about where it comes from, for the record: `kind` (`fork`, `import`), `session`, of a fork the
            `number` of the checkpoint, and the `channel` that it was wanted by.
        branch: the first branch number that no checkpoint of the copy has.
        seq: the first event number that no checkpoint of the copy has gone through.
        checkpoint_id: where the copy begins; empty for one that has no checkpoints.
        effects: what the ancestors did, so that it is asked about and never silently done again.
        by: who made the copy.
    """

    session: str
    origin: Mapping[str, object]
    branch: int
    seq: int
    checkpoint_id: str
    effects: Sequence[Effect]
    by: str


@dataclass(frozen=True, slots=True)
class EffectClaim:
    """Answer to `begin_effect`.

    Args:
        verdict: `go` (started was written: act), `done` (use `effect.outcome`), `failed` (this run did it and it
            failed: `effect.outcome` says how), `doubt` (ask a person), `stale` (the run isn't current any more: do
            nothing).
        effect: the record as it stands.
    """

    verdict: str
    effect: Effect | None


@dataclass(frozen=True, slots=True)
class Problem:
    """Something in a ledger that isn't as it was written.

    Args:
        stream: where; empty when it is about no single stream.
        n: the entry it is about, 0 when it is about none or about a view.
        what: one sentence.
        key: the key that signed it and isn't known here, where nothing else is wrong: another account may have made it,
            or somebody who shouldn't have written. Empty for what was changed or is damaged.
    """

    stream: str
    n: int
    what: str
    key: str = ""

    def to_dict(self) -> dict[str, str | int]:
        """Return all fields as JSON values."""
        found: dict[str, str | int] = {"stream": self.stream, "n": self.n, "what": self.what}
        return found | ({"key": self.key} if self.key else {})


class DecidedEvent(TypedDict, total=False):
    """The inbox event that carries a settled request to its session.

    Keys:
        asked: a `core.requests.Kind`.
        proposal_id: of the proposal that it is about.
        by, channel, at, reason, value: of the last decision; `people` has all that count.
        closed: other requests that it ended with it, {request id: todo id}.
        spares: of a plan: feedback that can't be worked in uses up no revision, which records of before did.
    """

    action: str
    people: list[dict[str, str]]
    kind: Required[str]
    request_id: Required[str]
    asked: str
    todo_id: str
    proposal_id: str
    digest: str
    verdict: Required[str]
    outcome: Required[str]
    by: str
    channel: str
    at: str
    reason: str
    value: Json
    closed: Mapping[str, str]
    spares: bool


def decided_event(view: RequestView) -> DecidedEvent:
    """Return the inbox event that carries a settled request to its session.

    Raises:
        ValueError: the request isn't settled.
    """
    request, resolution = view.request, view.resolution
    if resolution.verdict is None:
        raise ValueError(Message("request {} isn't settled", request.id))
    last = resolution.decisions[-1] if resolution.decisions else None
    chosen = {d.action for d in resolution.decisions}
    event: DecidedEvent = {
        "kind": "decided",
        "request_id": request.id,
        "asked": request.kind.value,
        "todo_id": request.todo_id,
        "digest": request.digest,
        "verdict": resolution.verdict.value,
        "outcome": resolution.outcome.value,
        "by": ", ".join(d.by for d in resolution.decisions) if last else "deadline",
        "channel": last.channel if last else "deadline",
        "at": last.at if last else request.deadline,
        "reason": last.reason if last else _too_late(view),
        "value": last.value if last else None,
    }
    if request.kind is Kind.PROPOSAL:
        event["proposal_id"] = name_of(request)
    if request.kind is Kind.PLAN:
        event["spares"] = True
    if last and last.action and len(chosen) == 1:
        event["action"] = last.action
    if last:
        event["people"] = [d.whose for d in resolution.decisions]
    return event


def _too_late(view: RequestView) -> str:
    """Return why a question whose deadline passed has no answer of its own."""
    request = view.request
    said = len({decision.voter for decision in view.decisions})
    if said:
        return Message("only {} of {} people had decided before {}", said, request.terms.quorum, request.deadline)
    return Message("nobody decided before {}", request.deadline)


LEDGER_FILE = "ledger.db"
"""Where the ledger of a data folder lies in it."""
GENESIS = "0" * 64
"""What the first entry of a stream has instead of the hash of the one before."""

_SURROGATE = re.compile(rb"\xed[\xa0-\xbf]")
"""In UTF-8 nothing else looks like this."""

DEEPEST = 200
"""Levels of nesting that data may have: whatever was written can also be read and checked anywhere."""


def seal(head: Head, kind: str, data: Mapping[str, object], at: str) -> tuple[Entry, bytes]:
    """Return the entry that comes after `head`, and the canonical JSON of its data.

    The entry's data is what a reader will get: keys are text, tuples are lists.

    Raises:
        BadInput: the data isn't JSON, or is nested too deeply.
    """
    value, raw = normalised_json(with_messages(data))
    value = messages_restored(value)
    n = head.n + 1
    sealed = _hash(head.stream, n, at, kind, raw, head.hash)
    return Entry(head.stream, n, at, kind, value, head.hash, sealed), raw


def entry_hash(entry: Entry) -> str:
    """Return the hash that an entry must carry: SHA-256 of the canonical JSON of everything else in it."""
    return _hash(entry.stream, entry.n, entry.at, entry.kind, canonical(entry.data), entry.prev)


def stored_hash(stream: str, n: int, at: str, kind: str, data: bytes, prev: str) -> str:
    """Return the hash of an entry whose data is given as it is stored."""
    return _hash(stream, n, at, kind, data, prev)


def normalised_json(value: object) -> tuple[Any, bytes]:
    """Return a JSON value as it will be read again, and its canonical encoding.

    Raises:
        BadInput: it isn't JSON, or is nested more than `DEEPEST` levels.
    """
    raw = canonical(value)
    # The count of brackets is at least the depth, and much cheaper to find.
    if raw.count(b"[") + raw.count(b"{") > DEEPEST:
        _refuse_depth(value)
    value = json.loads(raw)
    if _SURROGATE.search(raw) is None:
        return value, raw
    # Two halves of a surrogate pair read back from JSON text as one character: store them so from the start.
    value = json.loads(json.dumps(value))
    return value, canonical(value)


def _refuse_depth(value: object) -> None:
    level = [value]
    for _ in range(DEEPEST):
        level = [
            child
            for item in level
            if isinstance(item, dict | list | tuple)
            for child in (item.values() if isinstance(item, dict) else item)
        ]
        if not level:
            return
    if any(isinstance(item, dict | list | tuple) for item in level):
        raise BadInput(Message("This value is nested more than {} levels deep, too deep for the record.", DEEPEST))


def _hash(stream: str, n: int, at: str, kind: str, data: bytes, prev: str) -> str:
    # Written out, so that large data is encoded once; keys stand in the order of canonical JSON.
    parts = (
        b'{"at":' + canonical(at),
        b',"data":' + data,
        b',"kind":' + canonical(kind),
        b',"n":' + canonical(n),
        b',"prev":' + canonical(prev),
        b',"stream":' + canonical(stream) + b"}",
    )
    hashed = hashlib.sha256()
    for part in parts:
        hashed.update(part)
    return hashed.hexdigest()
