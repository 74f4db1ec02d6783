"""What a session is opened with."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from hitl_tui.config.declared_commands import CommandDeclaration
from hitl_tui.core.board import Rules
from hitl_tui.core.events import utc_now
from hitl_tui.core.policy import Mode
from hitl_tui.ledger.protocols import Ledger
from hitl_tui.policy.accounts import account_name
from hitl_tui.policy.approvers import Approvers
from hitl_tui.supervisor.law import Law
from hitl_tui.supervisor.storage import SessionFolder, SessionInfo
from hitl_tui.teams.contract import Team

if TYPE_CHECKING:
    from hitl_tui.planning.agent import PlanningAgent


async def _never_renewed() -> str:
    """Return that nothing is left to take in: what was declared by nobody is never trusted anew."""
    return ""


@dataclass(frozen=True, slots=True)
class SessionSetup:
    """What a session is opened with.

    Args:
        info: the session.
        folder: its folder.
        ledger: the record of all sessions.
        planner: makes and changes plans.
        team: gives a team by name.
        law: the workspace's rules, and how many TODOs may run at once.
        mode: mode of a session that begins now.
        secrets: declared secrets, by name.
        now: the clock.
        read_only: this account can't write where it lies: it can only be followed.
        broken: what of its record isn't as it was written, so that it is only looked at; empty for nothing.
        approvers: says who counts where several people or a level are demanded, now.
        commands: the declared commands that may be used, by name.
        renew: takes in what the workspace declares where it was trusted since then; see `SessionFace.renew`.
    """

    info: SessionInfo
    folder: SessionFolder
    ledger: Ledger
    planner: PlanningAgent
    team: Callable[[str], Team]
    law: Law
    mode: Mode
    secrets: Mapping[str, str]
    now: Callable[[], str] = utc_now
    read_only: bool = False
    broken: str = ""
    approvers: Callable[[], Approvers] = lambda: Approvers(account_name())
    commands: Mapping[str, CommandDeclaration] = field(default_factory=dict)
    renew: Callable[[], Awaitable[str]] = _never_renewed

    @property
    def rules(self) -> Rules:
        return self.law.rules
