"""Requests, decisions, and what decisions amount to."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from enum import StrEnum
from typing import cast

from hitl_tui.core.errors import BadInput, Refused
from hitl_tui.core.identity import Identity, Proof
from hitl_tui.core.json_text import canonical, in_order, short_id
from hitl_tui.core.json_types import About, Json, JsonObject, ProposedChange, Stored, Subject
from hitl_tui.core.messages import Message
from hitl_tui.core.names import clip, person, plain_name, step_name
from hitl_tui.core.policy import Risk, Terms
from hitl_tui.core.supersession import Cause, Supersession, past_word


class Kind(StrEnum):
    """What is asked."""

    TODO = "todo"  # may this TODO run?
    FAILURE = "failure"  # it failed: retry, skip, stop?
    EFFECT = "effect"  # it may have happened already: use as done, do again, stop?
    INTERRUPT = "interrupt"  # its team asks something
    PLAN = "plan"  # may this plan begin?
    PROPOSAL = "proposal"  # shall the plan change like this?
    EXTERNAL = "external"  # somebody else's step


class Verdict(StrEnum):
    """What a person can say; a request's `options` name those that fit it."""

    APPROVE = "approve"
    REJECT = "reject"
    SKIP = "skip"
    RESPOND = "respond"
    RETRY = "retry"
    STOP = "stop"
    USE_AS_DONE = "use_as_done"
    DO_AGAIN = "do_again"


REFUSING = frozenset({Verdict.REJECT, Verdict.SKIP, Verdict.STOP})
"""Verdicts that keep something from happening: one person is enough for them unless the terms say otherwise."""

OPTIONS: Mapping[Kind, tuple[Verdict, ...]] = {
    Kind.TODO: (Verdict.APPROVE, Verdict.REJECT, Verdict.SKIP),
    Kind.FAILURE: (Verdict.RETRY, Verdict.SKIP, Verdict.STOP),
    Kind.EFFECT: (Verdict.USE_AS_DONE, Verdict.DO_AGAIN, Verdict.STOP),
    Kind.INTERRUPT: (Verdict.RESPOND, Verdict.REJECT),
    Kind.PLAN: (Verdict.APPROVE, Verdict.REJECT),
    Kind.PROPOSAL: (Verdict.APPROVE, Verdict.REJECT),
    Kind.EXTERNAL: (Verdict.APPROVE, Verdict.REJECT),
}


_NEVER = "9999"
_TELLING = frozenset({"approve", "edit", "reject", "ignore"})
"""Actions of a team's question that say what a person meant; the others are ways to give an answer."""

BY_RULE = "rule"
"""The channel of decisions that a standing rule makes."""

_RISKS = (Risk.LOW, Risk.MEDIUM, Risk.HIGH)


