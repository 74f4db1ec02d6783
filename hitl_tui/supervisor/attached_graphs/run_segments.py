"""What an attached graph is invoked with next: read from where its thread stands, and from what it was told. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, cast

from langgraph.pregel import Pregel
from langgraph.types import Command, StateSnapshot

from hitl_tui.core.interrupts.numbers import interrupts_of
from hitl_tui.core.secret_masks import put_back
from hitl_tui.graphs.json_values import plain
from hitl_tui.graphs.langgraph_server import RUN
from hitl_tui.ledger.records import Effect
from hitl_tui.supervisor.attached_graphs.outcomes import Asks
from hitl_tui.supervisor.attached_graphs.repeats import Repeat, again
from hitl_tui.supervisor.attached_graphs.waiting_points import (
    BREAK,
    Asked,
    asked_in,
    breakpoint_question,
    question_for,
    stands_at,
)
from hitl_tui.supervisor.run_spec import RunSpec

if TYPE_CHECKING:
    AnyPregel = Pregel[Any, Any, Any, Any]


@dataclass(frozen=True, slots=True)
class RunSegment:
    """What a graph is invoked with next, and under which name the ledger knows it."""

    value: Any
    name: str
    answers: Mapping[str, int] = field(default_factory=dict)
    stepping: bool = False


AGAIN, TAKEN_FROM, ERROR, PARTIAL = "again", "taken_from", "error", "partial"
"""Keys in a segment's outcome: the answer that let it be done again as part of another one, and the run that it was
taken over from, if it was another's; what a run that ended with it failed with, and that more had run than what failed.
"""


@dataclass(frozen=True, slots=True)
class SegmentHistory:
    """What the ledger knows of the segments of one TODO, in every run of it.

    Args:
        session, branch, run_id: of the run that goes on.
        segments: in the order they were first started.
    """

    session: str
    branch: int
    run_id: str
    segments: Sequence[Effect]

    def _is_here(self, segment: Effect) -> bool:
        return (segment.session, segment.branch) == (self.session, self.branch)

    @property
    def own(self) -> list[Effect]:
        """Those that this run began itself."""
        return [e for e in self.segments if e.run_id == self.run_id and TAKEN_FROM not in e.outcome]

    @property
    def doubtful(self) -> Effect | None:
        """The one to ask about before anything else is begun: nobody saw its end, or it was done somewhere else.

        What was begun here afterwards was begun on a person's word about it.
        """
        found: Effect | None = None
        for segment in self.segments:
            acted = segment.status == "done" or PARTIAL in segment.outcome
            if segment.status == "started" or (acted and not self._is_here(segment)):
                found = segment
            elif self._is_here(segment):
                found = None
        return found

    @property
    def word(self) -> str:
        """The answer that allows the next segment and hasn't been used for one; empty for none."""
        here = [e for e in self.segments if self._is_here(e)]
        return str(here[-1].outcome.get(AGAIN, "")) if here and here[-1].run_id == self.run_id else ""

    @property
    def rested(self) -> bool:
        """Whether the last segment of any run here came to its end: a thread that goes on stands at a breakpoint."""
        here = [e for e in self.segments if self._is_here(e)]
        return bool(here) and here[-1].status == "done"

    @property
    def failure(self) -> Effect | None:
        """The segment that this run failed in; None while it hasn't."""
        return next((e for e in self.own if e.status == "failed" and ERROR in e.outcome), None)


def _answers(segment: Effect) -> Mapping[str, int]:
    """Return the interrupts that a segment was begun with answers to, and how often each was asked by then."""
    return cast("Mapping[str, Mapping[str, int]]", segment.subject)["answers"]


