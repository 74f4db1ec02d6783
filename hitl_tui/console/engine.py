"""The console's side of the engine: it is imported after the first frame, and sessions live in tasks of their own."""

from __future__ import annotations

import asyncio
import gc
import importlib
import logging
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from hitl_tui.config.declared_graphs import Attachment
    from hitl_tui.console.held_sessions import HeldSession
    from hitl_tui.console.remote_inbox import RemoteInbox
    from hitl_tui.console.session_handle import SessionHandle, Watcher
    from hitl_tui.console.thread_watch import ThreadWatch
    from hitl_tui.core.identity import Identity
    from hitl_tui.core.json_types import JsonObject
    from hitl_tui.core.policy import Mode
    from hitl_tui.core.requests import Verdict
    from hitl_tui.ledger.records import RequestView
    from hitl_tui.policy.workspace_trust import WorkspaceTrust
    from hitl_tui.supervisor.admin import Deleted, SessionAdmin
    from hitl_tui.supervisor.open_options import OpenOptions
    from hitl_tui.supervisor.open_session import OpenSession
    from hitl_tui.supervisor.session_registry import SessionRegistry
    from hitl_tui.supervisor.session_setup import SessionSetup
    from hitl_tui.supervisor.snapshot import Snapshot
    from hitl_tui.task_checkpoints.checkpoint import Checkpoint
    from hitl_tui.task_checkpoints.task_inbox import WaitingStep

T = TypeVar("T")

log = logging.getLogger(__name__)


def _load_registry() -> type[SessionRegistry]:
    """Import what lists sessions."""
    from hitl_tui.supervisor.session_registry import SessionRegistry

    return SessionRegistry


def _load_engine() -> None:
    """Import what opens sessions, and carries commands out in them; it takes several times as long."""
    for name in ("hitl_tui.supervisor.own_session", "hitl_tui.commands.handler"):
        importlib.import_module(name)


WAITING_PAGE = 100
"""Requests that an inbox begins with."""
_KEPT_OPEN = 8
"""Sessions that only wait for a person are kept open behind the one that is shown; more of them cost for nothing."""


