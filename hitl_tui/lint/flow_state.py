"""What has happened on the way to a place in a function, and what is known of a function as a whole."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Final, Literal

from hitl_tui.core.messages import Message
from hitl_tui.lint.abstract_values import UNKNOWN, Source, Value
from hitl_tui.lint.findings import Effect, Finding, Place

MANY: Final = 99
"""A number of questions that stands for any beyond."""


@dataclass(frozen=True, slots=True)
class Site:
    """A place where a node may stop and ask.

    Args:
        place: the call there.
        what: the call, as in `interrupt()`.
        nested: it is another graph that asks.
    """

    place: Place
    what: str
    nested: bool = False


@dataclass(frozen=True, slots=True)
class Guard:
    """What decides whether a place is reached, and may decide otherwise another time.

    Args:
        source: why.
        loop: it ends a loop.
    """

    source: Source
    loop: bool


@dataclass(slots=True)
class Flow:
    """What may have happened on the way here.

    Args:
        effects: with the place of the call that leads to each, where that isn't its own.
        asked: sites that may have been passed.
        low, high: how many questions were asked at least and at most.
        shaky: sites that were passed or not, as the state decides.
        guards: what decided that this is reached.
        shown: what a question showed that may differ another time.
        alive: this place is reached at all.
    """

    effects: dict[Effect, Place | None] = field(default_factory=dict)
    asked: dict[Site, None] = field(default_factory=dict)
    low: int = 0
    high: int = 0
    shaky: dict[Site, None] = field(default_factory=dict)
    guards: tuple[Guard, ...] = ()
    shown: frozenset[Source] = frozenset()
    alive: bool = True

    def copy(self) -> Flow:
        """Return another that goes its own way."""
        return replace(self, effects=dict(self.effects), asked=dict(self.asked), shaky=dict(self.shaky))


def join_flows(flows: Iterable[Flow]) -> Flow:
    """Return what may have happened when one of several ways was taken; ways that end are left out."""
    given = [flow for flow in flows if flow.alive]
    if not given:
        return Flow(alive=False)
    made = given[0].copy()
    for flow in given[1:]:
        made.effects = {**flow.effects, **made.effects}
        made.asked |= flow.asked
        made.shaky |= flow.shaky
        made.shown |= flow.shown
        made.low, made.high = min(made.low, flow.low), max(made.high, flow.high)
        made.guards = tuple(guard for guard in made.guards if guard in flow.guards)
    return made


@dataclass(slots=True)
class Loop:
    """A loop that is being walked.

    Args:
        differs: what may be another the next time: the `order` of its rounds or how often it goes `round`.
        reason: what it goes over, and why that differs.
        ends, again: the ways out of it and back to its start.
    """

    differs: Literal["", "order", "round"] = ""
    reason: str | Message = ""
    ends: list[tuple[Flow, dict[str, Value]]] = field(default_factory=list)
    again: list[tuple[Flow, dict[str, Value]]] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Catch:
    """A handler around a place that would catch a question.

    Args:
        place: where it stands.
        what: as in `except Exception`.
        misses: it is meant to catch a question and doesn't.
    """

    place: Place
    what: str | Message
    misses: bool = False


@dataclass(frozen=True, slots=True)
class Done:
    """An effect of a function, and where questions stand around it.

    Args:
        effect: which.
        before: a question may follow.
        after: a question may have come before.
    """

    effect: Effect
    before: bool
    after: bool


@dataclass(frozen=True, slots=True)
class Summary:
    """What is known of a call of a function.

    Args:
        value: what it returns.
        done: effects.
        sites: where it may ask.
        low, high: how many questions it asks.
        shown: what it asked with that may differ.
        used: what it acts on the world with that may differ.
        catches: as a context manager, it catches what is raised in it.
        findings: where rules are broken in it.
    """

    value: Value = UNKNOWN
    done: tuple[Done, ...] = ()
    sites: tuple[Site, ...] = ()
    low: int = 0
    high: int = 0
    shown: frozenset[Source] = frozenset()
    used: frozenset[Source] = frozenset()
    catches: Catch | None = None
    findings: frozenset[Finding] = frozenset()
