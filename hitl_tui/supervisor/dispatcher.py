"""Runs of teams, each on a thread of its own, and their effects on the world, at most once."""

from __future__ import annotations

import asyncio
import logging
import os
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeAlias, cast

from langchain_core.runnables import RunnableConfig
from langgraph.config import get_config
from langgraph.graph.state import CompiledStateGraph
from langgraph.types import Command, StateSnapshot, StreamMode

from hitl_tui.core.errors import BadInput, HitlError, ServerAway, StorageError
from hitl_tui.core.events import EventKind
from hitl_tui.core.interrupts.numbers import interrupts_of
from hitl_tui.core.json_text import canonical, digest, key_order, short_id
from hitl_tui.core.json_types import (
    DoubtfulEffect,
    EffectResolution,
    EventData,
    Interrupt,
    JsonObject,
    ProposalState,
    ResultReference,
)
from hitl_tui.core.messages import Message
from hitl_tui.core.names import clip, step_name
from hitl_tui.core.policy import Risk
from hitl_tui.core.questions import MOST_CHANGED
from hitl_tui.core.requests import Verdict
from hitl_tui.core.safe_markdown import fenced, first_words
from hitl_tui.core.safe_text import mask
from hitl_tui.core.secret_masks import put_back
from hitl_tui.graphs.json_values import plain
from hitl_tui.graphs.served_graph import STRICT_RESUME
from hitl_tui.ledger.protocols import Effects
from hitl_tui.ledger.records import CHANGED_NOTHING, Effect
from hitl_tui.supervisor.activity import ENDED, UNRECORDED, earlier_run, started_words
from hitl_tui.supervisor.attached_graphs.graph_view import GraphView
from hitl_tui.supervisor.attached_graphs.outcomes import Asks, CodeChanged, GraphFailure
from hitl_tui.supervisor.attached_graphs.runner import GraphRunner
from hitl_tui.supervisor.bound_files import find_bound_files
from hitl_tui.supervisor.masked_saver import masked_saver
from hitl_tui.supervisor.orphan_processes import command_of, end_orphans, find_orphans
from hitl_tui.supervisor.run_spec import BegunEffect, RunServices, RunSpec
from hitl_tui.supervisor.storage import ArtifactStore
from hitl_tui.teams.contract import (
    EffectInDoubt,
    GraphSpec,
    RunNotCurrent,
    Team,
    TeamContext,
    TeamFailure,
    TeamResult,
    TeamTask,
)

log = logging.getLogger(__name__)


def node_place() -> str:
    """Return where in a team's graph the caller runs: node path without task ids, and superstep.

    It is the same when a node runs again after a crash, and in another attempt.
    """
    config = get_config()
    metadata = config.get("metadata") or {}
    namespace = str((config.get("configurable") or {}).get("checkpoint_ns", ""))
    path = "/".join(part.split(":")[0] for part in namespace.split("|"))
    return f"{path}@{metadata.get('langgraph_step', 0)}"


