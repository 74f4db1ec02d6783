"""Observations: what the evaluator tells the rules while it walks a node or looks at a graph."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from hitl_tui.lint.abstract_values import FunctionRef, Given, GraphRef, Ref, Source, ToolNodeRef, Value
from hitl_tui.lint.findings import Effect, Place
from hitl_tui.lint.flow_state import Catch, Flow, Guard, Loop, Site, Summary


class Knowledge(Protocol):
    """What is known of graphs, tools and functions beyond the place that is looked at."""

    def may_ask(self, ref: Ref) -> bool:
        """Return whether something may stop and ask, at any depth."""

    def summary_of(self, ref: Ref) -> Summary:
        """Return what is known of running something as a node or tool."""

    def function_of(self, ref: Ref) -> FunctionRef | None:
        """Return the function that a node runs; None for a node without source."""


@dataclass(frozen=True, slots=True)
class QuestionAsked:
    """A node may stop and ask here, in itself or in what it calls.

    Args:
        site: where.
        catches: what would catch the question.
        loops: around the place, the outermost first.
        flow: what may have happened on the way here.
    """

    site: Site
    catches: Sequence[Catch]
    loops: Sequence[Loop]
    flow: Flow


@dataclass(frozen=True, slots=True)
class PayloadGiven:
    """An `interrupt()` is called with a payload."""

    site: Site
    payload: Value


@dataclass(frozen=True, slots=True)
class FunctionRetried:
    """A function that asks is called again after any error."""

    function: str
    site: Site


@dataclass(frozen=True, slots=True)
class ErrorsGathered:
    """What is raised at these places is made into results, as by `gather(return_exceptions=True)`."""

    sites: Sequence[Site]


@dataclass(frozen=True, slots=True)
class EffectInFinally:
    """An effect stands in the finally of a try that asks."""

    effect: Effect
    site: Site


@dataclass(frozen=True, slots=True)
class ShownValueUsed:
    """A value that was shown in a question leaves the node or acts on the world, and may differ by then."""

    source: Source


@dataclass(frozen=True, slots=True)
class ErrorRaised:
    """An error is raised; `name` is dotted, empty when it isn't known."""

    name: str
    place: Place


@dataclass(frozen=True, slots=True)
class TaskCalled:
    """A `@task` is called; `what` is the call as it is written."""

    place: Place
    what: str
    loops: Sequence[Loop]
    guards: Sequence[Guard]


@dataclass(frozen=True, slots=True)
class OutsideCalled:
    """Something of another package is called.

    Args:
        name: dotted.
        given: the arguments.
        node: the call.
        place: where it stands.
    """

    name: str
    given: Given
    node: ast.expr
    place: Place


@dataclass(frozen=True, slots=True)
class AskedElsewhere:
    """A call runs something that asks outside the context of the node, as a thread of a pool does."""

    place: Place
    what: str


@dataclass(frozen=True, slots=True)
class GraphRun:
    """A node runs a graph.

    Args:
        place, what: of the call.
        graph: which.
        config: the keys of `configurable` in the config that is given; `**` for more that isn't known.
        knowledge: of the graph.
    """

    place: Place
    what: str
    graph: GraphRef
    config: frozenset[str]
    knowledge: Knowledge


@dataclass(frozen=True, slots=True)
class GraphBuilt:
    """A graph, once its nodes were walked."""

    graph: GraphRef
    knowledge: Knowledge


@dataclass(frozen=True, slots=True)
class SubgraphAdded:
    """A graph is a node of another."""

    graph: GraphRef
    knowledge: Knowledge


@dataclass(frozen=True, slots=True)
class ToolNodeAdded:
    """A node runs tools, once they were walked."""

    node: ToolNodeRef
    knowledge: Knowledge


Observation = (
    QuestionAsked
    | PayloadGiven
    | FunctionRetried
    | ErrorsGathered
    | EffectInFinally
    | ShownValueUsed
    | ErrorRaised
    | TaskCalled
    | OutsideCalled
    | AskedElsewhere
    | GraphRun
    | GraphBuilt
    | SubgraphAdded
    | ToolNodeAdded
)
