"""What holds for a session from outside its state: settings of its workspace, watched for changes, and trust in it."""

from __future__ import annotations

import asyncio
import time
from asyncio import to_thread
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Protocol

from hitl_tui.config.loader import FILE_NAME
from hitl_tui.config.workspace import WorkspaceConfig
from hitl_tui.config.workspace_files import WorkspaceFiles, read_files, watched_paths
from hitl_tui.core.board import Rules
from hitl_tui.core.errors import ConfigError
from hitl_tui.core.json_types import Json
from hitl_tui.core.messages import Message
from hitl_tui.core.todos import SupervisorTodo
from hitl_tui.policy.trust_book import TrustBook
from hitl_tui.policy.workspace_trust import WorkspaceTrust, needs_trust, stricter_of, untrusted_message

SETTLED = 0.2
"""Seconds; a file that was written less than that ago may be written still, and isn't taken yet."""

Stamp = tuple[int, ...]
"""What tells one state of a file from another without reading it; empty where there is no such file."""


def stamp_of(path: Path) -> Stamp:
    """Return a file's stamp; it costs one system call."""
    try:
        found = path.stat()
    except OSError:
        return ()
    return found.st_mtime_ns, found.st_ctime_ns, found.st_size, found.st_ino, found.st_dev


class WatchedConfig:
    """What hitl.toml and langgraph.json of a workspace say now, as far as they can be read.

    A file that can't be used, or a hitl.toml that was there and is gone, changes nothing: `config` and `files` stay
    what they were, and `problem` says why in one sentence.

    Args:
        workspace: the folder they are in.
        clock: seconds since 1970, as files are stamped.

    Raises:
        ConfigError: a file can't be read or used at the beginning.
    """

    def __init__(self, workspace: Path, clock: Callable[[], float] = time.time) -> None:
        self.path = workspace / FILE_NAME
        self._workspace = workspace
        self._clock = clock
        self.files: WorkspaceFiles = read_files(workspace)
        self._stamps = self._look()
        fresh = read_files(workspace)
        if fresh.digest != self.files.digest:  # it was written between the two: the first look reads it again
            self._stamps = {}
        self.config = self.files.declared()
        self.problem = ""
        self.waiting = False
        self._gone_at: float | None = None

    @property
    def digest(self) -> str:
        """SHA-256 of the hitl.toml that `config` was read from; empty where there was none."""
        return self.files.digests.get(FILE_NAME, "")

    @property
    def current(self) -> bool:
        """The files are exactly what was read last, and that could be used."""
        return not self.problem and self._look() == self._stamps

    def _look(self) -> dict[Path, Stamp]:
        return {path: stamp_of(path) for path in watched_paths(self.files)}

    async def look(self) -> bool:
        """Read the files if one changed; return whether it changed what `config`, `files` or `problem` say.

        Then `waiting` says whether they are to be looked at again soon.
        """
        seen = self._look()
        changed = [stamp for path, stamp in seen.items() if stamp != self._stamps.get(path)]
        self.waiting = bool(changed) and any(map(self._unsettled, changed))
        if not changed or self.waiting:
            return False
        return await to_thread(self._read, seen)

    def _unsettled(self, stamp: Stamp) -> bool:
        """Return whether a file may be written still; many an editor takes it away and puts another in its place."""
        now = self._clock()
        if stamp:
            self._gone_at = None
            return 0 <= now - max(stamp[:2]) / 1e9 < SETTLED
        if self._gone_at is None:
            self._gone_at = now
        return 0 <= now - self._gone_at < SETTLED

    def _read(self, seen: dict[Path, Stamp]) -> bool:
        before = self.config, self.files, self.problem
        try:
            files = read_files(self._workspace)
            config, problem = files.declared(), ""
        except ConfigError as error:
            files, config, problem = self.files, self.config, error.message
        if files.hitl is None and self.files.hitl is not None:
            files, config, problem = self.files, self.config, Message("The file {} no longer exists.", FILE_NAME)
        if {path: stamp_of(path) for path in seen} != seen:  # written meanwhile: the next look sees it whole
            return False
        self.config, self.files, self.problem = config, files, problem
        self._stamps = {path: seen.get(path, ()) for path in watched_paths(files)}
        return (self.config, self.files, self.problem) != before