class LedgerEffects:
    """`teams.contract.Effects` for one run.

    Args:
        ledger: where effects are recorded.
        artifacts: keeps what came out.
        lineage: id under which the session's effects are remembered.
        session, todo_id, branch, run_id: the run.
        resolutions: what people said about effects in doubt, by key: `verdict` (`use_as_done` or `do_again`) and
            the `request_id` it answers.
        repeatable: it is declared to change nothing, so what was cut off, or another branch did, is done again unasked.
        secrets: declared secrets, by name: they are masked in what is recorded of a failure.
        now: the clock.
        begun: see `RunServices`.
        place: see `SessionFolder.stream_place`.
    """

    def __init__(
        self,
        ledger: Effects,
        artifacts: ArtifactStore,
        *,
        lineage: str,
        session: str,
        todo_id: str,
        branch: int,
        run_id: str,
        resolutions: Mapping[str, EffectResolution],
        repeatable: bool,
        secrets: Mapping[str, str],
        now: Callable[[], str],
        begun: dict[str, BegunEffect],
        place: str,
    ) -> None:
        self._ledger = ledger
        self._artifacts = artifacts
        self._lineage = lineage
        self._session = session
        self._todo_id = todo_id
        self._branch = branch
        self._run_id = run_id
        self._resolutions = resolutions
        self._repeatable = repeatable
        self._secrets = dict(secrets)
        self._now = now
        self._begun = begun
        self._place = place
        self._ordinals: Counter[str] = Counter()

    async def __call__(self, name: str, subject: Any, act: Callable[[], Awaitable[dict[str, Any]]]) -> dict[str, Any]:
        """See `teams.contract.Effects`."""
        full_name = f"{node_place()}/{name}"
        self._ordinals[full_name] += 1
        key = "eff-" + short_id(
            self._lineage, self._todo_id, full_name, self._ordinals[full_name], digest(subject), length=32
        )
        run = (self._session, self._todo_id, self._branch, self._run_id)
        effect = Effect(key, *run, name, subject, "started", {}, self._place)
        answer: EffectResolution = self._resolutions.get(key, {})
        claim = await self._ledger.begin_effect(
            effect, self._now(), resolution=answer.get("verdict", ""), answer_to=answer.get("request_id", "")
        )
        if claim.verdict == "doubt" and self._repeatable:
            said = f"low risk {self._now()}"  # what it found before may not hold any more
            claim = await self._ledger.begin_effect(effect, self._now(), resolution="repeatable", answer_to=said)
        if claim.verdict == "stale":
            raise RunNotCurrent(Message("This run was stopped, so it does nothing more."))
        if claim.verdict == "doubt":
            why = _why_in_doubt(claim.effect, self._session)
            ended = claim.effect is not None and claim.effect.status == "done"
            raise EffectInDoubt({"key": key, "name": name, "subject": subject, "why": why, "done": ended})
        if claim.verdict == "done":
            outcome = claim.effect.outcome if claim.effect else {}
            return await self._kept(outcome)
        if claim.verdict == "failed" and claim.effect is not None:
            # The process died before it could say so: it isn't tried again within the same run.
            error = BadInput if claim.effect.outcome.get("final") else TeamFailure
            raise error(cast("str", claim.effect.outcome["error"]))
        self._begun[key] = BegunEffect(self._run_id)
        try:
            result = await act()
        except (TeamFailure, BadInput) as error:
            # It ended, and how is known: a person may let it be done again. After anything else nobody knows.
            said = clip(mask(error.message, self._secrets), 500)
            failure: JsonObject = {"error": said, **({"final": True} if isinstance(error, BadInput) else {})}
            self._begun[key] = BegunEffect(self._run_id, self._now(), said)
            await self._end(key, "failed", failure)
            raise
        self._begun[key] = BegunEffect(
            self._run_id, self._now(), clip(canonical(result).decode("utf-8", "replace"), 500)
        )
        reference = await self._artifacts.put(result)
        done: JsonObject = {"artifact": reference, **({CHANGED_NOTHING: True} if self._repeatable else {})}
        await self._end(key, "done", done)
        return result

    async def _end(self, key: str, status: str, outcome: JsonObject) -> None:
        await self._ledger.end_effect(key, self._run_id, status, outcome, self._now())
        del self._begun[key]

    async def _kept(self, outcome: JsonObject) -> dict[str, Any]:
        reference = outcome.get("artifact")
        return await self._artifacts.get(str(reference)) if reference else dict(outcome)


def _why_in_doubt(effect: Effect | None, session: str) -> str:
    if effect is None or effect.status != "done":
        return Message("it was started, and nothing says whether it ended")
    if effect.session != session:
        return Message("session {} did it, with which this one shares its past", effect.session)
    return Message("it ran before the restore, which undid nothing of what it did")


TeamGraph: TypeAlias = "CompiledStateGraph[Any, Any, Any, Any]"
"""A team's graph: its states are the team's business."""

STREAMED: tuple[StreamMode, ...] = ("updates", "custom")
"""What is heard of a team's graph."""
_WHY = {
    ENDED: Message("hitl-tui ended it while it ran, and nothing says how far it got"),
    UNRECORDED: Message("it ended by itself, and what came of it couldn't be recorded"),
}
"""Why it is asked whether something happened, by what the stream says of how it ended."""
UNLOCKED = -1
"""In the place of the lock of a run that starts nothing."""
_LOOK = 0.2


class _TimedOut(Exception):
    """A run took longer than its TODO's timeout; a team's own `TimeoutError` is a failure like any other."""


