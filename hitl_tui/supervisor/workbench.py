"""All sessions of a user: begin, list, open (C8)."""

from __future__ import annotations

import asyncio
import logging
import os
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from secrets import token_hex
from typing import TYPE_CHECKING, Any

from hitl_tui.config import standing
from hitl_tui.config.graphs import LANGGRAPH_FILE, GraphDeclaration, langgraph_file
from hitl_tui.config.load import load_config
from hitl_tui.config.workspace import TEAMS, WorkspaceConfig
from hitl_tui.core.errors import BadInput, ConfigError, HitlError, Refused, SessionBusy, StorageError
from hitl_tui.core.policy import Mode
from hitl_tui.core.safe_text import mask, safe_text
from hitl_tui.core.todos import clip
from hitl_tui.ledger.contract import Ledger
from hitl_tui.ledger.sqlite import SqliteLedger
from hitl_tui.supervisor.checkpointer import open_read_only
from hitl_tui.supervisor.clock import utc_now
from hitl_tui.supervisor.copies import copies_of, remove_copies
from hitl_tui.supervisor.follower import Follower
from hitl_tui.supervisor.history import History
from hitl_tui.supervisor.searching import has_words
from hitl_tui.supervisor.session import Session, SessionSetup
from hitl_tui.supervisor.staging import Staging, room_for
from hitl_tui.supervisor.storage import DataFolder, SessionFolder, SessionInfo, check_session_id
from hitl_tui.teams.registry import TeamRegistry

if TYPE_CHECKING:
    from hitl_tui.planning.agent import Planner, PlanningAgent

log = logging.getLogger(__name__)

LONGEST_QUERY = 10_000
"""Characters a query may have: every checkpoint keeps it."""

LONGEST_TITLE = 200
"""Characters a title may have."""


@dataclass(frozen=True, slots=True)
class SessionSummary:
    """One line of the list of sessions.

    Args:
        id, title, workspace, created: of the session.
        status: `waiting`, `running`, `finished`, `failed`, `interrupted` (nobody has it open) or `unreadable`.
        questions: how many wait for a person.
        owned: some process has it open.
        updated: time of its last checkpoint.
        message: why it is unreadable.
        query: what was asked, for looking for words.
    """

    id: str
    title: str
    workspace: str
    created: str
    status: str
    questions: int
    owned: bool
    updated: str
    message: str = ""
    query: str = ""

    def to_dict(self) -> dict[str, Any]:
        return {
            "session_id": self.id,
            "title": self.title,
            "workspace": self.workspace,
            "created": self.created,
            "session_status": self.status,
            "questions": self.questions,
            "owned": self.owned,
            "updated": self.updated,
            "message": self.message,
        }


def check_query(query: str) -> str:
    """Return a query without white space around it.

    Raises:
        BadInput: it is empty, too long or no text.
    """
    text = query.strip()
    if not text:
        raise BadInput("The question is empty; write what you want to know or have done.")
    if len(text) > LONGEST_QUERY:
        raise BadInput(f"The question has {len(text):,} characters; at most {LONGEST_QUERY:,} can be used.")
    strange = sum(1 for c in text if c == "\0" or "\ud800" <= c <= "\udfff" or (c < " " and c not in "\n\r\t"))
    if strange:
        raise BadInput("The question holds binary data; write it as plain text.")
    return text


def check_title(title: str, secrets: Mapping[str, str]) -> str:
    """Return a title as it is kept: one line that hides nothing, without secrets.

    Raises:
        BadInput: it is empty or too long.
    """
    text = safe_text(mask(" ".join(title.split()), secrets), multiline=False)
    if not text:
        raise BadInput("The title is empty; write what the session is to be called.")
    if len(text) > LONGEST_TITLE:
        raise BadInput(f"The title has {len(text):,} characters; at most {LONGEST_TITLE} can be used.")
    return text