class PolicySource(Protocol):
    """The rules that hold now."""

    @property
    def rules(self) -> Rules:
        """What was read last."""
        ...

    @property
    def digest(self) -> str:
        """SHA-256 of the file that `rules` are from; empty where there is none."""
        ...

    @property
    def problem(self) -> str:
        """Why nothing may begin now, one sentence; empty when it may."""
        ...

    @property
    def current(self) -> bool:
        """`rules` are what the file says at this very moment."""
        ...

    @property
    def waiting(self) -> bool:
        """The file is being written: look again soon."""
        ...

    async def look(self) -> bool:
        """Read the file again if it changed; return whether anything else holds now."""
        ...

    def why_not(self, todo: SupervisorTodo) -> str:
        """Return why a TODO may not begin though it was approved, one sentence; empty when it may."""
        ...

    def why_withheld(self, team: str) -> str:
        """Return why nothing of a team may be approved, one sentence that names what would help; empty when it may."""
        ...

    async def why_no_preview(self, command: str, argv: Sequence[str]) -> str:
        """Return why a command's preview doesn't run now, one sentence; empty when it may."""
        ...

    @property
    def notice(self) -> str:
        """What a person is told who can trust the workspace; empty when there is nothing to tell."""
        ...

    @property
    def obeyed_config(self) -> WorkspaceConfig:
        """What is obeyed of what the workspace declares; its teams are declared so."""
        ...