class LocalDispatcher:
    """`Dispatcher` that runs teams as tasks of this process.

    Args:
        services: what runs share.
        grace: seconds a stopped run gets to end before it is named as still running.
        orphan_patience: seconds that a command of an earlier process gets to end before somebody is asked.
    """

    def __init__(self, services: RunServices, grace: float = 10.0, orphan_patience: float = 3.0) -> None:
        self._services = services
        self._grace = grace
        self._orphan_patience = orphan_patience
        self._tasks: dict[str, asyncio.Task[None]] = {}
        self._stuck: set[str] = set()
        self._ended: dict[str, int] = {}
        self._begun: set[str] = set()
        self._graphs: dict[str, tuple[Team, TeamGraph]] = {}
        self._ending: set[asyncio.Task[None]] = set()
        self._draining = False
        self._attached = GraphRunner(services)

    @property
    def alive(self) -> set[str]:
        """Ids of the runs that go on now."""
        return {run_id for run_id, task in self._tasks.items() if not task.done()}

    @property
    def stoppable(self) -> set[str]:
        """Ids of the runs that go on now, without those that were stopped and didn't end, or say now how they ended."""
        return self.alive - self._stuck - self._ended.keys()

    def ensure(self, spec: RunSpec) -> None:
        """Let a run go on unless it does already.

        Raises:
            StorageError: it ended, and that couldn't be written to the ledger.
            ServerAway: the ledger or its checkpoints couldn't be reached while it ran.
        """
        task = self._tasks.get(spec.run_id)
        if task is not None and not task.done():
            return
        if task is not None and not task.cancelled() and (error := task.exception()) is not None:
            raise error  # its ending couldn't even be written down
        if self._ended.get(spec.run_id) == spec.todo.asked:
            return  # how it ended is in the inbox and not in the state yet: it would be done twice
        if self._draining:
            return
        self._ended.pop(spec.run_id, None)
        if spec.run_id in self._begun or spec.step:
            spec = replace(spec, fresh=False)
        self._begun.add(spec.run_id)
        todo = spec.todo.id
        earlier = [t for run, t in self._tasks.items() if run.split("/")[1] == todo and not t.done()]
        self._tasks = {run: t for run, t in self._tasks.items() if not t.done()}
        self._tasks[spec.run_id] = asyncio.create_task(self._drive(spec, earlier), name=f"run {spec.run_id}")

    async def stop(self, run_id: str) -> bool:
        """Stop a run; return whether it has ended.

        Nothing more is begun by it from now on: the ledger refuses its effects.
        """
        task = self._tasks.get(run_id)
        await self._services.ledger.stop_run(self._services.session, run_id, self._services.now())
        if task is None or task.done():
            return True
        task.cancel()
        await asyncio.wait({task}, timeout=self._grace)
        if not task.done():
            self._stuck.add(run_id)
        return task.done()

    async def stop_all(self) -> list[str]:
        """Stop every run; return the ids of those that did not end in time."""
        alive = sorted(self.alive)
        ended = await asyncio.gather(*(self.stop(run_id) for run_id in alive))
        return [run_id for run_id, done in zip(alive, ended, strict=True) if not done]

    @property
    def begun(self) -> list[str]:
        """Ids of the TODOs whose effect has begun while how it ended isn't on record, and whose run nobody stopped."""
        return sorted({effect.run_id.split("/")[1] for effect in self._in_effect()})

    def _in_effect(self) -> list[BegunEffect]:
        tasks = self._tasks
        found = [one for one in self._services.begun.values() if one.run_id in tasks]
        return [one for one in found if not tasks[one.run_id].cancelled()]

    async def drain(self) -> None:
        """Begin no run from now on, and wait until those that go on have ended."""
        self._draining = True
        if running := [task for task in self._tasks.values() if not task.done()]:
            await asyncio.wait(running)

    async def close(self, why: str) -> None:
        """End all tasks without telling the ledger that their runs were stopped: they go on when reopened.

        Args:
            why: said in the stream of each run that had begun to act: nothing else may tell how that came to its end.
        """
        tasks = {run: task for run, task in self._tasks.items() if not task.done()}
        acting = {effect.run_id for effect in self._in_effect()}
        for task in tasks.values():
            task.cancel()
        if tasks:
            await asyncio.wait(tasks.values(), timeout=self._grace)
        for effect in [one for one in self._services.begun.values() if one.run_id in acting]:
            todo_id, cut_off = effect.run_id.split("/")[1], effect.run_id in tasks
            task = self._tasks[effect.run_id]
            if effect.ended_at or not cut_off:
                error = task.exception() if task.done() and not task.cancelled() else None
                kept_from = error.message if isinstance(error, HitlError) else why
                said = Message("by itself, and how couldn't be recorded: {}", kept_from)
                if effect.result:
                    said = Message("by itself, with {}; this couldn't be recorded: {}", effect.result, kept_from)
                self._services.activity.write(todo_id, UNRECORDED, said, at=effect.ended_at)
            elif task.done():
                self._services.activity.write(todo_id, ENDED, Message("hitl-tui ended it: {}", why))
        await self._attached.close()
        if self._ending:
            await asyncio.wait(self._ending)

    async def view(self, spec: RunSpec, update: JsonObject | None, at: str) -> GraphView:
        """Return a TODO's attached graph and where it stands; see `SessionView.graph`."""
        return await self._attached.view(spec, update, at)

    def end_orphan(self, todo_id: str) -> None:
        """Begin to end the command that an earlier process started for a TODO and left running."""
        task = asyncio.create_task(self._end_orphan(todo_id))
        self._ending.add(task)
        task.add_done_callback(self._ending.discard)

    async def _end_orphan(self, todo_id: str) -> None:
        found, left = await asyncio.to_thread(end_orphans, self._services.folder.run_lock(todo_id))
        if not found:
            return
        pid = command_of(found).pid
        said = (
            Message("process {} can't be ended and still runs", pid)
            if left
            else Message("process {} of the run before was ended", pid)
        )
        self._services.activity.write(todo_id, "note", said)

    async def _drive(self, spec: RunSpec, earlier: list[asyncio.Task[None]]) -> None:
        if earlier:
            await asyncio.wait(earlier)
        try:
            lock = await self._run_lock(spec)
        except EffectInDoubt as doubt:  # what it began still runs
            await self._ask_doubt(spec, doubt)
            return
        try:
            await self._run(spec, lock)
        except asyncio.CancelledError:
            current = asyncio.current_task()
            if current is None or current.cancelling():
                raise
            # Nobody stopped this run: its team raised that by itself.
            await self._fail(spec, Message("{} cancelled itself", spec.todo.agent_name), final=False)
        except EffectInDoubt as doubt:
            await self._ask_doubt(spec, doubt)
        except CodeChanged as error:
            data: EventData = {"todo_id": spec.todo.id, "run_id": spec.run_id, "thread": error.thread}
            data |= {"programs": dict(error.programs), "changed": list(error.changed[:MOST_CHANGED])}
            await self._tell(spec, f"run:{spec.run_id}:changed", EventKind.CHANGED, data)
        except RunNotCurrent as error:
            log.info("%s: %s", spec.run_id, error.message)
        except _TimedOut:
            await self._fail(spec, Message("it took longer than {} s", f"{spec.todo.timeout:g}"), final=False)
        except GraphFailure as error:
            more: EventData = {"thread": error.thread, "entered": error.entered, "wedged": error.wedged}
            await self._fail(spec, error.message, final=True, more=more)
        except ServerAway:  # how far it got is read from the record, once that can be read again
            raise
        except HitlError as error:
            final = isinstance(error, BadInput | StorageError) or await self._failed_acting(spec)
            known = await self._reference(_as_result(error)) if isinstance(error, TeamFailure) and error.data else None
            kept: EventData = {"result": known} if known is not None else {}
            await self._fail(spec, error.message, final=final, more=kept)
        except (Exception, SystemExit) as error:
            log.exception("run %s failed", spec.run_id)
            await self._fail(
                spec, f"{type(error).__name__}: {error}" if str(error) else type(error).__name__, final=False
            )
        finally:
            if lock != UNLOCKED:
                os.close(lock)

    async def _ask_doubt(self, spec: RunSpec, doubt: EffectInDoubt) -> None:
        data: EventData = {
            "todo_id": spec.todo.id,
            "run_id": spec.run_id,
            "effect": cast("DoubtfulEffect", doubt.effect),
        }
        team = self._services.team(spec.todo.agent_name)
        services, why = self._services, ""
        for effect in await services.ledger.effects(services.session, status="started"):
            if effect.key == doubt.effect["key"]:
                why = _WHY.get(earlier_run(services.activity.lines, effect, services.folder.stream_place)["how"], "")
        if why:
            data["effect"] = cast("DoubtfulEffect", {**doubt.effect, "why": why})
        fresh = await find_bound_files(team, spec.todo) if team.bindings is not None else None
        if fresh is not None:  # what it did before it stopped may have changed them
            data |= {"programs": fresh.programs, "changed": list(fresh.changed[:MOST_CHANGED])}
        await self._tell(spec, f"run:{spec.run_id}:doubt:{spec.todo.asked}", EventKind.DOUBT, data)

    async def _run_lock(self, spec: RunSpec) -> int:
        """Return the lock of a TODO's runs; wait while a command of an earlier run holds it.

        Raises:
            EffectInDoubt: it doesn't end, and nobody was asked about that yet.
        """
        services, loop = self._services, asyncio.get_running_loop()
        if (lock := services.folder.lock_run(spec.todo.id)) is not None:
            return lock
        services.activity.write(
            spec.todo.id, "note", Message("waiting for a process of the run before, which is still alive")
        )
        ends: float | None = loop.time() + self._orphan_patience
        while (lock := services.folder.lock_run(spec.todo.id)) is None:
            if ends is not None and loop.time() >= ends:
                ends = None
                if services.team(spec.todo.agent_name).changes_nothing(spec.todo.arguments):
                    await self._end_orphan(spec.todo.id)
                elif await self._used_as_done(spec):
                    return UNLOCKED
            await asyncio.sleep(_LOOK)
        return lock

    async def _used_as_done(self, spec: RunSpec) -> bool:
        """Return whether somebody said that the effect of a command which still runs counts as done.

        Raises:
            EffectInDoubt: nobody was asked about that process yet.
        """
        services, todo = self._services, spec.todo
        began = [e for e in await services.ledger.effects(services.session, status="started") if e.todo_id == todo.id]
        found = await asyncio.to_thread(find_orphans, services.folder.run_lock(todo.id))
        if not found or not began:
            return False
        effect, command = began[-1], command_of(found)
        answer: EffectResolution = todo.metadata.get("resolutions", {}).get(effect.key, {})
        view = await services.ledger.request(str(answer.get("request_id", "")), services.now()) if answer else None
        if view is None or not view.decisions or view.decisions[-1].at < command.since:
            why = Message(
                "it was begun, and still ran as process {} when this was asked, since {}", command.pid, command.clock
            )
            raise EffectInDoubt({"key": effect.key, "name": effect.name, "subject": effect.subject, "why": why})
        if answer["verdict"] == Verdict.USE_AS_DONE:
            return True
        said = Message(
            "it is done again once process {} has ended; /todo cancel {} ends that", command.pid, step_name(todo.id)
        )
        services.activity.write(todo.id, "note", said)
        return False

    async def _failed_acting(self, spec: RunSpec) -> bool:
        """Return whether an effect of a run failed that may not be done twice: only a person lets it start again."""
        if spec.todo.risk is Risk.LOW or self._services.team(spec.todo.agent_name).idempotent:
            return False
        failed = await self._services.ledger.effects(self._services.session, status="failed")
        return any(effect.run_id == spec.run_id for effect in failed)

    async def _fail(self, spec: RunSpec, error: str, *, final: bool, more: EventData | None = None) -> None:
        text = clip(mask(error, dict(self._services.secrets)), 500)
        data: EventData = {
            "todo_id": spec.todo.id,
            "run_id": spec.run_id,
            "error": text,
            "final": final,
            **(more or EventData()),
        }
        await self._tell(spec, f"run:{spec.run_id}:failed", EventKind.FAILED, data)

    async def _tell(self, spec: RunSpec, event_id: str, kind: EventKind, data: EventData) -> None:
        self._ended[spec.run_id] = spec.todo.asked
        await self._services.post(event_id, kind, data)

    async def _run(self, spec: RunSpec, lock: int) -> None:
        services = self._services
        team = services.team(spec.todo.agent_name)
        if team.graph is not None:
            await self._run_graph(spec, team.graph)
            return
        if not await self._has_acted(spec) and (listed := await self._listed_otherwise(spec)):
            raise CodeChanged("", spec.todo.programs, listed)
        graph = self._graph(team)
        config: RunnableConfig = {"configurable": {"thread_id": spec.thread, STRICT_RESUME: True}}
        if spec.step and not interrupts_of(spec.todo.question):  # again would drop what it asked since
            at_step: RunnableConfig = {"configurable": dict(spec.step) | {"thread_id": spec.thread}}
            await graph.aupdate_state(at_step, None, as_node="__copy__")
        state = None if spec.fresh else await graph.aget_state(config)
        value = _beginning(spec) if state is None else self._input(spec, state)
        if value is not _WAITING:
            context = await self._context(spec, lock, repeatable=team.changes_nothing(spec.todo.arguments))
            try:
                async with asyncio.timeout(spec.todo.timeout or None) as limit:
                    result = await self._stream(graph, value, config, context, spec)
            except TimeoutError as error:
                if limit.expired():
                    raise _TimedOut from error
                raise
            if result is not None:
                await self._finish(spec, result)
                return
            state = await graph.aget_state(config)
        assert state is not None
        await self._end(spec, state)

    async def _has_acted(self, spec: RunSpec) -> bool:
        """Return whether a run has begun to act: then what its preview lists is other than it was because of that."""
        if spec.fresh:
            return False
        return any(e.run_id == spec.run_id for e in await self._services.ledger.effects(self._services.session))

    async def _listed_otherwise(self, spec: RunSpec) -> Sequence[str]:
        """Return the files that were shown with the question, and aren't what would be shown now."""
        shown = str((spec.todo.approval or {}).get("request_id", ""))
        return await self._services.listed(shown) if shown and spec.todo.arguments.get("preview") else ()

    async def _run_graph(self, spec: RunSpec, team: GraphSpec) -> None:
        try:
            async with asyncio.timeout(spec.todo.timeout or None) as limit:
                ending = await self._attached.drive(spec, team)
        except TimeoutError as error:
            if limit.expired():
                raise _TimedOut from error
            raise
        if isinstance(ending, Asks):
            data: EventData = {
                "todo_id": spec.todo.id,
                "run_id": spec.run_id,
                "interrupts": [cast("Interrupt", dict(i)) for i in ending.interrupts],
                "delivered": list(ending.delivered),
                "entered": dict(ending.entered),
            }
            await self._tell(spec, f"run:{spec.run_id}:asks:{spec.todo.asked}", EventKind.INTERRUPTED, data)
        else:
            more: EventData = {"entered": dict(ending.entered), "thread": self._attached.thread(spec, team)}
            await self._finish(spec, ending.result.to_dict(), more)

    def _graph(self, team: Team) -> TeamGraph:
        known = self._graphs.get(team.name)
        if known is None or known[0] is not team:  # its workspace was trusted anew
            saver = masked_saver(self._services.saver, self._services.secrets)
            known = team, team.build().compile(checkpointer=saver, name=team.name)
            self._graphs[team.name] = known
        return known[1]

    def _input(self, spec: RunSpec, state: StateSnapshot) -> object:
        """Return what to invoke a run's graph with: how far it got decides."""
        if state.created_at is None:
            return _beginning(spec)
        if state.interrupts:
            answers = _answers(spec, state, self._services.secrets)
            return Command(resume=answers) if answers else _WAITING
        if not state.next and state.values.get("result") is not None:
            return _WAITING
        return None

    async def _context(self, spec: RunSpec, lock: int, *, repeatable: bool) -> TeamContext:
        services = self._services
        inputs = {
            todo_id: TeamResult.from_dict(await services.artifacts.get(str(ref["digest"])))
            for todo_id, ref in spec.inputs.items()
        }
        todo = spec.todo
        effects = LedgerEffects(
            services.ledger,
            services.artifacts,
            lineage=services.lineage,
            session=services.session,
            todo_id=todo.id,
            branch=spec.branch,
            run_id=spec.run_id,
            resolutions=todo.metadata.get("resolutions", {}),
            repeatable=repeatable,
            secrets=services.secrets,
            now=services.now,
            begun=services.begun,
            place=services.folder.stream_place,
        )

        def progress(text: str, fraction: float = -1.0) -> None:
            services.activity.write(todo.id, "line" if fraction < 0 else "progress", text, fraction)

        return TeamContext(
            task=TeamTask(todo.id, spec.query, todo.description, dict(todo.arguments), inputs),
            workspace=services.workspace,
            cache=services.folder.cache,
            key=f"{services.lineage}/{todo.id}",
            effects=effects,
            progress=progress,
            secrets=services.secrets,
            lock_fd=lock,
            model=services.model,
            policy=services.policy,
        )

    async def _stream(
        self,
        graph: TeamGraph,
        value: object,
        config: RunnableConfig,
        context: TeamContext,
        spec: RunSpec,
    ) -> Mapping[str, object] | None:
        """Let a run's graph go on; return its result, None when it asks something or has to be looked at."""
        activity, node = self._services.activity, self._services.node
        result: object = None
        activity.write(spec.todo.id, "started", started_words(spec.todo.agent_name, spec.todo.attempt))
        modes = [*STREAMED, *(("tasks",) if node is not None else ())]
        async for part in graph.astream(
            value,
            config,
            context=context,
            stream_mode=modes,
            durability="sync",
            version="v2",
            subgraphs=node is not None,
        ):
            if part["type"] == "tasks":
                if node is not None:
                    node(spec.todo, part["ns"], part["data"])
            elif part["type"] == "updates":
                if part["ns"]:
                    continue
                for update in part["data"].values():
                    result = update.get("result") if isinstance(update, Mapping) else None
            else:
                activity.write(spec.todo.id, "line", str(part["data"]))
        return result if isinstance(result, Mapping) else None

    async def _end(self, spec: RunSpec, state: StateSnapshot) -> None:
        todo = spec.todo
        data: EventData = {"todo_id": todo.id, "run_id": spec.run_id}
        if state.interrupts:
            data["interrupts"] = [
                {"id": i.id, "path": [task.name], "index": n, "value": value, "order": key_order([value, None])}
                for task in state.tasks
                for n, i in enumerate(task.interrupts)
                for value in [plain(i.value)]
            ]
            data["delivered"] = [i["id"] for i in interrupts_of(todo.question) if "answer" in i]
            await self._tell(spec, f"run:{spec.run_id}:asks:{todo.asked}", EventKind.INTERRUPTED, data)
            return
        values = state.values if isinstance(state.values, Mapping) else {}
        found = values.get("result")
        if not isinstance(found, Mapping):
            await self._fail(spec, Message("{} ended without a result", todo.agent_name), final=True)
            return
        await self._finish(spec, found)

    async def _finish(self, spec: RunSpec, found: Mapping[str, object], more: EventData | None = None) -> None:
        todo, result = spec.todo, TeamResult.from_dict(found)
        reference = await self._reference(result)
        proposal = await self._services.follow_up(todo, result)
        data: EventData = {
            "todo_id": todo.id,
            "run_id": spec.run_id,
            "result": reference,
            "proposal": cast("ProposalState", proposal.to_dict() if proposal is not None else None),
            **(more or EventData()),
        }
        await self._tell(spec, f"run:{spec.run_id}:finished", EventKind.FINISHED, data)

    async def _reference(self, result: TeamResult) -> ResultReference:
        reference: ResultReference = {
            "digest": await self._services.artifacts.put(result.to_dict()),
            "summary": clip(result.summary or first_words(result.text), 200),
            "found": result.found,
            "files": list(result.files),
        }
        if result.missed is not None:
            reference["missed"] = [clip(said, 200) for said in result.missed]
        return reference


def _as_result(failure: TeamFailure) -> TeamResult:
    """Return what is known of a failure, for the steps that go on without it: its sentence and what was printed."""
    printed = "\n".join(str(failure.data.get(name) or "").rstrip() for name in ("stdout", "stderr")).strip()
    text = f"{failure.message}\n\n{fenced(printed)}\n" if printed else f"{failure.message}\n"
    return TeamResult(text=text, data=dict(failure.data), summary=failure.message)


def _answers(spec: RunSpec, state: StateSnapshot, secrets: Mapping[str, str]) -> dict[str, object]:
    held = {i.id: plain(i.value) for i in state.interrupts}
    asked = interrupts_of(spec.todo.question)
    told = {i["id"]: i for i in asked if "answer" in i and i["id"] in held}
    return {k: put_back(i["answer"]["value"], i["value"], held[k], secrets) for k, i in told.items()}


def _beginning(spec: RunSpec) -> dict[str, str]:
    return {"task": spec.todo.description}


_WAITING = object()
