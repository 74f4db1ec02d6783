"""Risk classes, modes and the rules that say who is asked before something runs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum

from hitl_tui.core.given_values import given_values, is_held
from hitl_tui.core.json_text import short_id
from hitl_tui.core.json_types import Json, JsonObject, Stored
from hitl_tui.core.messages import Message
from hitl_tui.core.safe_text import one_line


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


class Of(StrEnum):
    """What rules are about."""

    TODO = "todo"  # a step of a session
    TOOL = "tool"  # a call that a team of a session asks for from inside
    STEP = "step"  # a step of a task outside of sessions, or a call of an agent there
    PLAN = "plan"  # whether a plan may begin
    PROPOSAL = "proposal"  # whether a plan shall change


@dataclass(frozen=True, slots=True)
class Facts:
    """What rules look at.

    Args:
        of: what it is.
        team, risk, command: of a TODO, or of the one that asks for a tool's call.
        tool: whose call it is.
        agent, action: of a step.
        arguments: what it would run with, as people give it; None where that isn't known.
        exact: of a TODO, the exact input that holds those; None where it is what people give.
    """

    of: Of = Of.TODO
    team: str = ""
    risk: Risk = Risk.HIGH
    command: str = ""
    tool: str = ""
    agent: str = ""
    action: str = ""
    arguments: JsonObject | None = None
    exact: JsonObject | None = None

    @classmethod
    def of_todo(cls, team: str, risk: Risk, command: str = "", arguments: JsonObject | None = None) -> Facts:
        """Return what rules look at in a TODO.

        Args:
            team, risk, command: of the TODO.
            arguments: its exact input; None where that isn't known.
        """
        if arguments is None:
            return cls(Of.TODO, team, risk, command)
        # What its approval is bound to besides is nothing that anybody gives.
        exact = {name: value for name, value in arguments.items() if name != "programs"}
        if not is_held(exact):
            return cls(Of.TODO, team, risk, command, arguments=exact)
        given = given_values(exact)
        if "argv" in exact:  # its parameters are declared, so that none hides a part of the exact input
            exact = {name: value for name, value in exact.items() if name not in given}
        return cls(Of.TODO, team, risk, command, arguments=given, exact=exact)

    @property
    def request(self) -> str:
        """What is asked about a whole plan: `plan` or `proposal`; empty for everything else."""
        return self.of.value if self.of in (Of.PLAN, Of.PROPOSAL) else ""


class Fit(StrEnum):
    """Whether a rule is about something."""

    YES = "yes"
    MAYBE = "maybe"  # its arguments aren't known, or of a type that the rule doesn't speak about
    NO = "no"


_FITS = (Fit.NO, Fit.MAYBE, Fit.YES)


def _fit(schema: JsonObject, arguments: JsonObject) -> Fit:
    from hitl_tui.core.interrupts.json_schema import fits, is_strange

    if is_strange(schema, dict(arguments)):
        return Fit.MAYBE
    return {True: Fit.YES, False: Fit.NO, None: Fit.MAYBE}[fits(schema, dict(arguments))]


def is_like(text: str, pattern: str) -> bool:
    """Return whether a text is what a pattern says, in which `*` is any text, and everything else itself."""
    first, *rest = pattern.split("*")
    if not rest:
        return text == pattern
    *between, last = rest
    at, end = len(first), len(text) - len(last)
    if at > end or not (text.startswith(first) and text.endswith(last)):
        return False
    for part in between:
        found = text.find(part, at, end)
        if found < 0:
            return False
        at = found + len(part)
    return True


@dataclass(frozen=True, slots=True)
class Match:
    """How a rule fits, and the first of its conditions that doesn't: the name of a field, empty where all do."""

    fit: Fit
    condition: str = ""


