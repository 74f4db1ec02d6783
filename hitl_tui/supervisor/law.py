"""`Law`: what holds for a session from outside its state, as hitl.toml says it now.

Its policy and bound on what runs at once hold from the moment that the file is saved: for what isn't approved, and for
what is and hasn't begun. What it says of teams holds when the session is opened again; until then nothing begins that
was declared otherwise. While it can't be read nothing begins at all.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, Protocol

from hitl_tui.config.load import FILE_NAME
from hitl_tui.config.watched import WatchedConfig
from hitl_tui.config.workspace import WorkspaceConfig
from hitl_tui.core.board import Rules
from hitl_tui.core.todos import SupervisorTodo


class Law(Protocol):
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


class FixedLaw:
    """Rules that no file changes.

    Args:
        rules: what holds.
    """

    digest = ""
    problem = ""
    current = True
    waiting = False

    def __init__(self, rules: Rules) -> None:
        self.rules = rules

    async def look(self) -> bool:
        return False

    def why_not(self, todo: SupervisorTodo) -> str:
        return ""


class FileLaw:
    """Rules that a workspace's hitl.toml says.

    Args:
        workspace: absolute path.

    Raises:
        ConfigError: the file can't be read or used at the beginning.
    """

    def __init__(self, workspace: Path) -> None:
        self._file = WatchedConfig(workspace)
        self.opened: WorkspaceConfig = self._file.config
        """What it said when the session was opened; its teams are declared so."""
        self.rules = _rules(self.opened)

    @property
    def digest(self) -> str:
        return self._file.digest

    @property
    def problem(self) -> str:
        why = self._file.problem
        return f"Nothing new begins until {FILE_NAME} can be read again: {why}" if why else ""

    @property
    def current(self) -> bool:
        return self._file.current

    @property
    def waiting(self) -> bool:
        return self._file.waiting

    async def look(self) -> bool:
        changed = await self._file.look()
        if changed:
            self.rules = _rules(self._file.config)
        return changed

    def why_not(self, todo: SupervisorTodo) -> str:
        team, name, now = todo.agent_name, todo.command, self._file.config
        if not now.enabled(team):
            return f"{FILE_NAME} doesn't let {team} run any more, so this step did not begin."
        same = team != "command_team" or now.commands.get(name) == self.opened.commands.get(name)
        if same and now.graphs.get(team) == self.opened.graphs.get(team):
            return ""
        what = name if not same else team
        return f"{FILE_NAME} declares {what} otherwise since this session was opened; open it again to run it so."


def _rules(config: WorkspaceConfig) -> Rules:
    return Rules(config.policy, config.concurrency)


def on_record(law: Law, before: str) -> dict[str, Any]:
    """Return what the ledger keeps of the rules that hold from now on; what was allowed under them names `policy`.

    Args:
        law: what holds.
        before: version of the policy that held until now; empty for none.
    """
    return {
        "policy": law.rules.policy.version,
        "before": before,
        "rules": [rule.to_dict() for rule in law.rules.policy.rules],
        "concurrency": law.rules.concurrency,
        "file": law.digest,
    }
