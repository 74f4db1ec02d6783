"""`GraphRunner`: lets graphs of others go on, one stretch at a time.

A stretch goes from where a thread stands to its next question, its end or its failure. The ledger is told before and
after each, as of any effect: what nodes of others do to the world isn't known to us, so a stretch that was begun and
whose end nobody saw is asked about (D12) and never repeated silently. An answer is delivered in one stretch only.
"""

from __future__ import annotations

import asyncio
import logging
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from langchain_core.runnables import RunnableConfig
from langgraph.pregel import Pregel
from langgraph.types import Command, StateSnapshot

from hitl_tui.core.digest import digest, short_id
from hitl_tui.core.errors import BadInput, HitlError
from hitl_tui.core.policy import Risk
from hitl_tui.core.safe_text import one_line
from hitl_tui.ledger.contract import Effect
from hitl_tui.supervisor.attached.changed import vanished
from hitl_tui.supervisor.attached.contained import contained
from hitl_tui.supervisor.attached.failing import failure_text
from hitl_tui.supervisor.attached.pending import (
    BREAK,
    asked_in,
    breakpoint_question,
    places,
    question_for,
    stands_at,
)
from hitl_tui.supervisor.attached.printing import printed_to
from hitl_tui.supervisor.attached.store import open_saver
from hitl_tui.supervisor.attached.view import GraphView, check_update, view_of
from hitl_tui.supervisor.graph import STRICT_RESUME
from hitl_tui.teams.contract import TeamResult
from hitl_tui.teams.doubt import EffectInDoubt, RunNotCurrent
from hitl_tui.teams.failure import TeamFailure
from hitl_tui.teams.graph.loading import resolve, with_saver
from hitl_tui.teams.graph.team import GraphTeam
from hitl_tui.teams.graph.values import answer_of, plain, said

if TYPE_CHECKING:
    from hitl_tui.supervisor.runs import RunServices, RunSpec

    AnyPregel = Pregel[Any, Any, Any, Any]

log = logging.getLogger(__name__)

RESUME = "__resume__"
"""The channel in which LangGraph keeps answers beside a checkpoint."""

RUN = "hitl_run"
"""Key in a checkpoint's metadata: the run that wrote it."""

_LARGEST_VALUES = 200_000


class GraphFailure(TeamFailure):
    """A graph of others failed; its thread can go on from where it stood.

    Args:
        message: what it raised, with file and line.
        thread: the thread it failed on.
        wedged: an answer was taken and is what made it fail: every further one would fail too (I2).
        entered: how often each node was entered, by path.
    """

    def __init__(self, message: str, thread: str, *, wedged: bool, entered: Mapping[str, int]) -> None:
        super().__init__(message)
        self.thread = thread
        self.wedged = wedged
        self.entered = dict(entered)


@dataclass(frozen=True, slots=True)
class Asks:
    """A graph stopped at questions.

    Args:
        interrupts: everything it waits for now.
        delivered: ids of interrupts whose answers it was given.
        entered: how often each node was entered in the last stretch, by path (I7).
    """

    interrupts: tuple[Mapping[str, Any], ...]
    delivered: tuple[str, ...] = ()
    entered: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Ended:
    """A graph ran to its end."""

    result: TeamResult
    entered: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class _Stretch:
    """What a graph is invoked with next, and under which name the ledger knows it."""

    value: Any
    name: str
    answers: Mapping[str, int] = field(default_factory=dict)
    stepping: bool = False