@dataclass(frozen=True, slots=True)
class Request:
    """One thing waiting for a person's decision.

    Args:
        id: see `request_id`.
        session: session (or external task) it belongs to.
        branch: the session's branch it was asked on.
        kind: what is asked.
        todo_id: the TODO it is about, empty for a plan or proposal.
        source: who asks: a team, `planner`, `supervisor`.
        requester: the person or agent on whose behalf; never an approver of it. Empty for none.
        subject: exactly what would run, JSON.
        digest: digest of the subject; a decision must carry it.
        terms: what it takes to decide.
        options: verdicts that fit.
        about: what else to show: title, task, priority, dependencies, missing input, what an agent says.
        opened_at: ISO 8601, UTC.
        deadline: ISO 8601, UTC; empty for none. One that ends in an approval begins when the request is first shown.
        risk: the class of what approving it lets happen, where `about` doesn't say it.
        first_shown: when an interface showed it first, ISO 8601, UTC; empty while none did.
        superseded: why it doesn't count any more; None while it does.
    """

    id: str
    session: str
    branch: int
    kind: Kind
    todo_id: str
    source: str
    subject: Subject
    digest: str
    requester: str = ""
    terms: Terms = Terms()
    options: tuple[Verdict, ...] = ()
    about: About = field(default_factory=lambda: About())
    opened_at: str = ""
    deadline: str = ""
    risk: str = ""
    first_shown: str = ""
    superseded: Supersession | None = None

    @property
    def risk_class(self) -> Risk:
        """The highest risk that the request names; one that names none, or something unknown, is of high risk."""
        named = [str(name) for name in (self.risk, self.about.get("risk", "")) if name]
        if not named or any(name not in _RISKS for name in named):
            return Risk.HIGH
        return max((Risk(name) for name in named), key=_RISKS.index)

    @property
    def ends_in_approval(self) -> bool:
        """Its deadline stands for an approval: the terms say so, and nothing of high risk would run by that.

        Of a plan that nobody approved each step of high risk asks, whatever rules say.
        """
        harmless = self.kind is Kind.PLAN or self.risk_class is not Risk.HIGH
        return self.terms.on_deadline == "approve" and Verdict.APPROVE in self.options and harmless

    @property
    def ended_at(self) -> str:
        """When somebody ended what it is about, ISO 8601; empty where nobody did."""
        return self.superseded.ended_at if self.superseded is not None else ""

    @property
    def expires_at(self) -> str:
        """When it expires, ISO 8601, UTC; empty for never, or while nothing runs because it wasn't shown yet."""
        return "" if self.ends_in_approval and not self.first_shown else self.deadline

    @property
    def urgency(self) -> tuple[str, str]:
        """What requests are sorted by: what expires first comes first, then what waits longest."""
        return self.expires_at or _NEVER, self.opened_at

    def to_dict(self) -> dict[str, object]:
        """Return all fields as JSON values; `from_dict` gives back an equal request."""
        return {
            "id": self.id,
            "session": self.session,
            "branch": self.branch,
            "kind": self.kind.value,
            "todo_id": self.todo_id,
            "source": self.source,
            "requester": self.requester,
            "subject": dict(self.subject),
            "digest": self.digest,
            "terms": self.terms.to_dict(),
            "options": [str(v) for v in self.options],
            "about": dict(self.about),
            "opened_at": self.opened_at,
            "deadline": self.deadline,
            "risk": self.risk,
            "first_shown": self.first_shown,
            "superseded": self.superseded.to_dict() if self.superseded is not None else "",
        }

    @classmethod
    def from_dict(cls, data: Stored) -> Request:
        """Return the request that `to_dict` wrote; what older versions lacked gets its default.

        Raises:
            KeyError, TypeError, ValueError: it is none.
        """
        return cls(
            id=data["id"],
            session=data["session"],
            branch=int(data["branch"]),
            kind=Kind(data["kind"]),
            todo_id=data.get("todo_id", ""),
            source=data.get("source", ""),
            requester=data.get("requester", ""),
            subject=cast(Subject, dict(data["subject"])),
            digest=data["digest"],
            terms=Terms.from_dict(data.get("terms", {})),
            options=tuple(Verdict(v) for v in data.get("options", ())),
            about=cast(About, dict(data.get("about", {}))),
            opened_at=data.get("opened_at", ""),
            deadline=data.get("deadline", ""),
            risk=data.get("risk", ""),
            first_shown=data.get("first_shown", ""),
            superseded=Supersession.from_dict(ended) if (ended := data.get("superseded")) else None,
        )


