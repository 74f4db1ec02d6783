"""What the operators' standing rules allow is answered while a session goes on (C3)."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from hitl_tui.config import standing
from hitl_tui.core.errors import ConfigError, HitlError, Refused
from hitl_tui.core.policy import Mode
from hitl_tui.core.safe_text import one_line
from hitl_tui.supervisor.session import Session

log = logging.getLogger(__name__)


async def keep_rules(session: Session, path: Path, now: Callable[[], str]) -> None:
    """Answer what the rules allow, as decisions on record, until the session can't go on.

    Args:
        session: which.
        path: the file with the rules, read anew whenever something is asked.
        now: the clock.
    """
    workspace, said, idle = session.setup.info.workspace, "", set[str]()
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
            for rule in standing.without_team(rules, workspace, session.setup.planner.agents):
                if rule.id not in idle:
                    log.warning("rule %s allows nothing: there is no team %s here", rule.id, one_line(rule.team, 60))
                    idle.add(rule.id)
            asked = [question.view.request for question in seen.questions]
            for decision in standing.decisions(asked, Mode(seen.mode), workspace, rules, now()):
                with suppress(Refused):
                    await session.desk.decide(decision)
            seen = await session.changed(seen)
    except HitlError as error:
        log.info("standing rules of %s end: %s", session.id, error.message)
    except Exception:
        log.exception("standing rules of %s", session.id)