class FilePolicy:
    """Rules that a workspace's files say, as far as they are trusted.

    Of an untrusted folder only what restricts is obeyed. While the files are others than when the session was opened,
    and nobody trusts them as they are, the stricter of the policy that held and the new one counts for each question.

    Args:
        workspace: absolute path.
        book: says what is trusted; it was looked at a moment ago.
        attached: names of graphs that were attached to the session by name: those need no trust in the folder.

    Raises:
        ConfigError: a file can't be read or used at the beginning.
    """

    def __init__(self, workspace: Path, book: TrustBook, attached: Iterable[str] = ()) -> None:
        self._file = WatchedConfig(workspace)
        self._book = book
        self._attached = frozenset(attached)
        self.trust: WorkspaceTrust = book.judge(self._file.files)
        """The folder as it is now."""
        self.obeyed_config: WorkspaceConfig = self.trust.config
        """What was obeyed when the session was opened; its teams are declared so."""
        self.withheld: frozenset[str] = _beyond(self.trust) - self._attached
        """Teams that the folder declared then and nobody trusted: they do nothing in this session as it is open."""
        self._digest = self.trust.digest
        self._base = self.trust.trusted_policy or self.obeyed_config.policy
        self._records = book.records
        self._looking = asyncio.Lock()
        self.rules = self._follow()

    @property
    def digest(self) -> str:
        return self._file.digest

    @property
    def problem(self) -> str:
        why = self._file.problem
        return Message("Nothing new begins until {} can be read again: {}", FILE_NAME, why) if why else ""

    @property
    def current(self) -> bool:
        return self._file.current

    @property
    def waiting(self) -> bool:
        return self._file.waiting

    @property
    def edited(self) -> bool:
        """The files are others than those that were trusted, or that the session was opened with."""
        return not self.trust.trusted and (self.trust.changed or self.trust.digest != self._digest)

    @property
    def notice(self) -> str:
        """What a person is told who can trust the folder; empty when there is nothing to tell."""
        if self.edited or self.trust.asks:
            return untrusted_message(self.trust, edited=self.edited)
        return ""

    async def look(self) -> bool:
        async with self._looking:  # whoever looks waits for what another look found and hasn't judged yet
            changed = await self._file.look()
            await self._book.look()
            if self._book.records is not self._records or changed:  # somebody else may have looked since
                self._records = self._book.records
                before = self.rules, self.trust.trusted
                self.trust = await asyncio.to_thread(self._book.judge, self._file.files)
                self.rules = self._follow()
                return changed or before != (self.rules, self.trust.trusted)
            return False

    @property
    def renewable(self) -> bool:
        """The folder is trusted as it is now, and was something else when the session was opened."""
        return self.trust.trusted and bool(self.withheld or self.obeyed_config != self.trust.config)

    def take(self, trust: WorkspaceTrust, withheld: Iterable[str] = ()) -> None:
        """Obey what a trusted folder declares from now on as if the session were opened with it.

        Args:
            trust: the folder as it was when its teams were made.
            withheld: teams of other folders that nobody trusts.
        """
        self.obeyed_config, self.withheld = trust.config, frozenset(withheld)

    def _follow(self) -> Rules:
        """Return the rules that hold for the folder as it is now."""
        trust, now = self.trust, self.trust.declared
        if trust.trusted:
            self._base, self._digest = now.policy, trust.digest
            return Rules(now.policy, now.concurrency)
        if trust.record is None and trust.digest == self._digest:
            return Rules(trust.config.policy, now.concurrency)
        return Rules(stricter_of(self._base, now.policy, trust.digest), now.concurrency)

    def why_not(self, todo: SupervisorTodo) -> str:
        team, name, now = todo.agent_name, todo.command, self.trust.declared
        if not now.enabled(team) or (self.edited and self.trust.record and team in self.trust.record.disabled):
            return Message("{} no longer lets {} run, so this step didn't begin.", FILE_NAME, team)
        if why := self.why_withheld(team):
            return why
        if team in self._attached:  # what the folder declares under that name is something else
            return ""
        same = team != "command_team" or now.commands.get(name) == self.obeyed_config.commands.get(name)
        if same and now.own_teams.get(team) == self.obeyed_config.own_teams.get(team):
            return ""
        what = name if not same else team
        return Message(
            "{} changed what it declares for {} since this session was opened; open it again to run it so.",
            FILE_NAME,
            what,
        )

    def why_withheld(self, team: str) -> str:
        if team in self.withheld:
            if self.trust.trusted:
                return Message("{} was not trusted when this session was opened; open it again to run it.", team)
            return needs_trust(team, self.trust.folder).message
        revoked = not self.trust.trusted and self.trust.record is None and bool(self.opened_trusted)
        return needs_trust(team, self.trust.folder).message if revoked and team in self.opened_trusted else ""

    @property
    def opened_trusted(self) -> frozenset[str]:
        """Teams that work only because the folder was trusted when the session was opened."""
        commands = ("command_team",) if self.obeyed_config.commands else ()
        return frozenset((*commands, *self.obeyed_config.own_teams))

    async def why_no_preview(self, command: str, argv: Sequence[str]) -> str:
        await self.look()
        declared = self.obeyed_config.commands.get(command)
        if declared is None:
            return Message("Not previewed: this folder isn't trusted as it is now. {}", self.trust.command)
        return await asyncio.to_thread(self._book.why_no_preview, self.trust, declared, argv)


def _beyond(trust: WorkspaceTrust) -> frozenset[str]:
    """Return the teams that a folder declares and that need the trust it hasn't got."""
    if trust.trusted:
        return frozenset()
    commands = ("command_team",) if trust.declared.commands else ()
    return frozenset((*commands, *trust.declared.own_teams))


def on_record(source: PolicySource, before: str) -> dict[str, Json]:
    """Return what the ledger keeps of the rules that hold from now on; what was allowed under them names `policy`.

    Args:
        source: what holds.
        before: version of the policy that held until now; empty for none.
    """
    return {
        "policy": source.rules.policy.version,
        "before": before,
        "rules": [rule.to_dict() for rule in source.rules.policy.all_rules],
        "concurrency": source.rules.concurrency,
        "file": source.digest,
    }