@dataclass(frozen=True, slots=True)
class Decision:
    """What one person said about one request.

    Args:
        request_id: the request.
        verdict: what was said.
        by: who, as people are shown it: `ops`, or `ann (claimed) through ops`.
        digest: digest of the subject that was shown to them.
        at: ISO 8601, UTC.
        channel: `console`, `repl`, `cli`, `policy`, `deadline`, …
        level: their approver level.
        reason: their words.
        value: an answer, for `respond` and for interrupts.
        action: what they chose to answer with, where the question itself gives ways to: `approve`, `edit`, `reject`,
            …; empty for other questions, for a value that was given as it is, and in older records.
        person: who they are proven to be: an approver's name, or an account; empty where that isn't known, as in older
            records.
        proof: what proves it: a `core.identity.Proof`; empty where nothing does.
        account: the account it was said through; empty where none is known.
        claimed: the name that who said it only claims; empty for none, and in older records.
        without: persons whose earlier votes on the request don't count from here on: they were no approvers any more.
        signature: `KEY:SIGNATURE` of a vote that is kept where others can write; empty for none.
    """

    request_id: str
    verdict: Verdict
    by: str
    digest: str
    at: str
    channel: str = ""
    level: int = 0
    reason: str = ""
    value: Json = None
    action: str = ""
    person: str = ""
    proof: str = ""
    account: str = ""
    claimed: str = ""
    without: tuple[str, ...] = ()
    signature: str = ""

    @property
    def said(self) -> str:
        """What the person did, in a word."""
        return said_of(self.verdict, self.action)

    @property
    def voter(self) -> str:
        """Whom it counts as: two names of one verified person are one, and so are all names of one account."""
        if self.proof == Proof.ACCOUNT and self.account:
            return person(self.account)
        return person(self.person or self.by)

    def is_of(self, other: Decision) -> bool:
        """Return whether the same person said both: by account and by token is one where they are listed with both."""
        return not self._names.isdisjoint(other._names)

    @property
    def _names(self) -> frozenset[str]:
        by_account = self.proof == Proof.ACCOUNT and self.person
        return frozenset((self.voter, person(self.person))) if by_account else frozenset((self.voter,))

    @property
    def identity(self) -> Identity:
        """Who said it."""
        return Identity(self.by, self.person, self.proof, self.level, self.account, self.claimed)

    @property
    def whose(self) -> dict[str, str]:
        """Who said it, in parts: the name that people are shown, and what is known of it."""
        known = {"person": self.person, "proof": self.proof, "account": self.account, "claimed": self.claimed}
        return {"by": self.by, **{key: value for key, value in known.items() if value}}

    def to_dict(self) -> dict[str, object]:
        """Return all fields as JSON values; `from_dict` gives back an equal decision."""
        return {
            **({"action": self.action} if self.action else {}),
            **self.whose,
            "request_id": self.request_id,
            "verdict": self.verdict.value,
            "digest": self.digest,
            "at": self.at,
            "channel": self.channel,
            "level": self.level,
            "reason": self.reason,
            "value": self.value,
            **({"without": [*self.without]} if self.without else {}),
            **({"signature": self.signature} if self.signature else {}),
        }

    def ends(self, other: Decision) -> bool:
        """Return whether an earlier vote doesn't count any more from this one on."""
        return bool(other.person) and person(other.person) in map(person, self.without)

    @classmethod
    def from_dict(cls, data: Stored) -> Decision:
        """Return the decision that `to_dict` wrote; what older versions lacked gets its default.

        Raises:
            KeyError, TypeError, ValueError: it is none.
        """
        return cls(
            request_id=data["request_id"],
            verdict=Verdict(data["verdict"]),
            by=data["by"],
            digest=data["digest"],
            at=data["at"],
            channel=data.get("channel", ""),
            level=int(data.get("level", 0)),
            reason=data.get("reason", ""),
            value=data.get("value"),
            action=data.get("action", ""),
            person=data.get("person", ""),
            proof=data.get("proof", ""),
            account=data.get("account", ""),
            claimed=data.get("claimed", ""),
            without=tuple(map(str, data.get("without", ()))),
            signature=str(data.get("signature", "")),
        )


def said_of(verdict: str, action: str) -> str:
    """Return what was done, in a word: the action that was chosen where it says more than `respond`."""
    return action if verdict == Verdict.RESPOND and action in _TELLING else str(verdict)


class Outcome(StrEnum):
    """Where a request stands."""

    PENDING = "pending"
    APPROVED = "approved"
    REJECTED = "rejected"
    EXPIRED = "expired"
    SUPERSEDED = "superseded"


@dataclass(frozen=True, slots=True)
class Resolution:
    """What the decisions amount to.

    Args:
        outcome: where the request stands.
        verdict: the verdict that stands, None while pending or superseded.
        decisions: the decisions that count towards it, in order.
        needed: approvals still missing while pending.
    """

    outcome: Outcome
    verdict: Verdict | None = None
    decisions: tuple[Decision, ...] = ()
    needed: int = 0

    @property
    def decided(self) -> bool:
        """It has an answer that a session can act on."""
        return self.verdict is not None