class GraphRunner:
    """Runs graphs of others for one session.

    Args:
        services: what runs share.
    """

    def __init__(self, services: RunServices) -> None:
        self._services = services
        self._stack = AsyncExitStack()
        self._graphs: dict[str, AnyPregel] = {}
        self._loading = asyncio.Lock()

    async def close(self) -> None:
        """Close what factories and stores opened."""
        await self._stack.aclose()

    async def graph(self, team: GraphTeam) -> AnyPregel:
        """Return a team's graph on the store its threads live in.

        Raises:
            GraphError: it can't be loaded; StorageError: its store can't be opened.
        """
        async with self._loading:
            known = self._graphs.get(team.name)
            if known is None:
                declared = team.declaration
                with printed_to(lambda line: self._services.activity.write("", "line", line)):
                    found = await resolve(declared, self._stack)
                saver = self._services.saver
                if declared.saver:
                    saver = await self._stack.enter_async_context(open_saver(declared.saver))
                known = self._graphs[team.name] = with_saver(found, saver, declared.state_types)
            return known

    async def view(self, spec: RunSpec, update: Mapping[str, Any] | None, at: str) -> GraphView:
        """Return a TODO's graph and where it stands; see `SessionFace.graph`."""
        team = self._services.team(spec.todo.agent_name)
        if not isinstance(team, GraphTeam):
            raise BadInput(f"{spec.todo.id} is for {team.name}, which is no attached graph.")
        graph = await self.graph(team)
        if update is not None:
            check_update(graph, update)
        config = _bare(self.place(spec, team))
        if at:
            config["configurable"]["checkpoint_id"] = at
        state = await graph.aget_state(config, subgraphs=True)
        entered = spec.todo.metadata.get("entered", {})
        return view_of(spec.todo.id, team.name, graph, state, entered, _stops(spec, graph))

    def place(self, spec: RunSpec, team: GraphTeam) -> RunnableConfig:
        """Return the configuration of a run: its thread, and what was declared."""
        declared = dict(team.declaration.config)
        configurable = {**declared.pop("configurable", {}), "thread_id": self.thread(spec, team), STRICT_RESUME: True}
        metadata = {**declared.pop("metadata", {}), RUN: spec.run_id}
        return {**declared, "configurable": configurable, "metadata": metadata}  # type: ignore[typeddict-item]

    @staticmethod
    def thread(spec: RunSpec, team: GraphTeam) -> str:
        """Return the thread a run is on."""
        own = spec.todo.metadata.get("threads", {}).get(spec.run_id)
        return spec.step.get("thread") or own or team.declaration.thread or spec.continued or spec.run_id

    async def drive(self, spec: RunSpec, team: GraphTeam) -> Asks | Ended:
        """Let a run go on to its next question or its end.

        Raises:
            EffectInDoubt: a stretch of it was begun, and nobody saw its end.
            RunNotCurrent: it was stopped. GraphFailure: it failed, or can't be loaded or stored.
        """
        try:
            return await self._drive(spec, team)
        except (EffectInDoubt, RunNotCurrent, GraphFailure):
            raise
        except HitlError as error:  # a further try goes on with the thread, once what was wrong has been mended
            raise GraphFailure(error.message, self.thread(spec, team), wedged=False, entered={}) from error

    async def _drive(self, spec: RunSpec, team: GraphTeam) -> Asks | Ended:
        graph, config = await self.graph(team), self.place(spec, team)
        told = _Told.of(spec, await self._stretches(spec))
        if spec.step.get("checkpoint_id") and not told.began:  # again would drop what was asked since
            await self._go_back(graph, config, spec)
        state = await graph.aget_state(config, subgraphs=True)
        gone = await vanished(graph, state, [i for i in told.interrupts if told.fresh(i)])
        if gone:
            names = one_line(", ".join(gone), 200)
            raise TeamFailure(
                f"{team.name} was changed meanwhile: its thread stands before {names}, which it doesn't have any more; "
                "bring that back, or go back to an earlier step."
            )
        if await self._unseen(spec, graph, state, told):
            await self._claim_again(spec, team, told)
        stretch = self._next(spec, graph, state, told)
        if isinstance(stretch, Asks):
            return stretch
        entered: Counter[str] = Counter()
        final = await self._carry_out(spec, team, graph, config, stretch, entered)
        state = await graph.aget_state(config, subgraphs=True)
        return self._ending(graph, state, stretch, final, entered)

    # Where it stands -------------------------------------------------------------------------------------------

    async def _go_back(self, graph: AnyPregel, config: RunnableConfig, spec: RunSpec) -> None:
        """Copy the checkpoint that a run is to go on from, with what is to be changed in it."""
        step = spec.step
        at = {**config["configurable"], "checkpoint_id": step["checkpoint_id"], "checkpoint_ns": ""}
        place: RunnableConfig = {"configurable": at, "metadata": {RUN: spec.run_id}}
        values = spec.todo.metadata["rewind"].get("values")
        if values is None:
            await graph.aupdate_state(place, None, as_node="__copy__")
            return
        before = await graph.aget_state(place)
        try:
            await graph.aupdate_state(place, values, as_node=step.get("as_node") or None)
        except Exception as error:
            raise TeamFailure(f"The state can't be changed like this: {one_line(str(error), 300)}.") from error
        after = await graph.aget_state(config)
        if before.next and not after.next:
            await graph.aupdate_state(place, None, as_node="__copy__")
            raise TeamFailure("With this change nothing would be left to run; the state stays as it was.")

    @staticmethod
    def _saver(graph: AnyPregel) -> Any:
        return graph.checkpointer

    async def _stretches(self, spec: RunSpec) -> list[Effect]:
        found = await self._services.ledger.effects(self._services.session)
        return [e for e in found if e.run_id == spec.run_id and e.name == "graph"]

    async def _unseen(self, spec: RunSpec, graph: AnyPregel, state: StateSnapshot, told: _Told) -> bool:
        """Return whether a stretch was begun whose end can't be seen in the thread; close it where it can."""
        if told.open is None:
            return False
        if await self._moved(graph, state, told):
            await self._end(told.open.key, spec, "done", {})
            told.close()
            return False
        return True

    async def _moved(self, graph: AnyPregel, state: StateSnapshot, told: _Told) -> bool:
        pending = {a.interrupt.id: digest(plain(a.interrupt.value)) for a in asked_in(state, graph)}
        if pending:
            asked = {i["id"]: digest(i["value"]) for i in told.interrupts if i["id"] in told.unsure}
            return bool(pending) and not any(pending.get(i) == seen for i, seen in asked.items())
        return not state.next and state.created_at is not None and (state.metadata or {}).get(RUN) == told.run_id

    async def _claim_again(self, spec: RunSpec, team: GraphTeam, told: _Told) -> None:
        """Ask about a stretch that may have happened, unless a person said, or the graph is known to change nothing."""
        assert told.open is not None
        key = told.open.key
        said = spec.todo.metadata.get("resolutions", {}).get(key, {})
        if team.risk is Risk.LOW:
            said = {"verdict": "do_again", "request_id": f"low risk {self._services.now()}"}
        claim = await self._services.ledger.begin_effect(
            told.open,
            self._services.now(),
            resolution=said.get("verdict", ""),
            answer_to=said.get("request_id", ""),
        )
        if claim.verdict == "stale":
            raise RunNotCurrent("This run was stopped, so it does nothing more.")
        if claim.verdict != "go":
            raise _in_doubt(told.open)
        # It is begun again as part of what comes next.
        await self._end(key, spec, "failed", {})
        told.forget()

    def _next(self, spec: RunSpec, graph: AnyPregel, state: StateSnapshot, told: _Told) -> _Stretch | Asks:
        begun = told.began or (state.metadata or {}).get(RUN) == spec.run_id
        given = spec.todo.arguments.get("input")
        if state.created_at is None or (not begun and not spec.step and given is not None):
            return _Stretch(given, f"start {spec.todo.attempt}")
        asked = asked_in(state, graph)
        at = stands_at(state)
        if not begun and spec.step:  # a failed run goes on: with the answers it has, nobody is asked again
            return _Stretch(None, f"go on {spec.todo.attempt}")
        if asked:
            waiting = {a.interrupt.id for a in asked}
            answered = {i["id"]: i for i in told.interrupts if "answer" in i and i["id"] in waiting and told.fresh(i)}
            if any(i.get("at") != at for i in answered.values()):
                return _Stretch(None, f"ask again {at}")
            if not answered:
                return Asks(_questions(asked, at), tuple(told.delivered))
            value = {key: i["answer"]["value"] for key, i in answered.items()}
            return _Stretch(Command(resume=value), "answer", {key: i["asked"] for key, i in answered.items()})
        if state.next:
            here = f"{BREAK}{(state.config or {}).get('configurable', {}).get('checkpoint_id', '')}"
            for interrupt in told.interrupts:
                if interrupt["id"] == here and "answer" in interrupt:
                    action = interrupt["answer"]["value"].get("action")
                    return _Stretch(None, "pass", {here: interrupt["asked"]}, stepping=action == "step")
            stops = _stops(spec, graph)[0]
            nodes = [n for n in state.next if "*" in stops or n in stops]
            if begun and nodes and not spec.step:
                return Asks((breakpoint_question(state, "before", nodes),), tuple(told.delivered))
        return _Stretch(None, f"go on {spec.todo.attempt} {at}")

    # One stretch -----------------------------------------------------------------------------------------------

    async def _carry_out(
        self,
        spec: RunSpec,
        team: GraphTeam,
        graph: AnyPregel,
        config: RunnableConfig,
        stretch: _Stretch,
        entered: Counter[str],
    ) -> Any:
        services, todo = self._services, spec.todo
        key = "eff-" + short_id(
            services.lineage, todo.id, "graph", todo.attempt, stretch.name, dict(stretch.answers), length=32
        )
        subject = {"graph": team.declaration.target, "stretch": stretch.name, "answers": dict(stretch.answers)}
        effect = Effect(key, services.session, todo.id, spec.branch, spec.run_id, "graph", subject, "started", {})
        said = todo.metadata.get("resolutions", {}).get(key, {})
        if team.risk is Risk.LOW:
            said = {"verdict": "do_again", "request_id": f"low risk {services.now()}"}
        claim = await services.ledger.begin_effect(
            effect, services.now(), resolution=said.get("verdict", ""), answer_to=said.get("request_id", "")
        )
        if claim.verdict == "stale":
            raise RunNotCurrent("This run was stopped, so it does nothing more.")
        if claim.verdict != "go":
            raise _in_doubt(claim.effect or effect)
        try:
            async with contained():
                final = await self._stream(spec, team, graph, config, stretch, entered)
        except (HitlError, asyncio.CancelledError):
            raise
        except (Exception, SystemExit) as error:
            log.exception("run %s failed", spec.run_id)
            await self._end(key, spec, "failed", {"entered": dict(entered)})
            thread = str(config["configurable"]["thread_id"])
            wedged = await self._wedged(graph, config)
            raise GraphFailure(failure_text(error), thread, wedged=wedged, entered=entered) from error
        await self._end(key, spec, "done", {"entered": dict(entered)})
        return final

    async def _wedged(self, graph: AnyPregel, config: RunnableConfig) -> bool:
        """Return whether an answer stays in a thread that failed: every later one would come after it (I2)."""
        state = await graph.aget_state(config, subgraphs=True)
        for place in places(state):
            found = await self._saver(graph).aget_tuple(place)
            if found is not None and any(channel == RESUME for _, channel, _ in found.pending_writes or ()):
                return True
        return False

    async def _stream(
        self,
        spec: RunSpec,
        team: GraphTeam,
        graph: AnyPregel,
        config: RunnableConfig,
        stretch: _Stretch,
        entered: Counter[str],
    ) -> Any:
        activity, todo = self._services.activity, spec.todo
        before, after = _stops(spec, graph)
        if stretch.stepping:
            before = ["*"]
        final: Any = None

        def tell(line: str) -> None:
            activity.write(todo.id, "line", line)

        activity.write(todo.id, "started", f"{team.name} {stretch.name}")
        with printed_to(tell):
            async for part in graph.astream(
                stretch.value,
                config,
                context=team.declaration.context,
                stream_mode=["updates", "custom", "tasks", "values"],
                subgraphs=True,
                durability="sync",
                interrupt_before="*" if "*" in before else list(before),
                interrupt_after="*" if "*" in after else list(after),
                version="v2",
            ):
                data: Any = part["data"]
                kind, place = part["type"], _place(part["ns"])
                if kind == "values" and not part["ns"]:
                    final = data
                elif kind == "tasks" and "input" in data:
                    entered["/".join([*place, str(data["name"])])] += 1
                elif kind == "updates":
                    for node, update in data.items():
                        if not str(node).startswith("__"):
                            tell(f"· {'/'.join([*place, str(node)])}")
                            for line in said(update):
                                tell(line)
                elif kind == "custom":
                    for line in said(data if isinstance(data, Mapping) else {"": data}):
                        tell(line.removeprefix(": "))
        return final

    async def _end(self, key: str, spec: RunSpec, status: str, outcome: Mapping[str, Any]) -> None:
        await self._services.ledger.end_effect(key, spec.run_id, status, outcome, self._services.now())

    @staticmethod
    def _ending(
        graph: AnyPregel, state: StateSnapshot, stretch: _Stretch, final: Any, entered: Counter[str]
    ) -> Asks | Ended:
        delivered = tuple(stretch.answers)
        asked = asked_in(state, graph)
        if asked:
            return Asks(_questions(asked, stands_at(state)), delivered, dict(entered))
        if state.next:
            return Asks((breakpoint_question(state, "before", state.next),), delivered, dict(entered))
        values = state.values if final is None else final
        shown = plain(values)
        data = {"values": shown} if len(str(shown)) <= _LARGEST_VALUES else {"values": "too large to keep here"}
        return Ended(TeamResult(text=answer_of(values), data=data), dict(entered))