class Engine:
    """Opens the session registry, and sessions that go on side by side; one of them is on the screen.

    Args:
        options: how the console was started.
        elsewhere: is told how a session looks that is open and not on the screen.
    """

    def __init__(self, options: OpenOptions, elsewhere: Callable[[str, Snapshot], None]) -> None:
        self._options = options
        self._registry: asyncio.Future[SessionRegistry] | None = None
        self._leave = asyncio.Event()
        self._registry_task: asyncio.Task[None] | None = None
        self._loading: asyncio.Task[None] | None = None
        self._held: dict[str, HeldSession] = {}
        self._elsewhere = elsewhere
        self._opening = asyncio.Lock()
        self._looking = asyncio.Lock()
        self._settled = False
        self.warnings: list[str] = []
        """What a person should know of the record and there was no stream yet to say it in."""
        self._remote: RemoteInbox | None = None
        self._threads: ThreadWatch | None = None

    async def registry(self) -> SessionRegistry:
        """Return the session registry; the first call imports it, in a thread, and opens it.

        Raises:
            HitlError: the data folder can't be used.
        """
        if self._registry is None or (self._registry.done() and self._registry.exception() is not None):
            self._registry = asyncio.get_running_loop().create_future()
            self._registry_task = asyncio.create_task(self._hold_registry(self._registry), name="session registry")
        return await asyncio.shield(self._registry)

    async def _hold_registry(self, ready: asyncio.Future[SessionRegistry]) -> None:
        try:
            kind = await asyncio.to_thread(_load_registry)
            async with kind.open(self._options.data, once=self._options.once) as registry:
                registry.tell_warnings(self._warn)
                ready.set_result(registry)
                await self._leave.wait()
        except Exception as error:
            log.exception("the session registry stopped")
            gc.enable()  # the engine may not be loaded for long
            if not ready.done():
                ready.set_exception(error)

    @property
    def session_open(self) -> bool:
        """A session is on the screen."""
        return any(held.shown and not held.over for held in self._held.values())

    @property
    def running(self) -> list[tuple[str, Sequence[str]]]:
        """Sessions that this process drives, by id, with the TODOs in progress in them: they end with it."""
        return [(held.id, held.running) for held in self._held.values() if held.hears and held.running]

    def _warn(self, said: str) -> None:
        if not self.strayed([said]):
            self.warnings.append(said)

    def strayed(self, lines: Sequence[str]) -> bool:
        """Add what was written past the screen to the streams of the sessions it may be from; False when there is none.

        Who wrote it isn't known: a TODO that runs, or else something that did when it wrote.
        """
        own = [held for held in self._held.values() if held.hears]
        for held in [s for s in own if s.running] or own[-1:]:
            held.hear(lines)
        return bool(own)

    def stamp(self) -> tuple[int, ...]:
        """Return what is another one after anybody, in this process or another, has written into the ledger."""
        if self._registry is None or not self._registry.done():
            return ()
        registry = self._registry
        if registry.cancelled() or registry.exception() is not None:
            return ()
        opened = registry.result()
        return (hash(opened.ledger.stamp()), *opened.tasks.stamp(self._options.workspace))

    async def prepare(self) -> None:
        """Import what the first session needs, in a thread; it may be begun before somebody waits for it."""
        if self._loading is None or (self._loading.done() and self._loading.exception() is not None):
            self._loading = asyncio.create_task(self._load(), name="engine")
        await asyncio.shield(self._loading)

    async def _load(self) -> None:
        try:
            await asyncio.to_thread(_load_engine)
        finally:
            # What was imported stays for good; looking through it again and again would only make keys wait.
            gc.freeze()
            gc.enable()

    async def prepare_folder(self, folder: Path, progress: Callable[[float], None], *, large: bool = False) -> int:
        """Let the teams of a folder get ready; return how many files it has where a person is to be asked first.

        Raises:
            HitlError: they can't.
        """
        return await (await self.registry()).prepare(folder, progress, large=large)

    def settle(self) -> None:
        """Take what is loaded by now out of the garbage collector's sight: a large session was opened.

        Looking through a plan of ten thousand again and again would make keys wait, a tenth of a second each time.
        """
        gc.unfreeze()
        gc.collect()
        gc.freeze()
        self._settled = True

    async def admin(self) -> SessionAdmin:
        """Return what administers all sessions. Raises HitlError: the data folder can't be used."""
        return (await self.registry()).admin

    def follow_runtime(self, workspace: Path, changed: Callable[[], object]) -> None:
        """From now on read what the runtimes ask that the settings name; `changed` is told when that is something else.

        Args:
            workspace: whose settings count once it is trusted.
            changed: see above.
        """
        if self._options.reach is not None and self._remote is None:
            from hitl_tui.console.remote_inbox import RemoteInbox

            async def places() -> Sequence[str]:
                registry = await self.registry()
                return registry.reviewed_runtimes(await registry.trust.of(workspace))

            self._remote = RemoteInbox(places, self._options.reach, changed)

    def follow_threads(self, workspace: Path) -> None:
        """From now on let the threads that wait on the LangGraph servers of a trusted folder's teams ask here."""
        from hitl_tui.console.thread_watch import ThreadWatch

        async def look() -> Sequence[str] | None:
            registry = await self.registry()
            graphs = (await registry.trust.of(workspace)).config.graphs.values()
            if registry.data.read_only or not any(graph.inbox for graph in graphs):
                return None
            await self.prepare()
            return await self._take_over(registry, workspace)

        self._threads = ThreadWatch(look)

    async def _take_over(self, registry: SessionRegistry, workspace: Path) -> Sequence[str]:
        from hitl_tui.commands.waiting_threads import take_over_declared
        from hitl_tui.policy.operator_identity import Operator

        operator = self._options.operator or Operator(self._options.data)
        found = await take_over_declared(registry, workspace, operator, self._held.keys())
        return found.problems

    @property
    def remote(self) -> RemoteInbox | None:
        """What those runtimes ask; None where no interface reaches one."""
        return self._remote

    async def inbox_warnings(self) -> list[str]:
        """Return what people should know of how what waits is decided, a sentence each."""
        found = await (await self.registry()).inbox_warnings()
        return [*found, *(self._threads.problems if self._threads is not None else ())]

    async def requests(self, most: int = WAITING_PAGE) -> list[RequestView]:
        """Return what waits for a person, here and elsewhere: what expires first comes first.

        Args:
            most: of sessions at most so many; what waits elsewhere is there whole.
        """
        from hitl_tui.core.events import utc_now

        registry = await self.registry()
        found = await registry.ledger.urgent(utc_now(), most)
        found += [one.view for one in await self.waiting_steps()]
        found += await self._asked_elsewhere(registry)
        return sorted(found, key=lambda view: view.request.urgency)

    async def count_waiting(self) -> int:
        """Return how much waits for a person, here and elsewhere."""
        from hitl_tui.core.events import utc_now

        registry = await self.registry()
        counts = await registry.ledger.waiting_counts(utc_now())
        return sum(counts.values()) + len(await self.waiting_steps()) + len(await self._asked_elsewhere(registry))

    async def _asked_elsewhere(self, registry: SessionRegistry) -> list[RequestView]:
        """Return what the runtimes ask, but for requests that wait here: one may have the same record."""
        from hitl_tui.core.events import utc_now
        from hitl_tui.core.requests import Outcome

        asked = self._remote.views if self._remote is not None else ()
        here = [await registry.ledger.request(view.request.id, utc_now()) for view in asked]
        return [
            view
            for view, own in zip(asked, here, strict=True)
            if own is None or own.resolution.outcome is not Outcome.PENDING
        ]

    async def waiting_steps(self) -> list[WaitingStep]:
        """Return the steps of agents' tasks that wait for a person."""
        registry = await self.registry()
        return await self._in_tasks(registry.tasks.waiting(self._options.workspace))

    async def decide_step(
        self, waiting: WaitingStep, verdict: Verdict, reason: str, who: Identity | None = None
    ) -> Checkpoint:
        """Say something of a step of an agent's task, as it was shown.

        Args:
            waiting: the step.
            verdict: approve or reject.
            reason: why.
            who: who says it; the operator where it is None.

        Raises:
            Refused: it can't count.
        """
        from hitl_tui.core.requests import Verdict

        tasks, who = (await self.registry()).tasks, who or await self._who()
        seen = waiting.view.request.digest
        value = waiting.step.value if verdict is Verdict.APPROVE else None  # that was shown, too
        said = tasks.decide(waiting, verdict, who, "console", reason=reason, value=value, seen=seen)
        return await self._in_tasks(said)

    async def edit_step(self, waiting: WaitingStep, arguments: JsonObject) -> WaitingStep:
        """Give a call of an agent other arguments than were shown; return it as it is asked about anew.

        Raises:
            BadInput: nothing would change, or it can't be edited here.
            Refused: it was decided meanwhile, they may not, or a rule denies it.
        """
        tasks, who = (await self.registry()).tasks, await self._who()
        edited = await self._in_tasks(tasks.edit(waiting, arguments, who, waiting.view.request.digest))
        return replace(waiting, step=edited)

    async def _who(self) -> Identity:
        from hitl_tui.policy.operator_identity import Operator

        return (self._options.operator or Operator(self._options.data))()

    async def _in_tasks(self, doing: Coroutine[Any, Any, T]) -> T:
        """Do something in the store of a folder: it is used by one thread at a time."""
        from hitl_tui.ledger.entry_files import at_once

        async with self._looking:
            done = asyncio.ensure_future(asyncio.to_thread(at_once, doing))
            try:
                return await asyncio.shield(done)
            except asyncio.CancelledError:  # its thread goes on: nobody else may come in before it has ended
                await asyncio.wait({done})
                raise

    async def step_was_shown(self, waiting: WaitingStep) -> None:
        """Note that a step of an agent's task was shown."""
        tasks, by = (await self.registry()).tasks.tasks(waiting.masc), self._options.by
        await self._in_tasks(tasks.was_shown(waiting.step, by, "console"))

    async def begin(
        self,
        query: str,
        workspace: Path,
        mode: Mode | None,
        watcher: Watcher,
        attached: Attachment | None = None,
        session_id: str = "",
    ) -> SessionHandle:
        """Begin a session, with this id if one is given, and open it; with an attached graph, one for that.

        Raises:
            HitlError: it can't be begun; what was open before stays open.
        """
        registry = await self.registry()
        await self.prepare()
        graph = attached.graph if attached else None
        setup = await registry.create(
            query, workspace, session_id=session_id, mode=mode, graph=graph, asking=watcher.planning
        )
        handle = await self._open(registry, setup, query, watcher)
        if attached and attached.given(query):
            from hitl_tui.commands.handler import approve_given

            await approve_given(handle.session, setup.planner, self._options.by, self._options.operator)
        return handle

    async def open(self, session_id: str, watcher: Watcher) -> SessionHandle:
        """Open a session there is, or show it again; another one that was shown goes on unseen.

        Raises:
            HitlError: there is none, or it can't be opened.
        """
        registry = await self.registry()
        await self.prepare()
        return await self._open(registry, await registry.setup(session_id), "", watcher)

    async def model(self, trust: WorkspaceTrust) -> str:
        """Return the model that a session in a workspace would begin with, or why it can't be told."""
        from hitl_tui.core.errors import HitlError

        registry = await self.registry()
        try:
            return (await asyncio.to_thread(registry.model_settings, trust)).name
        except HitlError as error:
            return error.message

    async def trust(self, folder: Path) -> WorkspaceTrust:
        """Return the trust in a folder as it is now. Raises HitlError: its files or the record can't be used."""
        return await (await self.registry()).trust.of(folder)

    async def grant(self, folder: Path, digest: str) -> WorkspaceTrust:
        """Trust a folder as it was shown. Raises BadInput when it is something else by now; nothing was written."""
        granted = await (await self.registry()).trust.grant(folder, digest, by=self._options.by, how="console")
        for following in (self._remote, self._threads):
            if following is not None:
                following.settings_changed()
        return granted

    async def workspace(self, session_id: str) -> Path:
        """Return the folder that a session works in. Raises HitlError: there is no such session."""
        return Path((await self.registry()).data.session(session_id).info().workspace)

    def holds(self, session_id: str) -> bool:
        """Tell whether a session is open here, and not in another process."""
        held = self._held.get(session_id)
        return held is not None and held.owned

    async def delete(self, session_id: str, leave: Callable[[str], Awaitable[None]]) -> Deleted:
        """Delete a session; one that is open here is closed first.

        Args:
            session_id: which.
            leave: takes it off the screen.

        Raises:
            HitlError: it can't be deleted; it is closed then.
        """
        registry = await self.registry()
        async with self._opening:
            if session_id in self._held:
                await leave(session_id)
                await self._let_go(session_id)
            return await registry.admin.delete(session_id, by=self._options.by)

    async def _open(
        self, registry: SessionRegistry, setup: SessionSetup, query: str, watcher: Watcher
    ) -> SessionHandle:
        from hitl_tui.commands.handler import CommandHandler
        from hitl_tui.console.held_sessions import HeldSession
        from hitl_tui.console.session_handle import SessionHandle

        def make_handle(session: OpenSession) -> SessionHandle:
            handler = CommandHandler(
                session,
                setup.planner,
                by=self._options.by,
                channel="console",
                admin=registry.admin,
                tasks=registry.tasks,
                acting=self._options.operator,
                terminal=True,
                folder=(self._options.workspace or Path.cwd()).expanduser(),
            )
            return SessionHandle(session, handler)

        self._options.hide(setup.secrets)
        async with self._opening:
            name = setup.info.id
            if name in self._held and self._held[name].over:
                await self._let_go(name)
            held = self._held.get(name)
            if held is None:
                held = HeldSession(registry.store, setup, query, watcher, self._elsewhere, make_handle)
            found = await held.handle()
            self._held.pop(name, None)
            for other in self._held.values():
                other.shown = False
            self._held[name] = held  # the last one is the one that was shown last
            held.show()
            await self._put_aside(name)
            return found

    async def _put_aside(self, shown: str) -> None:
        """Let other sessions go on behind the one that is shown; those where nothing goes on are closed, but for a few.

        What they ask stands in the ledger: it is counted and listed still, and they are opened again to answer it.
        """
        others = {name: held for name, held in self._held.items() if name != shown}
        over = [name for name, held in others.items() if held.finished or held.over]
        resting = [name for name, held in others.items() if name not in over and held.rests]
        for name in (*over, *resting[:-_KEPT_OPEN]):
            await self._let_go(name)

    async def _let_go(self, session_id: str) -> None:
        await self._held.pop(session_id).leave()
        if self._settled:  # it may have been the large one: it isn't kept for good
            self._settled = False
            gc.unfreeze()

    async def close(self) -> None:
        """Close everything; may be called again."""
        for following in (self._remote, self._threads):
            if following is not None:
                await following.close()
        for name in list(self._held):
            await self._held.pop(name).leave()
        self._leave.set()
        if self._registry_task is not None:
            await asyncio.wait({self._registry_task})
            if self._registry is not None and self._registry.done():
                self._registry.exception()  # it was reported where it was waited for
        if self._loading is not None:
            await asyncio.wait({self._loading})