def request_id(
    session: str, branch: int, todo_id: str, asked: int, place: Sequence[object], digest: str, lineage: str = ""
) -> str:
    """Return the id of a request: the same question at the same place always has the same id.

    Args:
        asked: how often this TODO was asked anew.
        place: node path without task ids, superstep and index, for questions from inside a team.
        digest: digest of the subject.
        lineage: of the session: another session of the same name, elsewhere, asks under other ids.
    """
    return "req-" + short_id(*filter(None, (lineage,)), session, branch, todo_id, asked, list(place), digest)


def resolve(request: Request, decisions: Iterable[Decision], now: str, *, by_name: bool = False) -> Resolution:
    """Say what decisions, in the order they were recorded, amount to at a time.

    Rules, all of them here: a decision counts only when it carries the request's digest, fits its options, comes
    from somebody else than the requester, with enough level, before the deadline. Where the terms ask for several
    people or a level, it comes from a verified person. A person counts once per verdict, and until a later decision is
    without them.
    The first verdict to reach its quorum stands; a refusing verdict (reject, skip, stop) needs one person of any level
    when the terms give a veto, else the quorum too. Answers, and the values of approvals, add up only where they are
    the same. Past the deadline an undecided request expires; see `expiry_verdict`. A deadline that ends in an approval
    begins when the request is first shown.
    Supersession holds whatever was decided later.

    Args:
        request: what was asked.
        decisions: what was said.
        now: the time, ISO 8601, UTC.
        by_name: for what was settled before people were verified: names count as people.
    """
    if request.superseded:
        return Resolution(Outcome.SUPERSEDED)
    voters: dict[tuple[Verdict, str], dict[str, Decision]] = {}
    for decision in decisions:
        if _objection(request, decision, by_name=by_name):
            continue
        for said in voters.values():
            for voter in [voter for voter, earlier in said.items() if decision.ends(earlier)]:
                del said[voter]
        answer = short_id(decision.value) if decision.verdict in (Verdict.RESPOND, Verdict.APPROVE) else ""
        given = voters.setdefault((decision.verdict, answer), {})
        if by_name or not any(decision.is_of(other) for other in given.values()):
            given.setdefault(person(decision.by) if by_name else decision.voter, decision)
        if len(given) >= needed(request, decision.verdict):
            outcome = Outcome.REJECTED if decision.verdict in REFUSING else Outcome.APPROVED
            return Resolution(outcome, decision.verdict, tuple(given.values()))
    if request.expires_at and now >= request.expires_at:
        return Resolution(Outcome.EXPIRED, expiry_verdict(request))
    best = max((given for (verdict, _), given in voters.items() if verdict not in REFUSING), key=len, default={})
    return Resolution(Outcome.PENDING, None, tuple(best.values()), max(1, request.terms.quorum) - len(best))


def needed(request: Request, verdict: Verdict) -> int:
    """Return how many people have to give this verdict for it to stand."""
    return 1 if verdict in REFUSING and request.terms.veto else max(1, request.terms.quorum)


def expiry_verdict(request: Request) -> Verdict:
    """Return what it means that nobody decided in time: the terms' default, as a verdict the request knows.

    Nothing of high risk, or of unknown risk, expires into an approval, whatever its terms say.
    """
    if request.ends_in_approval:
        return Verdict.APPROVE
    for verdict in (Verdict.REJECT, Verdict.STOP, Verdict.SKIP):
        if verdict in request.options:
            return verdict
    return Verdict.REJECT


def name_of(request: Request) -> str:
    """Return what people call a request: `todo_001`, `todo_001.2` for an interrupt, `plan`, a proposal's id."""
    number = request.about.get("number", 0)
    if request.kind is Kind.INTERRUPT and number:
        return f"{request.todo_id}.{number}"
    if request.kind is Kind.EXTERNAL and "step" in request.subject:
        return f"{request.session}.{request.subject['step']}"
    return request.todo_id or str(request.about.get("proposal_id", "")) or request.kind.value


def subject_in_order(request: Request) -> Subject:
    """Return what is asked exactly, its fields in the order they were given in; a request's document sorts them."""
    subject, order = request.subject.copy(), request.about.get("order")
    if order and request.kind is Kind.INTERRUPT:
        value, schema = cast("list[Json]", in_order([subject.get("value"), subject.get("schema")], order))
        subject["value"] = value
        if "schema" in subject:
            subject["schema"] = cast("JsonObject", schema)
    elif order and "arguments" in subject:
        subject["arguments"] = cast("JsonObject", in_order(subject["arguments"], order))
    return subject