def check_workspace(path: Path) -> Path:
    """Return the absolute path of a folder that a session can work in.

    Raises:
        BadInput: it is missing, no folder or can't be read.
    """
    real = path.expanduser().resolve()
    if not real.exists():
        raise BadInput(f"The workspace {path} doesn't exist.")
    if not real.is_dir():
        raise BadInput(f"The workspace {path} isn't a folder.")
    if not os.access(real, os.R_OK | os.X_OK):
        raise BadInput(f"The workspace {path} can't be read.")
    return real


class Workbench:
    """Opens sessions. Use `Workbench.open`.

    Args:
        data: where sessions live.
        ledger: the record of all of them.
        environ: where secrets come from.
        now: the clock.
    """

    def __init__(
        self, data: DataFolder, ledger: Ledger, environ: Mapping[str, str], now: Callable[[], str] = utc_now
    ) -> None:
        self.data = data
        self.ledger = ledger
        self._environ = environ
        self._now = now

    @classmethod
    @asynccontextmanager
    async def open(cls, root: Path, environ: Mapping[str, str] | None = None) -> AsyncIterator[Workbench]:
        """Open the data folder and its ledger.

        Raises:
            StorageError: they can't be used.
        """
        data = DataFolder(root)
        data.prepare()
        async with SqliteLedger.open(data.ledger) as ledger:
            bench = cls(data, ledger, os.environ if environ is None else environ)
            await bench._tidy()
            yield bench

    def now(self) -> str:
        """Return the time, ISO 8601 in UTC."""
        return self._now()

    async def create(
        self,
        query: str,
        workspace: Path,
        *,
        session_id: str = "",
        mode: Mode | None = None,
        graph: GraphDeclaration | None = None,
    ) -> SessionSetup:
        """Begin a session: check everything that can be checked first, so that bad input leaves nothing behind.

        Args:
            query: what was asked; the graph's input, with a graph.
            workspace: the folder it works in.
            session_id: its id; empty for a fresh one.
            mode: when it asks; None for the workspace's own.
            graph: the graph that it is for (I1); None for a session of the workspace's teams.

        Raises:
            BadInput: query, workspace, id or hitl.toml can't be used, or there is such a session already.
        """
        text = check_query(query)
        real = check_workspace(workspace)
        if session_id:
            check_session_id(session_id)
            if session_id in self.data.ids():
                raise BadInput(f"There is a session {session_id} already; choose another id.")
        config = declared(real)
        secrets = self._secrets(config)
        graphs = (graph,) if graph is not None else ()
        await _planner(_registry(config, graphs), config, graphs, self._now).plan(text)
        heads = {head.stream: head.n for head in await self.ledger.streams()}
        name = session_id or self.data.fresh_id(heads)
        if name in heads:
            raise BadInput(f"There was a session {name} before, and its record remains; choose another id.")
        title = clip(safe_text(mask(text.split("\n")[0], secrets), multiline=False), LONGEST_TITLE)
        chosen = mode or config.mode
        # What is done is remembered under the lineage, also where another session has the same id: elsewhere.
        lineage = f"{name}-{token_hex(8)}"
        info = SessionInfo(name, str(real), title, self._now(), lineage, mask(text, secrets), chosen.value)
        folder = self.data.create(info)
        if graphs:
            folder.write_graphs(graphs)
        await self.ledger.record(name, "session_created", {"workspace": str(real), "title": title}, self._now())
        return self._setup(info, config)

    def setup(self, session_id: str) -> SessionSetup:
        """Return what an existing session is opened with.

        Raises:
            UnknownName: there is none; BadInput: its workspace or hitl.toml can't be used now.
        """
        info = self.data.session(session_id).info()
        check_workspace(Path(info.workspace))
        return self._setup(info, declared(Path(info.workspace)))

    @asynccontextmanager
    async def session(self, setup: SessionSetup, query: str = "") -> AsyncIterator[Session | Follower]:
        """Open a session: own it, or follow it when another process does."""
        try:
            owner = Session.open(setup, query)
            session = await owner.__aenter__()
        except SessionBusy:
            async with Follower.open(setup) as follower:
                yield follower
            return
        keeping = asyncio.create_task(self._keep_rules(session), name=f"rules {setup.info.id}")
        try:
            yield session
        finally:
            keeping.cancel()
            await asyncio.wait({keeping})
            await owner.__aexit__(None, None, None)

    async def _keep_rules(self, session: Session) -> None:
        """Answer what the operators' standing rules allow, as decisions on record (C3)."""
        path, workspace, said = self.data.root / standing.FILE_NAME, session.setup.info.workspace, ""
        seen = session.snapshot
        try:
            while True:
                try:
                    rules = await asyncio.to_thread(standing.load_rules, path) if seen.questions else ()
                except ConfigError as error:
                    rules = ()
                    if error.message != said:
                        log.warning("no standing rule holds: %s", error.message)
                    said = error.message
                asked = [question.view.request for question in seen.questions]
                for decision in standing.decisions(asked, Mode(seen.mode), workspace, rules, self._now()):
                    with suppress(Refused):
                        await session.desk.decide(decision)
                seen = await session.changed(seen)
        except HitlError as error:
            log.info("standing rules of %s end: %s", session.id, error.message)
        except Exception:
            log.exception("standing rules of %s", session.id)

    async def sessions(self, search: str = "") -> list[SessionSummary]:
        """Return sessions, newest last; one that can't be read says why and hides no other.

        Args:
            search: only those that have all of its words, in any case, in id, title, query, workspace or status.
        """
        waiting: dict[str, int] = {}
        for view in await self.ledger.requests(self._now(), limit=10_000):
            waiting[view.request.session] = waiting.get(view.request.session, 0) + 1
        found = [await self._summary(name, waiting.get(name, 0)) for name in self.data.ids()]
        return [summary for summary in found if has_words(summary, search)]

    async def summary(self, session_id: str) -> SessionSummary:
        """Return one session as `sessions` lists it."""
        asked = await self.ledger.requests(self._now(), session=session_id, limit=1_000)
        return await self._summary(session_id, len(asked))

    async def _summary(self, name: str, questions: int) -> SessionSummary:
        try:
            folder = self.data.session(name)
            info = folder.info()
            owned = folder.is_owned()
            status, updated = "interrupted", info.created
            if folder.checkpoints.exists():
                async with open_read_only(folder.checkpoints) as saver:
                    page = await History(saver, name).page(1)
                if page:
                    status, updated = page[0].outcome or "interrupted", page[0].timestamp
            if questions:
                status = "waiting"
            elif status == "interrupted" and owned:
                status = "running"
        except HitlError as error:
            return SessionSummary(name, "", "", "", "unreadable", 0, False, "", error.message)
        return SessionSummary(
            name, info.title, info.workspace, info.created, status, questions, owned, updated, "", info.query
        )

    async def rename(self, session_id: str, title: str, *, by: str = "") -> SessionInfo:
        """Give a session another title, also while a process has it open; return what it is now (C8).

        Raises:
            UnknownName: there is no such session; BadInput: the title can't be one.
            StorageError: its folder can't be read or written.
        """
        folder = self.data.session(session_id)
        info = folder.info()
        try:
            secrets = self._secrets(load_config(Path(info.workspace)))
        except BadInput:  # a workspace that is gone is no reason to keep a title
            secrets = {}
        renamed = replace(info, title=check_title(title, secrets))
        with room_for(f"The title of {session_id}"):
            await asyncio.to_thread(folder.write_info, renamed)
        try:
            await self.ledger.record(session_id, "session_renamed", {"title": renamed.title, "by": by}, self._now())
        except HitlError:
            await asyncio.to_thread(folder.write_info, info)
            raise
        return renamed

    async def fork(self, session_id: str, checkpoint_id: str = "", *, title: str = "", by: str = "") -> SessionInfo:
        """Make a session that begins where another stands or stood; nothing is executed (C5, C8).

        The same is asked there, and its history comes with it. Its lineage is the other's: what was done to the world
        is known and asked about, never silently repeated. The other may be open elsewhere.

        Args:
            session_id: the session to begin from.
            checkpoint_id: id, unique prefix or ending of one of its checkpoints; empty for the newest.
            title: of the new session; empty for the same.
            by: who does it, for the record.

        Raises:
            UnknownName: there is no such session or checkpoint.
            BadInput: its workspace or hitl.toml can't be used now.
            StorageError: it can't be read or written; nothing was made.
        """
        from hitl_tui.supervisor.portable import fork

        return await fork(self, session_id, checkpoint_id, title, by)

    async def export(self, session_id: str, path: Path) -> Path:
        """Write a session into one file, also while it is open elsewhere; return the file's absolute path (C8).

        It holds checkpoints, results, the record with all decisions, and what is known to have been done. Secrets are
        masked as they are in the session itself.

        Args:
            session_id: which.
            path: the file to make; an existing one is never written over.

        Raises:
            UnknownName: there is no such session; BadInput: the file exists or its folder is missing.
            StorageError: something can't be read or written; there is no file then.
        """
        from hitl_tui.supervisor.transfer import export

        return await export(self, session_id, path)

    async def import_(self, path: Path, *, workspace: Path | None = None, by: str = "") -> SessionInfo:
        """Make a session of an exported file; nothing is executed, and it asks about every step (C8).

        Everything in the file is checked before anything is written. The session keeps its id unless there is or was
        one of that id here.

        Args:
            path: what `export` wrote, here or on another machine.
            workspace: the folder it is to work in; None for the one it had, if that exists here.
            by: who does it, for the record.

        Raises:
            BadInput: the file is no export, damaged, changed, of a newer version or dangerous, or its workspace or
                hitl.toml can't be used here.
            StorageError: it can't be read or written; nothing was made.
        """
        from hitl_tui.supervisor.transfer import import_

        return await import_(self, path, workspace, by)

    async def delete(self, session_id: str, *, by: str = "") -> None:
        """Remove a session's folder; what it wrote to the ledger stays, so that decisions can be proved (C8).

        With it go the copies of threads that only it went on in. Its id isn't given again.

        Raises:
            UnknownName: there is no such session.
            SessionBusy: a process has it open; nothing was changed.
            StorageError: it can't be moved; nothing was changed.
        """
        folder = self.data.session(session_id)
        try:
            with folder.own():
                await self._leave_results(folder)
                staging = Staging(self.data.sessions)
                staging.put_aside(session_id)
                await asyncio.to_thread(self._drop_copies, staging.deleted_folder(session_id))
                try:
                    await self._forget(session_id, by)
                except StorageError as error:
                    # It is gone already. A full disk has room now; if not, the next who opens this folder goes on.
                    log.warning("the deletion of %s isn't on record yet: %s", session_id, error)
                    await asyncio.to_thread(staging.empty_deleted, session_id)
                    with suppress(StorageError):
                        await self._forget(session_id, by)
        except SessionBusy as error:
            raise SessionBusy(f"Another process has session {session_id} open, so it can't be deleted now.") from error

    async def copies(self, session_id: str) -> list[Path]:
        """Return the copies of threads that would go with a session.

        Raises:
            UnknownName: there is no such session.
        """
        return await asyncio.to_thread(self._copies, self.data.session(session_id))

    def _copies(self, folder: SessionFolder) -> list[Path]:
        others = [self.data.session(name) for name in self.data.ids() if name != folder.path.name]
        return copies_of(folder, others, self.data.root)

    def _drop_copies(self, folder: SessionFolder) -> None:
        remove_copies(self._copies(folder))

    async def _leave_results(self, folder: SessionFolder) -> None:
        """Give a session's copies what came of its effects: they may be asked to use it as done."""
        try:
            lineage = folder.info().lineage
        except HitlError:
            return
        done = await self.ledger.effects(folder.path.name, status="done")
        digests = {str(e.outcome["artifact"]) for e in done if e.outcome.get("artifact")}
        for name in self.data.ids() if digests else ():
            with suppress(HitlError):
                other = self.data.session(name)
                if name != folder.path.name and other.info().lineage == lineage:
                    for digest in digests:
                        await other.artifacts().keep(digest)

    async def _forget(self, session_id: str, by: str) -> None:
        await self.ledger.supersede(session_id, (), "the session was deleted", self._now())
        await self.ledger.record(session_id, "session_deleted", {"by": by}, self._now())
        await asyncio.to_thread(Staging(self.data.sessions).clear_deleted, session_id)

    async def _tidy(self) -> None:
        """Finish deletions that a process died in, and remove what it left half made."""
        staging = Staging(self.data.sessions)
        for name in staging.deleted():
            try:
                with staging.deleted_folder(name).own():
                    await asyncio.to_thread(self._drop_copies, staging.deleted_folder(name))
                    await self._forget(name, "")
            except HitlError as error:  # somebody is at it right now, or it can't be removed: the next time, then
                log.info("the rest of %s stays: %s", name, error)
        await asyncio.to_thread(staging.clear_staged)

    def _setup(self, info: SessionInfo, config: WorkspaceConfig) -> SessionSetup:
        folder = self.data.session(info.id)
        graphs = folder.graphs()
        registry = _registry(config, graphs)
        return SessionSetup(
            info=info,
            folder=folder,
            ledger=self.ledger,
            planner=_planner(registry, config, graphs, self._now),
            team=registry.get,
            policy=config.policy,
            concurrency=config.concurrency,
            mode=Mode(info.mode) if info.mode else config.mode,
            secrets=self._secrets(config),
            now=self._now,
        )

    def _secrets(self, config: WorkspaceConfig) -> dict[str, str]:
        return {name: self._environ[name] for name in config.secret_names if self._environ.get(name)}


