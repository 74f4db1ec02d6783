"""`SessionRegistry`: all sessions of a user, to begin and to open."""

from __future__ import annotations

import asyncio
import logging
import os
from collections.abc import AsyncIterator, Callable, Collection, Mapping, Sequence
from contextlib import asynccontextmanager
from contextvars import copy_context
from dataclasses import replace
from datetime import datetime
from functools import partial
from pathlib import Path
from secrets import token_hex

from hitl_tui.config.declared_graphs import LANGGRAPH_FILE, GraphDeclaration, GraphSettings, langgraph_file
from hitl_tui.config.model_settings import ModelSettings, chosen_model
from hitl_tui.config.own_settings import own_settings
from hitl_tui.config.paths import given_path
from hitl_tui.config.plan_settings import PlanSettings, plan_settings
from hitl_tui.config.review_settings import REVIEW_RUNTIME, is_folder, runtime_problem
from hitl_tui.config.workspace_files import read_files
from hitl_tui.core.errors import BadInput, ConfigError, GivenUp
from hitl_tui.core.events import utc_now
from hitl_tui.core.messages import Message
from hitl_tui.core.names import clip
from hitl_tui.core.plan_review import ReviewOptions
from hitl_tui.core.policy import Mode
from hitl_tui.core.safe_text import mask, one_line, safe_text
from hitl_tui.core.secret_names import check_stored, named_in
from hitl_tui.core.short_titles import short_title
from hitl_tui.ledger.attention import SHIFT, attention, fatigue
from hitl_tui.ledger.audit import verify
from hitl_tui.ledger.table_ledger import TableLedger
from hitl_tui.notifications.outbox import delivery_problems
from hitl_tui.notifications.wake import wake
from hitl_tui.planning.agent import PlanningAgent
from hitl_tui.planning.proposals import Planned
from hitl_tui.policy.approver_record import note_edits
from hitl_tui.policy.approvers import ApproverFile
from hitl_tui.policy.executable_files import Bindings, check_pins
from hitl_tui.policy.policy_source import FilePolicy
from hitl_tui.policy.trust_book import TrustBook
from hitl_tui.policy.workspace_trust import WorkspaceTrust, needs_trust
from hitl_tui.supervisor.admin import SessionAdmin
from hitl_tui.supervisor.data_place import data_place, open_record
from hitl_tui.supervisor.ledger_sealing import sealing_of
from hitl_tui.supervisor.session_input import LONGEST_TITLE, check_query, check_workspace, graph_title
from hitl_tui.supervisor.session_model import SessionModel
from hitl_tui.supervisor.session_removal import finish_deletions
from hitl_tui.supervisor.session_setup import (
    DeclaredTeams,
    SessionSetup,
    planner_for,
    planner_of,
    registry_of,
    secrets_of,
    withheld_teams,
)
from hitl_tui.supervisor.session_staging import begin_in
from hitl_tui.supervisor.session_store import SessionStore
from hitl_tui.supervisor.storage import DataFolder, SessionInfo, check_session_id
from hitl_tui.task_checkpoints.task_inbox import TaskInbox
from hitl_tui.teams.contract import GO_ON, Preparation, Team
from hitl_tui.teams.registry import TeamRegistry
from hitl_tui.teams.withheld import WithheldTeam

log = logging.getLogger(__name__)

AsksModel = Callable[[str, Callable[[], object]], object]
"""Is told which model is asked for a plan, and what gives that up."""