EVERYTHING = "*"
"""Stands for all TODOs of a session."""


def ended_with(request: Request, resolution: Resolution) -> tuple[str, ...]:
    """Return the TODOs that end with what was decided, so that nothing else can be decided about them.

    Returns:
        their ids, or `EVERYTHING`.
    """
    verdict = resolution.verdict
    if request.kind is Kind.PROPOSAL:
        if verdict is not Verdict.APPROVE:
            return ()
        value = resolution.decisions[-1].value if resolution.decisions else None
        return ended_by(accepted_changes(_proposed(request), value))
    if verdict not in REFUSING:
        return ()
    if request.kind is Kind.PLAN:
        reason = resolution.decisions[-1].reason if resolution.decisions else ""
        return () if reason.strip() else (EVERYTHING,)
    if request.kind is Kind.FAILURE and verdict is Verdict.STOP:
        return (EVERYTHING,)
    return (request.todo_id,) if request.todo_id else ()


def _proposed(request: Request) -> Sequence[ProposedChange]:
    found = request.subject.get("proposal")
    return found["changes"] if found is not None else ()


def accepted_numbers(value: Json) -> list[int]:
    """Return the numbers of a proposal's changes that the value of an approval names; none where it names none."""
    numbers = value.get("changes") if isinstance(value, Mapping) else None
    known = isinstance(numbers, list) and all(type(number) is int for number in numbers)
    return cast("list[int]", numbers) if known else []


def lets_run(value: Json) -> bool:
    """Whether the value of a proposal's approval lets the low-risk steps that it adds run without another question."""
    return isinstance(value, Mapping) and value.get("run") is True


def ended_by(changes: Iterable[ProposedChange]) -> tuple[str, ...]:
    """Return the TODOs that changes of the plan take away."""
    return tuple(str(change["todo_id"]) for change in changes if change.get("kind") in ("skip", "remove"))


def accepted_changes(changes: Sequence[ProposedChange], value: Json) -> list[ProposedChange]:
    """Return the changes of a proposal that an approval accepts: all of them, or those that its value names.

    Args:
        changes: the proposal's.
        value: of the approval: None, or `{"changes": [1, 3]}` with numbers from 1, `{"run": true}` for all of them
            (see `lets_run`), or both.

    Raises:
        BadInput: the value names no change, one that doesn't exist, or one that needs a step which isn't accepted.
    """
    if value is None or value == {"run": True}:
        return list(changes)
    numbers = accepted_numbers(value)
    if not numbers:
        said = Message("Name the changes of the proposal that are accepted, such as {}.", '{"changes": [1]}')
        raise BadInput(said)
    if wrong := [number for number in numbers if not 0 < number <= len(changes)]:
        raise BadInput(Message("The proposal has no change {}; it has {}.", wrong[0], len(changes)))
    left = {str(c["todo"]["id"]): n for n, c in enumerate(changes, start=1) if "todo" in c and n not in numbers}
    taken = [(number, change) for number, change in enumerate(changes, start=1) if number in numbers]
    for number, change in taken:
        needs = cast("Sequence[str]", change.get("todo", {}).get("dependencies", change.get("after", ())))
        if lacking := [left[name] for name in needs if name in left]:
            raise BadInput(Message("Change {} needs change {}; accept both.", number, lacking[0]))
    return [change for _, change in taken]


_AHEAD = timedelta(seconds=10)
"""How far ahead the clock of who writes beside us may be; what is further ahead was written under a wrong clock."""


def was_since(at: str, began: str, now: str) -> bool:
    """Return whether something happened after a command was begun: ISO 8601 times, UTC; `began` may be empty."""
    try:
        return bool(began) and began <= at <= (datetime.fromisoformat(now) + _AHEAD).isoformat(timespec="microseconds")
    except ValueError:
        return False


def past_of(decision: Decision) -> str:
    """Return what became of a question by a decision, in a word: `approved`."""
    return past_word(decision.said)


