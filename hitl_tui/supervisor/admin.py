"""Which sessions are old enough to go, and letting them go (C8)."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import datetime, timedelta

from hitl_tui.core.errors import BadInput, HitlError
from hitl_tui.supervisor.checkpoint_copy import cursor_of
from hitl_tui.supervisor.session_registry import SessionRegistry
from hitl_tui.supervisor.session_summary import SessionSummary

ENDED = frozenset({"finished", "failed"})

_AGE = re.compile(r"([0-9]{1,6})\s*([mhdw])")
_UNITS = {"m": "minutes", "h": "hours", "d": "days", "w": "weeks"}


def age(text: str) -> timedelta:
    """Return a length of time such as `30d`, `12h`, `2w` or `90m`.

    Raises:
        BadInput: it isn't one.
    """
    found = _AGE.fullmatch(text.strip().lower())
    if found is None:
        raise BadInput(f'"{text[:40]}" is not an age; write a number and m, h, d or w, such as 30d.')
    return timedelta(**{_UNITS[found[2]]: int(found[1])})


def choose(
    found: Sequence[SessionSummary], now: str, *, older_than: timedelta | None = None, keep: int = 0
) -> list[SessionSummary]:
    """Return the sessions that may go, oldest first: finished or failed ones that nobody has open or is asked about.

    Args:
        found: all sessions.
        now: the time, ISO 8601.
        older_than: only those whose last checkpoint is older; None for any age.
        keep: so many of those that ended last stay.
    """
    ended = [s for s in found if s.status in ENDED and not s.owned and not s.questions]
    ended.sort(key=lambda s: _moment(s.updated), reverse=True)
    left = ended[max(0, keep) :]
    if older_than is not None:
        left = [s for s in left if _moment(now) - _moment(s.updated) >= older_than]
    return left[::-1]


async def prune(bench: SessionRegistry, chosen: Sequence[SessionSummary], by: str) -> tuple[list[str], dict[str, str]]:
    """Delete what was chosen; one that is no longer what it was when it was chosen stays.

    Returns:
        ids that are gone, and why others stayed, by id.
    """
    gone: list[str] = []
    stayed: dict[str, str] = {}
    for summary in chosen:
        try:
            why = await _changed(bench, summary)
            if why:
                stayed[summary.id] = why
                continue
            await bench.delete(summary.id, by=by)
            gone.append(summary.id)
        except HitlError as error:
            stayed[summary.id] = error.message
    return gone, stayed


async def _changed(bench: SessionRegistry, chosen: SessionSummary) -> str:
    now = await bench.summary(chosen.id)
    if now.status not in ENDED or now.owned or now.updated != chosen.updated:
        return f"Session {chosen.id} has continued in the meantime."
    cursor = cursor_of(bench.data.session(chosen.id).checkpoints, chosen.id)
    if await bench.ledger.wait(chosen.id, cursor, 0):
        return f"Session {chosen.id} has a command that wasn't carried out yet."
    return ""


def _moment(text: str) -> datetime:
    found = datetime.fromisoformat(text)
    return found if found.tzinfo else found.astimezone()
