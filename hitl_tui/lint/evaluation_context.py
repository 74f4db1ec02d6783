"""What every part of the walk shares: where it is, what it found, and how a question or an effect is noted."""

from __future__ import annotations

import ast
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Final

from hitl_tui.core.messages import Message
from hitl_tui.core.safe_text import one_line
from hitl_tui.lint.abstract_values import FunctionRef, Given, GraphRef, Module, Ref, Scope, Source, Value
from hitl_tui.lint.findings import Effect, Finding, Place
from hitl_tui.lint.flow_state import MANY, Catch, Done, Flow, Guard, Loop, Site, Summary
from hitl_tui.lint.rules import RULES
from hitl_tui.lint.source_modules import Sources

MOST_STEPS: Final = 150_000
"""Expressions and statements that are looked at before calls are no longer followed."""

DEEPEST: Final = 25
"""How many calls are followed into each other."""


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
    yields: Catch | None = None
    rules: set[str] = field(default_factory=set)

    @property
    def module(self) -> Module:
        """Return the module whose source this is."""
        return self.scope.module


class Base(ABC):
    """Walks source.

    Args:
        sources: where modules come from.
    """

    def __init__(self, sources: Sources) -> None:
        self.sources = sources
        self.found: dict[tuple[str, Place], Finding] = {}
        self.frames: list[Frame] = []
        self.following: list[ast.AST] = []
        self.graphs: list[GraphRef] = []
        self.checking = False
        self.steps = 0
        self.known: dict[object, Summary] = {}
        self.asking: dict[Ref, bool] = {}
        self.reached: set[ast.AST] = set()
        self.checked: set[ast.AST] = set()
        self.defined: list[FunctionRef] = []

    @property
    def frame(self) -> Frame:
        """Return the function or module that is being walked."""
        return self.frames[-1]

    @property
    def flow(self) -> Flow:
        """Return what may have happened on the way here."""
        return self.frames[-1].flow

    @property
    def exhausted(self) -> bool:
        """Whether so much was looked at that calls are no longer followed."""
        return self.steps > MOST_STEPS

    def place(self, node: ast.AST) -> Place:
        """Return where a node of the current source stands."""
        return self.frame.module.place(node)

    def report(self, rule: str, place: Place, said: Message) -> None:
        """Note a finding, once a place and rule."""
        if self.checking:
            self.found.setdefault((rule, place), Finding(RULES[rule], place, said))
            if self.frames:
                self.frame.rules.add(rule)

    @contextmanager
    def within(self, frame: Frame) -> Iterator[Frame]:
        """Walk something in a frame of its own."""
        self.frames.append(frame)
        try:
            yield frame
        finally:
            self.frames.pop()

    # What happens

    def acts(self, what: str, node: ast.AST, *, certain: bool = True, idempotent: str = "") -> None:
        """Note that something is done to the world here."""
        frame = self.frame
        place = self.place(node)
        if frame.idempotent or self._is_declared(node):
            idempotent = "declared"
        self._acted(
            Effect(brief_name(what), place, idempotent, certain), None, before=False, after=bool(frame.flow.asked)
        )

    def _is_declared(self, node: ast.AST) -> bool:
        declared = self.frame.module.declared
        first = getattr(node, "lineno", 1)
        last = getattr(node, "end_lineno", None) or first
        return bool(declared) and any(line in declared for line in range(first, last + 1))

    def _acted(self, effect: Effect, call: Place | None, *, before: bool, after: bool) -> None:
        frame = self.frame
        if frame.idempotent and not effect.idempotent:
            effect = replace(effect, idempotent="declared")
        was = frame.done.get(effect)
        frame.done[effect] = Done(effect, before or bool(was and was.before), after or bool(was and was.after))
        if frame.flow.alive:
            frame.flow.effects.setdefault(effect, call)

    def happened(self, summary: Summary, node: ast.AST, what: str, *, nested: bool = False) -> None:
        """Note what a call did and asked, in an order that its own walk has judged already."""
        place = self.place(node)
        self.frame.rules |= summary.rules
        after = bool(self.flow.asked)
        if summary.sites:
            nested = nested or summary.sites[0].nested
            self.asks(Site(place, what, nested), low=summary.low, high=summary.high)
            self.frame.shown |= summary.shown
            self.flow.shown |= summary.shown
        declared = self._is_declared(node)
        for done in summary.done:
            effect = done.effect
            if declared and not effect.idempotent:
                effect = replace(effect, idempotent="declared")
            self._acted(effect, place, before=done.before, after=after or done.after)

    def asks(self, site: Site, *, low: int = 1, high: int = 1) -> None:
        """Note that the node may stop and ask here, and judge what came before."""
        frame, flow = self.frame, self.flow
        self._repeats(site)
        for catch in frame.catches:
            self._caught(site, catch)
        looping = [loop for loop in frame.loops if loop.rule]
        for loop in looping:
            said = Message("{question} stands in a loop over {reason}.", question=site.what, reason=loop.reason)
            self.report(loop.rule, site.place, said)
        for guard in () if looping else flow.guards:  # what is wrong with the loop explains what is wrong within it
            self._guarded(site, guard)
        for earlier in flow.shaky:
            said = Message(
                "{earlier} is asked or not as the state says, and {question} in line {line} follows: "
                "its answer is looked for by number.",
                earlier=earlier.what,
                question=site.what,
                line=site.place.line,
            )
            self.report("HT002", earlier.place, said)
        frame.sites[site] = None
        flow.asked[site] = None
        flow.low, flow.high = min(MANY, flow.low + low), min(MANY, flow.high + high)

    def _repeats(self, site: Site) -> None:
        frame = self.frame
        for effect, call in frame.flow.effects.items():
            frame.done[effect] = replace(frame.done.get(effect, Done(effect, True, False)), before=True)
            if effect.idempotent:
                continue
            rule = "HT007" if site.nested else "HT006"
            self.report(rule, effect.place, _before(effect, site, call))

    def _caught(self, site: Site, catch: Catch) -> None:
        line = catch.place.line
        if catch.rule == "HT013":
            said = Message("{handler} does not catch what {question} raises.", handler=catch.what, question=site.what)
            self.report("HT013", catch.place, said)
        elif catch.place.file == site.place.file:
            said = Message(
                "{handler} in line {line} catches what {question} raises.",
                handler=catch.what,
                line=line,
                question=site.what,
            )
            self.report(catch.rule, site.place, said)
        else:
            said = Message("{handler} catches what {question} raises.", handler=catch.what, question=site.what)
            self.report(catch.rule, site.place, said)

    def _guarded(self, site: Site, guard: Guard) -> None:
        source, question = told(guard.source), site.what
        if guard.loop:
            said = Message("{source} decides how often {question} asks.", source=source, question=question)
            self.report("HT005", site.place, said)
            return
        said = Message(
            "{source} decides whether {question} asks, and may decide otherwise.", source=source, question=question
        )
        self.report("HT002", site.place, said)

    def uses(self, values: Sequence[Value]) -> None:
        """Judge values that leave the node or act on the world: they must be what was shown."""
        for value in values:
            for source in value.sources & self.flow.shown:
                if source.kind != "module":
                    said = Message(
                        "What {source} gives is shown in the question and used after the answer.",
                        source=brief_name(source.what),
                    )
                    self.report("HT012", source.place, said)

    # What the other parts give

    @abstractmethod
    def value(self, node: ast.expr) -> Value:
        """Return what an expression stands for, and note what evaluating it does."""

    @abstractmethod
    def block(self, body: Sequence[ast.stmt]) -> None:
        """Walk statements in order."""

    @abstractmethod
    def assign(self, target: ast.expr, value: Value) -> None:
        """Bind a target."""

    @abstractmethod
    def call(self, function: Value, given: Given, node: ast.expr, what: str) -> Value:
        """Call something; note what it does."""

    @abstractmethod
    def follow(self, function: FunctionRef, given: Given) -> Summary:
        """Walk a function's body with these arguments; return what is known of the call."""

    @abstractmethod
    def attribute(self, value: Value, name: str, node: ast.expr) -> Value:
        """Return an attribute of something."""

    @abstractmethod
    def module_scope(self, module: Module) -> Scope:
        """Return a module's names, walking it first where that hasn't happened."""


