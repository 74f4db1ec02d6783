"""`SessionStore`: what administering sessions works on."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass

from hitl_tui.ledger.protocols import Ledger
from hitl_tui.policy.trust_book import TrustBook
from hitl_tui.supervisor.session_setup import SessionSetup
from hitl_tui.supervisor.storage import DataFolder


@dataclass(frozen=True, slots=True)
class SessionStore:
    """The sessions of one data folder.

    Args:
        data: where their folders are.
        ledger: the record of all of them.
        trust: which workspaces are trusted.
        environ: where secrets come from.
        now: the clock, ISO 8601 in UTC.
        setup: finds what an existing session is opened with, see `SessionRegistry.setup`.
    """

    data: DataFolder
    ledger: Ledger
    trust: TrustBook
    environ: Mapping[str, str]
    now: Callable[[], str]
    setup: Callable[[str], Awaitable[SessionSetup]]