def declared(workspace: Path) -> WorkspaceConfig:
    """Return what a workspace declares: its hitl.toml, and the graphs of a langgraph.json that is there already (I1).

    Raises:
        ConfigError: hitl.toml can't be used.
    """
    config = load_config(workspace)
    found: tuple[GraphDeclaration, ...] = ()
    if (workspace / LANGGRAPH_FILE).is_file():
        try:
            found = langgraph_file(workspace / LANGGRAPH_FILE)
        except ConfigError as error:  # it isn't ours: what else is in the workspace works without it
            log.warning("%s", error.message)
    graphs = {graph.name: graph for graph in found if graph.name not in TEAMS}
    graphs |= {name: replace(graph, folder=str(workspace)) for name, graph in config.graphs.items()}
    return replace(config, graphs=graphs)


def _registry(config: WorkspaceConfig, graphs: Sequence[GraphDeclaration]) -> TeamRegistry:
    attached = {graph.name: graph for graph in graphs}
    return TeamRegistry.from_config(replace(config, graphs={**config.graphs, **attached}))


def _planner(
    registry: TeamRegistry, config: WorkspaceConfig, graphs: Sequence[GraphDeclaration], now: Callable[[], str]
) -> PlanningAgent:
    # Looking at what there is needs no planner, and its rules take a while to load.
    from hitl_tui.planning.agent import PlanningAgent
    from hitl_tui.planning.attached import AttachedPlanner
    from hitl_tui.planning.commands import command_facts
    from hitl_tui.planning.rules import RulePlanner

    planner: Planner = RulePlanner(command_facts(config.commands))
    if graphs:
        planner = AttachedPlanner(graphs[0].name)
    return PlanningAgent(registry.agents(), planner, now)