@dataclass(frozen=True, slots=True)
class Rule:
    """One `[[policy]]` of hitl.toml; a field left empty matches everything.

    With `tool` it is about calls of that tool that a team asks for from inside, and about no TODO; with `agent` or
    `action` about steps outside of sessions alone; with `request` about that question of a session alone; with
    `arguments` only about what has arguments that fit that.

    Args:
        decision: what it says.
        team, risk, command: which TODOs it is about.
        terms: what it takes to decide where it asks.
        tool: which tool's calls it is about.
        arguments: JSON Schema. What may fit, since something of it isn't known, lacks, or is of another type than the
            schema speaks about, falls under a rule that asks or denies, and never under one that allows.
        agent, action: patterns with `*`: which steps of tasks outside of sessions it is about.
        name: what people call it.
        request: `plan` or `proposal`: it is about that question.
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
    name: str = ""
    request: str = ""

    def match(self, facts: Facts) -> Match:
        """Return whether it is about these facts, and if not, which condition isn't met."""
        if condition := self._unmet(facts):
            return Match(Fit.NO, condition)
        if not self.arguments:
            return Match(Fit.YES)
        fit = self._arguments_fit(facts)
        if fit is Fit.MAYBE and self.decision is Ruling.ALLOW:
            fit = Fit.NO
        return Match(fit, "" if fit is Fit.YES else "arguments")

    def _unmet(self, facts: Facts) -> str:
        """Return the first condition that isn't met, whatever the arguments; empty for none."""
        if self.request != facts.request:
            return "request"
        if bool(self.tool) != (facts.of is Of.TOOL):
            return "tool"
        step = facts.of is Of.STEP
        if step and self.decision is Ruling.ALLOW and not (self.agent or self.action):
            return "agent"  # what allows steps of a session was never meant for programs outside
        for condition in ("team", "command") if step else ("agent", "action"):
            if getattr(self, condition):
                return condition
        for condition in ("team", "command", "tool", "risk"):
            if getattr(self, condition) not in ("", getattr(facts, condition)):
                return condition
        for condition, pattern, text in (("agent", self.agent, facts.agent), ("action", self.action, facts.action)):
            if not pattern or is_like(text, pattern):
                continue
            # A name that is written otherwise may be the same to whoever carries it out: nothing is allowed by that.
            if self.decision is Ruling.ALLOW or not is_like(text.casefold(), pattern.casefold()):
                return condition
        return ""

    def _arguments_fit(self, facts: Facts) -> Fit:
        """Return whether the arguments are those it speaks of.

        A schema that names a part of an exact input, such as `input` or `argv`, is held against that as well: what
        asks or denies is about what fits either, what allows only about what fits both.
        """
        if facts.arguments is None:
            return Fit.MAYBE
        given = _fit(self.arguments, facts.arguments)
        if facts.exact is None:
            return given
        from hitl_tui.core.interrupts.json_schema import fields_named

        named = fields_named(self.arguments)
        within = bool(named & (facts.exact.keys() - facts.arguments.keys()))
        if not within and (self.decision is Ruling.ALLOW or not named & facts.exact.keys()):
            return given
        exact = _fit(self.arguments, facts.exact)
        if self.decision is Ruling.ALLOW:
            return min(given, exact, key=_FITS.index)
        # What only lacks in one of the two was said of the other one.
        if given is Fit.MAYBE and not named & facts.arguments.keys():
            given = Fit.NO
        if exact is Fit.MAYBE and not within:
            exact = Fit.NO
        return max(given, exact, key=_FITS.index)

    def to_dict(self) -> dict[str, Json]:
        """Return the rule as JSON values, its terms beside its own fields."""
        found: dict[str, Json] = {
            "decision": self.decision.value,
            "team": self.team,
            "risk": self.risk,
            "command": self.command,
            **self.terms.to_dict(),
        }
        if self.tool or self.arguments:
            found |= {"tool": self.tool, "arguments": dict(self.arguments)}
        more = (("agent", self.agent), ("action", self.action), ("name", self.name), ("request", self.request))
        return {**found, **{key: text for key, text in more if text}}

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
                name=str(data.get("name", "")),
                request=str(data.get("request", "")),
            )
        except (KeyError, TypeError) as error:
            raise ValueError(Message("is no rule")) from error


@dataclass(frozen=True, slots=True)
class Judgement:
    """What the policy says of one TODO: ruling, terms, and the rule's number (from 1; 0 is the mode) and name."""

    ruling: Ruling
    terms: Terms
    rule: int
    name: str = ""

    @property
    def label(self) -> str:
        """The rule as people know it: `2 "no payments to Mallory"`."""
        return rule_label(self.rule, self.name)


def rule_label(rule: int, name: str) -> str:
    """Return a rule's number, with its name where it has one."""
    return f'{rule} "{one_line(name, 80)}"' if name else str(rule)


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

    def judge(
        self, mode: Mode, team: str, risk: Risk, command: str = "", arguments: JsonObject | None = None
    ) -> Judgement:
        """Return what has to happen before a TODO of this team and risk runs."""
        return self.judge_facts(Facts.of_todo(team, risk, command, arguments), mode)

    def judge_step(self, agent: str, action: str, arguments: JsonObject | None = None) -> Judgement:
        """Return what has to happen before a step of a task outside of sessions goes on."""
        return self.judge_facts(Facts(Of.STEP, agent=agent, action=action, arguments=arguments), Mode.RISK)

    def judge_facts(self, facts: Facts, mode: Mode) -> Judgement:
        """Return what has to happen before something runs.

        The first rule that is about it decides. Of one that only may be, and of what would be said without it, the
        stricter counts.
        """
        own = self._judge(facts, mode)
        return own if self.beside is None else stricter(own, self.beside.judge_facts(facts, mode))

    def _judge(self, facts: Facts, mode: Mode) -> Judgement:
        judged: Judgement | None = None
        for number, rule in enumerate(self.rules, start=1):
            fit = rule.match(facts).fit
            if fit is Fit.NO:
                continue
            asks = rule.decision is Ruling.ALLOW and mode is Mode.STEP and facts.of is Of.TODO
            said = Judgement(Ruling.ASK if asks else rule.decision, rule.terms, number, rule.name)
            judged = said if judged is None else stricter(judged, said)
            if fit is Fit.YES:
                return judged
        allowed = facts.of is Of.TODO and mode is not Mode.STEP and facts.risk is Risk.LOW
        rest = Judgement(Ruling.ALLOW if allowed else Ruling.ASK, Terms(), 0)
        return rest if judged is None else stricter(judged, rest)


_STRICTNESS = (Ruling.ALLOW, Ruling.ASK, Ruling.DENY)


def strictness(judgement: Judgement) -> int:
    """Return how strict a judgement is: the higher, the stricter."""
    return _STRICTNESS.index(judgement.ruling)


def stricter(one: Judgement, other: Judgement) -> Judgement:
    """Return the judgement that fulfils both: the harder ruling, on terms that fulfil the terms of both."""
    first, second = sorted((one, other), key=strictness, reverse=True)
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
