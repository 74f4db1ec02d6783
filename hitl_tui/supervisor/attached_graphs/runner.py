"""`GraphRunner`: runs somebody else's graph from one waiting point to the next, on the checkpoint store of its own."""

from __future__ import annotations

import asyncio
import logging
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, cast

from langchain_core.runnables import RunnableConfig
from langgraph.pregel import Pregel
from langgraph.store.base import BaseStore
from langgraph.types import StateSnapshot

from hitl_tui.config.declared_graphs import GraphDeclaration
from hitl_tui.core.errors import BadInput, HitlError, ServerAway
from hitl_tui.core.interrupts.numbers import interrupts_of
from hitl_tui.core.json_text import digest, short_id, storable
from hitl_tui.core.json_types import EffectResolution, Json, JsonObject
from hitl_tui.core.messages import Message
from hitl_tui.core.names import clip, step_name
from hitl_tui.core.policy import Risk
from hitl_tui.core.questions import MOST_CHANGED
from hitl_tui.core.safe_text import mask, mask_json, one_line
from hitl_tui.graphs.graph_loader import AnyGraph, resolve, with_saver
from hitl_tui.graphs.graph_source import GraphSource
from hitl_tui.graphs.graph_store import keeps_store, open_store
from hitl_tui.graphs.graph_target import load_target
from hitl_tui.graphs.json_values import plain, said
from hitl_tui.graphs.langgraph_server import RUN, server_thread
from hitl_tui.graphs.served_graph import SEGMENT, ServedGraph, ServedRunCancelled, ServedRunFailed
from hitl_tui.graphs.state_text import answer_of
from hitl_tui.ledger.records import Effect
from hitl_tui.supervisor.activity import started_words
from hitl_tui.supervisor.attached_graphs.graph_view import GraphView, check_update, view_of
from hitl_tui.supervisor.attached_graphs.node_containment import contained, printed_to
from hitl_tui.supervisor.attached_graphs.outcomes import Asks, CodeChanged, Ended, GraphFailure, failure_text, in_doubt
from hitl_tui.supervisor.attached_graphs.repeats import Repeat, repeats_in
from hitl_tui.supervisor.attached_graphs.run_segments import (
    AGAIN,
    ERROR,
    PARTIAL,
    TAKEN_FROM,
    RunSegment,
    SegmentHistory,
    Told,
    next_segment,
    questions,
    stops_of,
)
from hitl_tui.supervisor.attached_graphs.run_settings import configuration, context_of, runtime_context
from hitl_tui.supervisor.attached_graphs.savers import open_saver
from hitl_tui.supervisor.attached_graphs.state_edit import edit_state, edited
from hitl_tui.supervisor.attached_graphs.waiting_points import (
    BREAK,
    RESUME,
    asked_in,
    bounded,
    breakpoint_question,
    cut_off_in,
    finished_in,
    places,
    stands_at,
    torn_in,
    vanished,
)
from hitl_tui.supervisor.checkpoint_ids import keep_ahead_of
from hitl_tui.supervisor.graph_findings import answer_notes, report_of
from hitl_tui.supervisor.record_check import related_sessions
from hitl_tui.supervisor.run_spec import BegunEffect, RunServices, RunSpec
from hitl_tui.teams.contract import EffectInDoubt, GraphSpec, RunNotCurrent, TeamFailure, TeamResult

if TYPE_CHECKING:
    from hitl_tui.lint.findings import Report

    AnyPregel = Pregel[Any, Any, Any, Any]

log = logging.getLogger(__name__)

_LARGEST_VALUES = 200_000


@dataclass(frozen=True, slots=True)
class _CurrentSegment:
    """A run segment that is carried out.

    Args:
        spec, team, graph, config: of its run.
        segment: what the graph is invoked with.
        finished: ids of the tasks that ended before; they don't run again.
        word: the answer that lets it be done though it may have happened already; empty when none was needed.
        entered: how often each node ran; filled while it goes on.
    """

    spec: RunSpec
    team: GraphSpec
    graph: AnyPregel
    config: RunnableConfig
    segment: RunSegment
    finished: set[str]
    word: str = ""
    entered: Counter[str] = field(default_factory=Counter)


