"""Risk classes, modes and the rules that say who is asked before something runs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from fnmatch import fnmatchcase

from hitl_tui.core.json_text import short_id
from hitl_tui.core.json_types import Json, JsonObject, Stored
from hitl_tui.core.messages import Message


class Risk(StrEnum):
    """How bad it can get: `low` changes nothing outside the session."""

    LOW = "low"
    MEDIUM = "medium"
    HIGH = "high"


class Mode(StrEnum):
    """When a person is asked: every step, the plan and risky steps, or risky steps only."""

    STEP = "step"
    PLAN = "plan"
    RISK = "risk"


class Ruling(StrEnum):
    """What a rule says of a TODO."""

    ALLOW = "allow"
    ASK = "ask"
    DENY = "deny"


@dataclass(frozen=True, slots=True)
class Terms:
    """What it takes to decide a request.

    Args:
        quorum: distinct approvers needed, at least 1.
        level: lowest approver level that counts.
        deadline: seconds until it expires; 0 for never.
        on_deadline: `reject` or `approve`, what expiry stands for.
        veto: one rejection is enough to refuse.
    """

    quorum: int = 1
    level: int = 0
    deadline: float = 0.0
    on_deadline: str = "reject"
    veto: bool = True

    def to_dict(self) -> dict[str, Json]:
        """Return all fields as JSON values; `from_dict` gives back equal terms."""
        return {
            "quorum": self.quorum,
            "level": self.level,
            "deadline": self.deadline,
            "on_deadline": self.on_deadline,
            "veto": self.veto,
        }

    @classmethod
    def from_dict(cls, data: Stored) -> Terms:
        """Return the terms these fields describe; what is missing gets its default."""
        known = cls()
        return cls(
            quorum=int(data.get("quorum", known.quorum)),
            level=int(data.get("level", known.level)),
            deadline=float(data.get("deadline", known.deadline)),
            on_deadline=str(data.get("on_deadline", known.on_deadline)),
            veto=bool(data.get("veto", known.veto)),
        )


@dataclass(frozen=True, slots=True)
class Rule:
    """One `[[policy]]` of hitl.toml; a field left empty matches everything.

    With `tool` it is about calls of that tool that a team asks for from inside, and about no TODO; with `arguments`
    only about calls whose arguments fit that.

    Args:
        decision: what it says.
        team, risk, command: which TODOs it is about.
        terms: what it takes to decide where it asks.
        tool: which tool's calls it is about.
        arguments: JSON Schema; an argument of another type than it speaks about falls under the rule, too.
        agent, action: patterns with `*`: which steps of tasks outside of sessions it is about.
    """

    decision: Ruling
    team: str = ""
    risk: str = ""
    command: str = ""
    terms: Terms = Terms()
    tool: str = ""
    arguments: JsonObject = field(default_factory=dict)
    agent: str = ""
    action: str = ""

    def matches(self, team: str, risk: Risk, command: str) -> bool:
        """Return whether it is about a TODO."""
        if self.tool or self.agent or self.action:
            return False
        return self.team in ("", team) and self.risk in ("", risk.value) and self.command in ("", command)

    def about_call(self, team: str, risk: Risk, tool: str) -> bool:
        """Return whether it is about calls of a tool, whatever their arguments."""
        return bool(self.tool) and self.tool == tool and self.team in ("", team) and self.risk in ("", risk.value)

    def about_step(self, agent: str, action: str) -> bool:
        """Return whether it is about a step of a task outside of sessions; those are of high risk."""
        if self.tool or self.team or self.command or self.risk not in ("", Risk.HIGH):
            return False
        wanted = ((self.agent, agent), (self.action, action))
        return all(not pattern or fnmatchcase(text.casefold(), pattern.casefold()) for pattern, text in wanted)

    def to_dict(self) -> dict[str, Json]:
        """Return the rule as JSON values, its terms beside its own fields."""
        found: dict[str, Json] = {
            "decision": self.decision.value,
            "team": self.team,
            "risk": self.risk,
            "command": self.command,
            **self.terms.to_dict(),
        }
        if self.tool:
            found |= {"tool": self.tool, "arguments": dict(self.arguments)}
        return {**found, **{key: text for key, text in (("agent", self.agent), ("action", self.action)) if text}}

    @classmethod
    def from_dict(cls, data: Stored) -> Rule:
        """Return the rule that `to_dict` gave these fields of.

        Raises:
            ValueError: they are none.
        """
        try:
            return cls(
                decision=Ruling(data["decision"]),
                team=str(data.get("team", "")),
                risk=str(data.get("risk", "")),
                command=str(data.get("command", "")),
                terms=Terms.from_dict(data),
                tool=str(data.get("tool", "")),
                arguments=dict(data.get("arguments") or {}),
                agent=str(data.get("agent", "")),
                action=str(data.get("action", "")),
            )
        except (KeyError, TypeError) as error:
            raise ValueError(Message("is no rule")) from error


@dataclass(frozen=True, slots=True)
class Judgement:
    """What the policy says of one TODO: the ruling, its terms, and which rule (1-based; 0 is the mode)."""

    ruling: Ruling
    terms: Terms
    rule: int


@dataclass(frozen=True, slots=True)
class Policy:
    """The rules of a workspace, first match decides.

    In mode `step` everything asks; `deny` always holds. Where no rule matches, modes `plan` and `risk` let low
    risk pass and ask for the rest.

    Args:
        rules: in the order they are tried.
        beside: another policy that holds as well: of what the two say, the stricter counts.
        seal: what else an approval is bound to, part of the version; empty for nothing.
        version: a digest of the rules; an approval given under other rules doesn't hold.
    """

    rules: Sequence[Rule] = ()
    beside: Policy | None = None
    seal: str = ""
    version: str = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        # Part of every question's subject, so it is computed once and not for each.
        more = [self.beside.version if self.beside else "", self.seal] if self.beside or self.seal else []
        object.__setattr__(self, "version", short_id("policy", [rule.to_dict() for rule in self.rules], *more))

    @property
    def all_rules(self) -> tuple[Rule, ...]:
        """Every rule that may count, those of the policy beside included."""
        return (*self.rules, *(self.beside.all_rules if self.beside else ()))

    def judge(self, mode: Mode, team: str, risk: Risk, command: str = "") -> Judgement:
        """Return what has to happen before a TODO of this team and risk runs."""
        own = self._judge(mode, team, risk, command)
        if self.beside is None:
            return own
        return stricter(own, self.beside.judge(mode, team, risk, command))

    def _judge(self, mode: Mode, team: str, risk: Risk, command: str) -> Judgement:
        for number, rule in enumerate(self.rules, start=1):
            if rule.matches(team, risk, command):
                if rule.decision is Ruling.ALLOW and mode is Mode.STEP:
                    return Judgement(Ruling.ASK, rule.terms, number)
                return Judgement(rule.decision, rule.terms, number)
        allowed = mode is not Mode.STEP and risk is Risk.LOW
        return Judgement(Ruling.ALLOW if allowed else Ruling.ASK, Terms(), 0)

    def judge_step(self, agent: str, action: str) -> Judgement:
        """Return what has to happen before a step of a task outside of sessions goes on; none goes on unasked."""
        own = Judgement(Ruling.ASK, Terms(), 0)
        for number, rule in enumerate(self.rules, start=1):
            if rule.about_step(agent, action):
                ruling = Ruling.ASK if rule.decision is Ruling.ALLOW else rule.decision
                own = Judgement(ruling, rule.terms, number)
                break
        return own if self.beside is None else stricter(own, self.beside.judge_step(agent, action))


_STRICTNESS = (Ruling.ALLOW, Ruling.ASK, Ruling.DENY)


def stricter(one: Judgement, other: Judgement) -> Judgement:
    """Return the judgement that fulfils both: the harder ruling, on terms that fulfil the terms of both."""
    first, second = sorted((one, other), key=lambda j: _STRICTNESS.index(j.ruling), reverse=True)
    if first.ruling is not second.ruling and second.ruling is Ruling.ALLOW:
        return first
    return replace(first, terms=stricter_terms(first.terms, second.terms))


def stricter_terms(one: Terms, other: Terms) -> Terms:
    """Return terms that fulfil both.

    A deadline that rejects holds; one that approves only where both say so, and then the later one.
    """
    rejecting = [t.deadline for t in (one, other) if t.deadline and t.on_deadline != "approve"]
    approving = [t.deadline for t in (one, other) if t.deadline and t.on_deadline == "approve"]
    deadline, end = (min(rejecting), "reject") if rejecting else (0.0, "reject")
    if len(approving) == 2:
        deadline, end = max(approving), "approve"
    return Terms(
        quorum=max(one.quorum, other.quorum),
        level=max(one.level, other.level),
        deadline=deadline,
        on_deadline=end,
        veto=one.veto or other.veto,
    )
