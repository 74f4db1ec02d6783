"""All sessions of a user: begin, list, open (C8)."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hitl_tui.config.load import load_config
from hitl_tui.config.workspace import WorkspaceConfig
from hitl_tui.core.errors import BadInput, HitlError, SessionBusy
from hitl_tui.core.policy import Mode
from hitl_tui.core.safe_text import mask, safe_text
from hitl_tui.core.todos import clip
from hitl_tui.ledger.contract import Ledger
from hitl_tui.ledger.sqlite import SqliteLedger
from hitl_tui.planning.agent import PlanningAgent
from hitl_tui.planning.commands import command_facts
from hitl_tui.planning.rules import RulePlanner
from hitl_tui.supervisor.checkpointer import open_read_only
from hitl_tui.supervisor.clock import utc_now
from hitl_tui.supervisor.follower import Follower
from hitl_tui.supervisor.history import History
from hitl_tui.supervisor.session import Session, SessionSetup
from hitl_tui.supervisor.storage import DataFolder, SessionInfo, check_session_id
from hitl_tui.teams.registry import TeamRegistry

LONGEST_QUERY = 10_000
"""Characters a query may have: every checkpoint keeps it."""


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
            yield cls(data, ledger, os.environ if environ is None else environ)

    async def create(
        self, query: str, workspace: Path, *, session_id: str = "", mode: Mode | None = None
    ) -> SessionSetup:
        """Begin a session: check everything that can be checked first, so that bad input leaves nothing behind.

        Raises:
            BadInput: query, workspace, id or hitl.toml can't be used, or there is such a session already.
        """
        text = check_query(query)
        real = check_workspace(workspace)
        if session_id:
            check_session_id(session_id)
            if session_id in self.data.ids():
                raise BadInput(f"There is a session {session_id} already; choose another id.")
        config = load_config(real)
        secrets = self._secrets(config)
        planner = _planner(TeamRegistry.from_config(config), config, self._now)
        await planner.plan(text)
        heads = {head.stream: head.n for head in await self.ledger.streams()}
        name = session_id or self.data.fresh_id(heads)
        if name in heads:
            raise BadInput(f"There was a session {name} before, and its record remains; choose another id.")
        title = clip(safe_text(mask(text.split("\n")[0], secrets), multiline=False), 200)
        chosen = mode or config.mode
        info = SessionInfo(name, str(real), title, self._now(), name, mask(text, secrets), chosen.value)
        self.data.create(info)
        await self.ledger.record(name, "session_created", {"workspace": str(real), "title": title}, self._now())
        return self._setup(info, config)

    def setup(self, session_id: str) -> SessionSetup:
        """Return what an existing session is opened with.

        Raises:
            UnknownName: there is none; BadInput: its workspace or hitl.toml can't be used now.
        """
        info = self.data.session(session_id).info()
        check_workspace(Path(info.workspace))
        return self._setup(info, load_config(Path(info.workspace)))

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
        try:
            yield session
        finally:
            await owner.__aexit__(None, None, None)

    async def sessions(self) -> list[SessionSummary]:
        """Return all sessions, newest last; one that can't be read says why and hides no other."""
        waiting: dict[str, int] = {}
        for view in await self.ledger.requests(self._now(), limit=10_000):
            waiting[view.request.session] = waiting.get(view.request.session, 0) + 1
        return [await self._summary(name, waiting.get(name, 0)) for name in self.data.ids()]

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
        return SessionSummary(name, info.title, info.workspace, info.created, status, questions, owned, updated)

    def _setup(self, info: SessionInfo, config: WorkspaceConfig) -> SessionSetup:
        registry = TeamRegistry.from_config(config)
        return SessionSetup(
            info=info,
            folder=self.data.session(info.id),
            ledger=self.ledger,
            planner=_planner(registry, config, self._now),
            team=registry.get,
            policy=config.policy,
            concurrency=config.concurrency,
            mode=Mode(info.mode) if info.mode else config.mode,
            secrets=self._secrets(config),
            now=self._now,
        )

    def _secrets(self, config: WorkspaceConfig) -> dict[str, str]:
        return {name: self._environ[name] for name in config.secret_names if self._environ.get(name)}


def _planner(registry: TeamRegistry, config: WorkspaceConfig, now: Callable[[], str]) -> PlanningAgent:
    return PlanningAgent(registry.agents(), RulePlanner(command_facts(config.commands)), now)