def closed_words(request: Request, resolution: Resolution, now: str) -> str:
    """Return the sentence for who comes too late: what was said, by whom and when, or why it isn't asked any more.

    Args:
        request: takes no answer any more.
        resolution: what its decisions amount to.
        now: ISO 8601, UTC.
    """
    name = step_name(name_of(request))
    if resolution.outcome is Outcome.SUPERSEDED:
        gone = request.superseded or Supersession(Cause.ADVANCED)
        if gone.cause is Cause.FILES:
            return Message(
                "This question was replaced: {} changed. Look at the new one; what no step executes goes into "
                "pins.exclude of hitl.toml.",
                gone.detail,
            )
        if not gone.ended_at:
            return Message("This question was replaced ({}); look at the new one.", gone.word)
        return Message(
            "Answered already: {} was {} by {} at {}.", name, gone.word, gone.who, _clock(gone.ended_at, now)
        )
    if resolution.outcome is Outcome.EXPIRED or not resolution.decisions:
        return Message("This question expired at {}.", request.expires_at or request.deadline)
    last = resolution.decisions[-1]
    return Message(
        "Answered already: {} was {} by {} at {}.", name, past_of(last), plain_name(last.by), _clock(last.at, now)
    )


def _clock(at: str, now: str) -> str:
    """Return a time as people read it, in their own zone: `12:03`, with the date when it isn't today."""
    try:
        then, today = (datetime.fromisoformat(text).astimezone() for text in (at, now))
    except ValueError:
        return at
    return then.strftime("%H:%M" if then.date() == today.date() else "%Y-%m-%d %H:%M")


def check_decision(
    request: Request | None,
    earlier: Sequence[Decision],
    decision: Decision,
    now: str,
    resolution: Resolution | None = None,
) -> None:
    """Check that a decision may be recorded now.

    Args:
        request: what it is about; None where there is no such request.
        earlier: decisions on it so far, in order.
        decision: what was said.
        now: ISO 8601, UTC.
        resolution: what the record says the earlier ones amount to; None to work it out.

    Raises:
        Refused: with reason `unknown`, `superseded`, `late`, `repeated`, `stale`, `unshown` or `not_allowed`.
    """
    if request is None:
        raise Refused(Message("No request {}.", decision.request_id), reason="unknown")
    if resolution is None:
        resolution = resolve(request, earlier, now)
    if resolution.outcome is Outcome.SUPERSEDED:
        raise Refused(closed_words(request, resolution, now), reason="superseded")
    if resolution.outcome is Outcome.EXPIRED:
        raise Refused(closed_words(request, resolution, now), reason="late")
    if resolution.decided:
        if not resolution.decisions:
            raise Refused(Message("This was already decided."), reason="late")
        last = resolution.decisions[-1]
        own = last.is_of(decision)
        reason = "repeated" if own and last.verdict == decision.verdict else "late"
        raise Refused(closed_words(request, resolution, now), reason=reason)
    objection = _objection(request, decision)
    if objection:
        raise Refused(objection[1], reason=objection[0])
    if not request.first_shown and _needs_eyes(request, decision):
        raise Refused(Message("Nobody was shown this question yet; look at it first, then decide."), reason="unshown")
    counting = [d for n, d in enumerate(earlier) if not any(one.ends(d) for one in (*earlier[n + 1 :], decision))]
    same = [d for d in counting if d.verdict == decision.verdict and not _objection(request, d)]
    if any(d.is_of(decision) for d in same):
        raise Refused(
            Message("{} already said {}; this needs another person.", decision.person or decision.by, decision.verdict),
            reason="repeated",
        )
    if decision.verdict is Verdict.APPROVE:
        _check_value(same, decision)
        if request.kind is Kind.PROPOSAL:
            _check_parts(request, decision.value)


def _check_value(earlier: Sequence[Decision], decision: Decision) -> None:
    """Refuse an approval that would change what others approved: the value is a part of it."""
    other = next((d for d in earlier if short_id(d.value) != short_id(decision.value)), None)
    if other is None:
        return
    said = Message("{} approved this without a value; do the same, or reject it.", plain_name(other.by))
    if other.value is not None:
        value = clip(canonical(other.value).decode(errors="replace"))
        said = Message("{} approved this with the value {}; do the same, or reject it.", plain_name(other.by), value)
    raise Refused(said, reason="not_allowed")