def told(source: Source) -> Message:
    """Return what makes a value differ, and where."""
    name, line = brief_name(source.what), source.place.line
    if source.kind == "module":
        return Message("{name} (changed as the code runs) in line {line}", name=name, line=line)
    return Message("{name} in line {line}", name=name, line=line)


def given_by(source: Source) -> Message:
    """Return what something gives that differs, as a loop goes over it."""
    return Message("what {source} gives this time", source=told(source))


def _before(effect: Effect, site: Site, call: Place | None) -> Message:
    words: dict[str, str | int] = {"effect": effect.what, "question": site.what, "line": site.place.line}
    if call is None or call.line == effect.place.line:
        if effect.certain:
            return Message("{effect} comes before {question} in line {line}.", **words)
        return Message("{effect} looks like an effect and comes before {question} in line {line}.", **words)
    words["call"] = call.line
    if effect.certain:
        return Message("{effect} comes before {question} in line {line} (called in line {call}).", **words)
    return Message(
        "{effect} looks like an effect and comes before {question} in line {line} (called in line {call}).", **words
    )


def brief_name(name: str) -> str:
    """Return a dotted name of a call as people would say it: `httpx.Client.post`, `sqlite3…execute`."""
    parts = name.replace("()", "").replace("[]", "").split(".")
    brief = ".".join(parts) if len(parts) <= 3 else f"{parts[0]}…{parts[-1]}"
    return one_line(brief, 60)
