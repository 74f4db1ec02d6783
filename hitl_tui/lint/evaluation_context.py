"""The state of a walk: where it is, what happened on the way, and what was found."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Final, Protocol

from hitl_tui.lint.abstract_values import FunctionRef, Given, Module, Scope, Source, Value, brief_name, taint
from hitl_tui.lint.findings import Check, Effect, Finding, Place, Rule
from hitl_tui.lint.flow_state import MANY, Catch, Done, Flow, Loop, Site, Summary
from hitl_tui.lint.observations import Observation, QuestionAsked, ShownValueUsed
from hitl_tui.lint.source_modules import Sources

MOST_STEPS: Final = 150_000
"""Expressions and statements that are looked at before calls are no longer followed."""


@dataclass(slots=True)
class Frame:
    """A function or module while it is walked.

    Args:
        scope: its names.
        name: for people.
        idempotent: it is declared to be.
    """

    scope: Scope
    name: str
    idempotent: bool = False
    flow: Flow = field(default_factory=Flow)
    loops: list[Loop] = field(default_factory=list)
    catches: list[Catch] = field(default_factory=list)
    done: dict[Effect, Done] = field(default_factory=dict)
    sites: dict[Site, None] = field(default_factory=dict)
    returns: list[Value] = field(default_factory=list)
    exits: list[Flow] = field(default_factory=list)
    shown: set[Source] = field(default_factory=set)
    used: set[Source] = field(default_factory=set)
    yields: Catch | None = None
    findings: set[Finding] = field(default_factory=set)

    @property
    def module(self) -> Module:
        """Return the module whose source this is."""
        return self.scope.module


class Walk(Protocol):
    """What the parts of the evaluator ask of each other where imports go the other way."""

    def assign(self, target: ast.expr, value: Value) -> None:
        """Bind a target."""

    def block(self, body: Sequence[ast.stmt]) -> None:
        """Walk statements in order."""

    def call(self, function: Value, given: Given, node: ast.expr, what: str) -> Value:
        """Call something; note what it does."""

    def follow(self, function: FunctionRef, given: Given) -> Summary:
        """Walk a function's body with these arguments; return what is known of the call."""

    def module_scope(self, module: Module) -> Scope:
        """Return a module's names, walking it first where that hasn't happened."""


class EvaluationContext:
    """Where a walk is, and what it noted.

    Args:
        sources: where modules come from.
        rules: judge what happens.

    Attributes:
        frame: the function or module that is being walked; read at every name, so no property.
    """

    frame: Frame

    def __init__(self, sources: Sources, rules: Iterable[Rule]) -> None:
        self.sources = sources
        self.found: dict[tuple[str, Place], Finding] = {}
        self.frames: list[Frame] = []
        self.checking = False
        self.steps = 0
        self._checks: dict[type, list[tuple[Rule, Check]]] = {}
        for rule in rules:
            for kind, check in rule.checks.items():
                self._checks.setdefault(kind, []).append((rule, check))

    @property
    def flow(self) -> Flow:
        """Return what may have happened on the way here."""
        return self.frame.flow

    @property
    def exhausted(self) -> bool:
        """Whether so much was looked at that calls are no longer followed."""
        return self.steps > MOST_STEPS

    def place(self, node: ast.AST) -> Place:
        """Return where a node of the current source stands."""
        return self.frame.module.place(node)

    @contextmanager
    def within(self, frame: Frame) -> Iterator[Frame]:
        """Walk something in a frame of its own."""
        self.frames.append(frame)
        self.frame = frame
        try:
            yield frame
        finally:
            self.frames.pop()
            if self.frames:
                self.frame = self.frames[-1]

    def observe(self, seen: Observation) -> None:
        """Let the rules judge something while graphs are checked; a rule is broken once at a place."""
        if not self.checking:
            return
        for rule, check in self._checks.get(type(seen), ()):
            for place, message in check(seen):
                finding = self.found.setdefault((rule.id, place), Finding(rule, place, message))
                if self.frames:
                    self.frame.findings.add(finding)

    # What happens

    def note_effect(self, what: str, node: ast.AST, *, certain: bool = True, idempotent: str = "") -> None:
        """Note that something is done to the world here."""
        frame = self.frame
        place = self.place(node)
        if frame.idempotent or self._is_declared(node):
            idempotent = "declared"
        effect = Effect(brief_name(what), place, idempotent, certain)
        self._note_done(effect, None, before=False, after=bool(frame.flow.asked))

    def _is_declared(self, node: ast.AST) -> bool:
        declared = self.frame.module.declared
        first = getattr(node, "lineno", 1)
        last = getattr(node, "end_lineno", None) or first
        return bool(declared) and any(line in declared for line in range(first, last + 1))

    def _note_done(self, effect: Effect, call: Place | None, *, before: bool, after: bool) -> None:
        frame = self.frame
        if frame.idempotent and not effect.idempotent:
            effect = replace(effect, idempotent="declared")
        was = frame.done.get(effect)
        frame.done[effect] = Done(effect, before or bool(was and was.before), after or bool(was and was.after))
        if frame.flow.alive:
            frame.flow.effects.setdefault(effect, call)

    def note_call(self, summary: Summary, node: ast.AST, what: str) -> None:
        """Note what a call did and asked, in an order that its own walk has judged already."""
        place = self.place(node)
        self.frame.findings |= summary.findings
        after = bool(self.flow.asked)
        self._note_sources(summary.used)
        if summary.sites:
            self.note_question(Site(place, what, summary.sites[0].nested), low=summary.low, high=summary.high)
            self.note_shown(summary.shown)
        declared = self._is_declared(node)
        for done in summary.done:
            effect = done.effect
            if declared and not effect.idempotent:
                effect = replace(effect, idempotent="declared")
            self._note_done(effect, place, before=done.before, after=after or done.after)

    def note_question(self, site: Site, *, low: int = 1, high: int = 1) -> None:
        """Note that the node may stop and ask here; what was done before may be done again."""
        frame, flow = self.frame, self.flow
        for effect in flow.effects:
            frame.done[effect] = replace(frame.done.get(effect, Done(effect, True, False)), before=True)
        self.observe(QuestionAsked(site, frame.catches, frame.loops, flow))
        frame.sites[site] = None
        flow.asked[site] = None
        flow.low, flow.high = min(MANY, flow.low + low), min(MANY, flow.high + high)

    def note_shown(self, sources: frozenset[Source]) -> None:
        """Note what a question shows that may differ another time."""
        self.frame.shown |= sources
        self.flow.shown |= sources

    def note_left(self, values: Sequence[Value]) -> None:
        """Note values that leave a function: they must be what was shown in it."""
        for source in taint(values).sources & self.flow.shown:
            self.observe(ShownValueUsed(source))

    def note_use(self, values: Sequence[Value]) -> None:
        """Note what acts on the world: it must be what was shown, in this function and by its callers."""
        self._note_sources(taint(values).sources)

    def _note_sources(self, used: frozenset[Source]) -> None:
        self.frame.used |= used
        for source in used & self.flow.shown:
            self.observe(ShownValueUsed(source))