class _Told:
    """What the ledger and the state say that a run was told, and what of it it surely heard."""

    def __init__(self, run_id: str, interrupts: Sequence[Mapping[str, Any]], stretches: Sequence[Effect]) -> None:
        self.run_id = run_id
        self.interrupts = interrupts
        self.began = bool(stretches)
        started = [e for e in stretches if e.status == "started"]
        self.open = started[-1] if started else None
        self._heard = {(k, n) for e in stretches if e.status == "done" for k, n in e.subject["answers"].items()}
        self.delivered = [k for k, n in self._heard if any(i["id"] == k and i.get("asked") == n for i in interrupts)]

    @classmethod
    def of(cls, spec: RunSpec, stretches: Sequence[Effect]) -> _Told:
        question = spec.todo.question or {}
        return cls(spec.run_id, question.get("interrupts", ()), stretches)

    @property
    def unsure(self) -> set[str]:
        """Ids of the interrupts whose answers were in the open stretch."""
        return set(self.open.subject["answers"]) if self.open else set()

    def fresh(self, interrupt: Mapping[str, Any]) -> bool:
        """Return whether an answer has not been given to the graph yet."""
        return (interrupt["id"], interrupt.get("asked")) not in self._heard

    def close(self) -> None:
        """The open stretch has ended."""
        if self.open is not None:
            self._heard |= set(self.open.subject["answers"].items())
            self.delivered += list(self.open.subject["answers"])
        self.open = None

    def forget(self) -> None:
        """The open stretch is done again."""
        self.open = None