class Told:
    """What the ledger and the state say that a run was told, and what of it it surely heard."""

    def __init__(
        self, run_id: str, interrupts: Sequence[Mapping[str, Any]], segments: Sequence[Effect], *, rested: bool = False
    ) -> None:
        self.run_id = run_id
        self.rested = rested
        self.interrupts = interrupts
        self.began = bool(segments)
        started = [e for e in segments if e.status == "started"]
        self.open = started[-1] if started else None
        self.stopped = bool(segments) and segments[-1].status == "done"
        self._heard = {(k, n) for e in segments if e.status == "done" for k, n in _answers(e).items()}
        self.delivered = [k for k, n in self._heard if any(i["id"] == k and i.get("asked") == n for i in interrupts)]

    @classmethod
    def of(cls, spec: RunSpec, segments: Sequence[Effect], *, rested: bool = False) -> Told:
        """Return what a run was told; `rested` as in `SegmentHistory`."""
        return cls(spec.run_id, interrupts_of(spec.todo.question), segments, rested=rested)

    @property
    def unsure(self) -> set[str]:
        """Ids of the interrupts whose answers were in the open segment."""
        return set(_answers(self.open)) if self.open else set()

    def fresh(self, interrupt: Mapping[str, Any]) -> bool:
        """Return whether an answer has not been given to the graph yet."""
        return (interrupt["id"], interrupt.get("asked")) not in self._heard

    def close(self) -> None:
        """The open segment has ended."""
        if self.open is not None:
            self._heard |= set(_answers(self.open).items())
            self.delivered += list(_answers(self.open))
        self.open = None

    def forget(self) -> None:
        """The open segment is done again."""
        self.open = None


def next_segment(
    spec: RunSpec,
    graph: AnyPregel,
    state: StateSnapshot,
    told: Told,
    secrets: Mapping[str, str],
    repeats: Mapping[str, Repeat | None],
) -> RunSegment | Asks:
    """Return what a run's graph is to be invoked with now, or what it waits for.

    Args:
        spec: the run.
        graph: its graph.
        state: where its thread stands, with its subgraphs.
        told: what it was told so far.
        secrets: declared secrets, by name: they are masked in what is recorded.
        repeats: what its tasks that ask do again.

    Raises:
        BadInput: an answer can't be delivered, because a secret in it changed meanwhile.
    """
    begun = told.began or (state.metadata or {}).get(RUN) == spec.run_id
    given = spec.todo.arguments.get("input")
    goes_on = bool(spec.step or spec.stopped_on)
    if state.created_at is None or (not begun and not goes_on and given is not None):
        return RunSegment(given, f"start {spec.todo.attempt}")
    asked = asked_in(state, graph)
    at = stands_at(state)
    rests = told.rested and bool(state.next) and not asked and not spec.step.get("checkpoint_id")
    if not begun and goes_on and not rests:  # a failed run goes on: with the answers it has, nobody is asked again
        return RunSegment(None, f"go on {spec.todo.attempt}")
    if asked:
        waiting = {a.interrupt.id for a in asked}
        answered = {i["id"]: i for i in told.interrupts if "answer" in i and i["id"] in waiting and told.fresh(i)}
        if any(i.get("at") != at for i in answered.values()):
            return RunSegment(None, f"ask again {at}")
        if not answered:
            return Asks(questions(asked, at, repeats), tuple(told.delivered))
        held = {a.interrupt.id: plain(a.interrupt.value) for a in asked}
        value = {k: put_back(i["answer"]["value"], i["value"], held[k], secrets) for k, i in answered.items()}
        return RunSegment(Command(resume=value), "answer", {key: i["asked"] for key, i in answered.items()})
    if state.next:
        here = f"{BREAK}{(state.config or {}).get('configurable', {}).get('checkpoint_id', '')}"
        for interrupt in told.interrupts:
            if interrupt["id"] == here and "answer" in interrupt and told.fresh(interrupt):
                action = interrupt["answer"]["value"].get("action")
                return RunSegment(None, "pass", {here: interrupt["asked"]}, stepping=action == "step")
        stops = stops_of(spec, graph)[0]
        nodes = [n for n in state.next if "*" in stops or n in stops]
        # What ended before the graph did is at a breakpoint.
        if told.stopped or rests or (begun and nodes and not spec.step):
            return Asks((breakpoint_question(state, nodes or state.next),), tuple(told.delivered))
    return RunSegment(None, f"go on {spec.todo.attempt} {at}")


def questions(asked: Sequence[Asked], at: str, repeats: Mapping[str, Repeat | None]) -> tuple[Mapping[str, Any], ...]:
    """Return a thread's interrupts as an event carries them."""
    return tuple(question_for(a, at, again(a, repeats)) for a in asked)


def stops_of(spec: RunSpec, graph: AnyPregel) -> tuple[list[str], list[str]]:
    """Return the nodes to stop before and after: the graph's own and those set by a person."""
    said = spec.todo.metadata.get("breaks", {})
    own = graph.interrupt_before_nodes, graph.interrupt_after_nodes
    found = [["*"] if nodes == "*" else [str(n) for n in nodes or ()] for nodes in own]
    return [*found[0], *said.get("before", ())], [*found[1], *said.get("after", ())]