class SessionRegistry:
    """Opens sessions. Use `SessionRegistry.open`.

    Args:
        data: where sessions live.
        ledger: the record of all of them.
        environ: where secrets come from.
        now: the clock.
        once: digests of workspaces that are trusted while this is open.
    """

    def __init__(
        self,
        data: DataFolder,
        ledger: TableLedger,
        environ: Mapping[str, str],
        now: Callable[[], str] = utc_now,
        once: Collection[str] = (),
    ) -> None:
        self.data = data
        self.ledger = ledger
        self._bindings = Bindings(data.root / "manifests", (data.root,))
        self.trust = TrustBook(ledger, data.root, once, now, self._bindings, data.place)
        self._environ = environ
        self._tasks: TaskInbox | None = None
        self._now = now
        self._workspaces: set[Path] = set()
        self.approvers = ApproverFile(data.root, elsewhere=not isinstance(data.place, Path))
        self._warnings: list[str] = []
        self._told: Callable[[str], None] = self._warnings.append

    @classmethod
    @asynccontextmanager
    async def open(
        cls, root: Path, environ: Mapping[str, str] | None = None, *, once: Collection[str] = (), make: bool = True
    ) -> AsyncIterator[SessionRegistry]:
        """Open the data folder and its ledger.

        Args:
            root: the data folder.
            environ: where secrets come from; the process's environment unless given.
            once: digests of workspaces that are trusted while this is open, see `WorkspaceTrust.digest`.
            make: see `DataFolder`.

        Raises:
            StorageError: they can't be used.
        """
        given = os.environ if environ is None else environ
        data = data_place(root, given, make)
        await asyncio.to_thread(data.prepare)
        loop, told = asyncio.get_running_loop(), list[SessionRegistry]()
        context = copy_context()  # with the language that people are told in

        def warn(said: str) -> None:  # on the ledger's thread
            log.warning("%s", said)
            for registry in told:
                loop.call_soon_threadsafe(registry._warn, said, context=context)

        sealing = sealing_of(data, given, warn)

        def changed(_session: str) -> None:
            for registry in told:
                registry.notify()

        async with open_record(data, sealing, changed) as ledger:
            registry = cls(data, ledger, given, once=once)
            told.append(registry)
            if not data.read_only:
                registry.notify()  # of what couldn't be told before
                await finish_deletions(registry.store)
                await registry.note_approvers()
            yield registry

    def _warn(self, said: str) -> None:
        self._told(said)

    def tell_warnings(self, tell: Callable[[str], None]) -> None:
        """Let `tell` have what a person should know of the record, now and as it comes, in the event loop.

        That is that it can't be signed or anchored, or that a key signed before which isn't known here.
        """
        self._told = tell
        for said in self._warnings:
            tell(said)
        self._warnings.clear()

    async def settle_overdue(self, session: str = "") -> list[str]:
        """Settle the overdue questions of all sessions, unless nothing may be written; return their ids.

        Args:
            session: only of this one, where its record is as it was written.
        """
        if self.data.read_only or (session and (await verify(self.ledger, session)).problems):
            return []
        return await self.ledger.expire(self._now(), session or None)

    def notify(self) -> None:
        """Let somebody tell of what was opened or decided, where the settings of a person or of a workspace say so."""
        wake(self.data.root, tuple(self._workspaces), self._environ)

    def _notify_of_task(self, masc: Path) -> None:
        wake(self.data.root, (masc.parent,), self._environ)

    async def note_approvers(self) -> None:
        """Put it on record when the list of approvers was changed by hand."""
        try:
            await note_edits(self.ledger, self.approvers, self.now())
        except ConfigError:  # it can't be read: whoever needs an approver is told so
            return

    def now(self) -> str:
        """Return the time, ISO 8601 in UTC."""
        return self._now()

    @property
    def store(self) -> SessionStore:
        """What administering sessions works on."""
        return SessionStore(self.data, self.ledger, self.trust, self._environ, self._now, self.setup)

    @property
    def admin(self) -> SessionAdmin:
        """Administers these sessions."""
        return SessionAdmin(self.store)

    @property
    def tasks(self) -> TaskInbox:
        """What waits of tasks outside of these sessions."""
        if self._tasks is None:
            self._tasks = TaskInbox(self.data.root, self._environ, self._now, self._notify_of_task)
        return self._tasks

    async def inbox_warnings(self) -> list[str]:
        """Return what people should know of how what waits is decided, a sentence each.

        That is patterns of fatigue, and notifications that couldn't be sent.
        """
        now = self._now()
        since = (datetime.fromisoformat(now) - 2 * SHIFT).isoformat()
        views = await self.ledger.decided_since(since, now)
        views += await self.tasks.decided_since(since)
        return [*fatigue(attention(views), now), *delivery_problems(self.data.root)]

    async def create(
        self,
        query: str,
        workspace: Path,
        *,
        session_id: str = "",
        mode: Mode | None = None,
        graph: GraphDeclaration | None = None,
        settings: GraphSettings | None = None,
        review: ReviewOptions | None = None,
        asking: AsksModel | None = None,
    ) -> SessionSetup:
        """Begin a session: check everything that can be checked first, so that bad input leaves nothing behind.

        Args:
            query: what was asked; the graph's input, with a graph.
            workspace: the folder it works in.
            session_id: its id; empty for a fresh one.
            mode: when it asks; None for the workspace's own.
            graph: the graph that it is for; None for a session of the workspace's teams.
            settings: what all its graphs are given beside their input; None for nothing.
            review: how its plan is reviewed; None for as a person's is who takes their time.
            asking: is told when a model is asked for the plan, which may take a while.

        Raises:
            GivenUp: that was given up.
            BadInput: query, workspace, id or hitl.toml can't be used, or there is such a session already.
        """
        from hitl_tui.supervisor.record_check import creation_entry

        self.data.check_writable()
        text = check_query(query)
        real = check_workspace(workspace)
        trust = await self.trust.of(real)
        secrets = secrets_of(trust.config, self._environ)
        if session_id:
            check_session_id(session_id)
            if held := named_in(mask(session_id, secrets), secrets):
                raise BadInput(Message("The id of the session holds the secret {}; choose another id.", min(held)))
            if session_id in self.data.ids():
                raise BadInput(Message("Session {} already exists; choose another id.", session_id))
        text = mask(text, secrets)
        graphs = (graph,) if graph is not None else ()
        await asyncio.to_thread(check_pins, trust.config, real)
        if settings:
            check_stored(Message("The context"), settings.to_dict(), secrets)
        model = await asyncio.to_thread(self._model, trust, secrets)
        planner = await asyncio.to_thread(self._planner, trust, graphs, settings, model)  # it loads its rules
        began = self._now()
        planned = await _first_plan(planner, text, model.name if graph is None else "", asking)
        planning = began, self._now()
        beyond = {team.name for team in withheld_teams(trust, (g.name for g in graphs))}
        if wanted := next((step.agent for step in planned.plan.steps if step.agent in beyond), ""):
            raise needs_trust(wanted, trust.folder)
        heads = {head.stream: head.n for head in await self.ledger.streams()}
        name = session_id or self.data.fresh_id(heads)
        if name in heads:
            raise BadInput(Message("Session {} existed before and its record remains; choose another id.", name))
        named = short_title(text) if graph is None else graph_title(graph.name, graph.thread if text == GO_ON else text)
        title = clip(safe_text(named, multiline=False), LONGEST_TITLE)
        chosen = mode or trust.config.mode
        review = review or self.plan_settings(trust).interactive
        # What is done is remembered under the lineage, also where another session has the same id: elsewhere.
        lineage = f"{name}-{token_hex(8)}"
        info = SessionInfo(name, str(real), title, self._now(), lineage, text, chosen.value, review)
        await asyncio.to_thread(begin_in(self.data), info, graphs, settings)
        await self.ledger.record(name, *creation_entry(info), self._now())
        await model.begin(name, self.data.session(name).path)
        await asyncio.to_thread(self.data.wake, name)
        return replace(await self._setup(info, model=model), planned=planning)

    async def prepare(self, workspace: Path, progress: Callable[[float], None], *, large: bool = False) -> int:
        """Let the teams of a folder get ready before anybody asks them anything; see `Team.prepare`.

        Raises:
            HitlError: the folder or its settings can't be used, or a team can't get ready.
        """
        if self.data.read_only:
            return 0
        real = check_workspace(workspace)
        trust = await self.trust.of(real)
        teams = (await asyncio.to_thread(self._teams, trust, ())).planned()
        secrets = secrets_of(trust.config, self._environ)
        preparation = Preparation(real, self.data.cache, secrets, progress, large)
        return max([await team.prepare(preparation) for team in teams], default=0)

    async def team_names(self, workspace: Path) -> tuple[str, ...]:
        """Return the teams that sessions of a folder can have carried out here, as it is trusted now.

        Raises:
            HitlError: its settings can't be used.
        """
        trust = await self.trust.of(check_workspace(workspace))
        teams = (await asyncio.to_thread(self._teams, trust, ())).planned()
        return tuple(sorted(team.name for team in teams if not isinstance(team, WithheldTeam)))

    async def setup(self, session_id: str, *, teams: bool = True) -> SessionSetup:
        """Return what an existing session is opened with.

        Args:
            session_id: which.
            teams: make its teams now; else they are made when one is first wanted.

        Raises:
            UnknownName: there is none; BadInput: its workspace or hitl.toml can't be used now.
        """
        info = self.data.session(session_id).info()
        check_workspace(Path(info.workspace))
        return await self._setup(info, teams=teams)

    async def _setup(self, info: SessionInfo, *, teams: bool = True, model: SessionModel | None = None) -> SessionSetup:
        await self.trust.look(at_once=True)
        setup = await asyncio.to_thread(self._set_up, info, model)
        if teams:
            await asyncio.to_thread(setup.make_teams)
        return setup

    def _set_up(self, info: SessionInfo, begun_with: SessionModel | None) -> SessionSetup:
        folder = self.data.session(info.id)
        self._workspaces.add(Path(info.workspace))
        graphs, unnamed = self._attached(folder.graphs())
        settings = folder.graph_settings()
        named = {graph.name for graph in graphs} - {team.name for team in unnamed}
        policy = FilePolicy(Path(info.workspace), self.trust, named)
        policy.withheld |= {team.name for team in unnamed}
        opened = policy.trust
        declared = DeclaredTeams(lambda: self._teams(opened, graphs, unnamed, settings))
        secrets = secrets_of(policy.obeyed_config, self._environ)
        model = begun_with or self._model(opened, secrets)
        model.bind(info.id, folder.path)
        planner = PlanningAgent.later(
            lambda: declared.registry.agents(secrets),
            lambda: planner_for(opened, graphs, model, self.data.root),
            self._now,
            lambda names: declared.registry.look(names),
        )
        commands = dict(policy.obeyed_config.commands)
        renewing = asyncio.Lock()

        async def renew() -> str:
            async with renewing:
                trust = policy.trust
                if not policy.renewable:
                    return ""
                if trust.config.secret_names != policy.obeyed_config.secret_names:
                    return Message("It reads other secrets; open this session again to run what needs them.")
                graphs, unnamed = await asyncio.to_thread(self._attached, folder.graphs())
                declared.take(await asyncio.to_thread(self._teams, trust, graphs, unnamed, settings))
                planner.take(planner_of(declared.registry, trust, graphs, self._now, secrets, model, self.data.root))
                commands.clear()
                commands.update(trust.config.commands)
                policy.take(trust, (team.name for team in unnamed))
                return ""

        return SessionSetup(
            info=info,
            folder=folder,
            ledger=self.ledger,
            planner=planner,
            team=declared.get,
            policy=policy,
            mode=Mode(info.mode) if info.mode else policy.obeyed_config.mode,
            secrets=secrets,
            now=self._now,
            read_only=self.data.read_only,
            approvers=lambda: self.approvers.current,
            commands=commands,
            renew=renew,
            model=model,
        )

    def _attached(self, graphs: Sequence[GraphDeclaration]) -> tuple[list[GraphDeclaration], list[Team]]:
        """Return a session's attached graphs with their variables, and what stands for those nobody trusts any more.

        A graph that a langgraph.json names is its folder's word, not that of whoever attached it.
        """
        found: list[GraphDeclaration] = []
        untrusted: list[Team] = []
        for graph in graphs:
            origin = graph.origin or _origin_of(graph)
            trust = self.trust.judge(read_files(Path(origin))) if origin else None
            if trust is None:
                found.append(graph)
            elif trust.trusted:
                now = trust.declared.graphs.get(graph.name)
                found.append(replace(graph, env=now.env if now is not None and now.target == graph.target else {}))
            else:
                found.append(graph)
                refusal = partial(needs_trust, graph.name, trust.folder)
                untrusted.append(WithheldTeam(graph.name, graph.description, refusal))
        return found, untrusted

    def _teams(
        self,
        trust: WorkspaceTrust,
        graphs: Sequence[GraphDeclaration],
        unnamed: Sequence[Team] = (),
        settings: GraphSettings | None = None,
    ) -> TeamRegistry:
        withheld = [*withheld_teams(trust, (graph.name for graph in graphs)), *unnamed]
        folder = Path(trust.folder)
        why_no_secrets = partial(self.trust.why_no_secrets, folder)
        return registry_of(
            trust.config, graphs, folder, withheld, self._bindings, self.data.cache, settings, why_no_secrets
        )

    def _planner(
        self,
        trust: WorkspaceTrust,
        graphs: Sequence[GraphDeclaration],
        settings: GraphSettings | None,
        model: SessionModel,
    ) -> PlanningAgent:
        secrets = secrets_of(trust.config, self._environ)
        return planner_of(
            self._teams(trust, graphs, (), settings), trust, graphs, self._now, secrets, model, self.data.root
        )

    def _model(self, trust: WorkspaceTrust, secrets: Mapping[str, str]) -> SessionModel:
        """Return the model of a session that begins or is opened; nothing is imported for it before it is asked."""
        return SessionModel(self.model_settings(trust), self._environ, self.ledger, secrets, self._now)

    def plan_settings(self, trust: WorkspaceTrust) -> PlanSettings:
        """Return how the plans of a workspace are reviewed.

        Raises:
            BadInput: a variable that says so can't be used.
        """
        return plan_settings(self._environ, trust.config.plan)

    def reviewed_runtimes(self, trust: WorkspaceTrust) -> Sequence[str]:
        """Return where the runtimes are whose requests stand in the inbox: addresses and folders.

        Raises:
            BadInput: what names one can't be used.
        """
        given = [place for one in self._environ.get(REVIEW_RUNTIME, "").split(",") if (place := one.strip())]
        for one in given:
            if problem := runtime_problem(one):
                raise BadInput(Message("{} {}, but it is {}.", REVIEW_RUNTIME, problem, repr(one_line(one, 60))))
        named = ((given, Path()), (own_settings(self.data.root).reviewed, self.data.root))
        for places, beside in (*named, (trust.config.reviewed, Path(trust.folder))):
            if places:
                return [str(beside.absolute() / given_path(one)) if is_folder(one) else one for one in places]
        return []

    def model_settings(self, trust: WorkspaceTrust) -> ModelSettings:
        """Return the model that a session in a workspace would begin with.

        Raises:
            BadInput: what names it can't be used.
        """
        return chosen_model(trust.config.model, own_settings(self.data.root).model, self._environ)


async def _first_plan(planner: PlanningAgent, query: str, model: str, asking: AsksModel | None) -> Planned:
    """Return the plan that a session begins with.

    Args:
        planner: who makes it.
        query: what was asked.
        model: who is asked for it; empty for no model.
        asking: see `AsksModel`.

    Raises:
        HitlError: the query can't be planned.
        GivenUp: that was given up.
    """
    planning = asyncio.ensure_future(planner.create_execution_plan(query))
    if model and asking is not None:
        asking(model, planning.cancel)
    try:
        return await planning
    except asyncio.CancelledError:
        if (here := asyncio.current_task()) is not None and here.cancelling():
            raise
        raise GivenUp(Message("You gave up the plan; no session was begun.")) from None


def _origin_of(graph: GraphDeclaration) -> str:
    """Return the folder whose langgraph.json names a graph that was attached before that was kept; empty for none."""
    file = Path(graph.folder) / LANGGRAPH_FILE
    try:
        named = langgraph_file(file) if file.is_file() else ()
    except BadInput:
        return ""
    return graph.folder if any((g.name, g.target) == (graph.name, graph.target) for g in named) else ""