@dataclass(frozen=True, slots=True)
class _Loaded:
    """A team's graph as it is in memory.

    Args:
        team: whose it is.
        graph: it, on its store.
        found: what its target named.
        programs: what its code was read as, see `GraphSource`.
    """

    team: GraphSpec
    graph: AnyPregel
    found: Any
    programs: Mapping[str, str]


class GraphRunner:
    """Runs graphs of others for one session.

    Args:
        services: what runs share.
    """

    def __init__(self, services: RunServices) -> None:
        self._services = services
        self._stack = AsyncExitStack()
        self._graphs: dict[str, _Loaded] = {}
        self._reports: dict[str, tuple[Mapping[str, str], Report | None]] = {}
        self._savers: dict[str, Any] = {}
        self._stores: dict[str, BaseStore] = {}
        self._loading = asyncio.Lock()

    async def close(self) -> None:
        """Close what factories and stores opened."""
        await self._stack.aclose()

    async def _loaded(self, team: GraphSpec) -> _Loaded:
        """Return a team's graph on the store its threads live in, loaded anew where its code changed.

        Raises:
            GraphError: it can't be loaded; StorageError: its store can't be opened.
        """
        async with self._loading:
            known, declared = self._graphs.get(team.name), team.declaration
            source = await asyncio.to_thread(team.source)
            with printed_to(lambda line: self._services.activity.write("", "line", line)):
                found = load_target(declared, source)
                if known is not None and known.team is team and known.found is found:
                    known = self._graphs[team.name] = replace(known, programs=source.programs)
                    return known
                graph = await resolve(declared, found, self._stack)
            if declared.saver and declared.saver not in self._savers:
                self._savers[declared.saver] = await self._stack.enter_async_context(open_saver(declared.saver))
            saver = self._savers[declared.saver] if declared.saver else self._services.saver
            store = await self._store(declared, source, graph)
            made = _Loaded(team, with_saver(graph, saver, declared.state_types, store), found, source.programs)
            self._graphs[team.name] = made
            return made

    async def _store(self, declared: GraphDeclaration, source: GraphSource, graph: AnyGraph) -> BaseStore | None:
        """Return what a graph's nodes get as their store; None where the graph has one.

        Raises:
            GraphError: the declared one can't be loaded.
        """
        if declared.is_served:
            return None
        own = declared.store.get("path")
        if not own and keeps_store(getattr(graph, "store", None)):
            return None
        key = short_id("store", declared.folder, declared.store, source.programs if own else {})
        if key not in self._stores:
            path = self._services.folder.stores / f"{short_id('store', str(self._services.workspace))}.db"
            opened = open_store(declared, source, path, lambda line: self._services.activity.write("", "note", line))
            self._stores[key] = await self._stack.enter_async_context(opened)
        return self._stores[key]

    async def view(self, spec: RunSpec, update: Mapping[str, Any] | None, at: str) -> GraphView:
        """Return a TODO's graph and where it stands; see `SessionView.graph`."""
        named = self._services.team(spec.todo.agent_name)
        team = named.graph
        if team is None:
            raise BadInput(Message("{} is for {}, which is no attached graph.", step_name(spec.todo.id), named.name))
        graph = (await self._loaded(team)).graph
        if update is not None:
            check_update(graph, update)
        config = _bare(self.place(spec, team))
        if at:
            config["configurable"]["checkpoint_id"] = at
        state = await graph.aget_state(config, subgraphs=True)
        entered = spec.todo.metadata.get("entered", {})
        after = await edited(graph, config, update) if update is not None else None
        return view_of(spec.todo.id, team.name, graph, state, entered, stops_of(spec, graph), after)

    def place(self, spec: RunSpec, team: GraphSpec) -> RunnableConfig:
        """Return the configuration of a run: its thread, what was approved, and what the LangGraph server adds."""
        return configuration(spec, team, self.thread(spec, team))

    def thread(self, spec: RunSpec, team: GraphSpec) -> str:
        """Return the thread a run is on; on a server, which others use, too, it is this session's alone."""
        own = spec.todo.metadata.get("threads", {}).get(spec.run_id)
        kept = spec.step.get("thread") or own or spec.stopped_on
        found = kept or team.declaration.thread or spec.continued or spec.run_id
        return server_thread(self._services.lineage, found) if team.declaration.is_served else found

    async def drive(self, spec: RunSpec, team: GraphSpec) -> Asks | Ended:
        """Let a run go on to its next question or its end.

        Raises:
            EffectInDoubt: a segment of it was begun, and nobody saw its end.
            RunNotCurrent: it was stopped. GraphFailure: it failed, or can't be loaded or stored.
            ServerAway: the record or its thread can't be reached now.
            CodeChanged: what it would execute isn't what was approved, so it didn't go on.
        """
        try:
            return await self._drive(spec, team)
        except EffectInDoubt as doubt:
            raise EffectInDoubt({**doubt.effect, **await self._about_doubt(spec, team, doubt)}) from doubt
        except (RunNotCurrent, GraphFailure, CodeChanged, ServerAway):
            raise
        except HitlError as error:  # a further try goes on with the thread, once what was wrong has been mended
            raise GraphFailure(error.message, self.thread(spec, team), wedged=False, entered={}) from error

    async def _about_doubt(self, spec: RunSpec, team: GraphSpec, doubt: EffectInDoubt) -> JsonObject:
        """Return what tells of a run whose end nobody saw: what it was answered, and the nodes that come next."""
        subject = cast("Mapping[str, Mapping[str, int]]", doubt.effect["subject"])
        answered = set(subject.get("answers") or ())
        asked = [i for i in interrupts_of(spec.todo.question) if i["id"] in answered and "answer" in i]
        found: dict[str, Json] = {"answers": [i["answer"]["value"] for i in asked]} if asked else {}
        state = await (await self._loaded(team)).graph.aget_state(_bare(self.place(spec, team)))
        return {**found, "nodes": list(state.next)} if state.next else found

    async def _drive(self, spec: RunSpec, team: GraphSpec) -> Asks | Ended:
        past = await self._past(spec)
        if past.failure is not None:
            raise self._failed_before(spec, team, past.failure)
        loaded, config = await self._loaded(team), self.place(spec, team)
        graph = loaded.graph
        if isinstance(loaded.found, ServedGraph):
            past = await self._settled(spec, team, loaded.found, past)
        told = Told.of(spec, past.own, rested=past.rested)
        approved = spec.todo.programs or loaded.programs  # of old sessions nothing is known
        changed = await asyncio.to_thread(team.changed, approved, loaded.programs)
        by_policy = (spec.todo.approval or {}).get("channel") == "policy"  # which lets it pass whatever files hold
        if changed and not told.began and not by_policy:
            raise CodeChanged("", loaded.programs, changed)
        if spec.step.get("checkpoint_id") and not told.began:  # again would drop what was asked since
            keep_ahead_of(await graph.aget_state(config, subgraphs=True))
            await self._go_back(graph, config, spec)
        state = await graph.aget_state(config, subgraphs=True)
        keep_ahead_of(state)
        gone = await vanished(graph, state, [i for i in told.interrupts if told.fresh(i)])
        if gone:
            names = one_line(", ".join(gone), 200)
            raise TeamFailure(
                Message(
                    "{} changed meanwhile: its thread stands before {}, which it no longer has; "
                    "bring that back, or go back to an earlier step.",
                    team.name,
                    names,
                )
            )
        word = past.word
        if told.open is not None and await self._has_ended(spec, graph, state, told):
            past = await self._past(spec)
        again: set[str] = set()
        if past.doubtful is not None:
            if changed and team.risk is not Risk.LOW:  # a word on it was for what was there then
                raise in_doubt(past.doubtful, earlier=_is_earlier(spec, past.doubtful))
            again = told.unsure
            word = await self._let_again(spec, team, past.doubtful)
            told.forget()
        if isinstance(loaded.found, ServedGraph):
            self._check_delivery(spec, team, loaded.found, state, told, again)
        repeats = await repeats_in(graph, state)
        segment = next_segment(spec, graph, state, told, self._services.secrets, repeats)
        if isinstance(segment, Asks):
            return await self._bound(spec, team, segment, approved)
        answered = [i for i in told.interrupts if "answer" in i and told.fresh(i) and i["id"] not in again]
        words = [i.get("programs") or approved for i in answered if i["id"] in segment.answers or not segment.answers]
        if word or not (words or by_policy):
            words.append(approved)
        runs = state.created_at is None or bool(state.next or state.tasks or segment.value is not None)
        if runs and (changed := await asyncio.to_thread(_differing, team, words, loaded.programs)):
            names = one_line(", ".join(changed), 200)
            said = Message("{} changed since you were asked; you are asked again about what it is now.", names)
            self._services.activity.write(spec.todo.id, "note", said)
            asked = asked_in(state, graph)
            if not asked and not segment.answers:
                raise CodeChanged(str(config["configurable"]["thread_id"]), loaded.programs, changed)
            passed = [_unanswered(i) for i in told.interrupts if i["id"] in segment.answers]
            found = questions(asked, stands_at(state), repeats) if asked else tuple(passed)
            return await self._bound(spec, team, Asks(found, tuple(told.delivered)), approved)
        current = _CurrentSegment(
            spec, team, graph, config, segment, await finished_in(graph.checkpointer, state), word
        )
        final = await self._carry_out(current)
        state = await graph.aget_state(config, subgraphs=True)
        ending = _ending(current, state, final, await repeats_in(graph, state))
        return await self._bound(spec, team, ending, approved) if isinstance(ending, Asks) else ending

    async def _bound(self, spec: RunSpec, team: GraphSpec, asks: Asks, approved: Mapping[str, str]) -> Asks:
        """Return questions with what answering them lets run, as it is now: an answer stands for that."""
        now = dict((await asyncio.to_thread(team.source)).programs)
        before = {i["id"]: i.get("programs") or approved for i in interrupts_of(spec.todo.question)}
        report = await self._report(team, now)
        interrupts = []
        for interrupt in asks.interrupts:
            known = approved if interrupt["id"] in asks.delivered else before.get(interrupt["id"], approved)
            changed = (await asyncio.to_thread(team.changed, known, now))[:MOST_CHANGED]
            notes = answer_notes(report, interrupt["path"][-1]) if interrupt.get("path") else ()
            told = {"changed": changed, "notes": notes}
            interrupts.append({**interrupt, "programs": now, **{name: lines for name, lines in told.items() if lines}})
        return replace(asks, interrupts=tuple(interrupts))

    async def _report(self, team: GraphSpec, programs: Mapping[str, str]) -> Report | None:
        """Return what is found in a graph's module, which is read anew where it changed."""
        read, report = self._reports.get(team.name, (None, None))
        if read != programs:
            report = await report_of(team.declaration)
            self._reports[team.name] = (programs, report)
        return report

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
        await edited(graph, place, values)  # what can't be is said before anything is written
        await edit_state(graph, place, values)

    async def _past(self, spec: RunSpec) -> SegmentHistory:
        """Return what is known of a TODO's segments; for a run that hasn't begun, also of what copies of it did."""
        services = self._services
        past = SegmentHistory(services.session, spec.branch, spec.run_id, await self._segments(spec, services.session))
        if past.own or past.word:
            return past
        kin = await related_sessions(services.ledger, services.session, services.lineage)
        return replace(past, segments=await self._segments(spec, *kin))

    async def _segments(self, spec: RunSpec, *sessions: str) -> list[Effect]:
        found = await self._services.ledger.effects(*sessions)
        return [e for e in found if e.todo_id == spec.todo.id and e.name == "graph"]

    async def _settled(
        self, spec: RunSpec, team: GraphSpec, graph: ServedGraph, past: SegmentHistory
    ) -> SegmentHistory:
        """Return what is known of a TODO's segments once the server has told of those whose end nobody saw.

        Raises:
            GraphFailure: one of this run failed there. GraphError: the server can't be reached.
        """
        services = self._services
        unseen = [e for e in past.segments if e.status == "started" and e.session == services.session]
        for segment in unseen:
            sent, failed, thread = False, "", ""
            try:
                for thread in dict.fromkeys((self.thread(spec, team), server_thread(services.lineage, segment.run_id))):
                    sent = sent or await graph.follow(thread, segment.key)
            except ServedRunCancelled:
                continue  # people are asked what of that
            except ServedRunFailed as error:
                failed = clip(mask(str(error), dict(services.secrets)), 500)
            outcome: JsonObject = {"thread": thread, ERROR: failed} if failed else {}
            ended = replace(spec, run_id=segment.run_id)
            await self._end(segment.key, ended, "done" if sent else "failed", outcome)
        found = await self._past(spec) if unseen else past
        if found.failure is not None:
            raise self._failed_before(spec, team, found.failure)
        return found

    def _check_delivery(
        self, spec: RunSpec, team: GraphSpec, graph: ServedGraph, state: StateSnapshot, told: Told, again: set[str]
    ) -> None:
        """Check that a thread that others use, too, still stands where people answered it.

        Raises:
            GraphFailure: it doesn't, and their answers aren't sent.
        """
        thread, place = self.thread(spec, team), graph.server.shown
        answered = [i for i in told.interrupts if "answer" in i and told.fresh(i) and i["id"] not in again]
        if state.created_at is None and (answered or team.declaration.thread):
            said = Message("its thread isn't on {} any more; nothing was sent", place)
            raise GraphFailure(said, thread, wedged=False, entered={})
        waiting, at = {i.id for i in state.interrupts}, stands_at(state)
        stops = {BREAK + str((state.config or {}).get("configurable", {}).get("checkpoint_id", ""))}
        if any(i["id"] not in waiting | stops or i.get("at") != at for i in answered):
            said = Message("somebody else let it go on at {} meanwhile; your answer wasn't sent", place)
            raise GraphFailure(said, thread, wedged=False, entered={})

    def _failed_before(self, spec: RunSpec, team: GraphSpec, segment: Effect) -> GraphFailure:
        """Return what a run failed with whose process died before it could say so."""
        outcome = segment.outcome
        return GraphFailure(
            str(outcome[ERROR]),
            str(outcome.get("thread") or self.thread(spec, team)),
            wedged=bool(outcome.get("wedged")),
            entered=cast("Mapping[str, int]", outcome.get("entered", {})),
        )

    async def _has_ended(self, spec: RunSpec, graph: AnyPregel, state: StateSnapshot, told: Told) -> bool:
        """Return whether the end of the open segment can be seen in the thread; close it where it can."""
        if told.open is None or not await self._moved(graph, state, told):
            return False
        await self._end(told.open.key, spec, "done", {})
        told.close()
        return True

    async def _let_again(self, spec: RunSpec, team: GraphSpec, segment: Effect) -> str:
        """Spend a person's word on a segment that may have happened; return the word: it is for what comes next.

        Raises:
            EffectInDoubt: nobody gave one; RunNotCurrent: the run was stopped.
        """
        session, own = self._services.session, segment.run_id == spec.run_id
        taken = replace(segment, session=session, branch=spec.branch, run_id=spec.run_id)
        word = await self._claim(spec, team, taken, earlier=_is_earlier(spec, segment))
        await self._end(segment.key, spec, "failed", {AGAIN: word, **({} if own else {TAKEN_FROM: segment.run_id})})
        return word

    async def _moved(self, graph: AnyPregel, state: StateSnapshot, told: Told) -> bool:
        secrets = self._services.secrets
        recorded = {a.interrupt.id: storable(bounded(plain(a.interrupt.value))) for a in asked_in(state, graph)}
        pending = {key: digest(mask_json(value, secrets)) for key, value in recorded.items()}
        if pending:
            asked = {i["id"]: digest(i["value"]) for i in told.interrupts if i["id"] in told.unsure}
            return not cut_off_in(state) and not any(pending.get(i) == seen for i, seen in asked.items())
        # A crash between two writes can look finished: the tasks have results, and the step after isn't written yet.
        finished = state.created_at is not None and not state.next and not state.tasks
        return finished and (state.metadata or {}).get(RUN) == told.run_id

    async def _claim(self, spec: RunSpec, team: GraphSpec, effect: Effect, *, earlier: bool = False) -> str:
        """Tell the ledger that a segment begins; return the answer that allowed it, empty when none was needed.

        Raises:
            EffectInDoubt: it may have happened, and nobody said what of that; RunNotCurrent: the run was stopped.
        """
        services = self._services
        said: EffectResolution = spec.todo.metadata.get("resolutions", {}).get(effect.key, {})
        if team.risk is Risk.LOW:  # it is known to change nothing
            said = {"verdict": "repeatable", "request_id": f"low risk {services.now()}"}
        verdict, answer = said.get("verdict", ""), said.get("request_id", "")
        claim = await services.ledger.begin_effect(effect, services.now(), resolution=verdict, answer_to=answer)
        if claim.verdict == "stale":
            raise RunNotCurrent(Message("This run was stopped, so it does nothing more."))
        if claim.verdict != "go":
            raise in_doubt(claim.effect or effect, earlier=earlier)
        services.begun[effect.key] = BegunEffect(spec.run_id)
        return answer

    # One segment -----------------------------------------------------------------------------------------------

    async def _carry_out(self, current: _CurrentSegment) -> Any:
        """Let a run's graph go through a segment, with the ledger told before and after; return its last values."""
        services, spec = self._services, current.spec
        effect = await self._begin(current)
        key = effect.key
        current = replace(current, config={**current.config, "metadata": {**current.config["metadata"], SEGMENT: key}})
        try:
            async with contained():
                final = await self._stream(current)
        except (HitlError, asyncio.CancelledError):
            raise
        except (Exception, SystemExit) as error:
            log.exception("run %s failed", spec.run_id)
            failure = await self._failure(current, error)
            if not torn_in(await current.graph.aget_state(current.config, subgraphs=True)):
                outcome: dict[str, Json] = {
                    "thread": failure.thread,
                    "wedged": failure.wedged,
                    "entered": failure.entered,
                }
                if sum(failure.entered.values()) > 1:
                    outcome[PARTIAL] = True
                said = clip(mask(failure.message, dict(services.secrets)), 500)
                await self._end(key, spec, "failed", {**outcome, ERROR: said})
            raise failure from error
        await self._end(key, spec, "done", {"entered": dict(current.entered)})
        return final

    async def _begin(self, current: _CurrentSegment) -> Effect:
        """Tell the ledger that a run's next segment begins.

        What is done again is another segment, named by the word that allows it: each word is for one.

        Raises:
            EffectInDoubt: it may have happened, and nobody said what of that; RunNotCurrent: the run was stopped.
        """
        services, spec, segment, word = self._services, current.spec, current.segment, current.word
        todo = spec.todo
        names = (services.lineage, todo.id, "graph", todo.attempt, segment.name, dict(segment.answers))
        answers: JsonObject = dict(segment.answers)
        subject: JsonObject = {"graph": current.team.declaration.shown, "stretch": segment.name, "answers": answers}
        before = {e.key: e for e in (await self._past(spec)).segments}
        while True:
            key = "eff-" + short_id(*names, *((word,) if word else ()), length=32)
            there = before.get(key)
            if there is not None and there.status == "done":  # the thread lost what came of it
                word = await self._let_again(spec, current.team, there)
            elif there is not None and AGAIN in there.outcome:
                word = str(there.outcome[AGAIN])
            else:
                effect = Effect(
                    key,
                    services.session,
                    todo.id,
                    spec.branch,
                    spec.run_id,
                    "graph",
                    subject,
                    "started",
                    {},
                    services.folder.stream_place,
                )
                await self._claim(spec, current.team, effect)
                return effect

    async def _failure(self, current: _CurrentSegment, error: BaseException) -> GraphFailure:
        thread = str(current.config["configurable"]["thread_id"])
        wedged = await self._wedged(current.graph, current.config)
        absent = current.team.facts.context.absent(error, context_of(current.spec, current.team) or {})
        text = failure_text(error)
        if absent:
            text = Message('{} ran without "{}" in its context, which nobody gave: {}', current.team.name, absent, text)
        return GraphFailure(text, thread, wedged=wedged, entered=current.entered)

    async def _wedged(self, graph: AnyPregel, config: RunnableConfig) -> bool:
        """Return whether an answer stays in a thread that failed: every later one would come after it."""
        state, saver = await graph.aget_state(config, subgraphs=True), cast("Any", graph.checkpointer)
        for place in places(state):
            found = await saver.aget_tuple(place)
            if found is not None and any(channel == RESUME for _, channel, _ in found.pending_writes or ()):
                return True
        return False

    async def _stream(self, current: _CurrentSegment) -> Any:
        activity, todo, team = self._services.activity, current.spec.todo, current.team
        traced = self._services.node
        before, after = stops_of(current.spec, current.graph)
        if current.segment.stepping:
            before = ["*"]
        final: Any = None

        def tell(line: str) -> None:
            activity.write(todo.id, "line", line)

        how = (
            started_words(team.name, todo.attempt)
            if current.segment.name.startswith("start ")
            else Message("{} goes on", team.name)
        )
        activity.write(todo.id, "started", how)
        with printed_to(tell):
            async for part in current.graph.astream(
                current.segment.value,
                current.config,
                context=runtime_context(current.spec, current.team, current.graph),
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
                elif kind == "tasks" and traced is not None and data["id"] not in current.finished:
                    traced(todo, part["ns"], data)
                if kind == "tasks" and "input" in data and data["id"] not in current.finished:
                    current.entered["/".join([*place, str(data["name"])])] += 1
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

    async def _end(self, key: str, spec: RunSpec, status: str, outcome: JsonObject) -> None:
        """Tell the ledger how a segment ended, once a power cut can't take what its thread holds of it."""
        self._services.begun[key] = BegunEffect(spec.run_id, self._services.now(), str(outcome.get(ERROR, "")))
        await asyncio.to_thread(self._services.folder.make_durable)
        await self._services.ledger.end_effect(key, spec.run_id, status, outcome, self._services.now())
        self._services.begun.pop(key, None)


def _ending(
    current: _CurrentSegment, state: StateSnapshot, final: Any, repeats: Mapping[str, Repeat | None]
) -> Asks | Ended:
    delivered, entered = tuple(current.segment.answers), dict(current.entered)
    asked = asked_in(state, current.graph)
    if asked:
        return Asks(questions(asked, stands_at(state), repeats), delivered, entered)
    if state.next:
        return Asks((breakpoint_question(state, state.next),), delivered, entered)
    values = state.values if final is None else final
    shown = plain(values)
    data = {"values": shown} if len(str(shown)) <= _LARGEST_VALUES else {"values": Message("too large to keep here")}
    return Ended(TeamResult(text=answer_of(shown, plain(current.spec.todo.arguments.get("input"))), data=data), entered)


def _differing(team: GraphSpec, approved: Sequence[Mapping[str, str]], now: Mapping[str, str]) -> list[str]:
    """Return the names of the files that aren't what they were under one of several words."""
    return list(dict.fromkeys(name for programs in approved for name in team.changed(programs, now)))


def _unanswered(interrupt: Mapping[str, Any]) -> dict[str, Any]:
    """Return a question of the state as a run reports it."""
    kept = ("answer", "asked", "number", "programs", "changed")
    return {key: value for key, value in interrupt.items() if key not in kept}


def _is_earlier(spec: RunSpec, segment: Effect) -> bool:
    """Return whether a segment was cut off in an earlier run."""
    return segment.run_id != spec.run_id and segment.status == "started"


def _place(namespace: Sequence[str]) -> list[str]:
    return [part.split(":")[0] for part in namespace]


def _bare(config: RunnableConfig) -> RunnableConfig:
    return {"configurable": {"thread_id": config["configurable"]["thread_id"]}}