def _check_parts(request: Request, value: Json) -> None:
    try:
        accepted_changes(_proposed(request), value)
    except BadInput as error:
        raise Refused(error.message, reason="not_allowed") from error


def _needs_eyes(request: Request, decision: Decision) -> bool:
    """Return whether a decision may only follow the request's showing: it lets something of high risk happen.

    What a standing rule says was shown and confirmed when the rule was made.
    """
    lets = decision.verdict not in REFUSING and decision.channel != BY_RULE
    return lets and request.risk_class is Risk.HIGH


def needs_verified(terms: Terms) -> bool:
    """Return whether only verified people count: where several are needed, or a level."""
    return terms.quorum > 1 or terms.level > 0


def check_ending(
    name: str, terms: Terms, who: Sequence[Identity], amounts_to: Verdict | None, requester: str = ""
) -> None:
    """Check that these people may end what is asked, or would be, by other means than an answer.

    Args:
        name: what is asked about, as people call it.
        terms: what it takes to decide it.
        who: who ends it, together.
        amounts_to: the verdict that this amounts to: `approve` for a step that is said to be done, a refusing one for a
            step that is taken away; None where it is asked anew, which takes one verified person.
        requester: who asked, and so can't decide.

    Raises:
        Refused: it takes others, or more people.
    """
    verdict, asked = amounts_to or Verdict.REJECT, replace(terms, veto=terms.veto or amounts_to is None)
    objection, voters = None, list[Decision]()
    for identity in who:
        said = Decision(
            "",
            verdict,
            identity.name,
            "",
            "",
            level=identity.level,
            person=identity.person,
            proof=identity.proof,
            account=identity.account,
        )
        found = _barred(asked, requester, said)
        objection = objection or found
        if not found and not any(said.is_of(other) for other in voters):
            voters.append(said)
    if not voters and objection is not None:
        raise Refused(objection[1], reason=objection[0])
    if len(voters) >= (1 if verdict in REFUSING and asked.veto else max(1, terms.quorum)):
        return
    if verdict in REFUSING:
        raise Refused(
            Message(
                "Rejecting {} needs {} people; each of them must reject it.",
                step_name(name),
                terms.quorum,
            ),
            reason="not_allowed",
            help=f"/todo reject {name} REASON",
        )
    raise Refused(
        Message(
            "{} needs {} people, so one alone can't set it to completed; approve or reject it.",
            step_name(name),
            terms.quorum,
        ),
        reason="not_allowed",
        help=f"/todo approve {name}\n/todo reject {name} REASON",
    )


def _objection(request: Request, decision: Decision, *, by_name: bool = False) -> tuple[str, str] | None:
    """Return reason and sentence when a decision can't count for a request, None when it can."""
    if decision.digest != request.digest:
        return "stale", Message("The question changed since it was shown; read it again, then decide.")
    if decision.verdict not in request.options:
        options = ", ".join(request.options)
        return "not_allowed", Message('"{}" doesn\'t answer this question; it takes {}.', decision.verdict, options)
    if barred := _barred(request.terms, request.requester, decision, by_name=by_name):
        return barred
    if request.expires_at and decision.at >= request.expires_at:
        return "late", Message("This question expired at {}.", request.expires_at)
    return None


def _barred(terms: Terms, requester: str, decision: Decision, *, by_name: bool = False) -> tuple[str, str] | None:
    """Return reason and sentence when somebody's word can't count under such terms, None when it can."""
    names = {person(decision.by), person(decision.person), person(decision.claimed), decision.voter}
    if requester and person(requester) in names:
        return "not_allowed", Message("{} asked for this and can't decide it.", decision.by)
    if needs_verified(terms) and not decision.person and not by_name:
        return (
            "not_allowed",
            Message(
                "This needs verified approvers, and {} isn't one; to add one: hitl-tui approver add NAME",
                decision.by,
            ),
        )
    refuses = decision.verdict in REFUSING and terms.veto
    if decision.level < terms.level and not refuses:
        return (
            "not_allowed",
            Message("This needs an approver of level {}; {} has level {}.", terms.level, decision.by, decision.level),
        )
    return None