def _questions(asked: Sequence[Any], at: str) -> tuple[Mapping[str, Any], ...]:
    return tuple(question_for(a, at, len(asked) - 1) for a in asked)


def _stops(spec: RunSpec, graph: AnyPregel) -> tuple[list[str], list[str]]:
    """Return the nodes to stop before and after: the graph's own and those set by a person (I4)."""
    said = spec.todo.metadata.get("breaks", {})
    own = graph.interrupt_before_nodes, graph.interrupt_after_nodes
    found = [["*"] if nodes == "*" else [str(n) for n in nodes or ()] for nodes in own]
    return [*found[0], *said.get("before", ())], [*found[1], *said.get("after", ())]


def _place(namespace: Sequence[str]) -> list[str]:
    return [part.split(":")[0] for part in namespace]


def _bare(config: RunnableConfig) -> RunnableConfig:
    return {"configurable": {"thread_id": config["configurable"]["thread_id"]}}


def _in_doubt(effect: Effect) -> EffectInDoubt:
    why = "it was running when its process ended, and nothing says how far it got"
    if effect.status == "done":
        why = f"it was done on branch {effect.branch}, which was left by a restore, or what came of it was lost"
    options = ["do_again", "stop"]
    return EffectInDoubt(
        {"key": effect.key, "name": "graph", "subject": effect.subject, "why": why, "options": options}
    )
